"""Indexes on Postgres that are dropped before their tables are filled and built afterwards.

The catalogue shows which of them exist; a separate record could be wrong after a process was killed. Others can read
while they are built. Dropping one, or adding a key to its index, needs exclusive access to its tables for a moment. If
another process keeps reading them, they stay unchanged, and the next process tries again. Until then, the index of a
key without its constraint serves as well.

Limitation: a role that may write but does not own a table does not touch them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Final

import psycopg
from msgspec import Struct
from psycopg import sql
from sqlalchemy import Connection, Engine, Index, PrimaryKeyConstraint, func, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateIndex, DropConstraint, DropIndex, ExecutableDDLElement

from lshdb.store.dialect import Part
from lshdb.store.postgres import sessions

__all__ = ["are_missing", "build", "put_off"]

# The server takes a second to end an autovacuum that blocks us. Meanwhile, others queue for the table after us.
PATIENCE: Final = "2s"
WATCHING_SECONDS: Final = 0.5

_CATALOGUE: Final = text("""
    SELECT relname, pg_has_role(relowner, 'USAGE') AND has_schema_privilege(relnamespace, 'CREATE'),
        ARRAY(SELECT conname::text FROM pg_constraint WHERE conrelid = t.oid),
        ARRAY(SELECT i.relname::text FROM pg_index JOIN pg_class i ON i.oid = indexrelid WHERE indrelid = t.oid)
    FROM pg_class t WHERE relname = ANY(:tables) AND relnamespace = quote_ident(current_schema())::regnamespace""")

# The first half is reading the table, the second half writing the tree.
_PROGRESS: Final = text("""
    SELECT CASE WHEN tuples_total > 0 THEN 0.5 + 0.5 * tuples_done / tuples_total
        ELSE 0.5 * blocks_done / greatest(blocks_total, 1) END
    FROM pg_stat_progress_create_index WHERE pid = :pid""")


_Statement = sql.SQL | sql.Composed


class _Found(Struct, frozen=True):
    """What the catalogue says of a table, and whether we may change it."""

    may_change: bool
    constraints: Sequence[str]
    indexes: Sequence[str]

    def has(self, part: Part) -> bool:
        return part.name in (self.indexes if isinstance(part, Index) else self.constraints)


def are_missing(connection: Connection, parts: Sequence[Part]) -> bool:
    """Return whether one of the parts is missing and we may build it."""
    return bool(_missing(_found(connection, parts), parts))


def put_off(connection: Connection, parts: Sequence[Part]) -> None:
    """Drop those of the parts that we may, if nobody is reading their tables."""
    found = _found(connection, parts)
    there = [part for part in parts if found[_table(part)].may_change and found[_table(part)].has(part)]
    _alter(connection, [_text(connection, _dropping(part)) for part in there])


def build(connection: Connection, parts: Sequence[Part], built: Callable[[float], None]) -> None:
    """Build those of the parts that are missing and that we may build.

    Args: built: is called with the share of an index that is done, from another thread, unless that takes a moment.
    Raises: psycopg.Error: two rows have one key; only another program can have written them.
    """
    found = _found(connection, parts)
    for part in _missing(found, parts):
        # Without a limit, because a role's timeout is meant for its queries.
        with _set(connection, "statement_timeout", "0"):
            if part.name not in found[_table(part)].indexes:
                with _watched(connection, built):
                    sessions.driver_of(connection).execute(_indexing(connection, part))
            if not isinstance(part, Index):
                _alter(connection, [_adding(part)])


def _found(connection: Connection, parts: Sequence[Part]) -> Mapping[str, _Found]:
    rows = connection.execute(_CATALOGUE, {"tables": sorted({_table(part) for part in parts})})
    return {name: _Found(*found) for name, *found in rows}


def _missing(found: Mapping[str, _Found], parts: Sequence[Part]) -> list[Part]:
    return [part for part in parts if found[_table(part)].may_change and not found[_table(part)].has(part)]


def _table(part: Part) -> str:
    assert part.table is not None
    return part.table.name


def _dropping(part: Part) -> ExecutableDDLElement:
    return DropIndex(part) if isinstance(part, Index) else DropConstraint(part)


def _indexing(connection: Connection, part: Part) -> _Statement:
    if isinstance(part, Index):
        return _text(connection, CreateIndex(part))
    columns = sql.SQL(", ").join(sql.Identifier(column.name) for column in part.columns)
    names = {"table": sql.Identifier(_table(part)), "key": sql.Identifier(str(part.name)), "columns": columns}
    return sql.SQL("CREATE UNIQUE INDEX {key} ON {table} ({columns})").format(**names)


def _adding(part: PrimaryKeyConstraint) -> _Statement:
    names = {"table": sql.Identifier(_table(part)), "key": sql.Identifier(str(part.name))}
    return sql.SQL("ALTER TABLE {table} ADD CONSTRAINT {key} PRIMARY KEY USING INDEX {key}").format(**names)


def _text(connection: Connection, element: ExecutableDDLElement) -> _Statement:
    return sql.SQL(str(element.compile(dialect=connection.dialect)))


def _alter(connection: Connection, statements: Sequence[_Statement]) -> None:
    """Execute statements that need their tables for themselves; do none of them if others keep the tables open.

    Waiting forever might be a deadlock with ourselves: while linking, one of our sessions reads the buckets and another
    one writes.
    """
    with (
        suppress(psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected),
        connection.begin_nested(),
        _set(connection, "lock_timeout", PATIENCE),
    ):
        for statement in statements:
            sessions.driver_of(connection).execute(statement)


@contextmanager
def _set(connection: Connection, name: str, value: str) -> Iterator[None]:
    """Change a setting of the transaction for the block. If the block fails, the rollback restores it."""
    before = connection.scalar(select(func.current_setting(name)))
    connection.execute(select(func.set_config(name, value, True)))
    yield
    connection.execute(select(func.set_config(name, before, True)))


@contextmanager
def _watched(connection: Connection, built: Callable[[float], None]) -> Iterator[None]:
    """Report the progress of the index that this connection builds in the block."""
    ended = Event()
    pid = sessions.driver_of(connection).info.backend_pid
    watcher = Thread(target=_watch, args=[connection.engine, pid, built, ended])
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
