"""Finds captures: those that revisits name, and those of an address."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import asdict

from lshdb.store.staging import staged_range
from lshdb.store.statements import captures
from lshdb.store.tables import collections
from lshdb.store.transaction import Transaction

__all__ = ["Dated", "Named", "Range", "dated", "last_in"]


class Range(Struct, frozen=True):
    """The ids from `first_id` to before `end_id`."""

    first_id: str
    end_id: str


class Named(NamedTuple):
    """The document that a revisit names."""

    doc_id: str
    content_key: int | None
    dated_at: int | None


class Dated(NamedTuple):
    """A document with a date. `source` is None if a program added it; `content_key` is None if it is empty."""

    doc_id: str
    content_key: int | None
    dated_at: int
    source: str | None
    locator: str


def dated(transaction: Transaction, collection: str, within: Range | None = None) -> Iterator[Dated]:
    """Yield the documents of a collection that have a date, by id. Args: within: only these ids."""
    statement = captures.dated() if within is None else captures.dated_in_range()
    chosen = {} if within is None else asdict(within)
    for block in transaction.stream(statement, {"collection": collection, **chosen}):
        yield from (Dated(*row) for row in block)


def last_in(transaction: Transaction, ranges: Sequence[Range], collection: str) -> dict[int, Named]:
    """Return the last document in each range of ids, by the position of the range."""
    transaction.stage(
        staged_range,
        {
            "ordinal": range(len(ranges)),
            "first_id": [one.first_id for one in ranges],
            "end_id": [one.end_id for one in ranges],
        },
    )
    parameters = {"collection_key": collections.key_of(transaction, collection)}
    return {ordinal: Named(*named) for ordinal, *named in transaction.execute(captures.last_in_ranges(), parameters)}
