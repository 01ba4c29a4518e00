"""Postgres, through psycopg 3: binary COPY for bulk, one advisory lock for writers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import psycopg
from psycopg import sql
from sqlalchemy import URL, ColumnElement, Connection, Engine, Table, func, select, text

from lshdb.errors import AccessDenied, IndexBusy, StoreError, StoreUnreachable
from lshdb.store.dialect import Columns, Dialect, as_list, failed, one_line

__all__ = ["Postgres"]

CONNECT_SECONDS = 10
# The first half of the key of the advisory lock that writers share; the second is the schema.
LOCK_SPACE = 0x4C534844

_COPY_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_TRAILER = b"\xff\xff"
# NumPy kind and size -> (COPY field, big-endian); a bool is one byte.
_FIELDS = {"i2": ">i2", "i4": ">i4", "i8": ">i8", "f8": ">f8", "b1": "?"}

# SQLAlchemy's type -> Postgres's, for a COPY of Python values.
_TYPES = {
    "BigInteger": "int8",
    "Boolean": "bool",
    "Float": "float8",
    "Integer": "int4",
    "LargeBinary": "bytea",
    "SmallInteger": "int2",
    "String": "text",
}

_ACCESS = (
    "password authentication failed",
    "no password supplied",
    "permission denied",
    "no pg_hba.conf entry",
    "role ",
)


class Postgres(Dialect):
    """Postgres 12 or newer."""

    backend: ClassVar[str] = "postgresql"
    shares_schema: ClassVar[bool] = True
    snapshot_options: ClassVar[Mapping[str, str]] = {"isolation_level": "REPEATABLE READ"}
    driver_error: ClassVar[type[Exception]] = psycopg.Error

    def normalised(self, url: URL) -> URL:
        return url.set(drivername="postgresql+psycopg")

    def engine_options(self) -> dict[str, Any]:
        arguments = {"connect_timeout": CONNECT_SECONDS, "application_name": "lshdb"}
        return {"connect_args": arguments, "pool_pre_ping": True}

    def prepare(self, engine: Engine) -> None:
        """Nothing: the driver's defaults are right."""

    def exists(self, url: URL) -> bool:
        return True

    def before_birth(self, engine: Engine) -> None:
        """Nothing to set before the first table."""

    def lock(self, connection: Connection) -> None:
        connection.execute(select(func.pg_advisory_xact_lock(LOCK_SPACE, _lock_key())))

    def is_locked(self, engine: Engine) -> bool:
        with engine.begin() as connection:
            got_it = connection.scalar(select(func.pg_try_advisory_xact_lock(LOCK_SPACE, _lock_key())))
        return not got_it

    @contextmanager
    def sole_ingest(self, url: URL, wait: bool) -> Iterator[None]:
        """Several at once are welcome: their batches take turns."""
        yield

    def files(self, url: URL) -> frozenset[Path]:
        return frozenset()

    def bulk_insert(self, connection: Connection, table: Table, columns: Columns) -> None:
        statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
            sql.Identifier(table.name), sql.SQL(", ").join(map(sql.Identifier, columns))
        )
        driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
        with driver.cursor() as cursor, cursor.copy(statement) as copy:
            if all(isinstance(column, np.ndarray) for column in columns.values()):
                copy.write(_copy_bytes(columns))
            else:
                copy.set_types([_type_name(table, name) for name in columns])
                for row in zip(*(as_list(column) for column in columns.values()), strict=True):
                    copy.write_row(row)

    def analyse(self, connection: Connection, table: Table) -> None:
        # Autovacuum never sees a temporary table; without this the planner guesses and scans.
        driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
        driver.execute(sql.SQL("ANALYZE {}").format(sql.Identifier(table.name)))

    def before_upgrade(self, url: URL) -> str | None:
        """None: the whole upgrade is one transaction."""
        return None

    def size(self, connection: Connection) -> int:
        from lshdb.store.schema import metadata

        return sum(
            int(
                connection.execute(text("SELECT pg_total_relation_size(to_regclass(:name))"), {"name": name}).scalar()
                or 0
            )
            for name in metadata.tables
        )

    def diagnose(self, error: BaseException) -> tuple[type[StoreError], str]:
        message, state = one_line(error), getattr(error, "sqlstate", None)
        if state in ("42501", "28000", "28P01") or (state is None and any(part in message for part in _ACCESS)):
            return AccessDenied, message
        if state == "55P03":
            return IndexBusy, message
        if state is None and isinstance(error, psycopg.OperationalError):
            return StoreUnreachable, message
        return failed(error)


def _type_name(table: Table, name: str) -> str:
    return _TYPES[type(table.columns[name].type).__name__]


def _lock_key() -> ColumnElement[int]:
    return func.hashtext(func.current_schema())


def _copy_bytes(columns: Columns) -> bytes:
    """A binary COPY of numeric columns, built as one structured array: no Python value per field."""
    arrays = {name: np.asarray(column) for name, column in columns.items()}
    fields: list[tuple[str, str]] = [("_count", ">i2")]
    for name, array in arrays.items():
        fields += [(f"_{name}_length", ">i4"), (name, _FIELDS[array.dtype.str[1:]])]
    rows = np.zeros(len(next(iter(arrays.values()))), dtype=np.dtype(fields))
    rows["_count"] = len(arrays)
    for name, array in arrays.items():
        rows[f"_{name}_length"] = array.dtype.itemsize
        rows[name] = array
    return _COPY_HEADER + rows.tobytes() + _COPY_TRAILER
