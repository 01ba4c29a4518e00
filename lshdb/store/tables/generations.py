"""The generations of `band_bucket`: where new rows go, and how small generations merge into large ones.

The buckets of new contents are spread over the whole range of hashes, so in one large tree they would touch most of
its pages. They go to a young generation instead, whose pages fit in memory, or if they are many, to a new one. FAN_OUT
generations of one size class merge into one of the next class, by an ordered pass, as log-structured merge trees do.

Each row is in one generation, and any generation may have any row. So a merge moves rows in small transactions, in the
order of the key, and a reader sees every row once at any time. A merge stores no position: it continues with the first
row that its sources still have, even after it was killed.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, and_, bindparam, delete, insert, literal, select, true, tuple_, union_all, update

from lshdb.store.schema import band_bucket, bucket_generation, index_params
from lshdb.store.statements.statements import NO_LIMIT
from lshdb.store.tables import filter_merges
from lshdb.store.tables.generation_list import (
    Generation,
    change,
    following,
    generations,
    in_a_band,
    num_rows_of,
)
from lshdb.store.transaction import Transaction

__all__ = [
    "FAN_OUT",
    "MOST_SOURCES",
    "YOUNG_ROWS",
    "filled_by",
    "fills_one",
    "forget_loads",
    "lacks_key",
    "mark_load",
    "merge_some",
    "num_contents",
    "numbers",
    "unite_filters",
    "young",
]

# 100,000 contents of 20 bands: 46 MB in SQLite, which fits the cache of the connection that writes.
YOUNG_ROWS: Final = 2_000_000
# docs/design.md has the arithmetic of both.
FAN_OUT: Final = 8
# Moved in one transaction, for which other writers wait: 0.15 s in SQLite, 0.5 s in Postgres.
STEP_ROWS: Final = 100_000
LAST_HASH: Final = 2**63 - 1
# A statement reads them all, and SQLite takes up to 500 SELECTs in one.
MOST_SOURCES: Final = 100

_PLACE: Final = (band_bucket.c.band, band_bucket.c.bucket_hash)
_PLACES: Final = select(*_PLACE).order_by(*_PLACE)
# With new rows, its filter is wrong.
_TAKE: Final = (
    update(bucket_generation)
    .where(bucket_generation.c.generation == bindparam("taker"))
    .values(filter=None, next_filter=None, num_rows=bucket_generation.c.num_rows + bindparam("more"))
)
_BANDS: Final = select(index_params.c.bands).where(index_params.c.params_key == 1)


class _Step(Struct, frozen=True):
    """The next rows to move: those of a band whose hashes are in a range, both ends included."""

    band: int
    first_hash: int
    last_hash: int

    def of(self, source: int) -> ColumnElement[bool]:
        """Return the condition that a row of `band_bucket` belongs to the step, and to a generation."""
        hashes = band_bucket.c.bucket_hash.between(self.first_hash, self.last_hash)
        return and_(band_bucket.c.generation == source, band_bucket.c.band == self.band, hashes)


def numbers(transaction: Transaction) -> list[int]:
    """Return the numbers of the generations, ascending."""
    return [one.number for one in generations(transaction)]


def num_contents(transaction: Transaction) -> int:
    """Return about how many contents the rows belong to. Counting the contents of a large index would take seconds."""
    return round(in_a_band(num_rows_of(generations(transaction)), _num_bands(transaction)))


def fills_one(transaction: Transaction, num_rows: int) -> bool:
    """Return whether a load of this many rows becomes a new generation that is full."""
    return num_rows >= YOUNG_ROWS and not lacks_key(transaction)


def young(transaction: Transaction, num_rows: int) -> int:
    """Return the generation that takes the next `num_rows` rows, and count them."""
    known = generations(transaction)
    idle = _idle(known)
    takers = [one for one in idle if one.num_rows < YOUNG_ROWS]
    if fills_one(transaction, num_rows):
        takers = []
    # Until the first ingest of Postgres builds the key, there is one generation, which the key will order.
    if not takers and idle and lacks_key(transaction):
        takers = idle
    number = takers[0].number if takers else _create(transaction, known)
    transaction.execute(_TAKE, {"taker": number, "more": num_rows})
    return number


def merge_some(transaction: Transaction, *, moves: bool = True, most_sources: int = MOST_SOURCES) -> bool:
    """Continue a filter, or else move up to STEP_ROWS rows to a larger generation.

    Args:
        moves: False for filters only.
        most_sources: generations that may merge at once, at least FAN_OUT. With many, each row moves only once. With
            few, a merge soon ends; until then, the filters of its sources and of its target have the same buckets.

    Returns: whether there may be more to do.
    """
    if lacks_key(transaction):
        return False
    if moves:
        _begin(transaction, most_sources)
    # Filters first: they take a tenth of the time of a merge, and save more of a question's.
    if filter_merges.advance(transaction, YOUNG_ROWS):
        return True
    merges = _merges(generations(transaction))
    if not (merges and moves):
        return False
    # The smallest first, so that a long merge does not keep young generations from merging.
    target = min(merges, key=lambda target: num_rows_of(merges[target]))
    sources = [one.number for one in merges[target]]
    if (step := _next_step(transaction, sources, target)) is not None:
        _move(transaction, sources, target, step)
    else:
        transaction.execute(delete(bucket_generation).where(bucket_generation.c.merges_into == target))
    return True


def unite_filters(transaction: Transaction) -> bool:
    """Continue to merge all filters into one. Returns: whether there may be more to do."""
    return not lacks_key(transaction) and filter_merges.advance(transaction, YOUNG_ROWS, together=True)


def mark_load(transaction: Transaction, number: int, content_keys: NDArray[np.int64]) -> None:
    """Record that a generation has all rows of the contents of a load, and will have no others.

    Args: content_keys: int64, ascending, not empty.
    """
    first, last = int(content_keys[0]), int(content_keys[-1])
    change(transaction, [number], first_content_key=first, last_content_key=last)


def filled_by(transaction: Transaction, content_keys: NDArray[np.int64]) -> tuple[set[int], NDArray[np.bool_]]:
    """Return the generations that have all rows of some of the contents, and no others, and which contents these are.

    Args: content_keys: int64, shape (n,), ascending.
    Returns: the numbers of the generations, and bool, shape (n,).
    """
    filled, are_theirs = set[int](), np.zeros(len(content_keys), dtype=np.bool_)
    for one in generations(transaction):
        if one.first_content is not None and one.last_content is not None and one.merges_into is None:
            begin, end = np.searchsorted(content_keys, (one.first_content, one.last_content + 1)).tolist()
            # Of all contents of the load, which may be fewer than there are keys between the first and the last.
            if begin < end and in_a_band(one.num_rows, _num_bands(transaction)) == end - begin:
                filled.add(one.number)
                are_theirs[begin:end] = True
    return filled, are_theirs


def forget_loads(transaction: Transaction, numbers: Sequence[int] | None = None) -> None:
    """Record that generations may have other rows than all those of a load. Args: numbers: None for all generations."""
    theirs = true() if numbers is None else bucket_generation.c.generation.in_(numbers)
    of_loads = and_(theirs, bucket_generation.c.first_content_key.is_not(None))
    transaction.execute(update(bucket_generation).where(of_loads).values(first_content_key=None, last_content_key=None))


def _begin(transaction: Transaction, most_sources: int) -> None:
    """Start to merge the smallest idle generations of a size class, if it has FAN_OUT or more.

    Merges that have begun go first, unless this one is smaller. The filters of their sources do not merge meanwhile.
    """
    known = generations(transaction)
    fewer_than = min(map(num_rows_of, _merges(known).values()), default=math.inf)
    classes = defaultdict[int, list[Generation]](list)
    for one in sorted(_idle(known), key=lambda one: one.num_rows):
        if one.num_rows >= YOUNG_ROWS:
            # 0 for a generation that is just full, and 1 more for each FAN_OUT times that size.
            classes[int(math.log(one.num_rows / YOUNG_ROWS, FAN_OUT))].append(one)
    for sources in classes.values():
        chosen = sources[:most_sources]
        if len(sources) >= FAN_OUT and num_rows_of(chosen) < fewer_than:
            change(transaction, [one.number for one in chosen], merges_into=_create(transaction, known))
            return


def _merges(known: Sequence[Generation]) -> Mapping[int, Sequence[Generation]]:
    """Return the sources of each merge, by its target."""
    merges = defaultdict[int, list[Generation]](list)
    for one in known:
        if one.merges_into is not None:
            merges[one.merges_into].append(one)
    return merges


def _next_step(transaction: Transaction, sources: Sequence[int], target: int) -> _Step | None:
    """Return the first rows that the sources still have, or None if they have none."""
    starts = _firsts(transaction, sources, _beyond(transaction, target)) or _firsts(transaction, sources, true())
    if not starts:
        return None
    band, first_hash = min(starts)
    rest = _PLACES.where(band_bucket.c.band == band, band_bucket.c.bucket_hash >= first_hash)
    after = rest.offset(STEP_ROWS // len(sources)).limit(1)
    ends = [transaction.execute(after.where(band_bucket.c.generation == one)).one_or_none() for one in sources]
    last_hash = min((int(end.bucket_hash) - 1 for end in ends if end is not None), default=LAST_HASH)
    # A bucket of any size moves as a whole.
    return _Step(band, first_hash, max(first_hash, last_hash))


def _firsts(transaction: Transaction, sources: Sequence[int], among: ColumnElement[bool]) -> list[tuple[int, int]]:
    """Return (band, bucket_hash) of the first row of each source that has one."""
    first = _PLACES.where(among).limit(1)
    found = (transaction.execute(first.where(band_bucket.c.generation == one)).one_or_none() for one in sources)
    return [(int(one.band), int(one.bucket_hash)) for one in found if one is not None]


def _beyond(transaction: Transaction, target: int) -> ColumnElement[bool]:
    """Return the condition that a row belongs after those that were moved already.

    It saves time only: Postgres would read the index entries of the moved rows until they are vacuumed.
    """
    backwards = select(*_PLACE).order_by(*(column.desc() for column in _PLACE)).limit(1)
    last = transaction.execute(backwards.where(band_bucket.c.generation == target)).one_or_none()
    return true() if last is None else tuple_(*_PLACE) >= tuple_(*map(literal, last))


def _move(transaction: Transaction, sources: Sequence[int], target: int, step: _Step) -> None:
    columns = (band_bucket.c.bucket_hash, band_bucket.c.content_key)
    # A union of ordered parts: SQLite merges them without sorting. The limit keeps it from merging all four columns.
    ordered = union_all(*(select(*columns).where(step.of(source)) for source in sources))
    rows = ordered.order_by("bucket_hash", "content_key").limit(NO_LIMIT).subquery("ordered_rows")
    placed = select(literal(target), literal(step.band), *rows.columns)
    moved = transaction.execute(insert(band_bucket).from_select(band_bucket.columns.keys(), placed))
    change(transaction, [target], num_rows=bucket_generation.c.num_rows + moved.rowcount)
    for source in sources:
        transaction.execute(delete(band_bucket).where(step.of(source)))


def _idle(known: Sequence[Generation]) -> list[Generation]:
    """Return the generations that take no part in a merge."""
    targets = {one.merges_into for one in known}
    return [one for one in known if one.merges_into is None and one.number not in targets]


def _create(transaction: Transaction, known: Sequence[Generation]) -> int:
    """Create a generation, and return its number."""
    number = following({one.number for one in known})
    transaction.execute(insert(bucket_generation).values(generation=number, num_rows=0))
    return number


def _num_bands(transaction: Transaction) -> int:
    # Without SQLAlchemy's 50 us: each content that is added alone asks.
    ((bands,),) = transaction.rows(_BANDS)
    return int(bands)


def lacks_key(transaction: Transaction) -> bool:
    """Return whether the first ingest of Postgres has yet to build the key of the buckets."""
    return transaction.dialect.are_missing(transaction.connection, [band_bucket.primary_key])
