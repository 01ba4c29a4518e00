"""The primary key of a table on Postgres, which is dropped before the table is filled and built afterwards.

The catalogue shows whether the key exists; a separate record could be wrong after a process was killed. Others can read
while the index is built. Dropping the constraint, or adding it to its index, needs exclusive access to the table for a
moment. If another process keeps reading the table, it stays unchanged, and the next process tries again. Until then,
the index without its constraint serves as well.

Limitation: a role that may write but does not own the table does not touch the key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, Final, LiteralString

import psycopg
from psycopg import sql
from sqlalchemy import Connection, Engine, Table, func, select, text
from sqlalchemy.exc import DBAPIError

__all__ = ["build", "is_missing", "put_off"]

# The server takes a second to end an autovacuum that blocks us. Meanwhile, others queue for the table after us.
PATIENCE: Final = "2s"
WATCHING_SECONDS: Final = 0.5

_CATALOGUE: Final = text("""
    SELECT EXISTS (SELECT FROM pg_constraint WHERE conrelid = t.oid AND contype = 'p'),
        EXISTS (SELECT FROM pg_index JOIN pg_class i ON i.oid = indexrelid WHERE indrelid = t.oid AND i.relname = :key),
        pg_has_role(relowner, 'USAGE') AND has_schema_privilege(relnamespace, 'CREATE')
    FROM pg_class t WHERE relname = :table AND relnamespace = quote_ident(current_schema())::regnamespace""")

# The first half is reading the table, the second half writing the tree.
_PROGRESS: Final = text("""
    SELECT CASE WHEN tuples_total > 0 THEN 0.5 + 0.5 * tuples_done / tuples_total
        ELSE 0.5 * blocks_done / greatest(blocks_total, 1) END
    FROM pg_stat_progress_create_index WHERE pid = :pid""")


@dataclass(frozen=True, slots=True)
class _Key:
    """The state of the key in the catalogue, and whether we may change it."""

    is_there: bool
    has_index: bool
    may_change: bool


def is_missing(connection: Connection, table: Table) -> bool:
    """Return whether the table lacks its key and we may build it."""
    found = _found(connection, table)
    return found.may_change and not found.is_there


def put_off(connection: Connection, table: Table) -> None:
    """Drop the key, if we may and nobody is reading the table."""
    found = _found(connection, table)
    if found.may_change and found.is_there:
        _alter(connection, table, "ALTER TABLE {table} DROP CONSTRAINT {key}")


def build(connection: Connection, table: Table, built: Callable[[float], None]) -> None:
    """Build the key if it is missing and we may build it.

    Args: built: is called with the share that is done, from another thread, unless the key is built in a moment.
    Raises: psycopg.Error: two rows have the same key, which only another program can have written.
    """
    found = _found(connection, table)
    if found.is_there or not found.may_change:
        return
    if not found.has_index:
        # Without a limit, because a role's timeout is meant for its queries.
        with _set(connection, "statement_timeout", "0"), _watched(connection, built):
            _execute(connection, table, "CREATE UNIQUE INDEX {key} ON {table} ({columns})")
    _alter(connection, table, "ALTER TABLE {table} ADD CONSTRAINT {key} PRIMARY KEY USING INDEX {key}")


def _found(connection: Connection, table: Table) -> _Key:
    names = {"table": table.name, "key": str(table.primary_key.name)}
    return _Key(*connection.execute(_CATALOGUE, names).one())


def _alter(connection: Connection, table: Table, statement: LiteralString) -> None:
    """Execute a statement that needs exclusive access to the table; do nothing if others keep it open.

    Waiting forever might be a deadlock with ourselves: while linking, one of our sessions reads the buckets and another
    one writes.
    """
    with (
        suppress(psycopg.errors.LockNotAvailable),
        connection.begin_nested(),
        _set(connection, "lock_timeout", PATIENCE),
    ):
        _execute(connection, table, statement)


@contextmanager
def _set(connection: Connection, name: str, value: str) -> Iterator[None]:
    """Change a setting of the transaction for the block. If the block fails, the rollback restores it."""
    before = connection.scalar(select(func.current_setting(name)))
    connection.execute(select(func.set_config(name, value, True)))
    yield
    connection.execute(select(func.set_config(name, before, True)))


def _execute(connection: Connection, table: Table, statement: LiteralString) -> None:
    key = table.primary_key
    columns = sql.SQL(", ").join(sql.Identifier(column.name) for column in key.columns)
    names = {"table": sql.Identifier(table.name), "key": sql.Identifier(str(key.name)), "columns": columns}
    _driver(connection).execute(sql.SQL(statement).format(**names))


@contextmanager
def _watched(connection: Connection, built: Callable[[float], None]) -> Iterator[None]:
    """Report the progress of the index that this connection builds in the block."""
    ended = Event()
    watcher = Thread(target=_watch, args=[connection.engine, _driver(connection).info.backend_pid, built, ended])
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def _watch(engine: Engine, pid: int, built: Callable[[float], None], ended: Event) -> None:
    while not ended.wait(WATCHING_SECONDS):
        # If the server fails, the building connection gets the error and is repeated. This one only shows progress.
        with suppress(DBAPIError), engine.connect() as connection:
            share = connection.scalar(_PROGRESS, {"pid": pid})
            if share is not None:
                built(float(share))


def _driver(connection: Connection) -> psycopg.Connection[Any]:
    driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
    return driver
