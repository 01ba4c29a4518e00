"""An open file whose records are filtered, and which of them to write."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Final

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from lshdb.clusters.rows.boilerplate import FrequentPassages, Tally
from lshdb.clusters.rows.compression import usual_level
from lshdb.clusters.rows.payloads import NamedRecords
from lshdb.clusters.rows.verdicts import Verdicts
from lshdb.errors import SourceUnreadable, reason_of
from lshdb.model.batches import in_batches
from lshdb.readers import ReadOptions, SourceFile, reader_of
from lshdb.readers.bytes.compression import Compression, compression_of
from lshdb.readers.bytes.sniffing import SNIFF_BYTES
from lshdb.readers.bytes.streams import ByteStream, open_regular

__all__ = ["OpenedFile", "Task", "opened"]

# Larger than the blocks of an ingest, whose lines must stay in the cache.
READ_BYTES: Final = 1 << 20


class OpenedFile(Struct, frozen=True):
    """An open file.

    Args:
        format: the name of its reader; None if there is none.
        stream: its bytes, decompressed if the reader is textual.
        head: its first bytes, which may be compressed.
        binary: the file itself.
    """

    file: SourceFile
    format: str | None
    stream: ByteStream
    head: bytes
    binary: io.FileIO

    def close(self) -> None:
        """Close the file."""
        self.binary.close()

    @property
    def compression(self) -> Compression | None:
        """How the file is compressed."""
        return compression_of(self.head)

    def blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the stream. Raises: SourceUnreadable."""
        # Pieces of decompressed data may be small.
        pieces = iter(lambda: self.stream.read(READ_BYTES), b"")
        try:
            yield from map(b"".join, in_batches(pieces, len, READ_BYTES))
        except OSError as error:
            raise SourceUnreadable(path=self.file.path, reason=reason_of(error)) from None


class Task(Struct, frozen=True):
    """Which records of a file to write, and how.

    Args:
        is_wanted: bool, shape (5,); whether records with a verdict are written.
        options: how the file was read.
        level: the compression level; None for that of the file, or the usual one.
        passages: what to take out of the texts of kept records; None for nothing.
        tally: receives the counts of it.
        named: receives the records of WARC files that revisits name.
    """

    verdicts: Verdicts
    is_wanted: NDArray[np.bool_]
    options: ReadOptions
    level: int | None
    passages: FrequentPassages | None = None
    tally: Tally = field(default_factory=Tally)
    named: NamedRecords = field(default_factory=NamedRecords)

    def level_of(self, file: OpenedFile) -> int:
        """Return the level at which the output is compressed."""
        return self.level if self.level is not None else usual_level(file.compression, file.head)


def opened(file: SourceFile, options: ReadOptions) -> OpenedFile:
    """Open a file. Raises: SourceUnreadable."""
    with ExitStack() as undone:
        try:
            binary = undone.enter_context(open_regular(file.path))
            stream = ByteStream(iter(lambda: binary.read(READ_BYTES), b""), binary)
            head = stream.peek(SNIFF_BYTES)
            reader, plain = reader_of(file, stream, options)
        except OSError as error:
            raise SourceUnreadable(path=file.path, reason=reason_of(error)) from None
        undone.pop_all()
    return OpenedFile(file, None if reader is None else reader.name, plain, head, binary)
