"""The filters of full generations: built from their rows, and merged when they are many.

FAN_OUT filters of one size class merge into one of the next, independently of the rows, so that a question has
few filters to read even if merges of rows are far behind. After a link that reads all rows anyway, all filters merge
into one. The filter of a merge's target is made from those of its sources before the first row moves.

A filter is made in order, a few parts in one transaction, and is used when it is complete. If the process is killed,
the next one continues after its last part. The smallest is continued first, because ingests would leave tens of small
filters while a large one is made.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import delete, func, select, update

from lshdb.model.arrays import distinct
from lshdb.store.schema import band_bucket, bucket_filter, bucket_generation
from lshdb.store.tables import filters
from lshdb.store.tables.filters import FEW_LABEL_BITS, IN_RANGE, LABEL_BITS, LABELS, LAST_POSITION, label, label_bits
from lshdb.store.tables.generation_list import Generation, change, generations, num_rows_of, used
from lshdb.store.transaction import Transaction

__all__ = ["FAN_OUT", "advance"]

# docs/design.md has the arithmetic.
FAN_OUT: Final = 6
# Read or deleted in one transaction, for which other writers wait: 0.2 s.
STEP_PARTS: Final = 6_000
STEP_ROWS: Final = 200_000
NO_LABEL: Final = LABELS

_LAST: Final = select(func.max(bucket_filter.c.part_key)).where(IN_RANGE)
_SOME: Final = select(bucket_filter.c.part_key).where(IN_RANGE).order_by(bucket_filter.c.part_key).limit(STEP_PARTS)


def advance(transaction: Transaction, full: int, *, together: bool = False) -> bool:
    """Delete some parts that no generation needs, or make some of the next filter.

    Args:
        full: the number of rows from which on a generation has a filter.
        together: whether filters of all sizes merge into one.

    Returns: whether there was anything to do.
    """
    known = generations(transaction)
    stored = filters.stored(transaction)
    if needless := stored - used(known):
        parts = delete(bucket_filter).where(bucket_filter.c.part_key.in_(_SOME))
        transaction.execute(parts, filters.key_range(min(needless)))
        return True
    begun, fewer_than = _smallest_begun(known)
    # One for all filters waits for those that have begun.
    can_begin = begun is None or not together
    if can_begin and (sharing := _sharing(known, full, fewer_than, together=together)):
        begun = filters.new_number(stored | used(known), _label_bits(known, sharing))
        _begin(transaction, known, sharing, full, begun)
        known = generations(transaction)
    if begun is None:
        return False
    if not _extend(transaction, begun, _Inputs(transaction, known, begun)):
        mine = bucket_generation.c.next_filter == begun
        transaction.execute(update(bucket_generation).where(mine).values(filter=begun, next_filter=None))
    return True


def _smallest_begun(known: Sequence[Generation]) -> tuple[int | None, float]:
    """Return the filter with the fewest rows of those that have begun, and their number; None if there is none."""
    rows = defaultdict[int, int](int)
    for one in known:
        if one.next_filter is not None:
            rows[one.next_filter] += one.num_rows
    return min(((number, rows[number]) for number in rows), key=lambda one: one[1], default=(None, math.inf))


def _begin(
    transaction: Transaction, known: Sequence[Generation], sharing: Sequence[int], full: int, number: int
) -> None:
    """Begin a filter for some generations."""
    if num_rows_of(one for one in known if one.number in sharing and one.filter is None) > 2 * full:
        # Otherwise, Postgres would read and sort the rest of a band for each of its slices.
        transaction.dialect.analyse(transaction.connection, band_bucket)
    change(transaction, sharing, next_filter=number)


def _sharing(known: Sequence[Generation], full: int, fewer_than: float, *, together: bool) -> list[int]:
    """Return the generations that the next filter is for: one that needs one, or those of filters of one size.

    Args: fewer_than: they have fewer rows than this.
    """
    sizes, idle = _sizes_when_merged(known), [one for one in known if one.next_filter is None]
    for one in idle:
        if one.filter is None and full <= sizes.get(one.number, full) < fewer_than:
            return [one.number]
    rows = defaultdict[int, int](int)
    for one in idle:
        # What a merge is about to empty does not count.
        if one.filter is not None and one.number in sizes:
            rows[one.filter] += sizes[one.number]
    alike = defaultdict[int, set[int]](set)
    for number, num_rows in rows.items():
        alike[0 if together else int(math.log(max(1.0, num_rows / full), FAN_OUT))].add(number)
    least = 2 if together else FAN_OUT
    for numbers in alike.values():
        if len(numbers) >= least and sum(rows[number] for number in numbers) < fewer_than:
            return [one.number for one in idle if one.filter in numbers]
    return []


def _sizes_when_merged(known: Sequence[Generation]) -> dict[int, int]:
    """Return the number of rows of each generation once the merges that have begun are done."""
    sizes = {one.number: one.num_rows for one in known}
    for one in known:
        if one.merges_into is not None:
            sizes[one.merges_into] += sizes.pop(one.number)
    return sizes


def _label_bits(known: Sequence[Generation], sharing: Sequence[int]) -> int:
    """Return how many bits the labels of a filter for some generations have.

    Few, if these tell the generations apart, or if the filters that it is made from do not: their entries would need
    more than one label each.
    """
    if len(sharing) == 1:
        return 0
    if len({one % (1 << FEW_LABEL_BITS) for one in sharing}) == len(sharing):
        return FEW_LABEL_BITS
    labels = [
        (one.filter, label(one.number, one.filter))
        for one in known
        if one.number in sharing and one.filter is not None and label_bits(one.filter) == FEW_LABEL_BITS
    ]
    return LABEL_BITS if len(set(labels)) == len(labels) else FEW_LABEL_BITS


class _Inputs:
    """What a filter is made from: other filters, and the rows of generations that have none."""

    def __init__(self, transaction: Transaction, known: Sequence[Generation], number: int) -> None:
        self._transaction = transaction
        # The labels that the entries of each filter get, by those that they have.
        self._labels = defaultdict[int, NDArray[np.int64]](lambda: np.full(LABELS, NO_LABEL))
        self._num_rows = defaultdict[int, int](int)
        self._rows = list[tuple[int, int]]()
        for one in known:
            if one.next_filter != number:
                continue
            # The rows of a target that has no filter yet are those of its sources.
            for each in [one, *(other for other in known if one.filter is None and other.merges_into == one.number)]:
                if each.filter is None:
                    self._rows.append((each.number, label(one.number, number)))
                else:
                    self._labels[each.filter][label(each.number, each.filter)] = label(one.number, number)
                    self._num_rows[each.filter] += each.num_rows

    def entries(self, position: int) -> tuple[NDArray[np.int64], int]:
        """Return the next entries from a position on, ascending, distinct, and the last position that they cover."""
        found, last = [np.empty(0, dtype=np.int64)], LAST_POSITION
        largest_first = sorted(self._labels, key=lambda number: -self._num_rows[number])
        # The others are read as far as the largest, for which its share is enough.
        count = STEP_PARTS * max(self._num_rows.values(), default=0) // max(1, sum(self._num_rows.values())) + 1
        for number in largest_first:
            parts = filters.read_parts(self._transaction, number, position, count, until=last)
            found.append(_relabelled(filters.unpacked(parts), self._labels[number]))
            if len(parts) == count:
                last = min(last, int(parts.ends[-1]))
            count = STEP_PARTS
        for generation, its_label in self._rows:
            entries, end = filters.rows_from(self._transaction, generation, position, STEP_ROWS // len(self._rows))
            found.append(entries | its_label)
            last = min(last, end)
        entries = distinct(np.concatenate(found), in_runs=True)
        # The first part of a filter may begin before the position.
        begin, end = np.searchsorted(entries, (position * LABELS, (last + 1) * LABELS))
        return entries[begin:end], last


def _relabelled(entries: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return entries with other labels, without those that have none. Args: labels: by those that the entries have."""
    if (labels == np.arange(LABELS)).all():
        return entries
    replaced = labels[entries & LABELS - 1]
    kept: NDArray[np.int64] = (entries & -LABELS | replaced)[replaced != NO_LABEL]
    return kept


def _extend(transaction: Transaction, number: int, inputs: _Inputs) -> bool:
    """Write the next parts of a filter. Returns: whether there were any."""
    part_key = transaction.execute(_LAST, filters.key_range(number)).scalar_one()
    last = -1 if part_key is None else int(part_key) & LAST_POSITION
    while last < LAST_POSITION:
        entries, last = inputs.entries(last + 1)
        if len(entries):
            filters.put(transaction, number, entries)
            return True
    return False
