"""The rows of `bucket_generation`: the generations of `band_bucket`, which of them merge, and their filters."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain
from typing import Final

from msgspec import Struct
from sqlalchemy import ColumnElement, select, update

from lshdb.store.schema import bucket_generation
from lshdb.store.transaction import Transaction

__all__ = ["LAST_NUMBER", "Generation", "change", "following", "generations", "in_a_band", "num_rows_of", "used"]

# Generations and filters have numbers of 15 bits.
LAST_NUMBER: Final = 2**15 - 1

_ALL: Final = select(*bucket_generation.columns).order_by(bucket_generation.c.generation)


class Generation(Struct, frozen=True):
    """A row of `bucket_generation`."""

    number: int
    num_rows: int
    merges_into: int | None
    filter: int | None
    next_filter: int | None
    first_content: int | None
    last_content: int | None


def generations(transaction: Transaction) -> list[Generation]:
    """Return the generations, ascending."""
    return [Generation(*row) for row in transaction.rows(_ALL)]


def change(transaction: Transaction, numbers: Collection[int], **values: int | ColumnElement[int] | None) -> None:
    """Change columns of the generations with these numbers."""
    theirs = bucket_generation.c.generation.in_(numbers)
    transaction.execute(update(bucket_generation).where(theirs).values(values))


def num_rows_of(some: Iterable[Generation]) -> int:
    """Return how many rows were written to some generations."""
    return sum(one.num_rows for one in some)


def used(known: Iterable[Generation]) -> set[int]:
    """Return the filters that generations have, or will have."""
    return {number for one in known for number in (one.filter, one.next_filter) if number is not None}


def in_a_band(num_rows: int, bands: int) -> float:
    """Return about how many of a generation's rows are in a band. A content has one in each, and one for its digest."""
    return num_rows / (bands + 1)


def following(taken: set[int], among: range = range(LAST_NUMBER + 1)) -> int:
    """Return a free number.

    It is the last one, if possible: SQLite adds sorted rows to the end of a table in half the time of those in between.

    Args: among: all numbers, or every other one.
    """
    last = max(taken, default=-1)
    after = (number for number in (last + 1, last + 2) if number in among)
    return next(chain(after, (number for number in among if number not in taken)))
