"""The key of `band_bucket`, which a first load leaves for its end, where the database then builds it faster.

The rows of a first load need no key to be one of each: a content is counted, and its buckets are written, once, by the
holder of the write lock. What links or deletes builds the key first; who may not is answered without it, slowly.
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
    """Leaves the key for later where nothing is in the index yet."""
    if store.dialect.builds_keys and store.read(_is_empty):
        store.write(_take_off)


def ensure(store: Store, built: Callable[[float], None]) -> None:
    """Builds the key where a first load has left it out, or one that was broken off.

    Args: built: hears the share that is done, from another thread.
    """
    if store.dialect.builds_keys and store.read(_is_missing):
        store.write(partial(build, built=built))


def build(transaction: Transaction, built: Callable[[float], None] = lambda _share: None) -> None:
    """`ensure`, in a transaction that goes on."""
    transaction.dialect.build_key(transaction.connection, band_bucket, built)


def _is_empty(transaction: Transaction) -> bool:
    return transaction.execute(select(content.c.content_key).limit(1)).first() is None


def _take_off(transaction: Transaction) -> None:
    # Asked again: another writer may have been first.
    if _is_empty(transaction):
        transaction.dialect.put_off_key(transaction.connection, band_bucket)


def _is_missing(transaction: Transaction) -> bool:
    return transaction.dialect.is_key_missing(transaction.connection, band_bucket)
