"""The primary key of a table on Postgres: taken off before the table is filled, and built behind that.

Whether it is there is asked of the catalogue: no other record can be wrong when a process is killed. Readers read while
the index is built. To take the constraint off, or to put it on its index, needs the table alone for a moment; where
somebody goes on reading it, the table stays as it is, and the next one who comes tries again: the index without its
constraint serves as well.

Limitation: a role that may write and does not own the table leaves its key alone.
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

# The server takes a second to end an autovacuum that is in the way; who comes meanwhile waits behind us.
PATIENCE: Final = "2s"
WATCHING_SECONDS: Final = 0.5

_CATALOGUE: Final = text("""
    SELECT EXISTS (SELECT FROM pg_constraint WHERE conrelid = t.oid AND contype = 'p'),
        EXISTS (SELECT FROM pg_index JOIN pg_class i ON i.oid = indexrelid WHERE indrelid = t.oid AND i.relname = :key),
        pg_has_role(relowner, 'USAGE') AND has_schema_privilege(relnamespace, 'CREATE')
    FROM pg_class t WHERE relname = :table AND relnamespace = quote_ident(current_schema())::regnamespace""")

# The table is read, then the tree is written.
_PROGRESS: Final = text("""
    SELECT CASE WHEN tuples_total > 0 THEN 0.5 + 0.5 * tuples_done / tuples_total
        ELSE 0.5 * blocks_done / greatest(blocks_total, 1) END
    FROM pg_stat_progress_create_index WHERE pid = :pid""")


@dataclass(frozen=True, slots=True)
class _Key:
    """What the catalogue has of the key, and whether we may change that."""

    is_there: bool
    has_index: bool
    may_change: bool


def is_missing(connection: Connection, table: Table) -> bool:
    """Whether the table lacks its key and we may build it."""
    found = _found(connection, table)
    return found.may_change and not found.is_there


def put_off(connection: Connection, table: Table) -> None:
    """Takes the key off, where we may and nobody reads the table."""
    found = _found(connection, table)
    if found.may_change and found.is_there:
        _alter(connection, table, "ALTER TABLE {table} DROP CONSTRAINT {key}")


def build(connection: Connection, table: Table, built: Callable[[float], None]) -> None:
    """Builds the key where it is missing and we may.

    Args: built: hears the share that is done, from another thread, where it takes longer than a moment.
    Raises: psycopg.Error: there are rows with one key, which only somebody else can have written.
    """
    found = _found(connection, table)
    if found.is_there or not found.may_change:
        return
    if not found.has_index:
        # However long it takes: a role's time-out is for its questions.
        with _set(connection, "statement_timeout", "0"), _watched(connection, built):
            _execute(connection, table, "CREATE UNIQUE INDEX {key} ON {table} ({columns})")
    _alter(connection, table, "ALTER TABLE {table} ADD CONSTRAINT {key} PRIMARY KEY USING INDEX {key}")


def _found(connection: Connection, table: Table) -> _Key:
    names = {"table": table.name, "key": str(table.primary_key.name)}
    return _Key(*connection.execute(_CATALOGUE, names).one())


def _alter(connection: Connection, table: Table, statement: LiteralString) -> None:
    """Executes a statement that needs the table alone; nothing happens where somebody does not let go of it.

    To wait without end might be for ourselves: who reads the buckets to link them writes by another session.
    """
    with (
        suppress(psycopg.errors.LockNotAvailable),
        connection.begin_nested(),
        _set(connection, "lock_timeout", PATIENCE),
    ):
        _execute(connection, table, statement)


@contextmanager
def _set(connection: Connection, name: str, value: str) -> Iterator[None]:
    """Gives the transaction another setting for the block; an error undoes it with the rest."""
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
    """Tells how far the index is that this connection builds in the block."""
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
        # Who builds hears of it where the server fails, and is run again; this is only for show.
        with suppress(DBAPIError), engine.connect() as connection:
            share = connection.scalar(_PROGRESS, {"pid": pid})
            if share is not None:
                built(float(share))


def _driver(connection: Connection) -> psycopg.Connection[Any]:
    driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
    return driver
