"""The filters of generations: they tell which generations may have a bucket, without reading the pages of its rows.

A filter stands for all rows of one or more generations. The *position* of a bucket in it consists of its band and the
high bits of its hash. An entry has 24 bits: the low bits of a position, and after them the *label* of a generation that
has the bucket: the low bits of its number. The filter of a single generation needs no labels. Those of others have 4
bits if these tell its generations apart, and otherwise 6. The number of the filter tells which.

Entries are sorted, and divided into parts, one row of `bucket_filter` each. All positions of a part have the same high
bits, which are in its key. So filters merge like sorted lists, without reading the buckets again (`filter_merges`).
`lookups` finds buckets in them.

The fewer bits a label has, the more positions a part covers. A load of 120,000 texts has a filter of 5,400 parts
without labels, and of 86,000 with labels of 4 bits, all of which a merge reads and deletes. With millions of texts, the
parts are full anyway.

A filter has no false negatives: no row is added to a generation that has one, and it is used only when it is complete.
A row that was deleted stays in the filter, which costs a read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from sqlalchemy import bindparam, delete, func, select

from lshdb.model.arrays import are_first, distinct, row_offsets
from lshdb.model.choices import BUCKET_BITS, Scheme
from lshdb.store.dialect import Columns
from lshdb.store.returned import as_text, integers, joined
from lshdb.store.schema import (
    DIGEST_BAND,
    ENTRY_BITS,
    MANY_LABELS,
    POSITION_BITS,
    band_bucket,
    bucket_filter,
    index_params,
)
from lshdb.store.tables.generation_list import LAST_NUMBER, change, following, generations, used
from lshdb.store.transaction import Transaction

__all__ = [
    "ENTRY_BYTES",
    "FEW_LABEL_BITS",
    "IN_RANGE",
    "LABELS",
    "LABEL_BITS",
    "LAST_POSITION",
    "LEAST_HASH",
    "PART_ENTRIES",
    "PLACE_BITS",
    "Parts",
    "band_positions",
    "begin",
    "delete_band",
    "drop",
    "entries_of",
    "has_band",
    "hashes_from",
    "high_bits",
    "key_range",
    "label",
    "label_bits",
    "low_bits",
    "new_number",
    "parts_in",
    "positions_of",
    "put",
    "read_all",
    "read_parts",
    "rows_from",
    "rows_in",
    "scheme_of",
    "stored",
    "unpacked",
]

# Bits of a hash that are in a position. With ten million texts, they rule out 998 of 1,000 buckets that do not exist:
# docs/design.md has the arithmetic.
PLACE_BITS: Final = 32
LAST_POSITION: Final = (1 << POSITION_BITS) - 1
ALL_POSITIONS: Final = range(LAST_POSITION + 1)
ENTRY_BYTES: Final = ENTRY_BITS // 8
# The most that an entry has. In memory, every label has so many.
LABEL_BITS: Final = 6
LABELS: Final = 1 << LABEL_BITS
# Of a filter whose generations they tell apart.
FEW_LABEL_BITS: Final = 4
# The numbers of filters by the bits of their labels, as `label_bits` tells.
NUMBERS: Final = {
    0: range(0, LAST_NUMBER + 1, 2),
    FEW_LABEL_BITS: range(1, MANY_LABELS, 2),
    LABEL_BITS: range(MANY_LABELS + 1, LAST_NUMBER + 1, 2),
}
# 2 kB, which Postgres keeps in the row.
PART_ENTRIES: Final = 640
# Read at once: up to 4 MB.
READ_PARTS: Final = 2_000
READ_ROWS: Final = 200_000
LEAST_BAND: Final = -(2**15)
LEAST_HASH: Final = -(2**63)

# The condition that the key of a part is in ``:begin`` to ``:end``, both ends included.
IN_RANGE: Final = bucket_filter.c.part_key.between(bindparam("begin"), bindparam("end"))

_DELETE: Final = delete(bucket_filter).where(IN_RANGE)
_SCHEME: Final = select(index_params.c.scheme)
# The first part of each filter: each is looked up after the last position of the filter before.
_FIRST: Final = select(func.min(bucket_filter.c.part_key).label("part_key")).cte("firsts", recursive=True)
_NEXT: Final = select(func.min(bucket_filter.c.part_key)).where(
    bucket_filter.c.part_key > _FIRST.c.part_key.bitwise_or(LAST_POSITION)
)
_FIRSTS: Final = _FIRST.union_all(select(_NEXT.scalar_subquery()).where(_FIRST.c.part_key.is_not(None)))
_STORED: Final = select(_FIRSTS.c.part_key).where(_FIRSTS.c.part_key.is_not(None))
_SOME_PARTS: Final = (
    select(bucket_filter.c.part_key, bucket_filter.c.entries)
    .where(IN_RANGE)
    .order_by(bucket_filter.c.part_key)
    .limit(bindparam("count"))
    .subquery("some_parts")
)
_PARTS: Final = select(
    as_text(_SOME_PARTS.c.part_key),
    as_text(func.length(_SOME_PARTS.c.entries)),
    joined(_SOME_PARTS.c.entries),
)
_MINE: Final = band_bucket.c.generation == bindparam("generation")
_NEXT_BAND: Final = (
    select(band_bucket.c.band)
    .where(_MINE, band_bucket.c.band > bindparam("band"))
    .order_by(band_bucket.c.band)
    .limit(1)
)
_SOME: Final = (
    select(band_bucket.c.bucket_hash)
    .where(_MINE, band_bucket.c.band == bindparam("band"), band_bucket.c.bucket_hash >= bindparam("begin"))
    .order_by(band_bucket.c.bucket_hash)
    .limit(bindparam("count"))
    .subquery("some_rows")
)
_HASHES: Final = select(as_text(_SOME.c.bucket_hash))


class Parts(Struct, frozen=True):
    """Successive parts of a filter.

    Args:
        number: of the filter.
        ends: the last position of each part, int64, shape (n,), ascending.
        bounds: where the entries of each part begin, and where those of the last part end, int64, shape (n + 1,).
        entries: the entries of all parts, big-endian, ENTRY_BYTES each.
    """

    number: int
    ends: NDArray[np.int64]
    bounds: NDArray[np.int64]
    entries: bytes

    def __len__(self) -> int:
        return len(self.ends)


def label_bits(number: int) -> int:
    """Return how many bits of an entry of a filter are a label."""
    if number & 1 == 0:
        return 0
    return FEW_LABEL_BITS if number < MANY_LABELS else LABEL_BITS


def low_bits(number: int) -> int:
    """Return how many bits of an entry of a filter are those of a position."""
    return ENTRY_BITS - label_bits(number)


def label(generation: int, number: int) -> int:
    """Return the low bits of a generation's number, by which a filter tells it from others."""
    return generation & (1 << label_bits(number)) - 1


def new_number(taken: set[int], bits: int) -> int:
    """Return a free number for a filter. Args: bits: of its labels."""
    return following(taken, NUMBERS[bits])


def stored(transaction: Transaction) -> set[int]:
    """Return the filters that have parts."""
    return {int(part_key) >> POSITION_BITS for part_key in transaction.execute(_STORED).scalars()}


def drop(transaction: Transaction, generation: int) -> None:
    """Leave a generation without a filter. The next merge deletes the parts, if no other generation needs them."""
    change(transaction, [generation], filter=None, next_filter=None)


def begin(transaction: Transaction, generation: int) -> int:
    """Give a generation an empty filter, and return its number. Its entries must follow in the same transaction."""
    number = new_number(stored(transaction) | used(generations(transaction)), 0)
    change(transaction, [generation], filter=number)
    return number


def scheme_of(transaction: Transaction) -> Scheme:
    """Return the scheme of the index, on which positions depend."""
    scheme: Scheme = transaction.execute(_SCHEME).scalar_one()
    return scheme


def entries_of(hashes: NDArray[np.int64], band: int, scheme: Scheme) -> NDArray[np.int64]:
    """Return the entries of rows of a band, as `put` takes them, with the label 0. Args: hashes: int64, shape (n,)."""
    return distinct(positions_of(hashes, band, scheme)) << LABEL_BITS


def delete_band(transaction: Transaction, band: int) -> None:
    """Delete the parts of a band that has no rows any more from all filters."""
    positions = band_positions(band)
    for number in stored(transaction):
        transaction.execute(_DELETE, key_range(number, positions[0], positions[-1]))


def key_range(number: int, first: int = 0, last: int = LAST_POSITION) -> dict[str, int]:
    """Return the parameters of `IN_RANGE` for the parts of a filter from one position to another."""
    return {"begin": number << POSITION_BITS | first, "end": number << POSITION_BITS | last}


def band_positions(band: int) -> range:
    """Return the positions of a band."""
    first = band - LEAST_BAND << PLACE_BITS
    return range(first, first + (1 << PLACE_BITS))


def positions_of(hashes: NDArray[np.int64], band: int, scheme: Scheme) -> NDArray[np.int64]:
    """Return the positions of buckets, int64, shape (n,), not negative, in the order of (band, bucket_hash)."""
    shift, least = _scale(band, scheme)
    return band_positions(band).start + ((hashes >> shift) - least)


def _scale(band: int, scheme: Scheme) -> tuple[int, int]:
    """Return how many low bits of a hash are not in its position, and the least hash without them."""
    bits = 64 if band == DIGEST_BAND else BUCKET_BITS[scheme]
    shift = bits - PLACE_BITS
    return shift, (LEAST_HASH >> shift if bits == 64 else 0)


def put(transaction: Transaction, number: int, entries: NDArray[np.int64]) -> None:
    """Write parts of a filter. Args: entries: whole positions with labels, int64, shape (n,), ascending, distinct."""
    if not len(entries):
        return
    bits = label_bits(number)
    codes = entries >> LABEL_BITS << bits | entries & (1 << bits) - 1
    high = codes >> ENTRY_BITS
    ranges = np.append(np.flatnonzero(are_first(high)), len(codes))
    num_parts = -(-np.diff(ranges) // PART_ENTRIES)
    begins = np.repeat(ranges[:-1] - PART_ENTRIES * row_offsets(num_parts)[:-1], num_parts)
    begins += PART_ENTRIES * np.arange(len(begins))
    # A part has all labels of its positions, so it begins with the first entry of one.
    begins = distinct(np.searchsorted(codes, codes[begins] & -(1 << bits)))
    ends = np.append(begins[1:], len(codes))
    packed = _packed(codes)
    places = zip((ENTRY_BYTES * begins).tolist(), (ENTRY_BYTES * ends).tolist(), strict=True)
    columns: Columns = {
        "part_key": number << POSITION_BITS | codes[ends - 1] >> bits,
        "entries": [packed[first:end] for first, end in places],
    }
    transaction.bulk_insert(bucket_filter, columns)


def read_parts(
    transaction: Transaction, number: int, position: int, count: int | None = None, until: int = LAST_POSITION
) -> Parts:
    """Return the next parts of a filter, from a position on; fewer than `count` if there are no more.

    Args:
        count: None for READ_PARTS.
        until: the last position whose part is wanted. There may be a few parts after it.
    """
    # A part does not go beyond positions that differ only in the bits of an entry.
    end = until | (1 << ENTRY_BITS) - 1
    asked = key_range(number, position, end) | {"count": READ_PARTS if count is None else count}
    part_keys, sizes, entries = transaction.execute(_PARTS, asked).one()
    bounds = row_offsets(integers(sizes) // ENTRY_BYTES)
    return Parts(number, integers(part_keys) & LAST_POSITION, bounds, entries or b"")


def read_all(transaction: Transaction) -> None:
    """Read the parts of all filters."""
    for number in stored(transaction):
        for _ in parts_in(transaction, number):
            pass


def parts_in(transaction: Transaction, number: int, positions: range = ALL_POSITIONS) -> Iterator[Parts]:
    """Yield the parts of a filter, some at a time. Args: positions: all, or those of a band."""
    position = positions.start
    # Beyond the last position, the key would be that of another filter, or of this one's first part.
    while position in positions and (parts := read_parts(transaction, number, position, until=positions[-1])):
        yield parts
        position = int(parts.ends[-1]) + 1


def _packed(codes: NDArray[np.int64]) -> bytes:
    """Return the low ENTRY_BYTES bytes of each code, big-endian."""
    whole, packed = codes.astype(">u4").view(np.uint8).reshape(-1, 4), np.empty((len(codes), ENTRY_BYTES), np.uint8)
    # In a third of the time of one assignment.
    for place in range(ENTRY_BYTES):
        packed[:, place] = whole[:, place - ENTRY_BYTES]
    return packed.tobytes()


def high_bits(packed: bytes) -> NDArray[np.uint32]:
    """Return packed entries as the three high bytes of integers, and one more. The low byte is of the next entry."""
    # Copied, because NumPy takes five times as long to choose from integers that are not aligned.
    return np.ndarray((len(packed) // ENTRY_BYTES + 1,), ">u4", packed + bytes(4), strides=(ENTRY_BYTES,)).astype("u4")


def unpacked(parts: Parts) -> NDArray[np.int64]:
    """Return the entries of parts as whole positions with labels, int64, shape (n,), ascending."""
    size, bits = ENTRY_BITS, label_bits(parts.number)
    found = np.repeat(parts.ends >> low_bits(parts.number) << size, np.diff(parts.bounds))
    found |= high_bits(parts.entries)[:-1] >> np.uint32(32 - size)
    return found >> bits << LABEL_BITS | found & (1 << bits) - 1


def rows_from(
    transaction: Transaction, generation: int, position: int, count: int = READ_ROWS
) -> tuple[NDArray[np.int64], int]:
    """Return what a filter has of the next rows of a generation from a position on, and the last position they cover.

    Returns: whole positions with the label 0, int64, shape (n,), ascending, distinct; empty if there are no more rows.
    """
    scheme, band = scheme_of(transaction), (position >> PLACE_BITS) + LEAST_BAND
    shift, least = _scale(band, scheme)
    begin = (position & (1 << PLACE_BITS) - 1) + least << shift
    hashes = hashes_from(transaction, generation, band, begin, count)
    entries = entries_of(hashes, band, scheme)
    if len(hashes) == count:
        return entries, int(entries[-1]) >> LABEL_BITS
    # The band has no more rows.
    following_band = _next_band(transaction, generation, band)
    last = LAST_POSITION if following_band is None else band_positions(following_band).start - 1
    return entries, last


def rows_in(transaction: Transaction, generation: int, positions: range = ALL_POSITIONS) -> Iterator[NDArray[np.int64]]:
    """Yield what a filter has of the rows of a generation, some at a time, as `rows_from`. Args: as of `parts_in`."""
    position = positions.start
    while position in positions:
        entries, last = rows_from(transaction, generation, position)
        yield entries
        position = last + 1


def hashes_from(transaction: Transaction, generation: int, band: int, begin: int, count: int) -> NDArray[np.int64]:
    """Return the hashes of the next rows that a generation has of a band, int64, shape (n,), ascending, n <= count."""
    asked = {"generation": generation, "band": band, "begin": begin, "count": count}
    return integers(transaction.execute(_HASHES, asked).scalar_one())


def has_band(transaction: Transaction, generation: int, band: int) -> bool:
    """Return whether a generation has rows of a band."""
    return _next_band(transaction, generation, band - 1) == band


def _next_band(transaction: Transaction, generation: int, band: int) -> int | None:
    """Return the first band after this one of which a generation has rows."""
    found = transaction.execute(_NEXT_BAND, {"generation": generation, "band": band}).scalar_one_or_none()
    return None if found is None else int(found)
