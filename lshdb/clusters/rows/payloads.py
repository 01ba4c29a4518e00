"""Find the records that hold the pages of kept revisits, and count the revisits whose record is dropped.

A revisit has the text of another record, and no page of its own. If a cluster keeps a revisit, that record must stay,
too. The index does not tell revisits from pages, so their records are read where a cluster keeps one document and drops
another one with the very same text.

Limitations: in a WARC that is compressed by zstd with a dictionary, a revisit is not recognised. If a near-duplicate is
kept, the page of a dropped record is not kept for the revisits of it that are not in the index; they are counted.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.clusters.arrange import Clusters
from lshdb.readers import source_at
from lshdb.readers.bytes.streams import ByteStream, PositionedFile, open_regular
from lshdb.readers.warc.capture_ids import capture_id, microseconds, split
from lshdb.readers.warc.records import Framing, Record
from lshdb.readers.warc.segments import segments
from lshdb.readers.warc.syntax import Fields
from lshdb.store.tables import locators
from lshdb.store.tables.locators import KeptDocument
from lshdb.store.transaction import Transaction

__all__ = ["NamedRecords", "payloads"]

LOCATOR: Final = re.compile(r"offset (\d+)(?: record (\d+))?")
# Bytes that are read at a time; most headers are shorter.
READ_BYTES: Final = 1 << 14
# Clusters whose documents are held at a time.
HELD_CLUSTERS: Final = 10_000
SECOND: Final = 1_000_000


def payloads(snapshot: Transaction, clusters: Clusters) -> NDArray[np.int64]:
    """Return the documents, one for each kept revisit, whose records hold its page, int64, in any order."""
    # Looking up the kept documents of 150,000 clusters took 1.2 s.
    if not locators.any_in_archive(snapshot):
        return np.empty(0, dtype=np.int64)
    return np.fromiter(_payloads(snapshot, clusters), dtype=np.int64)


class NamedRecords:
    """The records that written revisits name, and those that were dropped: 8 bytes each.

    Limitation: a revisit that does not tell the date of its capture does not count.
    """

    def __init__(self) -> None:
        self._named, self._dropped = array("q"), array("q")

    def note(self, fields: Fields, *, is_written: bool) -> None:
        """Take the next record of a WARC, by its header."""
        if _is_revisit(fields) and is_written:
            named, date = _address(fields), fields.get("warc-refers-to-date", "")
            _append(self._named, named, date)
        elif not is_written:
            _append(self._dropped, fields.get("warc-target-uri", "").strip("<> "), fields.get("warc-date", ""))

    @property
    def num_dropped(self) -> int:
        """The number of written revisits that name a dropped record."""
        return int(np.isin(np.asarray(self._named), np.asarray(self._dropped)).sum())


def _append(keys: array[int], address: str, date: str) -> None:
    # The date of a revisit may lack the fraction of a second.
    if (moment := microseconds(date)) is not None:
        keys.append(hash((address, moment // SECOND)))


def _address(revisit: Fields) -> str:
    """Return the address of the capture that a revisit names."""
    return (revisit.get("warc-refers-to-target-uri", "") or revisit.get("warc-target-uri", "")).strip("<> ")


def _payloads(snapshot: Transaction, clusters: Clusters) -> Iterator[int]:
    twins = _twins(clusters)
    while some := dict(islice(twins, HELD_CLUSTERS)):
        kept = locators.kept_documents(snapshot, np.asarray(list(some), dtype=np.int64))
        for key, others in some.items():
            if (fields := _header(kept[key])) is not None and _is_revisit(fields):
                found = locators.kept_documents(snapshot, others)
                yield from islice(_pages(found.values(), fields), 1)


def _twins(clusters: Clusters) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield each kept document with those that have its content, if there are any."""
    kept = np.repeat(clusters.offsets[:-1], np.diff(clusters.offsets))
    is_twin = clusters.content_keys == clusters.content_keys[kept]
    is_twin[clusters.offsets[:-1]] = False
    places = np.flatnonzero(is_twin)
    bounds = np.append(np.flatnonzero(np.diff(kept[places], prepend=-1)), len(places))
    for begin, end in pairwise(bounds.tolist()):
        yield int(clusters.doc_keys[kept[places[begin]]]), clusters.doc_keys[places[begin:end]]


def _pages(documents: Iterable[KeptDocument], revisit: Fields) -> Iterator[int]:
    """Yield those of the documents that are no revisits: first the named capture, then those of its address."""
    address = _address(revisit)
    named = capture_id(address, microseconds(revisit.get("warc-refers-to-date", "")))
    for one in sorted(documents, key=lambda one: (one.doc_id != named, split(one.doc_id)[0] != address, one.doc_key)):
        if (fields := _header(one)) is not None and not _is_revisit(fields):
            yield one.doc_key


def _is_revisit(fields: Fields) -> bool:
    return fields.get("warc-type", "").lower() == "revisit"


def _header(document: KeptDocument) -> Fields | None:
    """Return the header of the record of a document; None if it is in no WARC, or cannot be read."""
    match = LOCATOR.fullmatch(document.locator)
    if match is None or document.uri is None or (file := source_at(document.uri)) is None:
        return None
    number = int(match[2] or 1)
    try:
        with open_regular(file.path) as binary:
            plain = PositionedFile(binary)
            plain.seek(int(match[1]))
            segment = next(segments(ByteStream(iter(lambda: plain.read(READ_BYTES), b""))))
            for record in islice(Framing(segment).records(), number):
                number -= 1
                if isinstance(record, Record):
                    if number == 0:
                        return record.fields
                    record.close()
    except OSError:
        pass
    return None
