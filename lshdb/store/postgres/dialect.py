"""Postgres, through psycopg 3: binary COPY for bulk inserts, one advisory lock for writing and one for linking."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import sql
from sqlalchemy import (
    URL,
    Column,
    ColumnElement,
    Connection,
    Engine,
    MetaData,
    Select,
    Table,
    event,
    exists,
    func,
    literal,
    select,
    text,
)
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.engine.interfaces import Dialect as SqlDialect
from sqlalchemy.exc import OperationalError

from lshdb.errors import AccessDenied, IndexBusy, IndexReadOnly, StoreError, StoreUnreachable, UsageError
from lshdb.model.banding import Sizes
from lshdb.store.dialect import Columns, Dialect, Growth, Part, as_list, dangling, failed, one_line
from lshdb.store.given import BRACES
from lshdb.store.postgres import cursors, late_indexes, namespace, sessions
from lshdb.store.schema import UNENFORCED, Json, Moment, unlinked
from lshdb.store.url import for_libpq, masked

__all__ = ["Postgres"]

CONNECT_SECONDS = 10
# The name of our sessions in pg_stat_activity.
APPLICATION = "lshdb"
# The first halves of the keys of our advisory locks, for writing and for linking. The second half is the schema. A
# process that takes both takes the lock for linking first; see docs/postgres.md.
LOCK_SPACE = 0x4C534844
LINK_SPACE = 0x4C53484C
ASKING_SECONDS = 0.5
# How long a transaction waits for the lock of another writer, or of another program, before it fails.
LOCK_LIMIT = "10min"

# In a database without an encoding (SQL_ASCII), texts are UTF-8, too.
ENCODINGS = ("UTF8", "SQL_ASCII")

_COPY_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_TRAILER = b"\xff\xff"
# Rows of a binary COPY that are made at a time: 150 kB of buckets, which fit the buffer of a socket.
_BLOCK_ROWS = 4_000
_DELETED_ROWS = 10_000
# The server stops an autovacuum that somebody waits for, after a second; anyone else may hold a lock for long.
_SWEEP_PATIENCE = "3s"
# NumPy kind and size -> (COPY field, big-endian); a bool is one byte.
_FIELDS = {"i2": ">i2", "i4": ">i4", "i8": ">i8", "f8": ">f8", "b1": "?"}

# SQLAlchemy type -> Postgres type, for a COPY of Python values.
_TYPES = {
    "BigInteger": "int8",
    "Boolean": "bool",
    "Float": "float8",
    "Integer": "int4",
    "Json": "jsonb",
    "LargeBinary": "bytea",
    "Moment": "timestamptz",
    "SmallInteger": "int2",
    "String": "text",
}

# Errors that may not happen again if the transaction is repeated: serialization failure, deadlock, lock timeout,
# cancelled or timed out, shut down (three codes), session idle too long (two codes), transaction too long, too many
# connections. Class 08, connection errors, is also one of them.
_PASSING = ("40001", "40P01", "55P03", "57014", "57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "53300")
_UNREACHABLE = ("57P01", "57P02", "57P03", "53300")

# Parts of messages: an error of connecting has no state.
_ACCESS = ("authentication failed", "no password supplied", "permission denied", "pg_hba.conf", "FATAL:  role ")


class Postgres(Dialect):
    """Postgres 12 or newer."""

    backend: ClassVar[str] = "postgresql"
    is_local: ClassVar[bool] = False
    driver_error: ClassVar[type[Exception]] = psycopg.Error
    compiler: ClassVar[SqlDialect] = PGDialect_psycopg()  # type: ignore[no-untyped-call]
    sizes: ClassVar[Sizes] = Sizes(row=105.0, content=165.0)
    enforces_all: ClassVar[bool] = False
    puts_off: ClassVar[bool] = True
    # Nothing vacuums a temporary table, so an ingest would read all rows that it has deleted from it, for every batch.
    # To truncate it makes new files, which takes 2 ms.
    truncated_rows: ClassVar[float] = 1_000
    # 120,000 documents, whose buckets fill a generation: they are appended to the table, in the order of its key, in
    # 20 us a document. In a young generation they would take 40, and its filter is made from its rows.
    growth: ClassVar[Growth] = Growth(1 / 5, 6.0)
    # The transactions whose effects are visible. A standby does not list those that have not ended.
    state: ClassVar[str | None] = "CASE WHEN NOT pg_is_in_recovery() THEN CAST(txid_current_snapshot() AS text) END"

    def __init__(self, url: URL) -> None:
        self._schema = namespace.named_by(url)
        self._has_met_rows = False
        self._numbers = count()

    def normalised(self, url: URL) -> URL:
        return url.set(drivername="postgresql+psycopg").difference_update_query(["schema"])

    def engine_options(self) -> dict[str, Any]:
        arguments = {
            "connect_timeout": CONNECT_SECONDS,
            "application_name": APPLICATION,
            # From a database without an encoding (SQL_ASCII), the driver would otherwise return bytes, not texts.
            "client_encoding": "utf8",
        }
        return {
            "connect_args": arguments,
            # Of any other level, a writer that waited for its turn would not see what the one before it has written.
            "isolation_level": "READ COMMITTED",
            # No column has this type. To find out whether the server has it takes three statements.
            "use_native_hstore": False,
        }

    def prepare(self, engine: Engine) -> None:
        def connect() -> psycopg.Connection[Any]:
            arguments, named = engine.dialect.create_connect_args(engine.url)
            return psycopg.connect(*arguments, autocommit=True, **{**named, "connect_timeout": CONNECT_SECONDS})

        def set_up(driver: psycopg.Connection[Any], _record: object) -> None:
            cursors.receive_binary(driver)
            # In a transaction, a rollback would undo the settings.
            driver.autocommit = True
            sessions.require_own(driver, connect, masked(engine.url))
            sessions.configure(driver)
            if self._schema is not None:
                namespace.enter(driver, self._schema)
            driver.autocommit = False

        # SQLAlchemy's own handler of a new connection queries the server, so this one comes first.
        event.listen(engine, "connect", set_up, insert=True)
        sessions.keep_alive(engine)

    def require_vacant(self, connection: Connection) -> None:
        if (hidden := namespace.hidden(connection)) is not None:
            raise AccessDenied(url=masked(connection.engine.url), reason=f"permission denied for schema {hidden}")

    def settle(self, connection: Connection) -> None:
        if self._schema is not None:
            namespace.settle(connection, self._schema)

    def exists(self, url: URL) -> bool:
        return True

    def before_creation(self, engine: Engine, *, unseen: bool = False) -> None:
        """Check that the database can store every text. Raises: UsageError: its encoding lacks characters."""
        with engine.connect() as connection:
            encoding = connection.scalar(select(func.current_setting("server_encoding")))
        if encoding not in ENCODINGS:
            raise UsageError(
                reason=f"the encoding of the database, {encoding}, lacks characters of ids. "
                "Create one for the index: CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0"
            )

    @contextmanager
    def making(self, url: URL) -> Iterator[URL]:
        """Create the index in its final place: nobody sees a transaction before it commits, or if it fails."""
        yield url

    @contextmanager
    def snapshot(self, connection: Connection, first: str) -> Iterator[Sequence[tuple[Any, ...]]]:
        # The driver would send BEGIN by itself and wait for the answer, which takes a tenth of a question.
        own = connection.execution_options(isolation_level="AUTOCOMMIT")
        driver = sessions.driver_of(own)
        with own.begin():
            # As text: in the other form, the server takes only one statement.
            cursor = psycopg.ClientCursor(driver)
            cursor.execute(f"BEGIN ISOLATION LEVEL REPEATABLE READ; {first}")
            cursor.nextset()
            yield cursor.fetchall()

    def lock(self, connection: Connection) -> None:
        connection.execute(self._locking)

    @cached_property
    def _locking(self) -> Select[str, None]:
        # A role's own limit stays. The limit is set first, because the server computes columns from left to right.
        limit = func.coalesce(func.nullif(func.current_setting("lock_timeout"), "0"), LOCK_LIMIT)
        limiting = func.set_config("lock_timeout", limit, literal(True))
        return select(limiting, func.pg_advisory_xact_lock(LOCK_SPACE, self._lock_key()))

    def is_locked(self, engine: Engine) -> bool:
        with engine.begin() as connection:
            got_it = connection.scalar(select(func.pg_try_advisory_xact_lock(LOCK_SPACE, self._lock_key())))
        return not got_it

    @contextmanager
    def sole_work(self, url: URL, work: str, wait: bool) -> Iterator[None]:
        """Do nothing: several ingests may run at once, and their batches take turns."""
        yield

    @contextmanager
    def sole_link(self, engine: Engine, waits: Callable[[str], None]) -> Iterator[None]:
        # A separate session holds the lock, so it is released however this process ends. It polls instead of waiting,
        # because a role's statement_timeout would end a wait for other processes.
        with engine.connect() as connection:
            own = connection.execution_options(isolation_level="AUTOCOMMIT")
            own.detach()
            number = own.execute(select(self._lock_key())).scalar_one()
            while not own.scalar(select(func.pg_try_advisory_lock(LINK_SPACE, number))):
                waits(sessions.holder(own, LINK_SPACE, number))
                time.sleep(ASKING_SECONDS)
            # If this session is lost, another process may link the same contents. That costs only time.
            yield

    def is_ingesting(self, connection: Connection) -> bool | None:
        """Return False if no other lshdb process is connected to the database; otherwise None, for unknown."""
        others = text(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = :name"
            " AND datname = current_database() AND pid <> pg_backend_pid()"
        )
        return None if connection.scalar(others, {"name": APPLICATION}) else False

    def files(self, url: URL) -> frozenset[Path]:
        return frozenset()

    def cursor(self, connection: Connection) -> DBAPICursor:
        # It needs a name, because a connection may read several results at once.
        return connection.connection.cursor(f"lshdb_{next(self._numbers)}")

    def execute_all(self, connection: Connection, statements: Sequence[str]) -> None:
        """Execute statements without parameters and results, in one round trip."""
        # A query for results in binary form cannot hold several statements.
        sessions.driver_of(connection).cursor().execute(";\n".join(statements).encode(), binary=False)

    def bulk_insert(self, connection: Connection, table: Table, columns: Columns) -> None:
        statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
            sql.Identifier(table.name), sql.SQL(", ").join(sql.Identifier(table.c[name].name) for name in columns)
        )
        driver = sessions.driver_of(connection)
        with driver.cursor() as cursor, cursor.copy(statement) as copy:
            if all(isinstance(column, np.ndarray) for column in columns.values()):
                for block in _copy_blocks(columns):
                    copy.write(block)
            else:
                copy.set_types([_TYPES[type(table.c[name].type).__name__] for name in columns])
                for row in zip(*(_sent(table.c[name], values) for name, values in columns.items()), strict=True):
                    copy.write_row(row)

    def insert_absent(self, connection: Connection, table: Table, columns: Columns) -> int:
        if not self._has_met_rows:
            try:
                # In half of the time.
                with connection.begin_nested():
                    self.bulk_insert(connection, table, columns)
                return len(next(iter(columns.values())))
            except psycopg.errors.UniqueViolation:
                # Perhaps a link that was interrupted is repeated, and meets more. Each try would be an error in the log
                # of the server.
                self._has_met_rows = True
        return self._insert_staged(connection, table, columns)

    def _insert_staged(self, connection: Connection, table: Table, columns: Columns) -> int:
        """Return what `insert_absent` does. COPY has no ON CONFLICT, so the rows pass through a temporary table."""
        staged = table.to_metadata(MetaData(), name=f"absent_{table.name}")
        names = sql.SQL(", ").join(map(sql.Identifier, columns))
        driver = sessions.driver_of(connection)
        places = {"staged": sql.Identifier(staged.name), "table": sql.Identifier(table.name), "names": names}
        driver.execute(sql.SQL("CREATE TEMPORARY TABLE IF NOT EXISTS {staged} (LIKE {table})").format(**places))
        driver.execute(sql.SQL("TRUNCATE {staged}").format(**places))
        self.bulk_insert(connection, staged, columns)
        insertion = sql.SQL("INSERT INTO {table} ({names}) SELECT {names} FROM {staged} ON CONFLICT DO NOTHING")
        return driver.execute(insertion.format(**places)).rowcount

    def delete(self, connection: Connection, table: Table, columns: Columns) -> None:
        keys = table.primary_key.columns
        arrays = ", ".join(f"CAST(%({key.name})s AS {key.type.compile(self.compiler)}[])" for key in keys)
        deletion = f"DELETE FROM {table.name} WHERE ({', '.join(keys.keys())}) IN (SELECT * FROM unnest({arrays}))"  # noqa: S608
        # With many more at a time, the planner reads the whole table instead of looking each of them up.
        for begin in range(0, len(columns[keys[0].name]), _DELETED_ROWS):
            some = {key.name: as_list(columns[key.name][begin : begin + _DELETED_ROWS]) for key in keys}
            # As text: the driver would convert every integer.
            connection.exec_driver_sql(deletion, {name: str(values).translate(BRACES) for name, values in some.items()})

    def analyse(self, connection: Connection, table: Table) -> None:
        # Autovacuum does not analyse temporary tables, and others only after a while. Without statistics, the planner
        # guesses and scans. If somebody else has locked the table, they are analysing or changing it themselves.
        driver = sessions.driver_of(connection)
        driver.execute(sql.SQL("ANALYZE (SKIP_LOCKED) {}").format(sql.Identifier(table.name)))

    def before_upgrade(self, url: URL) -> str | None:
        """Return None: the whole upgrade is one transaction, so it needs no copy."""
        return None

    def back_up(self, engine: Engine, path: Path, copied: Callable[[float], None]) -> str:
        with engine.connect() as connection:
            # Quoted, if need be, because pg_dump takes a pattern.
            schema = connection.scalar(select(func.quote_ident(func.current_schema())))
        what = ("--format=custom", f"--schema={schema}", f"--file={path}", for_libpq(engine.url))
        raise UsageError(reason=f"lshdb backup copies SQLite files. For Postgres, run: pg_dump {shlex.join(what)}")

    def sweep_unlinked(self, engine: Engine) -> None:
        # Otherwise autovacuum will do so within a minute. The server skips a table of another role.
        with suppress(OperationalError), engine.connect() as connection:
            own = connection.execution_options(isolation_level="AUTOCOMMIT")
            own.exec_driver_sql(f"SET lock_timeout = '{_SWEEP_PATIENCE}'")
            try:
                own.exec_driver_sql(f"VACUUM {unlinked.name}")
            finally:
                own.exec_driver_sql("RESET lock_timeout")

    def empty_caches(self, engine: Engine) -> None:
        """Do nothing: the server has them."""

    def clear_log(self, engine: Engine) -> None:
        """Do nothing: the server's checkpoints do not wait for us."""

    def vacuum(self, engine: Engine, *, full: bool) -> None:
        from lshdb.store.schema import metadata

        statement = sql.SQL("VACUUM (FULL, ANALYZE) {}" if full else "VACUUM (ANALYZE) {}")
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            driver = sessions.driver_of(connection)
            driver.add_notice_handler(said := _Said())
            for name in metadata.tables:
                driver.execute(statement.format(sql.Identifier(name)))
            driver.remove_notice_handler(said)
        # The server skips a table of another role with a warning only.
        if skipped := [message for message in said.messages if "skipping" in message]:
            raise AccessDenied(url=masked(engine.url), reason=skipped[0])

    def require_writable(self, connection: Connection) -> None:
        from lshdb.store.schema import pair

        may_insert = func.has_table_privilege(literal(pair.name), literal("INSERT"))
        if not connection.scalar(select(may_insert)):
            raise AccessDenied(url=masked(connection.engine.url), reason="this role may only read")
        if connection.scalar(select(func.current_setting("transaction_read_only"))) == "on":
            raise IndexReadOnly(url=masked(connection.engine.url), reason="this server, or this role, takes no writes")

    def _lock_key(self) -> ColumnElement[int]:
        # By its name, because a schema that does not exist yet is not the current one.
        return func.hashtext(func.current_schema() if self._schema is None else self._schema)

    def damages(self, connection: Connection, *, full: bool) -> Sequence[str]:
        found = set[str]()
        for reference in UNENFORCED:
            ((mine, its),) = [(one.parent, one.column) for one in reference.elements]
            lost = select(mine).where(mine.is_not(None), ~exists().where(its == mine)).limit(1)
            if connection.execute(lost).first() is not None:
                found.add(dangling(mine.table.name, its.table.name))
        return sorted(found)

    def invalid_indexes(self, connection: Connection) -> Sequence[tuple[str, str]]:
        from lshdb.store.schema import metadata

        statement = text(
            "SELECT t.relname, i.relname FROM pg_index JOIN pg_class i ON i.oid = indexrelid"
            " JOIN pg_class t ON t.oid = indrelid WHERE NOT indisvalid"
            " AND t.relnamespace = quote_ident(current_schema())::regnamespace ORDER BY 1, 2"
        )
        return [(table, index) for table, index in connection.execute(statement) if table in metadata.tables]

    def are_missing(self, connection: Connection, parts: Sequence[Part]) -> bool:
        return late_indexes.are_missing(connection, parts)

    def put_off(self, connection: Connection, parts: Sequence[Part]) -> None:
        late_indexes.put_off(connection, parts)

    def build(self, connection: Connection, parts: Sequence[Part], built: Callable[[float], None]) -> None:
        late_indexes.build(connection, parts, built)

    def size(self, connection: Connection) -> int:
        from lshdb.store.schema import metadata

        return sum(
            int(
                connection.execute(text("SELECT pg_total_relation_size(to_regclass(:name))"), {"name": name}).scalar()
                or 0
            )
            for name in metadata.tables
        )

    def is_passing(self, error: BaseException) -> bool:
        state = getattr(error, "sqlstate", None)
        if state is None:
            return self.diagnose(error)[0] is StoreUnreachable
        return state in _PASSING or state.startswith("08")

    def diagnose(self, error: BaseException) -> tuple[type[StoreError], str]:
        message, state = one_line(error), getattr(error, "sqlstate", None)
        if state == "25006":
            return IndexReadOnly, message
        if state == "42501" and "temporary tables" in message:
            return AccessDenied, f"{message}; writing needs some: GRANT TEMPORARY ON DATABASE ... TO ..."
        if state in ("42501", "28000", "28P01") or (state is None and any(part in message for part in _ACCESS)):
            return AccessDenied, message
        if state == "55P03":
            return IndexBusy, message
        is_lost = state is None and isinstance(error, psycopg.OperationalError)
        if is_lost or (state is not None and (state in _UNREACHABLE or state.startswith("08"))):
            return StoreUnreachable, message
        return failed(error)


class _Said:
    """Collects the server's notices."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def __call__(self, notice: psycopg.errors.Diagnostic) -> None:
        self.messages.append(notice.message_primary or "")


def _sent(column: Column[Any], values: NDArray[np.generic] | Sequence[object]) -> Iterable[object]:
    """Return the values of a column in the form that the driver expects for its type."""
    if isinstance(column.type, Json | Moment):
        return (column.type.process_bind_param(value, Postgres.compiler) for value in as_list(values))
    return as_list(values)


def _field(kind: np.dtype[Any]) -> str:
    return kind.str if kind.kind == "V" else _FIELDS[kind.str[1:]]


def _copy_blocks(columns: Columns) -> Iterator[bytes]:
    """Yield a binary COPY of numbers and of bytes of one length, without a Python value per field.

    The server stores one block while the next is made.
    """
    arrays = {name: np.asarray(column) for name, column in columns.items()}
    fields: list[tuple[str, str]] = [("_count", ">i2")]
    for name, array in arrays.items():
        fields += [(f"_{name}_length", ">i4"), (name, _field(array.dtype))]
    num_rows = len(next(iter(arrays.values())))
    rows = np.zeros(min(num_rows, _BLOCK_ROWS), dtype=np.dtype(fields))
    rows["_count"] = len(arrays)
    for name, array in arrays.items():
        rows[f"_{name}_length"] = array.dtype.itemsize
    yield _COPY_HEADER
    for begin in range(0, num_rows, _BLOCK_ROWS):
        block = rows[: num_rows - begin]
        for name, array in arrays.items():
            block[name] = array[begin : begin + _BLOCK_ROWS]
        yield block.tobytes()
    yield _COPY_TRAILER
