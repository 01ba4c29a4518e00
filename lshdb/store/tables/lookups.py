"""Where a bucket may be: the generations that may have it, by their filters.

A *place* is a bucket in a generation. Nearly all places are ruled out here, without reading a page of the buckets.

- One question reads a part of each filter for each of its bands (`possible`).
- For many buckets, it takes less time to read the filters in order. `places` chooses.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from lshdb.model.arrays import distinct, row_offsets
from lshdb.model.choices import Scheme
from lshdb.model.values import BandKeys
from lshdb.store.schema import ENTRY_BITS, POSITION_BITS, bucket_generation, index_params
from lshdb.store.statements import statements
from lshdb.store.tables.filters import (
    ENTRY_BYTES,
    FEW_LABEL_BITS,
    LABEL_BITS,
    LABELS,
    LEAST_HASH,
    PART_ENTRIES,
    PLACE_BITS,
    Parts,
    has_band,
    hashes_from,
    high_bits,
    label,
    label_bits,
    low_bits,
    positions_of,
    read_parts,
    rows_in,
    unpacked,
)
from lshdb.store.tables.generation_list import LAST_NUMBER, generations, in_a_band
from lshdb.store.transaction import Snapshot, Transaction

__all__ = ["UNKNOWN", "BucketPlace", "first_possible", "places", "possible", "sized_places", "wrong"]

# (generation, band, bucket_hash)
BucketPlace: TypeAlias = tuple[int, int, int]

# The number of contents of a place that was not read.
UNKNOWN: Final = -1
# Looking a bucket up takes as long as reading this many rows.
ROWS_A_LOOKUP: Final = 6
# To look up this many buckets of a band takes no longer than to ask whether a generation has any row of the band.
BUCKETS_A_BAND: Final = 10
# Looking up a part takes about as long as reading this many in order: 1.5 us.
PARTS_A_LOOKUP: Final = 1
# Unpacking this many entries takes as long as searching for a position among packed ones.
UNPACKED_A_SEARCH: Final = 16
# Of more entries, every 16th is unpacked, and the search begins there.
SAMPLE_STEP: Final = 16
# Each takes 2 kB.
LOOKUPS_AT_A_TIME: Final = 2_000

_MEMBERS: Final = select(
    bucket_generation.c.filter,
    bucket_generation.c.generation,
    bucket_generation.c.num_rows,
    select(index_params.c.bands).scalar_subquery(),
    select(index_params.c.scheme).scalar_subquery(),
).order_by(bucket_generation.c.generation)


def possible(snapshot: Snapshot, scheme: Scheme, asked: BandKeys) -> tuple[list[BucketPlace], list[BucketPlace]]:
    """Return where the buckets of one sketch may be: in generations without a filter, and in others by their filters.

    Args:
        scheme: of the index.
        asked: the buckets, shape (1, bands).
    """
    buckets, positions = _asked(scheme, asked)
    young, filtered, _ = _possible(snapshot.rows(statements.filter_parts(), {"given": positions}), buckets, positions)
    return young, filtered


def first_possible(
    snapshot: Snapshot, scheme: Scheme, digest: BandKeys, asked: BandKeys
) -> tuple[list[BucketPlace], list[BucketPlace], bool]:
    """Return what `possible` returns about the bucket of a digest and those of its sketch, and whether that is all.

    If a filter has the digest, it is probably that of a text of the index, whose other buckets nobody needs to find.
    Each may be on a page that is read from the disk. So they are left out.

    Args: as of `possible`. digest: shape (1, 1).
    """
    (mine, (first,)), (others, positions) = _asked(scheme, digest), _asked(scheme, asked)
    plain, few, many = (_entry(first, bits) for bits in (0, FEW_LABEL_BITS, LABEL_BITS))
    entry = {"first": first, "plain": plain[0] + bytes([plain[1]]), "few": few[0], "many": many[0]}
    rows = snapshot.rows(statements.filter_parts(first_alone=True), {"given": [first, *positions], **entry})
    return _possible(rows, mine + others, [first, *positions])


def _asked(scheme: Scheme, asked: BandKeys) -> tuple[list[tuple[int, int]], list[int]]:
    """Return (band, bucket_hash) of the buckets of one sketch, and their positions in all bands."""
    hashes = asked.keys[0].view(np.int64)
    bands = np.arange(len(hashes)) << PLACE_BITS
    positions = positions_of(hashes, asked.first_band, scheme) + bands
    return list(enumerate(hashes.tolist(), start=asked.first_band)), positions.tolist()


def _possible(
    rows: Iterable[tuple[Any, ...]], buckets: list[tuple[int, int]], positions: list[int]
) -> tuple[list[BucketPlace], list[BucketPlace], bool]:
    """Return the places of buckets, as `first_possible` does. Args: rows: of `statements.filter_parts`."""
    members, found, num_parts = dict[int | None, list[int]](), list[tuple[int, int, set[int]]](), 0
    for place, number, entries, generation in rows:
        if place is None:
            members.setdefault(number, []).append(generation)
            continue
        num_parts += 1
        if entries is not None:
            high, last = _entry(positions[place], label_bits(number))
            # Nearly all are ruled out here.
            if high in entries:
                found.append((place, number, _labels(entries, high, last, label_bits(number))))
    without = members.pop(None, [])
    is_whole = num_parts == len(members) * len(positions)
    young = [(generation, *bucket) for generation in without for bucket in (buckets if is_whole else buckets[:1])]
    having = {number for _, number, _ in found}
    labelled = {number: [(label(one, number), one) for one in members[number]] for number in having}
    filtered = [
        (generation, *buckets[place])
        for place, number, labels in found
        for its_label, generation in labelled[number]
        if its_label in labels
    ]
    return young, filtered, is_whole


class _Members:
    """The generations that have each filter, and those that have none, with about the number of their rows in a band.

    Attributes:
        young: the generations without a filter.
        filtered: the generations that each filter stands for.
        scheme: of the index.

    Args: without: generations to leave out.
    """

    def __init__(self, transaction: Transaction, without: Collection[int]) -> None:
        self.young: dict[int, float] = {}
        self.filtered: dict[int, dict[int, float]] = {}
        # Without generations, there is nothing to look up.
        self.scheme: Scheme = "fss2"
        for number, generation, num_rows, bands, self.scheme in transaction.rows(_MEMBERS):
            if generation not in without:
                mine = self.young if number is None else self.filtered.setdefault(number, {})
                mine[generation] = in_a_band(num_rows, bands)

    def num_parts(self, number: int) -> float:
        """Return about how many parts a filter has of a band."""
        return sum(self.filtered[number].values()) / PART_ENTRIES


class _Places:
    """Collects places, each with the number of its contents, or UNKNOWN."""

    def __init__(self) -> None:
        self._codes, self._sizes = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]

    def add(self, rows: NDArray[np.int64], generation: int, sizes: NDArray[np.int64] | None = None) -> None:
        """Add buckets that a generation has, or may have.

        Args: rows: of the buckets, int64, shape (n,). sizes: how many contents each has there, or None if unknown.
        """
        if sizes is not None:
            rows, sizes = rows[sizes > 0], sizes[sizes > 0]
        self._codes.append(rows * (LAST_NUMBER + 1) + generation)
        self._sizes.append(np.full(len(rows), UNKNOWN) if sizes is None else sizes)

    def sorted(self) -> NDArray[np.int64]:
        """Return (row, generation, number of contents), int64, shape (k, 3)."""
        codes = np.concatenate(self._codes)
        # The codes of each generation are sorted, so they only merge.
        order = np.argsort(codes, kind="stable")
        return np.column_stack([*np.divmod(codes[order], LAST_NUMBER + 1), np.concatenate(self._sizes)[order]])


def _entry(position: int, bits: int) -> tuple[bytes, int]:
    """Return the high bytes and the last byte of the entry of a position with the label 0, which has this many bits."""
    high, last = divmod(position << bits & (1 << ENTRY_BITS) - 1, 256)
    return high.to_bytes(ENTRY_BYTES - 1, "big"), last


def _labels(entries: bytes, high: bytes, last: int, bits: int) -> set[int]:
    """Return the labels, which have this many bits, of the entries of a part that are like this one."""
    labels, mask, place = set[int](), -(1 << bits), -1
    # Only the last byte has bits of the label.
    while (place := entries.find(high, place + 1)) >= 0:
        if place % ENTRY_BYTES == 0 and (its_last := entries[place + ENTRY_BYTES - 1]) & mask == last:
            labels.add(its_last ^ last)
    return labels


def places(transaction: Transaction, buckets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (row of `buckets`, generation) of the generations that may have each bucket, int64, shape (k, 2), sorted.

    Args: buckets: (band, bucket_hash), int64, shape (m, 2), sorted.
    """
    return _placed(transaction, buckets, rows_of_filtered=0)[:, :2]


def sized_places(
    transaction: Transaction, buckets: NDArray[np.int64], without: Collection[int] = ()
) -> NDArray[np.int64]:
    """Return what `places` does, each with the number of its contents, or UNKNOWN: int64, shape (k, 3).

    For buckets that exist, such as those of new contents: a generation that has many of them is read in order.

    Args: without: generations to leave out.
    """
    return _placed(transaction, buckets, without, rows_of_filtered=ROWS_A_LOOKUP)


def _placed(
    transaction: Transaction, buckets: NDArray[np.int64], without: Collection[int] = (), *, rows_of_filtered: int
) -> NDArray[np.int64]:
    """Return `sized_places`.

    Args: rows_of_filtered: a generation with a filter is read if it has fewer rows for each bucket that it may have.
    """
    known, bands, found = _Members(transaction, without), list(_by_band(buckets)), _Places()
    for begin, band, hashes in bands:
        for generation, num_rows in known.young.items():
            rows = np.arange(begin, begin + len(hashes))
            sizes = _sizes_by_pass(transaction, generation, num_rows, band, hashes, ROWS_A_LOOKUP)
            if sizes is not None or len(hashes) <= BUCKETS_A_BAND or has_band(transaction, generation, band):
                found.add(rows, generation, sizes)
    positions = [positions_of(hashes, band, known.scheme) for _, band, hashes in bands]
    of_all_bands = np.concatenate([np.empty(0, dtype=np.int64), *positions])
    for number, members in known.filtered.items():
        if PARTS_A_LOOKUP * len(buckets) < known.num_parts(number) * len(bands):
            for rows, labels in _looked_up(transaction, number, of_all_bands):
                for generation, mine in _by_generation(number, labels, members):
                    found.add(rows[mine], generation)
            continue
        for (begin, band, hashes), asked in zip(bands, positions, strict=True):
            rows, labels = _in_filter(transaction, number, asked)
            for generation, mine in _by_generation(number, labels, members):
                wanted, num_rows = hashes[rows[mine]], members[generation]
                sizes = _sizes_by_pass(transaction, generation, num_rows, band, wanted, rows_of_filtered)
                found.add(begin + rows[mine], generation, sizes)
    return found.sorted()


def _by_generation(
    number: int, labels: NDArray[np.int64], among: Iterable[int]
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield the generations of a filter whose label occurs, and where, int64, shape (n,)."""
    there = set(distinct(labels).tolist())
    for generation in among:
        if (mine := label(generation, number)) in there:
            yield generation, np.flatnonzero(labels == mine)


def _by_band(buckets: NDArray[np.int64]) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
    """Yield the hashes of each band, with the number of buckets before and that of the band. Args: as of `places`."""
    for band in distinct(buckets[:, 0]).tolist():
        begin, end = np.searchsorted(buckets[:, 0], (band, band + 1)).tolist()
        yield begin, band, buckets[begin:end, 1]


def _sizes_by_pass(
    transaction: Transaction, generation: int, num_rows: float, band: int, hashes: NDArray[np.int64], rows_a_hash: int
) -> NDArray[np.int64] | None:
    """Return how many contents each bucket of a band has in a generation, int64, shape (n,), by reading all its rows.

    Args: num_rows: about the number of its rows in the band.
    Returns: None if it has `rows_a_hash` rows or more for each hash.
    """
    most = rows_a_hash * len(hashes)
    if num_rows >= most:
        return None
    # Not all bands have the same number of rows, and a young generation of older versions has digests only.
    found = hashes_from(transaction, generation, band, LEAST_HASH, 2 * most + 1)
    if len(found) > 2 * most:
        return None
    return np.searchsorted(found, hashes, side="right") - np.searchsorted(found, hashes)


def _looked_up(
    transaction: Transaction, number: int, positions: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield what `_in_filter` returns, some positions at a time. Looks up the part of each."""
    for begin in range(0, len(positions), LOOKUPS_AT_A_TIME):
        asked = positions[begin : begin + LOOKUPS_AT_A_TIME]
        given = {"given": (number << POSITION_BITS | asked).tolist()}
        parts = [(place, packed) for place, packed in transaction.rows(statements.parts_at(), given) if packed]
        if parts:
            rows = np.asarray([place for place, _ in parts], dtype=np.int64)
            bounds = row_offsets(np.asarray([len(packed) for _, packed in parts]) // ENTRY_BYTES)
            entries = high_bits(b"".join(packed for _, packed in parts))
            found, labels = _matches(number, entries, asked[rows], (bounds[:-1], bounds[1:]), bounds[1:])
            yield begin + rows[found], labels


def _in_filter(
    transaction: Transaction, number: int, positions: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (index of a position, label) of each entry that a filter has of them, both int64, shape (k,).

    Args: positions: int64, shape (n,), ascending.
    """
    rows, labels, begin = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)], 0
    until = int(positions.max(initial=0))
    while begin < len(positions) and (parts := read_parts(transaction, number, int(positions[begin]), until=until)):
        after = int(np.searchsorted(positions, parts.ends[-1], side="right"))
        are_few = parts.bounds[-1] < UNPACKED_A_SEARCH * (after - begin)
        found, its_labels = (_in_few if are_few else _in_many)(parts, positions[begin:after])
        rows.append(begin + found)
        labels.append(its_labels)
        begin = after
    return np.concatenate(rows), np.concatenate(labels)


def _in_few(parts: Parts, positions: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what `_in_filter` does, of parts with few entries for each position: all of them are unpacked."""
    # With one that no position has at the end.
    codes = np.append(unpacked(parts), -1)
    first = np.searchsorted(codes[:-1], positions << LABEL_BITS)
    rows, labels, there = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)], np.arange(len(positions))
    while len(there := there[codes[first[there]] >> LABEL_BITS == positions[there]]):
        rows.append(there)
        labels.append(codes[first[there]] & LABELS - 1)
        first[there] += 1
    return np.concatenate(rows), np.concatenate(labels)


def _in_many(parts: Parts, positions: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what `_in_filter` does, of parts with many entries for each position."""
    part_of, low = np.searchsorted(parts.ends, positions), low_bits(parts.number)
    may_be = np.flatnonzero(parts.ends[part_of] >> low == positions >> low)
    asked, part_of, entries = positions[may_be], part_of[may_be], high_bits(parts.entries)
    near = _near(parts, entries, asked, part_of)
    found, labels = _matches(parts.number, entries, asked, near, parts.bounds[part_of + 1])
    return may_be[found], labels


def _near(
    parts: Parts, entries: NDArray[np.uint32], positions: NDArray[np.int64], part_of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the first entry of each position may be, as `_matches` takes it: between two that are unpacked."""
    bounds, low = parts.bounds, low_bits(parts.number)
    high = np.repeat(parts.ends >> low, np.diff(-(-bounds // SAMPLE_STEP)))
    sample = high << low | entries[:-1:SAMPLE_STEP] >> np.uint32(32 - low)
    place = SAMPLE_STEP * np.searchsorted(sample, positions)
    return np.maximum(place - SAMPLE_STEP + 1, bounds[part_of]), np.minimum(place, bounds[part_of + 1])


def _matches(
    number: int,
    entries: NDArray[np.uint32],
    positions: NDArray[np.int64],
    near: tuple[NDArray[np.int64], NDArray[np.int64]],
    ends: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (index of a position, label) of the entries of each position, both int64, shape (k,).

    A binary search of all positions at once.

    Args:
        number: of the filter.
        entries: as `filters.high_bits` returns them.
        near: the first entry of each position, or of the next one, is one of these or follows them: (first, after).
        ends: where the part of each position ends.
    """
    shift = 32 - low_bits(number)
    wanted = (positions << shift).astype(np.uint32)
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
        is_equal = found >> shift == wanted[there] >> np.uint32(shift)
        there, found = there[is_equal], found[is_equal]
        rows.append(there)
        labels.append(found >> 8 * (4 - ENTRY_BYTES) & (1 << label_bits(number)) - 1)
        first[there] += 1
    return np.concatenate(rows), np.concatenate(labels)


def wrong(transaction: Transaction, generation: int) -> bool:
    """Return whether the filter of a generation denies a row of it. Reads all its rows."""
    number = next((one.filter for one in generations(transaction) if one.number == generation), None)
    if number is None:
        return False
    for expected in rows_in(transaction, generation):
        rows, labels = _in_filter(transaction, number, expected >> LABEL_BITS)
        if len(distinct(rows[labels == label(generation, number)])) < len(expected):
            return True
    return False
