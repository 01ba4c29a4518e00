"""Where a bucket may be: the generations that may have it, by their filters.

A *place* is a bucket in a generation. Nearly all places are ruled out here, without reading a page of the buckets.

- One question reads a part of each filter for each of its bands (`possible`).
- For many buckets, it takes less time to read the filters in order. `places` chooses.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import case, select, true

from lshdb.model.arrays import distinct, row_offsets
from lshdb.model.choices import Scheme
from lshdb.model.values import BandKeys
from lshdb.store.schema import bucket_generation, index_params
from lshdb.store.statements import statements
from lshdb.store.tables.filters import (
    ENTRY_BYTES,
    LABEL_BITS,
    LABELS,
    LAST_POSITION,
    LEAST_HASH,
    LOW_BITS,
    PART_ENTRIES,
    PLACE_BITS,
    Parts,
    has_band,
    hashes_from,
    label,
    positions_of,
    read_parts,
    rows_from,
)
from lshdb.store.tables.generation_list import LAST_NUMBER, generations, in_a_band
from lshdb.store.transaction import Transaction

__all__ = ["ROWS_A_LOOKUP", "by_band", "places", "possible", "sizes_in_pass", "wrong"]

# Looking a bucket up takes as long as reading so many rows.
ROWS_A_LOOKUP: Final = 6
# Looking up a part takes about as long as reading so many in order: 1.5 us.
PARTS_A_LOOKUP: Final = 1
# Of so many entries, one is unpacked to find others by it.
SAMPLED: Final = 16
# Each takes 2 kB from each filter.
LOOKUPS_AT_A_TIME: Final = 2_000

_MEMBERS: Final = select(
    bucket_generation.c.filter,
    bucket_generation.c.generation,
    bucket_generation.c.num_rows,
    select(index_params.c.bands).scalar_subquery(),
    select(index_params.c.scheme).scalar_subquery(),
).order_by(bucket_generation.c.generation)
_YOUNG: Final = case((bucket_generation.c.filter.is_(None), bucket_generation.c.generation))
# What a question reads: the scheme, and each filter, or NULL with each generation that has none. Dozens of generations,
# each a row, would take it as long as seven parts.
_SEARCHED: Final = (
    select(index_params.c.scheme, bucket_generation.c.filter, _YOUNG)
    .join_from(index_params, bucket_generation, true(), isouter=True)
    .distinct()
)


def possible(transaction: Transaction, band_keys: BandKeys) -> list[tuple[int, int, int]]:
    """Return (generation, band, bucket_hash) of the buckets of one sketch in the generations that may have them.

    Args: band_keys: shape (1, bands).
    """
    hashes = band_keys.keys[0].view(np.int64)
    buckets = [(band_keys.first_band + number, value) for number, value in enumerate(hashes.tolist())]
    schemes, searched, young = zip(*transaction.rows(_SEARCHED), strict=True)
    found = [(generation, *bucket) for generation in young if generation is not None for bucket in buckets]
    if set(searched) == {None}:
        return found
    bands = np.arange(len(buckets)) << PLACE_BITS
    positions = (positions_of(hashes, band_keys.first_band, schemes[0]) + bands).tolist()
    wanted = [_entry(position) for position in positions]
    parts = transaction.rows(statements.filter_parts(), {"given": positions})
    labels = {
        (place, number): _labels(entries, wanted[place])
        for place, number, entries in parts
        # Nearly all are ruled out here.
        if entries is not None and wanted[place][:-1] in entries
    }
    filtered = _Members(transaction).filtered if any(labels.values()) else {}
    for (place, number), mine in labels.items():
        found += [(each, *buckets[place]) for each in filtered.get(number, ()) if label(each) in mine]
    return found


class _Members:
    """The generations that have each filter, and those that have none.

    Attributes:
        young: the generations without a filter, each with about the number of its rows in a band.
        filtered: the generations that each filter stands for.
        num_parts: about how many parts of a band all filters have.
        scheme: of the index.
    """

    def __init__(self, transaction: Transaction) -> None:
        self.young: dict[int, float] = {}
        self.filtered: dict[int, list[int]] = {}
        self.num_parts = 0.0
        # Without generations, there is nothing to look up.
        self.scheme: Scheme = "fss2"
        for number, generation, num_rows, bands, self.scheme in transaction.rows(_MEMBERS):
            in_band = in_a_band(num_rows, bands)
            if number is None:
                self.young[generation] = in_band
            else:
                self.filtered.setdefault(number, []).append(generation)
                self.num_parts += in_band / PART_ENTRIES

    def having(self, number: int, labels: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        """Yield the generations of a filter that have one of the labels, and which of the labels they have."""
        there = set(distinct(labels).tolist())
        for generation in self.filtered[number]:
            if label(generation) in there:
                yield generation, labels == label(generation)


def _entry(position: int) -> bytes:
    """Return the entry of a position with the label 0."""
    return ((position & (1 << LOW_BITS) - 1) << LABEL_BITS).to_bytes(ENTRY_BYTES, "big")


def _labels(entries: bytes, wanted: bytes) -> set[int]:
    """Return the labels of the entries of a part that are like this one."""
    labels, place = set[int](), -1
    # Only the last byte has bits of the label.
    while (place := entries.find(wanted[:-1], place + 1)) >= 0:
        last = entries[place + ENTRY_BYTES - 1] if place % ENTRY_BYTES == 0 else -1
        if last & -LABELS == wanted[-1]:
            labels.add(last & LABELS - 1)
    return labels


def places(transaction: Transaction, buckets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (row of `buckets`, generation) of the generations that may have each bucket, int64, shape (k, 2), sorted.

    Args: buckets: (band, bucket_hash), int64, shape (m, 2), sorted.
    """
    known, num_bands = _Members(transaction), 0
    codes = [np.empty(0, dtype=np.int64)]

    def found(rows: NDArray[np.int64], generation: int) -> None:
        codes.append(rows * (LAST_NUMBER + 1) + generation)

    positions = [np.empty(0, dtype=np.int64)]
    for begin, band, hashes in by_band(buckets):
        num_bands += 1
        for generation, num_rows in known.young.items():
            sizes = None
            if num_rows < ROWS_A_LOOKUP * len(hashes):
                sizes = sizes_in_pass(transaction, generation, band, hashes)
            if sizes is not None:
                found(begin + np.flatnonzero(sizes), generation)
            elif has_band(transaction, generation, band):
                found(np.arange(begin, begin + len(hashes)), generation)
        positions.append(positions_of(hashes, band, known.scheme))
    asked = np.concatenate(positions)
    are_few = PARTS_A_LOOKUP * len(asked) * len(known.filtered) < known.num_parts * num_bands
    for number, rows, labels in (_looked_up if are_few else _scanned)(transaction, asked, known.filtered):
        for generation, mine in known.having(number, labels):
            found(rows[mine], generation)
    # The codes of each generation are sorted, so they only merge.
    return np.column_stack(np.divmod(np.sort(np.concatenate(codes), kind="stable"), LAST_NUMBER + 1))


def sizes_in_pass(
    transaction: Transaction, generation: int, band: int, hashes: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """Return how many contents each bucket of a band has in a generation, int64, shape (n,). Reads all its rows.

    Returns: None if there are more rows than it takes to look the buckets up: a generation does not have the same
        number of rows in each band, and a young one of older versions has digests only.
    """
    most = 2 * ROWS_A_LOOKUP * len(hashes)
    found = hashes_from(transaction, generation, band, LEAST_HASH, most + 1)
    if len(found) > most:
        return None
    return np.searchsorted(found, hashes, side="right") - np.searchsorted(found, hashes)


def by_band(buckets: NDArray[np.int64]) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
    """Yield the hashes of each band, with the number of buckets before and that of the band. Args: as of `places`."""
    for band in distinct(buckets[:, 0]).tolist():
        begin, end = np.searchsorted(buckets[:, 0], (band, band + 1)).tolist()
        yield begin, band, buckets[begin:end, 1]


def _looked_up(
    transaction: Transaction, positions: NDArray[np.int64], among: Mapping[int, object]
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield (filter, indices of positions, labels), both int64, shape (k,), of the entries that filters have of them.

    Args: positions: int64, shape (n,), ascending.
    """
    for begin in range(0, len(positions), LOOKUPS_AT_A_TIME):
        asked = positions[begin : begin + LOOKUPS_AT_A_TIME]
        parts: dict[int, list[tuple[int, bytes]]] = {number: [] for number in among}
        for place, number, entries in transaction.rows(statements.filter_parts(), {"given": asked.tolist()}):
            if entries is not None:
                parts[number].append((place, entries))
        for number, mine in parts.items():
            if mine:
                rows = np.asarray([place for place, _ in mine], dtype=np.int64)
                bounds = row_offsets(np.asarray([len(entries) for _, entries in mine]) // ENTRY_BYTES)
                entries = _entries(b"".join(entries for _, entries in mine))
                found, labels = _matches(entries, asked[rows], (bounds[:-1], bounds[1:]), bounds[1:])
                yield number, begin + rows[found], labels


def _scanned(
    transaction: Transaction, positions: NDArray[np.int64], among: Mapping[int, object]
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield what `_looked_up` does. Reads all parts of the bands of the positions."""
    for number in among:
        for begin, end in _runs_of_bands(positions):
            rows, labels = _in_filter(transaction, number, positions[begin:end])
            yield number, begin + rows, labels


def _runs_of_bands(positions: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of positions of one band each, because other bands may lie between them."""
    bounds = np.flatnonzero(np.diff(positions >> PLACE_BITS, prepend=-1, append=-1)).tolist()
    yield from itertools.pairwise(bounds)


def _in_filter(
    transaction: Transaction, number: int, positions: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (index of a position, label) of each entry that a filter has of them, both int64, shape (k,).

    Args: positions: int64, shape (n,), ascending.
    """
    rows, labels, begin = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)], 0
    while begin < len(positions) and (parts := read_parts(transaction, number, int(positions[begin]))):
        after = int(np.searchsorted(positions, parts.ends[-1], side="right"))
        asked = positions[begin:after]
        part_of = np.searchsorted(parts.ends, asked)
        may_be = np.flatnonzero(parts.ends[part_of] >> LOW_BITS == asked >> LOW_BITS)
        asked, part_of = asked[may_be], part_of[may_be]
        entries = _entries(parts.entries)
        found, its_labels = _matches(entries, asked, _near(parts, entries, asked, part_of), parts.bounds[part_of + 1])
        rows.append(begin + may_be[found])
        labels.append(its_labels)
        begin = after
    return np.concatenate(rows), np.concatenate(labels)


def _entries(packed: bytes) -> NDArray[np.uint32]:
    """Return packed entries as the high bits of integers, and one more."""
    # Entries are big-endian, so one is the three high bytes of the integer that begins with it.
    return np.ndarray((len(packed) // ENTRY_BYTES + 1,), ">u4", packed + bytes(4), strides=(ENTRY_BYTES,))


def _near(
    parts: Parts, entries: NDArray[np.uint32], positions: NDArray[np.int64], part_of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the first entry of each position is, as `_matches` takes it, by those that are unpacked."""
    bounds = parts.bounds
    high = np.repeat(parts.ends >> LOW_BITS, np.diff(-(-bounds // SAMPLED)))
    unpacked = high << LOW_BITS | entries[:-1:SAMPLED] >> np.uint32(32 - LOW_BITS)
    place = SAMPLED * np.searchsorted(unpacked, positions)
    return np.maximum(place - SAMPLED + 1, bounds[part_of]), np.minimum(place, bounds[part_of + 1])


def _matches(
    entries: NDArray[np.uint32],
    positions: NDArray[np.int64],
    near: tuple[NDArray[np.int64], NDArray[np.int64]],
    ends: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (index of a position, label) of the entries of each position, both int64, shape (k,).

    A binary search of all positions at once, in the packed entries: unpacking them would take four times as long.

    Args:
        entries: as `_entries` returns them.
        near: the first entry of each position, or of the next one, is one of these or follows them: (first, after).
        ends: where the part of each position ends.
    """
    low = (positions & (1 << LOW_BITS) - 1).astype(np.uint32)
    wanted = low << np.uint32(32 - LOW_BITS)
    first, after = near
    for _ in range(int((after - first).max(initial=0)).bit_length()):
        middle = (first + after) >> 1
        is_less = (entries[middle] < wanted) & (first < after)
        first = np.where(is_less, middle + 1, first)
        after = np.where(is_less, after, middle)
    rows, labels, there = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)], np.arange(len(positions))
    # The entries of a position follow one another.
    while len(there := there[first[there] < ends[there]]):
        found = entries[first[there]].astype(np.int64)
        is_equal = found >> (32 - LOW_BITS) == low[there]
        there, found = there[is_equal], found[is_equal]
        rows.append(there)
        labels.append(found >> 8 * (4 - ENTRY_BYTES) & LABELS - 1)
        first[there] += 1
    return np.concatenate(rows), np.concatenate(labels)


def wrong(transaction: Transaction, generation: int) -> bool:
    """Return whether the filter of a generation denies a row of it. Reads all its rows."""
    number = next((one.filter for one in generations(transaction) if one.number == generation), None)
    position = 0
    while number is not None and position <= LAST_POSITION:
        expected, last = rows_from(transaction, generation, position)
        rows, labels = _in_filter(transaction, number, expected >> LABEL_BITS)
        if len(distinct(rows[labels == label(generation)])) < len(expected):
            return True
        position = last + 1
    return False
