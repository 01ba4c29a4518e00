"""The filters of generations: they tell that generations have no row of a bucket, without reading their pages.

Generations that merge share one filter, which is that of their target, because a row only moves from one of them to
another. So there are few filters, even if merges take long.

A filter is a Bloom filter (Bloom 1970, Space/time trade-offs in hash coding), divided into parts. A part covers the
hashes of a band up to its `last_hash`, from the last one of the part before. It is built in that order, and its last
part is one of DIGEST_BAND, the last of all bands. So a band without a part has no rows if there is a part after it.
Where nothing follows, there may be rows: a young generation has no filter, and others are built in steps.

No row is added to generations that have a filter. A row that is deleted stays in it, which costs a read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import String, bindparam, cast, delete, func, select

from lshdb.model.arrays import distinct
from lshdb.model.values import BandKeys
from lshdb.store.dialect import Columns
from lshdb.store.schema import DIGEST_BAND, band_bucket, bucket_filter, bucket_generation
from lshdb.store.statements import statements
from lshdb.store.transaction import Transaction

__all__ = ["build", "drop", "extend", "groups", "lookups", "possible", "wrong"]

# 21 bits for each hash: of 10,000 lookups, one reads pages in vain.
PART_HASHES: Final = 384
PART_BYTES: Final = 1_024
NUM_POSITIONS: Final = 8
POSITION_BITS: Final = 13
# Rows that are read in one transaction: 0.05 s.
STEP_ROWS: Final = 200_000
FIRST_BAND: Final = -(2**15)
FIRST_HASH: Final = -(2**63)
LAST_HASH: Final = 2**63 - 1

_MINE: Final = bucket_filter.c.generation == bindparam("generation")
_LAST: Final = (
    select(bucket_filter.c.band, bucket_filter.c.last_hash)
    .where(_MINE)
    .order_by(bucket_filter.c.band.desc(), bucket_filter.c.last_hash.desc())
    .limit(1)
)
_PARTS: Final = (
    select(bucket_filter.c.last_hash, bucket_filter.c.bits)
    .where(_MINE, bucket_filter.c.band == bindparam("band"))
    .order_by(bucket_filter.c.last_hash)
)
_ROWS: Final = band_bucket.c.generation == bindparam("generation")
_NEXT_BAND: Final = (
    select(band_bucket.c.band)
    .where(_ROWS, band_bucket.c.band > bindparam("band"))
    .order_by(band_bucket.c.band)
    .limit(1)
)
_SOME: Final = (
    select(band_bucket.c.bucket_hash)
    .where(_ROWS, band_bucket.c.band == bindparam("band"), band_bucket.c.bucket_hash >= bindparam("begin"))
    .order_by(band_bucket.c.bucket_hash)
    .limit(bindparam("count"))
    .subquery("some_rows")
)
# As one text: rows of the driver would take twice as long.
_HASHES: Final = select(func.count(), func.aggregate_strings(cast(_SOME.c.bucket_hash, String), ","))
_GROUPS: Final = select(bucket_generation.c.generation, bucket_generation.c.merges_into).order_by(
    bucket_generation.c.generation
)


def groups(transaction: Transaction) -> dict[int, list[int]]:
    """Return the generations that share a filter, by the one whose filter it is: a target, or a single generation."""
    found = dict[int, list[int]]()
    for number, target in transaction.rows(_GROUPS):
        found.setdefault(number if target is None else target, []).append(number)
    return found


def drop(transaction: Transaction, generation: int) -> None:
    """Delete the filter of a generation, if it has one."""
    transaction.execute(delete(bucket_filter).where(_MINE), {"generation": generation})


def extend(transaction: Transaction, generation: int) -> bool:
    """Add the next parts to the filter of a generation and of those that merge into it.

    Returns: whether there were any.
    """
    last = transaction.execute(_LAST, {"generation": generation}).one_or_none()
    band, begin = (FIRST_BAND, LAST_HASH) if last is None else (last.band, last.last_hash)
    if (band, begin) == (DIGEST_BAND, LAST_HASH):
        return False
    members = groups(transaction)[generation]
    if begin == LAST_HASH:
        following = _next_band(transaction, members, band)
        band, begin = DIGEST_BAND if following is None else following, FIRST_HASH
    else:
        begin += 1
    hashes, is_end = _next_hashes(transaction, members, band, begin)
    _put(transaction, generation, band, hashes, is_end=is_end)
    return True


def build(transaction: Transaction, generation: int, band: int, hashes: NDArray[np.int64]) -> None:
    """Write the filter of a band from all its hashes, int64. Call it for each band, ascending, and for DIGEST_BAND."""
    _put(transaction, generation, band, distinct(hashes), is_end=True)


def possible(transaction: Transaction, band_keys: BandKeys) -> list[tuple[int, int, int]]:
    """Return (generation, band, bucket_hash) of the buckets of one sketch in the generations that may have them.

    Args: band_keys: shape (1, bands).
    """
    hashes, members = band_keys.keys[0].view(np.int64), groups(transaction)
    positions = _positions(hashes).tolist()
    asked = {"given": hashes.tolist(), "first_band": band_keys.first_band}
    found, uncovered = list[tuple[int, int, int]](), set[tuple[int, int]]()
    for key, value, generation, bits in transaction.rows(statements.filter_parts(), asked):
        if bits is None:
            found.append((generation, band_keys.first_band + key, value))
            uncovered.add((generation, key))
        elif _has(bits, positions[key]):
            found += ((number, band_keys.first_band + key, value) for number in members[generation])
    # Until the filter that they share is complete, generations keep their own.
    for target in {generation for generation, _ in uncovered if len(members[generation]) > 1}:
        sources = transaction.rows(statements.filter_parts_of_sources(), {**asked, "target": target})
        found += (
            (generation, band_keys.first_band + key, value)
            for key, value, generation, bits in sources
            if (target, key) in uncovered and (bits is None or _has(bits, positions[key]))
        )
    return found


def _has(bits: bytes, positions: Sequence[int]) -> bool:
    return len(bits) > 0 and all(bits[place >> 3] >> (place & 7) & 1 for place in positions)


def lookups(
    transaction: Transaction, band: int, hashes: NDArray[np.int64]
) -> Iterator[tuple[list[int], NDArray[np.bool_]]]:
    """Yield generations, and which buckets of a band they may have, bool, shape (n,). Reads all filters of the band.

    No generation is yielded twice.
    """
    positions = _positions(hashes)
    for generation, members in groups(transaction).items():
        covered, found = _filter_of(transaction, generation, band).ask(hashes, positions)
        if covered.all():
            yield members, found
            continue
        for number in members:
            own = found
            if number != generation:
                own = np.where(covered, found, _filter_of(transaction, number, band).ask(hashes, positions)[1])
            yield [number], own


def wrong(transaction: Transaction, generation: int) -> bool:
    """Return whether the filter of a generation denies a row that it stands for. Reads all rows of its bands."""
    members = groups(transaction).get(generation, [generation])
    band = FIRST_BAND
    while (following := _next_band(transaction, members, band)) is not None:
        band = following
        mine = _filter_of(transaction, generation, band)
        if len(mine.last_hashes) and any(
            not mine.ask(hashes, _positions(hashes))[1].all() for hashes in _hashes(transaction, members, band)
        ):
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Filter:
    """The filter of a band. Args: last_hashes: int64, shape (p,); bits: uint8, shape (p, PART_BYTES)."""

    last_hashes: NDArray[np.int64]
    bits: NDArray[np.uint8]

    def ask(
        self, hashes: NDArray[np.int64], positions: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return for which hashes there is a part, and which the filter does not deny, both bool, shape (n,)."""
        part = np.searchsorted(self.last_hashes, hashes)
        covered = part < len(self.last_hashes)
        found, asked = np.ones(len(hashes), dtype=np.bool_), np.flatnonzero(covered)
        # One position after the other: most hashes are denied by the first two.
        for places in positions.T:
            at = places[asked]
            has = (self.bits[part[asked], at >> 3] >> (at & 7) & 1).astype(np.bool_)
            found[asked[~has]] = False
            asked = asked[has]
        return covered, found


def _filter_of(transaction: Transaction, generation: int, band: int) -> _Filter:
    rows = list(transaction.rows(_PARTS, {"generation": generation, "band": band}))
    if not rows:
        last = transaction.execute(_LAST, {"generation": generation}).one_or_none()
        rows = [(LAST_HASH, bytes(PART_BYTES))] if last is not None and last.band > band else []
    bits = np.frombuffer(b"".join(part for _, part in rows), np.uint8).reshape(-1, PART_BYTES)
    return _Filter(np.asarray([last_hash for last_hash, _ in rows], dtype=np.int64), bits)


def _next_band(transaction: Transaction, members: Sequence[int], band: int) -> int | None:
    """Return the first band after this one of which the generations have rows."""
    asked = ({"generation": number, "band": band} for number in members)
    found = (transaction.execute(_NEXT_BAND, each).scalar_one_or_none() for each in asked)
    return min((int(one) for one in found if one is not None), default=None)


def _hashes(transaction: Transaction, members: Sequence[int], band: int) -> Iterator[NDArray[np.int64]]:
    """Yield the hashes of a band, some at a time."""
    begin, is_end = FIRST_HASH, False
    while not is_end:
        hashes, is_end = _next_hashes(transaction, members, band, begin)
        yield hashes
        begin = int(hashes.max(initial=FIRST_HASH)) + 1
        is_end |= begin > LAST_HASH


def _next_hashes(
    transaction: Transaction, members: Sequence[int], band: int, begin: int
) -> tuple[NDArray[np.int64], bool]:
    """Return the next distinct hashes of at most STEP_ROWS rows, int64, ascending, and whether they are the last."""
    each = max(1, STEP_ROWS // len(members))
    found, ends = [np.empty(0, dtype=np.int64)], [LAST_HASH]
    is_end = True
    for number in members:
        asked = {"generation": number, "band": band, "begin": begin, "count": each}
        num_rows, hashes = transaction.execute(_HASHES, asked).one()
        found.append(np.fromstring(hashes or "", np.int64, sep=","))
        if num_rows == each:
            # There may be more after its last one.
            ends.append(int(found[-1].max()))
            is_end = False
    values = distinct(np.concatenate(found))
    return values[values <= min(ends)], is_end


def _put(transaction: Transaction, generation: int, band: int, hashes: NDArray[np.int64], *, is_end: bool) -> None:
    """Write the parts for hashes. Args: is_end: the last one covers the rest of the band."""
    count = max(1, math.ceil(len(hashes) / PART_HASHES))
    bits = np.zeros((count, 8 * PART_BYTES), dtype=np.bool_)
    bits[np.arange(len(hashes))[:, None] // PART_HASHES, _positions(hashes)] = True
    last_hashes = np.append(hashes[PART_HASHES - 1 :: PART_HASHES][: count - 1], LAST_HASH if is_end else hashes[-1])
    columns: Columns = {
        "generation": np.full(count, generation, dtype=np.int16),
        "band": np.full(count, band, dtype=np.int16),
        "last_hash": last_hashes,
        "bits": [row.tobytes() for row in np.packbits(bits, axis=1, bitorder="little")],
    }
    transaction.bulk_insert(bucket_filter, columns)


def _positions(hashes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the bits of a part that stand for a hash, int64, shape (n, NUM_POSITIONS)."""
    # Of two parts of the hash itself (Kirsch, Mitzenmacher 2006). Its high bits are alike in a part of the filter.
    last = 8 * PART_BYTES - 1
    first, step = hashes & last, (hashes >> POSITION_BITS) & last | 1
    return (first[:, None] + step[:, None] * np.arange(NUM_POSITIONS)) & last
