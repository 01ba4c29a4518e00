"""One transaction, as the modules of the store use it: execute, stream, bulk insert, stage, count keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache, lru_cache
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from sqlalchemy import (
    ColumnElement,
    Connection,
    CursorResult,
    Executable,
    Row,
    Select,
    Table,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.engine.interfaces import Dialect as SqlDialect
from sqlalchemy.schema import CreateTable

from lshdb.model.expansion import EXPANSION, Expansion
from lshdb.store.dialect import Columns, Dialect, as_list
from lshdb.store.returned import rows_of_integers
from lshdb.store.schema import key_counter

__all__ = ["GIVEN_KEYS", "Snapshot", "Transaction", "compiled"]

FETCH_ROWS = 50_000
# Measured from 1 to 20,000: SQLite takes as long as with a temporary table of the keys, Postgres half as long.
GIVEN_KEYS = 10_000

_IS_COUNTED = key_counter.c.name == bindparam("counted")
_COUNT = update(key_counter).where(_IS_COUNTED).values(last_key=key_counter.c.last_key + bindparam("count"))
_LAST_KEY = select(key_counter.c.last_key).where(_IS_COUNTED)


@cache
def _emptying(table: Table, dialect: SqlDialect) -> tuple[str, str, str]:
    """Return the statements that create a temporary table, and that empty it by deleting or truncating.

    They are compiled once. Compiling them each time would take a tenth of a short query.
    """
    made, emptied = CreateTable(table, if_not_exists=True), delete(table)
    return str(made.compile(dialect=dialect)), str(emptied.compile(dialect=dialect)), f"TRUNCATE {table.name}"


class _Compiled:
    """A statement as the driver takes it. Args: statement: without lists whose length is part of its text."""

    def __init__(self, statement: Executable, dialect: SqlDialect) -> None:
        compiled = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
        types = {name: one.type.dialect_impl(dialect) for name, one in compiled.binds.items()}
        converted = {name: one.bind_processor(dialect) for name, one in types.items()}
        self.text = str(compiled)
        self._order: Sequence[str] | None = compiled.positiontup
        self._own: dict[str, object] = dict(compiled.params)
        self._converted = {name: convert for name, convert in converted.items() if convert is not None}

    def bound(self, parameters: Mapping[str, object]) -> dict[str, object] | tuple[object, ...]:
        """Return the values of the parameters in the form that the driver expects."""
        values = {**self._own, **parameters}
        for name, convert in self._converted.items():
            values[name] = convert(values[name])
        return values if self._order is None else tuple([values[name] for name in self._order])


compiled = lru_cache(maxsize=256)(_Compiled)


class Snapshot(Struct, frozen=True):
    """One state of the index, of which short statements are read; `Store.read_briefly` makes them."""

    connection: Connection
    dialect: Dialect

    def rows(self, statement: Executable, parameters: Mapping[str, object] | None = None) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a short statement as the driver has them. In SQLite, they are read when they are needed.

        SQLAlchemy takes 50 µs for a statement, and this 10; a question has four. Args: statement: it is kept, because
            it is compiled only once.
        """
        asked = compiled(statement, self.dialect.compiler)
        cursor = self.connection.connection.cursor()
        cursor.execute(asked.text, asked.bound(parameters or {}))
        rows: Iterator[tuple[Any, ...]] = iter(cursor)  # type: ignore[call-overload]
        return rows

    @staticmethod
    def parts(
        keys: NDArray[np.int64] | Sequence[str], count: int = GIVEN_KEYS, **others: object
    ) -> Iterator[dict[str, object]]:
        """Yield the parameters of a statement about given keys or names, for `count` of them at a time.

        Args:
            keys: int64, shape (n,) or (n, columns), or names.
            others: the other parameters of the statement.
        """
        for begin in range(0, len(keys), count):
            yield {**others, "given": as_list(keys[begin : begin + count])}


class Transaction(Snapshot, frozen=True):
    """An open transaction on one connection; `Store.reading` and `Store.writing` make them."""

    expansion: Expansion = EXPANSION

    def execute(
        self, statement: Executable, parameters: Mapping[str, object] | None = None
    ) -> CursorResult[*tuple[Any, ...]]:
        """Return the result of a statement that returns few rows or none."""
        # Without this option, SQLAlchemy drops the row count of an INSERT ... SELECT in psycopg.
        return self.connection.execute(statement, parameters or {}, execution_options={"preserve_rowcount": True})

    def stream(
        self, statement: Executable, parameters: Mapping[str, object] | None = None, rows: int = FETCH_ROWS
    ) -> Iterator[list[Row[*tuple[Any, ...]]]]:
        """Yield the rows of a large result, `rows` at a time. It is never in memory as a whole."""
        options = {"stream_results": True, "max_row_buffer": rows}
        with self.connection.execute(statement, parameters or {}, execution_options=options) as result:
            while block := result.fetchmany(rows):
                yield list(block)

    def stream_integers(
        self,
        statement: Select[*tuple[Any, ...]],
        parameters: Mapping[str, object] | None = None,
        rows: int = FETCH_ROWS,
    ) -> Iterator[NDArray[np.int64]]:
        """Yield the rows of a statement whose columns are all integers: blocks int64, shape (n, columns), n <= rows.

        As the driver has them, in a third of the time of `stream`.
        """
        asked = compiled(statement, self.dialect.compiler)
        with closing(self.dialect.cursor(self.connection)) as cursor:
            cursor.execute(asked.text, asked.bound(parameters or {}))
            while block := cursor.fetchmany(rows):
                yield rows_of_integers(block, len(statement.selected_columns))
                # Otherwise a server would be asked once more.
                if len(block) < rows:
                    return

    def integers(
        self, statement: Select[*tuple[Any, ...]], parameters: Mapping[str, object] | None = None
    ) -> NDArray[np.int64]:
        """Return all rows of a statement whose columns are all integers: int64, shape (n, columns)."""
        none = np.empty((0, len(statement.selected_columns)), dtype=np.int64)
        return np.concatenate([none, *self.stream_integers(statement, parameters)])

    def few_integers(
        self, statement: Select[*tuple[Any, ...]], parameters: Mapping[str, object] | None = None
    ) -> NDArray[np.int64]:
        """Return what `integers` does. A server is asked once instead of four times, and its answer is held at once."""
        return rows_of_integers(list(self.rows(statement, parameters)), len(statement.selected_columns))

    def keyed(
        self, statement: Executable, keys: NDArray[np.int64], count: int = GIVEN_KEYS
    ) -> Iterator[Sequence[Row[*tuple[Any, ...]]]]:
        """Yield the rows of a statement about given keys, for `count` keys at a time.

        Args: keys: int64, shape (n,) or (n, columns).
        """
        for part in self.parts(keys, count):
            yield self.execute(statement, part).all()

    def num_rows(self, table: Table, *conditions: ColumnElement[bool]) -> int:
        """Return the number of rows of a table for which all conditions hold."""
        return int(self.execute(select(func.count()).select_from(table).where(*conditions)).scalar_one())

    def bulk_insert(self, table: Table, columns: Columns) -> None:
        """Insert rows. Every column has one value per row."""
        if len(next(iter(columns.values()))):
            self.dialect.bulk_insert(self.connection, table, columns)

    def insert_absent(self, table: Table, columns: Columns) -> int:
        """Insert the rows whose primary key is new, and return their number."""
        return self.dialect.insert_absent(self.connection, table, columns)

    def delete(self, table: Table, columns: Columns) -> None:
        """Delete the rows with these primary keys, as far as they exist. Args: columns: those of the key, integers."""
        self.dialect.delete(self.connection, table, columns)

    def stage(self, table: Table, columns: Columns) -> None:
        """Replace the rows of a temporary table."""
        made, deleted, truncated = _emptying(table, self.dialect.compiler)
        num_rows = len(next(iter(columns.values())))
        emptied = truncated if num_rows >= self.dialect.truncated_rows else deleted
        self.dialect.execute_all(self.connection, [made, emptied])
        self.bulk_insert(table, columns)
        self.dialect.analyse(self.connection, table)

    def allocate(self, table: Table, count: int) -> NDArray[np.int64]:
        """Return `count` ascending keys for new rows of `table`, int64, shape (count,). Keys are never reused."""
        last = self._count(table, count) if count else 0
        return np.arange(last - count + 1, last + 1, dtype=np.int64)

    def _count(self, table: Table, count: int) -> int:
        self.execute(_COUNT, {"counted": table.name, "count": count})
        last = self.connection.scalar(_LAST_KEY, {"counted": table.name})
        if last is None:
            self.execute(insert(key_counter).values(name=table.name, last_key=count))
            return count
        return int(last)
