"""SQLite: one file, one writer at a time, readers never blocked (WAL)."""

from __future__ import annotations

import fcntl
import itertools
import os
import shutil
import socket
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, TextIO

from sqlalchemy import URL, Connection, Engine, Table, event, insert
from sqlalchemy.engine.interfaces import DBAPICursor

from lshdb.errors import AccessDenied, IndexBusy, IndexDamaged, NotAnIndex, StoreError, StoreFailed, StoreUnreachable
from lshdb.store.dialect import Columns, Dialect, as_list, failed, one_line

__all__ = ["Sqlite"]

# Larger than the 4 KiB default: 16 KiB pages halve the depth of the bucket tree (55,000 against 29,000 documents/s).
PAGE_SIZE = 16_384
CACHE_KIB = 131_072
# 128 MB of log: a bucket page that several batches touch is copied home once, not after each of them.
CHECKPOINT_PAGES = 8_192
BUSY_SECONDS = 30.0
RETRY_SECONDS = 0.01
# Values of one INSERT; SQLite takes 32,766 since 3.32. Each statement is one lease of the interpreter lock, which a
# thread that is sketching gives back only every 5 ms.
MAX_VARIABLES = 32_000
# "LSHD": what file(1) and we know an index by.
APPLICATION_ID = 0x4C534844

_DIAGNOSES: tuple[tuple[str, type[StoreError]], ...] = (
    ("file is not a database", NotAnIndex),
    ("malformed", IndexDamaged),
    ("locked", IndexBusy),
    ("readonly", AccessDenied),
    ("unable to open", StoreUnreachable),
)


class Sqlite(Dialect):
    """SQLite through the standard library's driver."""

    backend: ClassVar[str] = "sqlite"
    shares_schema: ClassVar[bool] = False
    snapshot_options: ClassVar[Mapping[str, str]] = {}
    driver_error: ClassVar[type[Exception]] = sqlite3.Error

    def engine_options(self) -> dict[str, Any]:
        return {"connect_args": {"timeout": BUSY_SECONDS, "check_same_thread": False}}

    def prepare(self, engine: Engine) -> None:
        event.listen(engine, "connect", _on_connect)
        event.listen(engine, "begin", _on_begin)

    def exists(self, url: URL) -> bool:
        # An empty file is what a killed birth, or touch(1), leaves: no index yet.
        path = Path(url.database or "")
        return path.exists() and (not path.is_file() or path.stat().st_size > 0)

    def before_birth(self, engine: Engine) -> None:
        connection = engine.raw_connection()
        try:
            cursor = connection.cursor()
            for setting in (f"page_size = {PAGE_SIZE}", "journal_mode = WAL", f"application_id = {APPLICATION_ID}"):
                _set(cursor, setting)
        finally:
            connection.close()

    def lock(self, connection: Connection) -> None:
        """Nothing left to do: a writing transaction begins with BEGIN IMMEDIATE."""

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
    def sole_ingest(self, url: URL, wait: bool) -> Iterator[None]:
        with ExitStack() as held:
            try:
                # The file stays: the system gives the lock back when its holder ends, however that is.
                _lock_ingest(held.enter_context(lock_path(url).open("a+")), url, wait)
            except PermissionError as error:
                raise AccessDenied(url=url.database, reason=f"{lock_path(url)}: {error.strerror}") from None
            except OSError as error:
                raise StoreFailed(url=url.database, reason=f"{lock_path(url)}: {error.strerror}") from None
            yield

    def files(self, url: URL) -> frozenset[Path]:
        return frozenset({Path(url.database or ""), lock_path(url)})

    def bulk_insert(self, connection: Connection, table: Table, columns: Columns) -> None:
        values = list(chain.from_iterable(zip(*(as_list(column) for column in columns.values()), strict=True)))
        width = len(columns)
        step = MAX_VARIABLES // width * width
        whole = len(values) - len(values) % step
        if whole:
            blocks = [tuple(values[start : start + step]) for start in range(0, whole, step)]
            connection.exec_driver_sql(_insertion(connection, table, columns, step // width), blocks)
        if len(values) > whole:
            rest = tuple(values[whole:])
            connection.exec_driver_sql(_insertion(connection, table, columns, len(rest) // width), rest)

    def analyse(self, connection: Connection, table: Table) -> None:
        """Nothing: a temporary table is joined in the order the statement names."""

    def before_upgrade(self, url: URL) -> str | None:
        original = Path(url.database or "")
        for number in itertools.count():
            copy = original.with_name(f"{original.name}.before-upgrade{f'-{number}' if number else ''}")
            if not copy.exists():
                break
        shutil.copymode(original, _online_copy(original, copy))
        return str(copy)

    def size(self, connection: Connection) -> int:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        page_size = connection.exec_driver_sql("PRAGMA page_size").scalar_one()
        return int(pages) * int(page_size)

    def diagnose(self, error: BaseException) -> tuple[type[StoreError], str]:
        message = one_line(error)
        for part, kind in _DIAGNOSES:
            if part in message:
                return kind, message
        return failed(error)


def lock_path(url: URL) -> Path:
    """The file whose lock an ingest holds."""
    path = Path(url.database or "")
    return path.with_name(f"{path.name}-lock")


def _lock_ingest(lock: TextIO, url: URL, wait: bool) -> None:
    """Takes the lock, and writes into it whose it is."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        raise IndexBusy(url=url.database, reason=lock.read().strip() or "an ingest") from None
    started = datetime.now().astimezone().isoformat(timespec="seconds")
    lock.truncate(0)
    lock.write(f"an ingest, process {os.getpid()} on {socket.gethostname()} since {started}")
    lock.flush()


def _insertion(connection: Connection, table: Table, columns: Columns, num_rows: int) -> str:
    """An INSERT of `num_rows` rows: half the time of one row a statement (measured from 250 rows on)."""
    one = str(insert(table).compile(dialect=connection.dialect, column_keys=list(columns)))
    row = f"({', '.join('?' * len(columns))})"
    return one + f", {row}" * (num_rows - 1)


def _online_copy(original: Path, copy: Path) -> Path:
    """A consistent copy, also while others write: SQLite's backup interface."""
    source, target = sqlite3.connect(original), sqlite3.connect(copy)
    try:
        source.backup(target)
    finally:
        target.close()
        source.close()
    return copy


def _set(cursor: DBAPICursor, setting: str) -> None:
    """Sets a pragma, again while another process bears the same index.

    SQLite itself does not wait where two connections change the journal mode at once: each would wait for the other.
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


def _on_connect(connection: sqlite3.Connection, _record: object) -> None:
    # None: the driver begins no transaction of its own; _on_begin does.
    connection.isolation_level = None
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    # NORMAL in WAL: a power cut can undo the last commits, never tear the file.
    connection.execute("PRAGMA synchronous = NORMAL")


def _on_begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("lshdb_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
