"""SQLite: one file, one writer at a time, readers never blocked (WAL)."""

from __future__ import annotations

import itertools
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import URL, Connection, Engine, Table, event, insert, inspect
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.engine.interfaces import Dialect as SqlDialect
from sqlalchemy.pool import QueuePool

from lshdb.errors import (
    FileUnusable,
    IndexBusy,
    IndexDamaged,
    IndexExists,
    IndexReadOnly,
    NotAnIndex,
    StoreError,
    StoreFailed,
    UsageError,
    reason_of,
)
from lshdb.model.banding import SQLITE_SIZES, Sizes
from lshdb.store.dialect import Columns, Dialect, Part, as_list, dangling, failed, one_line
from lshdb.store.files import BESIDE, replacing, require_free
from lshdb.store.sqlite import file, lock
from lshdb.store.url import masked, reads_only

__all__ = ["Sqlite"]

# 16 KiB pages halve the depth of the bucket tree: 55,000 documents/s, but 29,000 with the default of 4 KiB.
PAGE_SIZE = 16_384
# The cache of the connection that writes holds the inner pages of the bucket tree and the leaves of one batch.
WRITER_CACHE_KIB = 131_072
READER_CACHE_KIB = 32_768
# The largest file that is mapped; SQLite cannot map more. Looking up the 20 buckets of a text in five generations of a
# million texts takes 0.16 ms in a mapped file, and 0.27 ms if each page is copied into the cache of the connection. But
# for a page that is not in memory, the system reads 128 kB of a mapped file: 2,000 questions to an index of 12 GB read
# 1.8 GB instead of 0.75.
MAPPED_BYTES = 2_147_418_112
# 128 MB of log, so that a bucket page that several batches change is copied to the database once, not for each batch.
CHECKPOINT_PAGES = 8_192
BUSY_SECONDS = 30.0
# Well below BUSY_SECONDS, for which others wait for the write lock.
LOAD_SECONDS = 10.0
RETRY_SECONDS = 0.01
# Values of one INSERT; SQLite 3.32 and newer accept 32,766. After each statement, Python must get the interpreter lock
# again, and a thread that is sketching releases it only every 5 ms. But with 32,000 values, a compiled statement took
# 4 MB, and a connection kept 80 MB of them.
MAX_VARIABLES = 8_000
# From this many rows on, it is worth looking for columns with one value.
MANY_ROWS = 256
# Rows become Python objects of 150 bytes each, 40 MB of them at a time.
BLOCKS_AT_A_TIME = 32
DELETED_ROWS = 100_000
# The oldest version that the tests were run with. Before 3.33, there is no UPDATE ... FROM.
OLDEST = (3, 34)
# The first part of the -shm file, which SQLite creates as a whole.
SHARED_BYTES = 32_768
_NUM_BYTES = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
# "LSHD", by which file(1) and lshdb recognise an index.
APPLICATION_ID = 0x4C534844

_DIAGNOSES: tuple[tuple[str, type[StoreError]], ...] = (
    ("file is not a database", NotAnIndex),
    ("malformed", IndexDamaged),
    ("locked", IndexBusy),
    ("readonly", IndexReadOnly),
    ("unable to open", FileUnusable),
)


class Sqlite(Dialect):
    """SQLite through the standard library's driver."""

    backend: ClassVar[str] = "sqlite"
    compiler: ClassVar[SqlDialect] = SQLiteDialect_pysqlite()
    is_local: ClassVar[bool] = True
    driver_error: ClassVar[type[Exception]] = sqlite3.Error
    sizes: ClassVar[Sizes] = SQLITE_SIZES
    load_seconds: ClassVar[float] = LOAD_SECONDS

    def __init__(self, url: URL) -> None:
        if sqlite3.sqlite_version_info < OLDEST:
            reason = (
                f"the sqlite3 of this Python is {sqlite3.sqlite_version}, and lshdb needs {'.'.join(map(str, OLDEST))} "
                "or newer. Use a Python that brings its own, such as those of conda and uv, or an index in Postgres"
            )
            raise UsageError(reason=reason)
        self._read_only = reads_only(url)
        self._folder = Path(os.path.realpath(url.database or "")).parent

    def normalised(self, url: URL) -> URL:
        # Absolute, as SQLAlchemy makes it for its connections: the ingest lock must not follow a later os.chdir.
        # All names of a file share one lock, and one log, which SQLite keeps next to the file itself.
        return URL.create("sqlite", database=os.path.realpath(url.database or ""))

    def engine_options(self) -> dict[str, Any]:
        # Reuse the connection that was used last, because every open connection keeps a separate cache.
        return {"connect_args": {"timeout": BUSY_SECONDS, "check_same_thread": False}, "pool_use_lifo": True}

    def prepare(self, engine: Engine) -> None:
        event.listen(engine, "do_connect", self._connect)
        event.listen(engine, "connect", self._on_connect)
        event.listen(engine, "begin", _on_begin)

    def exists(self, url: URL) -> bool:
        # A creation that was killed leaves an empty file, and so does touch(1). Neither is an index yet.
        path = Path(url.database or "")
        try:
            found = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise FileUnusable(url=str(path), reason=reason_of(error)) from None
        if stat.S_ISDIR(found.st_mode):
            raise FileUnusable(url=str(path), reason="it is a folder")
        return not stat.S_ISREG(found.st_mode) or found.st_size > 0

    def require_vacant(self, connection: Connection) -> None:
        if foreign := inspect(connection).get_table_names():
            reason = f"it is another program's database, with a table {foreign[0]!r}"
            raise NotAnIndex(url=masked(connection.engine.url), reason=reason)

    def settle(self, connection: Connection) -> None:
        """Do nothing: the file is the place."""

    def before_creation(self, engine: Engine, *, unseen: bool = False) -> None:
        connection = engine.raw_connection()
        # If the whole index is one transaction, its log would be as large as the index.
        journal = "journal_mode = OFF" if unseen else "journal_mode = WAL"
        try:
            cursor = connection.cursor()
            for setting in (f"page_size = {PAGE_SIZE}", journal, f"application_id = {APPLICATION_ID}"):
                _set(cursor, setting)
        finally:
            connection.close()

    @contextmanager
    def making(self, url: URL) -> Iterator[URL]:
        place = Path(url.database or "")
        require_free(place, force=True, for_database=True)
        file.require_no_log(place)
        with replacing(place) as part:
            yield url.set(database=str(part))
            file.keep_log(part)
            if self.exists(url):
                raise IndexExists(url=str(url.database))

    @contextmanager
    def snapshot(self, connection: Connection, first: str) -> Iterator[Sequence[tuple[Any, ...]]]:
        with connection.begin():
            yield connection.connection.cursor().execute(first).fetchall()

    def lock(self, connection: Connection) -> None:
        # The transaction began with BEGIN IMMEDIATE, which succeeds even if the file is not writable.
        self.require_writable(connection)

    def is_locked(self, engine: Engine) -> bool:
        connection = engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA busy_timeout = 0")
            connection.cursor().execute("BEGIN IMMEDIATE")
            connection.cursor().execute("ROLLBACK")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            return True
        finally:
            connection.cursor().execute(f"PRAGMA busy_timeout = {int(1000 * BUSY_SECONDS)}")
            connection.close()
        return False

    @contextmanager
    def sole_work(self, url: URL, work: str, wait: bool) -> Iterator[None]:
        self._require_writable(url)
        with lock.sole_work(Path(url.database or ""), work, wait):
            yield

    @contextmanager
    def sole_link(self, engine: Engine, waits: Callable[[str], None]) -> Iterator[None]:
        """Do nothing: if two processes link the same contents, the result is the same."""
        yield

    def is_ingesting(self, connection: Connection) -> bool | None:
        return lock.is_ingesting(Path(connection.engine.url.database or ""))

    def files(self, url: URL) -> frozenset[Path]:
        path = Path(url.database or "")
        return frozenset(path.with_name(path.name + suffix) for suffix in ("", *BESIDE))

    def bulk_insert(self, connection: Connection, table: Table, columns: Columns) -> None:
        _insert(connection, table, columns)

    def insert_absent(self, connection: Connection, table: Table, columns: Columns) -> int:
        before = _total_changes(connection)
        _insert(connection, table, columns, "OR IGNORE")
        return _total_changes(connection) - before

    def delete(self, connection: Connection, table: Table, columns: Columns) -> None:
        keys = table.primary_key.columns.keys()
        deletion = f"DELETE FROM {table.name} WHERE " + " AND ".join(f"{name} = ?" for name in keys)  # noqa: S608
        for begin in range(0, len(columns[keys[0]]), DELETED_ROWS):
            some = (as_list(columns[name][begin : begin + DELETED_ROWS]) for name in keys)
            connection.exec_driver_sql(deletion, list(zip(*some, strict=True)))

    def analyse(self, connection: Connection, table: Table) -> None:
        """Do nothing: statements fix the order in which temporary tables are joined."""

    def before_upgrade(self, url: URL) -> str | None:
        original = Path(url.database or "")
        for number in itertools.count():
            copy = original.with_name(f"{original.name}.before-upgrade{f'-{number}' if number else ''}")
            if not copy.exists():
                break
        with replacing(copy) as part:
            file.copy_online(original, part, lambda _share: None)
        return str(copy)

    def back_up(self, engine: Engine, path: Path, copied: Callable[[float], None]) -> str:
        file.require_no_log(path)
        with replacing(path) as part:
            return file.copy_online(Path(engine.url.database or ""), part, copied)

    def vacuum(self, engine: Engine, *, full: bool) -> None:
        connection = engine.raw_connection()
        try:
            connection.cursor().execute("VACUUM")
            # The log now holds the new file. The old file shrinks only when the log is copied into it.
            connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()

    def sweep_unlinked(self, engine: Engine) -> None:
        """Do nothing: deleted rows leave nothing that is read."""

    def empty_caches(self, engine: Engine) -> None:
        assert isinstance(engine.pool, QueuePool)
        with ExitStack() as held:
            # Each is held until the end, so that the next one is another.
            for _ in range(engine.pool.checkedin()):
                connection = held.enter_context(closing(engine.raw_connection()))
                connection.cursor().execute("PRAGMA shrink_memory")

    def clear_log(self, engine: Engine) -> None:
        connection = engine.raw_connection()
        try:
            # What is not copied now, or cannot be because the disk is full, stays in the log.
            with suppress(sqlite3.OperationalError):
                connection.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)")
        finally:
            connection.close()

    def require_writable(self, connection: Connection) -> None:
        self._require_writable(connection.engine.url)

    def damages(self, connection: Connection, *, full: bool) -> Sequence[str]:
        found = connection.exec_driver_sql(f"PRAGMA {'integrity_check' if full else 'quick_check'}").scalars().all()
        lost = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        messages = {dangling(table, parent) for table, _, parent, _ in lost}
        return [str(message) for message in found if message != "ok"] + sorted(messages)

    def put_off(self, connection: Connection, parts: Sequence[Part]) -> None:
        """Do nothing: the largest key is a table."""

    def build(self, connection: Connection, parts: Sequence[Part], built: Callable[[float], None]) -> None:
        """Do nothing: all parts always exist."""

    def size(self, connection: Connection) -> int:
        return int(connection.exec_driver_sql(_NUM_BYTES).scalar_one())

    def diagnose(self, error: BaseException) -> tuple[type[StoreError], str]:
        message = one_line(error)
        for part, kind in _DIAGNOSES:
            if part in message:
                return kind, message
        if "disk I/O error" in message and self._is_disk_full():
            return StoreFailed, f"{message}, because no space is left on the disk of {self._folder}"
        return failed(error)

    def _is_disk_full(self) -> bool:
        # Even a question fails then, because SQLite cannot create the file of the memory that its readers share.
        with suppress(OSError):
            disk = os.statvfs(self._folder)
            return disk.f_bavail * disk.f_frsize < SHARED_BYTES
        return False

    def _require_writable(self, url: URL) -> None:
        if reason := file.why_unwritable(Path(url.database or ""), read_only=self._read_only):
            raise IndexReadOnly(url=str(url.database), reason=reason)

    def _connect(self, _dialect: object, _record: object, arguments: list[str], options: dict[str, Any]) -> object:
        return file.connection_for_reading(Path(arguments[0]), options, read_only=self._read_only)

    def _on_connect(self, connection: sqlite3.Connection, _record: object) -> None:
        # With None, the driver does not begin transactions; _on_begin does.
        connection.isolation_level = None
        connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        # NORMAL in WAL mode: a power cut can undo the last commits, but never damages the file.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        if self._read_only and connection.execute(_NUM_BYTES).fetchone()[0] <= MAPPED_BYTES:
            connection.execute(f"PRAGMA mmap_size = {MAPPED_BYTES}")


def _insert(connection: Connection, table: Table, columns: Columns, *prefixes: str) -> None:
    """Insert rows with statements whose numbers of rows are powers of two.

    The driver caches the last 128 compiled statements of a connection, which take up to a megabyte each. If the numbers
    of rows were arbitrary, these would be 128 different ones.
    """
    # In the order of the table's columns, like the compiled statement.
    columns = {column.key: columns[column.key] for column in table.columns if column.key in columns}
    num_rows = max(map(len, columns.values()))
    constants = _constants(columns, num_rows) if num_rows >= MANY_ROWS else {}
    varying = [values for name, values in columns.items() if name not in constants]
    insertion = _insertion(table, prefixes, tuple(columns))
    first, row = _placeholders(columns, constants)
    size, begin = 1 << (MAX_VARIABLES // max(len(varying), 1)).bit_length() - 1, 0
    while begin < num_rows:
        end = begin + min((num_rows - begin) // size, BLOCKS_AT_A_TIME) * size
        if end == begin:
            size //= 2
            continue
        blocks = [(*constants.values(), *_block(varying, start, start + size)) for start in range(begin, end, size)]
        connection.exec_driver_sql(insertion + ", ".join([first] + [row] * (size - 1)), blocks)
        begin = end


def _constants(columns: Columns, num_rows: int) -> dict[str, object]:
    """Return the value of each column that has only one. Bound once, it saves 0.05 us for every other row."""
    return {name: as_list(values[:1])[0] for name, values in columns.items() if _is_constant(values, num_rows)}


def _is_constant(column: NDArray[np.generic] | Sequence[object], num_rows: int) -> bool:
    if isinstance(column, np.ndarray):
        return len(column) == num_rows and bool((column == column[0]).all())
    return column.count(column[0]) == num_rows


def _placeholders(columns: Columns, constants: Mapping[str, object]) -> tuple[str, str]:
    """Return the values of the first row, and those of every other row: ?1, ?2, ... are the constants.

    A ? without a number is the parameter after the greatest one so far, so the first row has numbers only.
    """
    varying = [name for name in columns if name not in constants]
    numbers = {name: f"?{number}" for number, name in enumerate([*constants, *varying], 1)}
    others = {name: numbers[name] if name in constants else "?" for name in columns}
    first, row = (f"({', '.join(values[name] for name in columns)})" for values in (numbers, others))
    return first, row


def _block(columns: Sequence[NDArray[np.generic] | Sequence[object]], begin: int, end: int) -> Iterator[object]:
    """Yield the values of some rows, row by row."""
    parts = [column[begin:end] for column in columns]
    integers = [part for part in parts if isinstance(part, np.ndarray) and part.dtype.kind == "i"]
    if integers and len(integers) == len(parts):
        # In two thirds of the time.
        return iter(np.column_stack(integers).ravel().tolist())
    return chain.from_iterable(zip(*map(_bound, parts), strict=True))


def _bound(column: NDArray[np.generic] | Sequence[object]) -> Sequence[object]:
    """Return values for which the driver does not look for an adapter, which takes 0.5 us: no bool, no bytes."""
    if isinstance(column, np.ndarray) and column.dtype == np.bool_:
        column = column.view(np.int8)
    values = as_list(column)
    if isinstance(values[0], bytes):
        return [bytearray(value) if isinstance(value, bytes) else value for value in values]
    return values


@cache
def _insertion(table: Table, prefixes: tuple[str, ...], names: tuple[str, ...]) -> str:
    """Return an INSERT without its rows. Compiling it takes a tenth of the time of a short query, so it is cached."""
    compiled = str(insert(table).prefix_with(*prefixes).compile(dialect=Sqlite.compiler, column_keys=list(names)))
    return compiled[: compiled.rindex("(")]


def _total_changes(connection: Connection) -> int:
    driver: sqlite3.Connection = connection.connection.driver_connection  # type: ignore[assignment]
    return driver.total_changes


def _set(cursor: DBAPICursor, setting: str) -> None:
    """Set a pragma, and retry while another process creates the same index.

    SQLite itself does not wait if two connections change the journal mode at once, because they would deadlock.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            cursor.execute(f"PRAGMA {setting}")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(RETRY_SECONDS)
        else:
            return


def _on_begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    writes, is_safe = options.get("lshdb_writes", False), options.get("lshdb_refers_safely", False)
    # Directly, because SQLAlchemy would take a tenth of the time of a short query for the two statements.
    driver: sqlite3.Connection = connection.connection.driver_connection  # type: ignore[assignment]
    # Only if it changes, because SQLite then compiles all statements of the connection again.
    if connection.info.get("refers_safely", False) != is_safe:
        driver.execute(f"PRAGMA foreign_keys = {'OFF' if is_safe else 'ON'}")
        connection.info["refers_safely"] = is_safe
    driver.execute(f"PRAGMA cache_size = -{WRITER_CACHE_KIB if writes else READER_CACHE_KIB}")
    driver.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
