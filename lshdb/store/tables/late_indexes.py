"""Indexes that Postgres gets after a first load, because it then builds them faster.

- `FIRST_INGEST`: the primary key of `band_bucket`.
- `FIRST_LINK`: the indexes of `pair`.

Rows are right even without the key: only the holder of the write lock writes, and the buckets of a content only once.
The statement that builds it checks all rows again. Linking and deleting build it before they begin. A role that may not
build it gets its answers without it, but slowly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from sqlalchemy import Index, MetaData, select

from lshdb.store.dialect import Part
from lshdb.store.schema import band_bucket, content, pair
from lshdb.store.store import Store
from lshdb.store.transaction import Transaction

__all__ = ["FIRST_INGEST", "FIRST_LINK", "build", "ensure", "put_off"]


FIRST_INGEST: Final[tuple[Part, ...]] = (band_bucket.primary_key,)
FIRST_LINK: Final[tuple[Part, ...]] = tuple(pair.indexes)
# The table that is empty before each of them.
_FILLED: Final = {FIRST_INGEST: content, FIRST_LINK: pair}
# By this index, digests are found without the key of the buckets. It is not of the schema, so it belongs to a copy of
# the table.
_STAND_IN: Final = (Index("ix_content_digest", content.to_metadata(MetaData()).c.digest),)


def put_off(store: Store, parts: tuple[Part, ...]) -> None:
    """Drop the parts if their tables are empty, to be built later. Args: parts: FIRST_INGEST or FIRST_LINK."""
    if store.dialect.puts_off and store.read(partial(_is_empty, parts)):
        store.write(partial(_take_off, parts))


def ensure(store: Store, parts: tuple[Part, ...], built: Callable[[float], None]) -> None:
    """Build the parts that are missing, also after a load that was interrupted.

    Args: built: called from another thread with the share of an index that is done.
    """
    if store.dialect.puts_off and store.read(partial(_are_missing, parts)):
        store.write(partial(build, parts=parts, built=built))


def build(
    transaction: Transaction, parts: tuple[Part, ...], built: Callable[[float], None] = lambda _share: None
) -> None:
    """Build the parts that are missing, inside a transaction."""
    if _are_missing(parts, transaction):
        transaction.dialect.build(transaction.connection, parts, built)
        if band_bucket.primary_key in parts and not _are_missing((band_bucket.primary_key,), transaction):
            transaction.dialect.put_off(transaction.connection, _STAND_IN)


def _is_empty(parts: tuple[Part, ...], transaction: Transaction) -> bool:
    return transaction.execute(select(*_FILLED[parts].primary_key.columns).limit(1)).first() is None


def _take_off(parts: tuple[Part, ...], transaction: Transaction) -> None:
    # Checked again, because another writer may have been faster.
    if _is_empty(parts, transaction):
        if parts is FIRST_INGEST:
            transaction.dialect.build(transaction.connection, _STAND_IN, lambda _share: None)
        transaction.dialect.put_off(transaction.connection, parts)


def _are_missing(parts: tuple[Part, ...], transaction: Transaction) -> bool:
    return transaction.dialect.are_missing(transaction.connection, parts)
