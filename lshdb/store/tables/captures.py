"""Finds the captures that revisits name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lshdb.store.staging import staged_range
from lshdb.store.statements.captures import last_in_ranges
from lshdb.store.tables import collections
from lshdb.store.transaction import Transaction

__all__ = ["Named", "Range", "last_in"]


@dataclass(frozen=True, slots=True)
class Range:
    """The ids from `first_id` to before `end_id`."""

    first_id: str
    end_id: str


class Named(NamedTuple):
    """The document that a revisit names."""

    doc_id: str
    content_key: int | None
    dated_at: int | None


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
    return {ordinal: Named(*named) for ordinal, *named in transaction.execute(last_in_ranges(), parameters)}
