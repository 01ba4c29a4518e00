"""The keys of collections by their names."""

from __future__ import annotations

from sqlalchemy import insert, select

from lshdb.store.schema import collection
from lshdb.store.transaction import Transaction

__all__ = ["ensure", "key_of"]


def key_of(transaction: Transaction, name: str) -> int | None:
    """The key of a collection; None if nothing was ever put into it."""
    statement = select(collection.c.collection_key).where(collection.c.name == name)
    return transaction.execute(statement).scalar_one_or_none()


def ensure(transaction: Transaction, name: str) -> int:
    """The key of a collection, which is created if it is not there."""
    if (known := key_of(transaction, name)) is not None:
        return known
    (key,) = transaction.allocate(collection, 1).tolist()
    transaction.execute(insert(collection).values(collection_key=key, name=name))
    return int(key)
