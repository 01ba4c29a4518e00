"""Counts the documents of each source that were removed by their ids, so that they do not count as lost."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import and_, delete, func, select

from lshdb.store.given import has_given
from lshdb.store.schema import document, removal, source
from lshdb.store.transaction import Transaction

__all__ = ["count", "num_since"]


def count(transaction: Transaction, doc_keys: Sequence[int], run_key: int) -> None:
    """Count documents as removed by a run. Call it before they are deleted."""
    numbers = _of_sources(transaction, doc_keys)
    if not numbers:
        return
    mine, asked = and_(removal.c.run_key == run_key, has_given(removal.c.source_key)), {"given": list(numbers)}
    counted = select(removal.c.source_key, removal.c.num_documents).where(mine)
    before = dict(tuple(row) for row in transaction.execute(counted, asked))
    transaction.execute(delete(removal).where(mine), asked)
    columns = {
        "source_key": list(numbers),
        "run_key": [run_key] * len(numbers),
        "num_documents": [number + before.get(key, 0) for key, number in numbers.items()],
    }
    transaction.bulk_insert(removal, columns)


def num_since(transaction: Transaction, source_key: int, run_key: int) -> int:
    """Return how many documents of a source runs after this one have removed."""
    mine = (removal.c.source_key == source_key, removal.c.run_key > run_key)
    return int(
        transaction.execute(select(func.coalesce(func.sum(removal.c.num_documents), 0)).where(*mine)).scalar_one()
    )


def _of_sources(transaction: Transaction, doc_keys: Sequence[int]) -> dict[int, int]:
    """Return by source the number of the given documents that its last reading found."""
    statement = (
        select(document.c.source_key, func.count())
        .join_from(document, source, source.c.source_key == document.c.source_key)
        .where(has_given(document.c.doc_key))
        .where(document.c.last_seen_run >= source.c.reading_run)
        .group_by(document.c.source_key)
        .order_by(document.c.source_key)
    )
    return dict(tuple(row) for row in transaction.execute(statement, {"given": doc_keys}))
