"""The filters of generations: they tell that a generation has no row of a bucket, without reading its pages.

A filter is a Bloom filter (Bloom 1970, Space/time trade-offs in hash coding), divided into parts. A part covers the
hashes of a band up to its `last_hash`, from the last one of the part before. Where a generation has no part for a hash,
it may have rows of it: a young generation has no filter, and that of a larger one is built in steps.

No row is added to a generation that has a filter. A row that is deleted or moved away stays in it, which costs a read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import String, bindparam, cast, delete, func, select

from lshdb.model.arrays import distinct
from lshdb.model.values import BandKeys
from lshdb.store.dialect import Columns
from lshdb.store.schema import band_bucket, bucket_filter
from lshdb.store.statements import statements
from lshdb.store.transaction import Transaction

__all__ = ["covers", "drop", "exists", "extend", "may_have", "possible", "wrong"]

# 10 bits for each hash: 1 % of the lookups read a page in vain.
PART_HASHES: Final = 800
PART_BYTES: Final = 1_024
NUM_POSITIONS: Final = 4
POSITION_BITS: Final = 13
# Rows that are read in one transaction: 0.05 s.
STEP_ROWS: Final = 200_000
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


def exists(transaction: Transaction, generation: int) -> bool:
    """Return whether a generation has a filter, or a part of one."""
    return transaction.execute(_LAST, {"generation": generation}).first() is not None


def covers(transaction: Transaction, generation: int, band: int) -> bool:
    """Return whether the filter of a generation has a part for a band."""
    return transaction.execute(_PARTS.limit(1), {"generation": generation, "band": band}).first() is not None


def drop(transaction: Transaction, generation: int) -> None:
    """Delete the filter of a generation, if it has one."""
    transaction.execute(delete(bucket_filter).where(_MINE), {"generation": generation})


def extend(transaction: Transaction, generation: int, below: int | None = None) -> bool:
    """Add the next parts to the filter of a generation. Returns: whether there were any.

    Args: below: the first band whose rows may not all be there yet.
    """
    last = transaction.execute(_LAST, {"generation": generation}).one_or_none()
    band, begin = (-(2**15), LAST_HASH) if last is None else (last.band, last.last_hash)
    if begin == LAST_HASH:
        band = transaction.execute(_NEXT_BAND, {"generation": generation, "band": band}).scalar_one_or_none()
        if band is None or (below is not None and band >= below):
            return False
        begin = FIRST_HASH
    else:
        begin += 1
    num_rows, hashes = _next_hashes(transaction, generation, band, begin)
    _put(transaction, generation, band, hashes, is_end=num_rows < STEP_ROWS)
    return True


def possible(transaction: Transaction, band_keys: BandKeys) -> list[tuple[int, int, int]]:
    """Return (generation, band, bucket_hash) of the buckets of one sketch in the generations that may have them.

    Args: band_keys: shape (1, bands).
    """
    hashes = band_keys.keys[0].view(np.int64)
    asked = {"given": hashes.tolist(), "first_band": band_keys.first_band}
    positions = _positions(hashes).tolist()
    return [
        (generation, band_keys.first_band + key, value)
        for key, value, generation, bits in transaction.rows(statements.filter_parts(), asked)
        if bits is None or all(bits[place >> 3] >> (place & 7) & 1 for place in positions[key])
    ]


def may_have(transaction: Transaction, generation: int, band: int, hashes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which buckets of a band a generation may have, bool, shape (n,). Reads the whole filter of the band."""
    return _filter_of(transaction, generation, band).may_have(hashes)


def wrong(transaction: Transaction, generation: int) -> bool:
    """Return whether the filter of a generation denies a row that the generation has. Reads all rows of its bands."""
    return any(
        not mine.may_have(hashes).all()
        for band in _bands(transaction, generation)
        if len((mine := _filter_of(transaction, generation, band)).last_hashes)
        for hashes in _hashes(transaction, generation, band)
    )


@dataclass(frozen=True, slots=True)
class _Filter:
    """The filter of a band. Args: last_hashes: int64, shape (p,); bits: uint8, shape (p, PART_BYTES)."""

    last_hashes: NDArray[np.int64]
    bits: NDArray[np.uint8]

    def may_have(self, hashes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which hashes the filter does not deny, bool, shape (n,)."""
        part = np.searchsorted(self.last_hashes, hashes)
        found, covered = np.ones(len(hashes), dtype=np.bool_), np.flatnonzero(part < len(self.last_hashes))
        places = _positions(hashes[covered])
        found[covered] = (self.bits[part[covered, None], places >> 3] >> (places & 7) & 1).all(axis=1)
        return found


def _filter_of(transaction: Transaction, generation: int, band: int) -> _Filter:
    rows = list(transaction.rows(_PARTS, {"generation": generation, "band": band}))
    bits = np.frombuffer(b"".join(part for _, part in rows), np.uint8).reshape(-1, PART_BYTES)
    return _Filter(np.asarray([last_hash for last_hash, _ in rows], dtype=np.int64), bits)


def _bands(transaction: Transaction, generation: int) -> Iterator[int]:
    """Yield the bands of which a generation has rows."""
    band = -(2**15)
    while (found := transaction.execute(_NEXT_BAND, {"generation": generation, "band": band}).scalar()) is not None:
        band = found
        yield band


def _hashes(transaction: Transaction, generation: int, band: int) -> Iterator[NDArray[np.int64]]:
    """Yield the hashes of a band, some at a time."""
    begin, num_rows = FIRST_HASH, STEP_ROWS
    while num_rows == STEP_ROWS and begin <= LAST_HASH:
        num_rows, hashes = _next_hashes(transaction, generation, band, begin)
        yield hashes
        begin = int(hashes[-1]) + 1 if num_rows else begin


def _next_hashes(transaction: Transaction, generation: int, band: int, begin: int) -> tuple[int, NDArray[np.int64]]:
    """Return the number of the next rows, at most STEP_ROWS, and their distinct hashes, int64, ascending."""
    asked = {"generation": generation, "band": band, "begin": begin, "count": STEP_ROWS}
    num_rows, hashes = transaction.execute(_HASHES, asked).one()
    return num_rows, distinct(np.fromstring(hashes or "", np.int64, sep=","))


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
    # Slices of the hash itself. Its high bits are alike in a part.
    shifts = np.arange(0, NUM_POSITIONS * POSITION_BITS, POSITION_BITS)
    return (hashes[:, None] >> shifts) & (8 * PART_BYTES - 1)
