"""Writes of a repair: corrects rows that can be derived from others, and deletes rows that belong to nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import insert, inspect, select, update

from lshdb.model.params import Params
from lshdb.store import views
from lshdb.store.schema import (
    content,
    index_params,
    key_counter,
    metadata,
)
from lshdb.store.statements.audit import last_in_bucket
from lshdb.store.statements.rules import OF_NO_DOCUMENT, Rule, breaches, deletion
from lshdb.store.tables import audit, generations, graph, late_indexes, oversized
from lshdb.store.tables.buckets import delete_rows, put_rows
from lshdb.store.transaction import Transaction

__all__ = [
    "add_buckets",
    "change_content",
    "count_again",
    "delete_breaches",
    "make_indexes",
    "promise_recall",
    "replace_buckets",
]
__all__ += ["make_views", "raise_counters", "released", "unlink_existing"]


def make_indexes(transaction: Transaction) -> None:
    """Build what a first load puts off, and missing indexes, and rebuild those that the database calls invalid."""
    late_indexes.build(transaction, late_indexes.FIRST_INGEST + late_indexes.FIRST_LINK)
    missing = {one.name for one in audit.schema_faults(transaction)}
    invalid = {name for _, name in transaction.dialect.invalid_indexes(transaction.connection)}
    for table in metadata.tables.values():
        for index in table.indexes:
            if index.name in invalid:
                index.drop(transaction.connection)
            if index.name in missing | invalid:
                index.create(transaction.connection)


def make_views(transaction: Transaction) -> None:
    """Create the views that are missing."""
    connection = transaction.connection
    missing = views.definitions(connection.dialect.name, there=inspect(connection).get_view_names())
    transaction.dialect.execute_all(connection, missing)


def delete_breaches(transaction: Transaction, rule: Rule, parameters: dict[str, object], count: int) -> int:
    """Delete up to `count` of the rows that break a rule. Returns: how many were deleted."""
    some = {**parameters, "count": count}
    if rule.relinks:
        rows = transaction.execute(breaches(rule).limit(count), parameters).all()
        keys = {getattr(row, name) for row in rows for name in rule.relinks}
        unlink_existing(transaction, np.asarray(sorted(keys), dtype=np.int64))
    return int(transaction.execute(deletion(rule), some).rowcount)


def unlink_existing(transaction: Transaction, content_keys: NDArray[np.int64]) -> None:
    """Mark those of the contents that exist to be linked again. Args: content_keys: int64, ascending."""
    graph.mark_unlinked(transaction, graph.existing(transaction, content_keys))


def released(transaction: Transaction, count: int) -> NDArray[np.int64]:
    """Return up to `count` contents that have no document, int64, ascending."""
    keys = transaction.execute(
        select(content.c.content_key).where(OF_NO_DOCUMENT.wrong).order_by(content.c.content_key).limit(count)
    )
    return np.asarray(keys.scalars().all(), dtype=np.int64)


def raise_counters(transaction: Transaction) -> None:
    """Raise every counter to at least the greatest key of its table. Creates counters that are missing."""
    for counter in audit.counters(transaction):
        if counter.last_key is None:
            transaction.execute(insert(key_counter).values(name=counter.name, last_key=counter.greatest))
        elif counter.last_key < counter.greatest:
            mine = key_counter.c.name == counter.name
            transaction.execute(update(key_counter).where(mine).values(last_key=counter.greatest))


def promise_recall(transaction: Transaction, params: Params) -> None:
    """Store the recall that the bands promise."""
    transaction.execute(update(index_params).values(recall=params.recall))


def change_content(transaction: Transaction, key: int, digest: bytes, num_shingles: int, signature: bytes) -> None:
    """Store the values of a content that were recomputed from its text."""
    values = {"digest": digest, "num_shingles": num_shingles, "signature": signature}
    transaction.execute(update(content).where(content.c.content_key == key).values(values))


def add_buckets(transaction: Transaction, rows: NDArray[np.int64]) -> None:
    """Add bucket rows. Args: rows: (band, bucket_hash, content_key), int64, shape (n, 3), sorted."""
    generations.forget_loads(transaction)
    put_rows(transaction, _columns(rows))


def replace_buckets(rows: NDArray[np.int64], kept: NDArray[np.int64], transaction: Transaction) -> None:
    """Delete bucket rows, and write those again that are kept, once. Args: rows, kept: as for `add_buckets`."""
    delete_rows(transaction, _columns(rows))
    add_buckets(transaction, kept)


def count_again(transaction: Transaction, buckets: NDArray[np.int64]) -> None:
    """Delete the counts of oversized buckets, so that the next linking recounts them.

    Args: buckets: (band, bucket_hash), int64, shape (m, 2).
    """
    oversized.forget(transaction, buckets)
    for band, bucket_hash in buckets.tolist():
        # Linking recounts a bucket if one of its contents is beyond the cap, so relinking the last one is enough.
        place = {"band": band, "bucket_hash": bucket_hash}
        last = transaction.execute(last_in_bucket(), place).scalar_one()
        if last is not None:
            unlink_existing(transaction, np.asarray([last], dtype=np.int64))


def _columns(rows: NDArray[np.int64]) -> dict[str, NDArray[np.generic]]:
    return {
        "band": rows[:, 0].astype(np.int16),
        "bucket_hash": np.ascontiguousarray(rows[:, 1]),
        "content_key": np.ascontiguousarray(rows[:, 2]),
    }
