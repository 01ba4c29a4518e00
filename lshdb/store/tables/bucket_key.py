"""The primary key of `band_bucket`. The first ingest creates it at the end, because Postgres then builds it faster.

Rows are unique even without the key: only the holder of the write lock writes the buckets of a content, and only once.
Linking and deleting build the key first. A role that may not build it gets its answers without the key, but slowly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sqlalchemy import select

from lshdb.store.schema import band_bucket, content
from lshdb.store.store import Store
from lshdb.store.transaction import Transaction

__all__ = ["build", "ensure", "put_off"]


def put_off(store: Store) -> None:
    """Drop the key of an empty index, to be built later."""
    if store.dialect.builds_keys and store.read(_is_empty):
        store.write(_take_off)


def ensure(store: Store, built: Callable[[float], None]) -> None:
    """Build the key if it is missing, also after a first ingest that was interrupted.

    Args: built: called from another thread with the share that is done.
    """
    if store.dialect.builds_keys and store.read(_is_missing):
        store.write(partial(build, built=built))


def build(transaction: Transaction, built: Callable[[float], None] = lambda _share: None) -> None:
    """Build the key if it is missing, inside a transaction."""
    transaction.dialect.build_key(transaction.connection, band_bucket, built)


def _is_empty(transaction: Transaction) -> bool:
    return transaction.execute(select(content.c.content_key).limit(1)).first() is None


def _take_off(transaction: Transaction) -> None:
    # Checked again, because another writer may have been faster.
    if _is_empty(transaction):
        transaction.dialect.put_off_key(transaction.connection, band_bucket)


def _is_missing(transaction: Transaction) -> bool:
    return transaction.dialect.is_key_missing(transaction.connection, band_bucket)
