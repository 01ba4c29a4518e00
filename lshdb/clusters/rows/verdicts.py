"""The state of every record of a source in the index: kept, dropped, rejected, or unknown.

Memory: a byte for each record if records are numbered, otherwise their locators; and 17 bytes for each dropped document
of the index.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_128

from lshdb.clusters.arrange import Clusters
from lshdb.clusters.rows.options import FilterOptions, RecordCounts
from lshdb.store.tables import locators
from lshdb.store.tables.locators import IndexedSource
from lshdb.store.transaction import Transaction

__all__ = [
    "DROPPED",
    "KEPT",
    "NUM_VERDICTS",
    "OTHER",
    "REJECTED",
    "UNKNOWN",
    "Dropped",
    "Verdicts",
    "all_rejected",
    "counted",
    "named",
    "numbered",
    "wanted",
]

# The verdicts. A record that is UNKNOWN is not in the index; one that is OTHER is not a document.
UNKNOWN: Final = 0
KEPT: Final = 1
DROPPED: Final = 2
REJECTED: Final = 3
OTHER: Final = 4
NUM_VERDICTS: Final = 5


class Dropped:
    """The dropped documents of an index, and which of them, and of the documents kept for them, have been met.

    Args: spared: documents that stay although they are not the kept ones.
    Attributes: content_keys: int64, ascending; the contents that no kept document has.
    """

    def __init__(self, clusters: Clusters, spared: Sequence[int] | NDArray[np.int64] = ()) -> None:
        is_dropped = np.ones(len(clusters.doc_keys), dtype=np.bool_)
        is_dropped[clusters.offsets[:-1]] = False
        is_dropped[np.isin(clusters.doc_keys, spared)] = False
        places = np.flatnonzero(is_dropped)
        cluster = np.searchsorted(clusters.offsets, places, side="right") - 1
        order = np.argsort(clusters.doc_keys[places])
        self.content_keys = np.setdiff1d(clusters.content_keys, clusters.content_keys[clusters.offsets[:-1]])
        self._keys = clusters.doc_keys[places][order]
        self._kept, self._kept_for = np.unique(clusters.doc_keys[clusters.offsets[cluster]][order], return_inverse=True)
        self._is_met = np.zeros(len(self._keys), dtype=np.bool_)
        self._is_kept_met = np.zeros(len(self._kept), dtype=np.bool_)

    def verdicts(self, doc_keys: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return KEPT or DROPPED for each document, uint8. The documents count as met from then on."""
        is_dropped, places = _found(self._keys, doc_keys)
        self._is_met[places[is_dropped]] = True
        is_kept, places = _found(self._kept, doc_keys)
        self._is_kept_met[places[is_kept]] = True
        return np.where(is_dropped, DROPPED, KEPT).astype(np.uint8)

    def kept_for(self, doc_keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the document that is kept for each of these dropped ones, int64."""
        return self._kept[self._kept_for[np.searchsorted(self._keys, doc_keys)]]

    @property
    def num_elsewhere(self) -> int:
        """The number of dropped documents that were met although the document kept for them was not."""
        return int((self._is_met & ~self._is_kept_met[self._kept_for]).sum())


class Verdicts:
    """The verdicts about the records of a source.

    Args: unit: the word before the number in a locator, such as ``line``; None if the records have no numbers.

    Attributes:
        by_number: uint8; the verdict about record N is at index N. Empty if the records have no numbers.
        by_locator: the verdicts about the other records.
        counts: int64, shape (5,); the number of records by verdict, none of them UNKNOWN.
    """

    def __init__(self, by_number: NDArray[np.uint8], by_locator: dict[str, int], unit: str | None = None) -> None:
        self._unit = unit
        self.by_number = by_number
        self.by_locator = by_locator
        named = np.fromiter(by_locator.values(), dtype=np.uint8, count=len(by_locator))
        self.counts = np.bincount(by_number, minlength=NUM_VERDICTS) + np.bincount(named, minlength=NUM_VERDICTS)
        self.counts[UNKNOWN] = 0

    def of_numbers(self, first: int, count: int) -> NDArray[np.uint8]:
        """Return the verdicts about `count` records from the number `first` on, uint8. They may be changed."""
        found = self.by_number[first : first + count]
        return np.concatenate([found, np.full(count - len(found), UNKNOWN, dtype=np.uint8)])

    def count(self, verdict: int) -> int:
        """Return the number of records with a verdict other than UNKNOWN."""
        return int(self.counts[verdict])

    def is_unknown(self, locator: str) -> bool:
        """Return whether there is no verdict about a record."""
        if self._unit is None:
            return locator not in self.by_locator
        number = self._number(locator)
        return number >= len(self.by_number) or self.by_number[number] == UNKNOWN

    def drop(self, locators: Sequence[str]) -> None:
        """Drop some records that are unknown."""
        self.counts[DROPPED] += len(locators)
        if self._unit is None:
            self.by_locator |= dict.fromkeys(locators, DROPPED)
        elif locators:
            numbers = np.asarray([self._number(locator) for locator in locators])
            self.by_number = _grown(self.by_number, int(numbers.max()) + 1)
            self.by_number[numbers] = DROPPED

    def _number(self, locator: str) -> int:
        return int(locator.removeprefix(f"{self._unit} "))

    def digest(self) -> bytes:
        """Return a digest of all verdicts, 16 bytes."""
        hashed = xxh3_128(self.by_number.tobytes())
        for locator, verdict in sorted(self.by_locator.items()):
            hashed.update(f"{locator}\0{verdict}\0".encode())
        return hashed.digest()


def numbered(
    snapshot: Transaction, sources: Sequence[IndexedSource], unit: str, dropped: Dropped, rejected: Iterable[str]
) -> Verdicts:
    """Return the verdicts about the records of a file, which have numbers.

    Args:
        sources: the same file in each collection. A record is kept if one of its documents is.
        unit: the word before the number in a locator, such as ``line``.
        rejected: the locators of rejected records. Locators with another unit are ignored.
    """
    table = _Table()
    for source in sources:
        for block in locators.numbered_records(snapshot, source, unit):
            table.note(block[:, 1], dropped.verdicts(block[:, 0]))
    numbers = [int(number) for word, _, number in (one.partition(" ") for one in rejected) if word == unit]
    table.note(np.asarray(numbers, dtype=np.int64), np.full(len(numbers), REJECTED, dtype=np.uint8))
    return Verdicts(table.verdicts, {}, unit)


def all_rejected(num_records: int, unit: str) -> Verdicts:
    """Return the verdicts about the records of a file that was rejected as a whole."""
    by_number = np.full(num_records + 1, REJECTED, dtype=np.uint8)
    by_number[0] = UNKNOWN
    return Verdicts(by_number, {}, unit)


def named(
    snapshot: Transaction, sources: Sequence[IndexedSource], dropped: Dropped, rejected: Iterable[str]
) -> Verdicts:
    """Return the verdicts about the records of a file by their locators. Args: as `numbered`."""
    found = dict.fromkeys(rejected, REJECTED)
    for source in sources:
        for doc_keys, places in locators.named_records(snapshot, source):
            for place, verdict in zip(places, dropped.verdicts(doc_keys).tolist(), strict=True):
                if found.get(place) != KEPT:
                    found[place] = verdict
    return Verdicts(np.empty(0, dtype=np.uint8), found)


class _Table:
    """Verdicts by number, in an array that grows."""

    def __init__(self) -> None:
        self._verdicts = np.zeros(1 << 10, dtype=np.uint8)
        self._size = 0

    @property
    def verdicts(self) -> NDArray[np.uint8]:
        """The verdicts up to the last number."""
        return self._verdicts[: self._size]

    def note(self, numbers: NDArray[np.int64], verdicts: NDArray[np.uint8]) -> None:
        """Add verdicts. If a record gets several, KEPT wins over DROPPED, and DROPPED over REJECTED."""
        if not len(numbers):
            return
        self._size = max(self._size, int(numbers.max()) + 1)
        self._verdicts = _grown(self._verdicts, self._size)
        for verdict in (REJECTED, DROPPED, KEPT):
            mine = numbers[verdicts == verdict]
            before = self._verdicts[mine]
            self._verdicts[mine] = np.where(before == UNKNOWN, verdict, np.minimum(before, verdict))


def _grown(verdicts: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """Return the verdicts with room for at least `size` of them."""
    if (missing := size - len(verdicts)) <= 0:
        return verdicts
    # By half, so that each verdict is copied only a few times.
    return np.concatenate([verdicts, np.zeros(max(missing, len(verdicts) // 2), dtype=np.uint8)])


def wanted(options: FilterOptions) -> NDArray[np.bool_]:
    """Return whether records with a verdict are written, bool, shape (5,)."""
    kept, unknown = not options.dropped, not options.dropped and options.unknown != "drop"
    by_verdict = {UNKNOWN: unknown, KEPT: kept, DROPPED: options.dropped, REJECTED: unknown, OTHER: kept}
    return np.asarray([by_verdict[verdict] for verdict in sorted(by_verdict)])


def counted(found: NDArray[np.int64]) -> RecordCounts:
    """Return numbers of records by verdict, int64, shape (5,), with their names."""
    return RecordCounts(*(int(found[verdict]) for verdict in (KEPT, DROPPED, UNKNOWN, REJECTED, OTHER)))


def _found(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return which of the wanted keys are among ascending keys, and the position of each one found."""
    places = np.searchsorted(keys, wanted)
    inside = np.minimum(places, max(len(keys) - 1, 0))
    return (keys[inside] == wanted) if len(keys) else np.zeros(len(wanted), dtype=np.bool_), inside
