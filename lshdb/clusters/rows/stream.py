"""Pass on the wanted JSON lines of a stream, by the ids of their records.

Records are looked up by id alone; their texts are not compared. Records without an id, and lines that are not JSON
objects, count as not in the index. A compressed stream is written with the same compression.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import BinaryIO, Final, Protocol, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from lshdb.clusters.rows.compression import compressing, usual_level
from lshdb.clusters.rows.lines import whole_lines
from lshdb.clusters.rows.options import FilterOptions, FilterReport
from lshdb.clusters.rows.verdicts import NUM_VERDICTS, OTHER, UNKNOWN, Dropped, counted, wanted
from lshdb.errors import RecordsUnknown, SourceUnreadable, reason_of
from lshdb.model.values import unstorable
from lshdb.readers import STDIN_NAME
from lshdb.readers.bytes.compression import compression_of, decompress
from lshdb.readers.bytes.sniffing import SNIFF_BYTES
from lshdb.readers.bytes.streams import BLOCK_BYTES, ByteStream
from lshdb.store.tables import locators
from lshdb.store.transaction import Transaction

__all__ = ["filter_stream"]

# The number of lines whose ids are looked up together.
BATCH_LINES: Final = 1_000


def filter_stream(
    snapshot: Transaction, dropped: Dropped, source: BinaryIO, out: BinaryIO, options: FilterOptions
) -> FilterReport:
    """Pass on the wanted lines of a stream.

    Raises: SourceUnreadable; RecordsUnknown: lines before the first unknown record may be written.
    """
    started = time.monotonic()
    passing = _Passing(snapshot, dropped, options)
    stream = ByteStream(iter(lambda: source.read(BLOCK_BYTES), b""))
    head = stream.peek(SNIFF_BYTES)
    compression = compression_of(head)
    level = options.level if options.level is not None else usual_level(compression, head)
    with compressing(out, compression, level) as write:
        for line in passing.chosen(_blocks(decompress(stream, compression))):
            write(line)
    out.flush()
    counts = counted(passing.counts)
    return FilterReport(counts, dropped.num_elsewhere, 1, 0, 0, (), None, time.monotonic() - started)


class _Named(Protocol):
    doc_id: str | int


class _Passing:
    """Chooses lines by the ids of their records.

    Attributes: counts: int64, shape (5,); the number of records so far by verdict.
    """

    def __init__(self, snapshot: Transaction, dropped: Dropped, options: FilterOptions) -> None:
        self.counts = np.zeros(NUM_VERDICTS, dtype=np.int64)
        self._snapshot = snapshot
        self._dropped = dropped
        self._options = options
        self._is_wanted = wanted(options)
        named = msgspec.defstruct("Named", [("doc_id", str | int)], rename={"doc_id": options.read.id_name})
        self._decoder = cast("msgspec.json.Decoder[_Named]", msgspec.json.Decoder(named))

    def chosen(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the wanted lines."""
        lines = whole_lines(blocks)
        while batch := list(islice(lines, BATCH_LINES)):
            found = self._verdicts(batch)
            self.counts += np.bincount(found, minlength=NUM_VERDICTS)
            if self._options.unknown == "error" and self.counts[UNKNOWN]:
                raise RecordsUnknown(path=STDIN_NAME, number=int(self.counts[UNKNOWN]))
            for line, is_wanted in zip(batch, self._is_wanted[found].tolist(), strict=True):
                if is_wanted:
                    yield line
        self.counts[OTHER] = 0  # blank lines

    def _verdicts(self, lines: Sequence[bytes]) -> NDArray[np.uint8]:
        """Return the verdicts about the records of some lines, uint8; OTHER for a blank line."""
        doc_ids = [self._doc_id(line) for line in lines]
        names = sorted({doc_id for doc_id in doc_ids if doc_id is not None})
        keys = locators.doc_keys(self._snapshot, self._options.collection, names)
        verdicts = self._dropped.verdicts(np.asarray(list(keys.values()), dtype=np.int64)).tolist()
        by_id = dict(zip(keys, verdicts, strict=True))
        return np.asarray(
            [
                OTHER if line.isspace() else by_id.get(doc_id or "", UNKNOWN)
                for line, doc_id in zip(lines, doc_ids, strict=True)
            ],
            dtype=np.uint8,
        )

    def _doc_id(self, line: bytes) -> str | None:
        """Return the id of a record, as in the index; None if it has none, or one that no index can hold."""
        try:
            found = self._decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        doc_id = f"{self._options.read.id_prefix}{found.doc_id}"
        return doc_id if unstorable(doc_id) is None else None


def _blocks(stream: ByteStream) -> Iterator[bytes]:
    try:
        while block := stream.read(BLOCK_BYTES):
            yield block
    except OSError as error:
        raise SourceUnreadable(path=STDIN_NAME, reason=reason_of(error)) from None
