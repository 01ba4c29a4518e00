"""Upgrades an index in one transaction, or only rehearses it; `lshdb.store.upgrade` knows what there is to do."""

from __future__ import annotations

from dataclasses import replace

from lshdb.model.reports import Upgrade
from lshdb.store import upgrade
from lshdb.store.store import Store

__all__ = ["perform", "rehearse"]


def perform(store: Store) -> Upgrade:
    """Brings the schema to the newest revision; an upgrade or ingest that goes on is waited for.

    Returns: from, to, and the copy made before.
    """
    with store.whole() as engine, engine.connect() as connection:
        planned = upgrade.plan(connection, store.url)
    if planned.is_current:
        return planned
    with store.sole_ingest(wait=True), store.changing() as transaction:
        planned = upgrade.plan(transaction.connection, store.url)  # another process may have been first
        if planned.is_current:
            return planned
        copy = store.dialect.before_upgrade(transaction.connection.engine.url)
        upgrade.to_head(transaction.connection)
    return replace(planned, copy=copy)


def rehearse(store: Store) -> Upgrade:
    """What `perform` would do, with its SQL: done in a transaction that is rolled back."""
    with store.whole(), store.changing() as transaction:
        planned = upgrade.plan(transaction.connection, store.url)
        statements = upgrade.recorded_to_head(transaction.connection)
        transaction.connection.rollback()
    return replace(planned, statements=statements)
