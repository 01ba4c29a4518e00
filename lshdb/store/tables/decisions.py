"""Stores what people decided about documents, and finds the texts and documents that this concerns today.

Nothing but `put` and `delete` changes decisions: documents come and go without them.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain, islice, repeat
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Row, bindparam, delete, func, insert, select

from lshdb.model.decisions import Decision, DecisionState
from lshdb.store.schema import content, decision, document
from lshdb.store.statements import decisions as statements
from lshdb.store.statements.clock import now
from lshdb.store.tables import collections
from lshdb.store.transaction import Transaction

__all__ = [
    "apart_from",
    "chosen_documents",
    "different_contents",
    "numbered",
    "page",
    "put",
    "remove",
    "state",
]

# (collection, doc_id)
_Name = tuple[str, str]
# The columns that name the documents.
_NAMES: Final = ("collection_key", "doc_id", "other_collection_key", "other_id")
_STATE: Final = select(func.count(), func.max(decision.c.decision_key))
_DIGEST: Final = (
    select(content.c.digest)
    .join_from(document, content, content.c.content_key == document.c.content_key)
    .where(document.c.collection_key == bindparam("collection_key"), document.c.doc_id == bindparam("doc_id"))
)


def put(transaction: Transaction, made: Decision) -> int | None:
    """Store a decision in place of an earlier one about the same documents.

    Returns: its key; None if the stored one is as late, so that it stays.
    """
    places = sorted((collections.ensure(transaction, name), doc_id) for name, doc_id in made.documents)
    named = dict(zip(_NAMES, chain(*places, repeat(None)), strict=False))
    mine = [decision.c[name] == value for name, value in named.items()]
    before = transaction.execute(select(decision.c.decided_at).where(*mine)).scalars().all()
    if made.decided_at is not None and max(before, default="") >= made.decided_at:
        return None
    transaction.execute(delete(decision).where(*mine))
    (key,) = transaction.allocate(decision, 1).tolist()
    digests = [transaction.execute(_DIGEST, {"collection_key": where, "doc_id": one}).scalar() for where, one in places]
    values: dict[str, object] = dict(zip(("digest", "other_digest"), digests, strict=False))
    values |= {"kind": made.kind, "who": made.who, "reason": made.reason, "decided_at": made.decided_at or now()}
    transaction.execute(insert(decision).values(named | values | {"decision_key": key}))
    return int(key)


def remove(transaction: Transaction, keys: Collection[int]) -> int:
    """Delete decisions. Returns: how many there were."""
    return int(transaction.execute(delete(decision).where(decision.c.decision_key.in_(keys))).rowcount)


def page(
    transaction: Transaction,
    before: int | None = None,
    count: int | None = None,
    among: Collection[_Name] | None = None,
) -> list[Decision]:
    """Return decisions, the newest first.

    Args:
        before: only earlier ones than this.
        count: how many.
        among: only those that name no other documents than these, (collection, doc_id).
    """
    earlier = statements.decisions().order_by(decision.c.decision_key.desc())
    if before is not None:
        earlier = earlier.where(decision.c.decision_key < before)
    if among is None:
        return [_made(row) for row in transaction.execute(earlier.limit(count))]
    mine, names = earlier.where(decision.c.doc_id.in_([doc_id for _, doc_id in among])), set(among)
    found = (_made(row) for row in transaction.execute(mine))
    return list(islice((one for one in found if names.issuperset(one.documents)), count))


def numbered(transaction: Transaction, key: int) -> Decision | None:
    """Return the decision with this key; None if there is none."""
    row = transaction.execute(statements.decisions().where(decision.c.decision_key == key)).one_or_none()
    return None if row is None else _made(row)


def different_contents(transaction: Transaction) -> NDArray[np.int64]:
    """Return the pairs of contents that are decided to be different, int64, shape (m, 2), left < right, distinct."""
    return np.unique(np.sort(transaction.integers(statements.different_contents()), axis=1), axis=0)


def chosen_documents(transaction: Transaction) -> NDArray[np.int64]:
    """Return the keys of the documents that are decided to be kept, int64, those decided last at the end."""
    return transaction.integers(statements.chosen_documents())[:, 0]


def apart_from(transaction: Transaction, name: _Name) -> set[_Name]:
    """Return (collection, doc_id) of all documents with a text that a document is decided to be different from."""
    collection, doc_id = name
    rows = transaction.execute(statements.apart_from(), {"collection": collection, "doc_id": doc_id})
    return {(name, one) for name, one in rows}


def state(transaction: Transaction) -> tuple[int, int | None]:
    """Return a value that is another one after each change: the number of decisions, and the last key.

    Keys are never reused, so a decision that is deleted cannot be made up for by a new one.
    """
    number, last = transaction.execute(_STATE).one()
    return int(number), last


def _made(row: Row[*tuple[Any, ...]]) -> Decision:
    return Decision(
        kind=row.kind,
        id=row.doc_id,
        other=row.other_id,
        who=row.who,
        reason=row.reason,
        collection=row.collection,
        other_collection=row.other_collection,
        decided_at=row.decided_at,
        decision=row.decision_key,
        state=_state(row),
    )


def _state(row: Row[*tuple[Any, ...]]) -> DecisionState:
    if row.one_key is None or (row.other_id is not None and row.other_key is None):
        return "absent"
    if row.other_id is not None and row.one_text == row.other_text:
        return "same_text"
    return "valid" if (row.one_text, row.other_text) == (row.digest, row.other_digest) else "changed"
