"""One transaction, as the modules of the store use it: execute, stream, bulk insert, stage, count keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, CursorResult, Executable, Row, Table, delete, insert, select, update
from sqlalchemy.schema import CreateTable

from lshdb.store.dialect import Columns, Dialect
from lshdb.store.schema import key_counter

__all__ = ["Transaction"]

FETCH_ROWS = 50_000


@dataclass(frozen=True, slots=True)
class Transaction:
    """An open transaction on one connection; `Store.reading` and `Store.writing` make them."""

    connection: Connection
    dialect: Dialect

    def execute(
        self, statement: Executable, parameters: Mapping[str, object] | None = None
    ) -> CursorResult[*tuple[Any, ...]]:
        """The result of a statement that gives few rows or none."""
        # psycopg's row count of an INSERT ... SELECT is dropped otherwise.
        return self.connection.execute(statement, parameters or {}, execution_options={"preserve_rowcount": True})

    def stream(
        self, statement: Executable, parameters: Mapping[str, object] | None = None, rows: int = FETCH_ROWS
    ) -> Iterator[list[Row[*tuple[Any, ...]]]]:
        """The rows of a large result, `rows` at a time; the whole of it is never in memory."""
        options = {"stream_results": True, "max_row_buffer": rows}
        with self.connection.execute(statement, parameters or {}, execution_options=options) as result:
            while block := result.fetchmany(rows):
                yield list(block)

    def bulk_insert(self, table: Table, columns: Columns) -> None:
        """Inserts rows; every column has one value a row."""
        self.dialect.bulk_insert(self.connection, table, columns)

    def stage(self, table: Table, columns: Columns) -> None:
        """Makes a temporary table hold these rows and no others."""
        self.connection.execute(CreateTable(table, if_not_exists=True))
        self.connection.execute(delete(table))
        self.bulk_insert(table, columns)
        self.dialect.analyse(self.connection, table)

    def allocate(self, table: Table, count: int) -> NDArray[np.int64]:
        """`count` ascending keys for new rows of `table`, int64, shape (count,); never one given out before."""
        last = self._count(table, count)
        return np.arange(last - count + 1, last + 1, dtype=np.int64)

    def _count(self, table: Table, count: int) -> int:
        mine = key_counter.c.name == table.name
        self.execute(update(key_counter).where(mine).values(last_key=key_counter.c.last_key + count))
        last = self.connection.scalar(select(key_counter.c.last_key).where(mine))
        if last is None:
            self.execute(insert(key_counter).values(name=table.name, last_key=count))
            return count
        return int(last)
