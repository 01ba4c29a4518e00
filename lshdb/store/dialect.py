"""The interface to what differs between databases: one class for each database.

Only for different sequences of operations. SQLAlchemy takes care of everything that is merely *spelled* differently.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from sqlalchemy import URL, Connection, Engine, Index, PrimaryKeyConstraint, Table
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.engine.interfaces import Dialect as SqlDialect

from lshdb.errors import StoreError, StoreFailed
from lshdb.model.banding import Sizes

__all__ = ["INGEST", "Columns", "Dialect", "Part", "as_list", "dangling", "failed", "one_line"]

# What other processes are told is running; see `Store.sole_work`.
INGEST: Final = "an ingest"

# Column name -> its values, all of one length.
Columns = Mapping[str, NDArray[np.generic] | Sequence[object]]
# A part of a table that can be built after its rows.
Part = PrimaryKeyConstraint | Index


class Growth(Struct, frozen=True):
    """How many documents a batch of an ingest has.

    Args:
        share: as a share of the contents of the index.
        most: how many times the documents of a batch of a small index, at most.
    """

    share: float
    most: float


class Dialect(ABC):
    """One database: engine options, connections, the write lock, bulk insert, statistics, its errors."""

    backend: ClassVar[str]
    # Whether this process reads the files itself, and waits for no server.
    is_local: ClassVar[bool]
    driver_error: ClassVar[type[Exception]]
    # Compiles the statements that are kept. Each engine has one of its own, for which they would be compiled again.
    compiler: ClassVar[SqlDialect]
    # Bytes that rows take in its tables.
    sizes: ClassVar[Sizes]
    # Whether it has the foreign keys in `schema.UNENFORCED`.
    enforces_all: ClassVar[bool] = True
    # Whether tables do without some of their indexes while they are filled.
    puts_off: ClassVar[bool] = False
    # From this many new rows on, a temporary table is truncated before it is filled again.
    truncated_rows: ClassVar[float] = math.inf
    # How long an ingest may hold the write lock to write the buckets of several batches together.
    load_seconds: ClassVar[float] = 0.0
    growth: ClassVar[Growth] = Growth(1 / 40, 4.0)
    # An expression that is equal in two statements only if they see the same state; NULL if that is unknown. None if a
    # transaction costs next to nothing.
    state: ClassVar[str | None] = None

    def normalised(self, url: URL) -> URL:
        """Return the URL as lshdb uses it: with its driver, and independent of the current folder."""
        return url

    @abstractmethod
    def engine_options(self) -> dict[str, Any]:
        """Return keyword arguments for create_engine."""

    @abstractmethod
    def prepare(self, engine: Engine) -> None:
        """Attach what every new connection and transaction of `engine` needs."""

    @abstractmethod
    def exists(self, url: URL) -> bool:
        """Return False if connecting would only create an empty database."""

    @abstractmethod
    def require_vacant(self, connection: Connection) -> None:
        """Check that no index is visible here because there is none.

        Raises: NotAnIndex: another program's tables are here; AccessDenied: we may not see what is here.
        """

    @abstractmethod
    def settle(self, connection: Connection) -> None:
        """Make the place that the tables are to be in, and move an index of an earlier revision there."""

    @abstractmethod
    def before_creation(self, engine: Engine, *, unseen: bool = False) -> None:
        """Make the settings that a new index needs before its first table.

        Args: unseen: nobody opens the index before it is complete.
        """

    @abstractmethod
    def making(self, url: URL) -> AbstractContextManager[URL]:
        """Yield the URL at which to create an index. It appears at `url` at the end of the block, unless that fails.

        The block creates it in one transaction. Raises: IndexExists: another process was faster; OutputFailed.
        """

    @abstractmethod
    def snapshot(self, connection: Connection, first: str) -> AbstractContextManager[Sequence[tuple[Any, ...]]]:
        """Start a transaction that sees one state of the database, and yield the rows of its first statement."""

    @abstractmethod
    def lock(self, connection: Connection) -> None:
        """Make this transaction the only one that writes until it ends."""

    @abstractmethod
    def is_locked(self, engine: Engine) -> bool:
        """Return whether another transaction is writing now."""

    @abstractmethod
    def sole_work(self, url: URL, work: str, wait: bool) -> AbstractContextManager[None]:
        """As `Store.sole_work`."""

    @abstractmethod
    def sole_link(self, engine: Engine, waits: Callable[[str], None]) -> AbstractContextManager[None]:
        """Keep out a second link, so that no pair is computed twice.

        Args: waits: is called before each wait, with a description of the process that links.
        """

    @abstractmethod
    def is_ingesting(self, connection: Connection) -> bool | None:
        """Return whether an ingest into this index is running; None if that cannot be known."""

    @abstractmethod
    def files(self, url: URL) -> frozenset[Path]:
        """Return the files of the index itself, which are not documents."""

    def cursor(self, connection: Connection) -> DBAPICursor:
        """Return a cursor of the driver that leaves rows in the database until they are fetched."""
        return connection.connection.cursor()

    def execute_all(self, connection: Connection, statements: Sequence[str]) -> None:
        """Execute statements without parameters and results."""
        for statement in statements:
            connection.exec_driver_sql(statement)

    @abstractmethod
    def bulk_insert(self, connection: Connection, table: Table, columns: Columns) -> None:
        """Insert rows in the fastest way that the database offers."""

    @abstractmethod
    def insert_absent(self, connection: Connection, table: Table, columns: Columns) -> int:
        """Bulk-insert the rows whose primary key does not exist yet. Returns: how many."""

    @abstractmethod
    def delete(self, connection: Connection, table: Table, columns: Columns) -> None:
        """Delete the rows with these primary keys, as far as they exist. Args: columns: those of the key, integers."""

    @abstractmethod
    def analyse(self, connection: Connection, table: Table) -> None:
        """Give the planner statistics of a table that was just filled."""

    @abstractmethod
    def before_upgrade(self, url: URL) -> str | None:
        """Make a copy to fall back on. Returns: its path; None if the database needs no copy."""

    @abstractmethod
    def back_up(self, engine: Engine, path: Path, copied: Callable[[float], None]) -> str:
        """Write a copy of the current state of the index to a file, and check it. Returns: its revision.

        Args: copied: is called with the share that is done.
        Raises: UsageError: this database needs another program for backups; OutputFailed; IndexDamaged.
        """

    @abstractmethod
    def vacuum(self, engine: Engine, *, full: bool) -> None:
        """Release unused space, outside a transaction.

        Args: full: even if nobody can use the index meanwhile.
        """

    @abstractmethod
    def sweep_unlinked(self, engine: Engine) -> None:
        """Remove what deleted rows leave in `unlinked`, if questions would have to pass it. Need not succeed."""

    @abstractmethod
    def empty_caches(self, engine: Engine) -> None:
        """Empty the caches of connections that nobody uses now."""

    @abstractmethod
    def clear_log(self, engine: Engine) -> None:
        """Copy the log into the file, as closing the index would. It waits for nobody, and need not succeed."""

    @abstractmethod
    def require_writable(self, connection: Connection) -> None:
        """Raises: AccessDenied, IndexReadOnly: we may not write here."""

    def damages(self, connection: Connection, *, full: bool) -> Sequence[str]:
        """Return the faults that the database itself finds in its file.

        Args: full: also compare the indexes with their tables.
        """
        return []

    def invalid_indexes(self, connection: Connection) -> Sequence[tuple[str, str]]:
        """Return (table, index) of our indexes that the database does not use because they are unfinished."""
        return []

    def are_missing(self, connection: Connection, parts: Sequence[Part]) -> bool:
        """Return whether tables lack one of the parts and `build` would build it."""
        return False

    @abstractmethod
    def put_off(self, connection: Connection, parts: Sequence[Part]) -> None:
        """Drop parts of tables that are about to be filled, if nobody is reading them."""

    @abstractmethod
    def build(self, connection: Connection, parts: Sequence[Part], built: Callable[[float], None]) -> None:
        """Build the parts that are missing.

        Args: built: is called with the share of an index that is done, from another thread.
        """

    @abstractmethod
    def size(self, connection: Connection) -> int:
        """Return the bytes that the index takes on disk."""

    def is_passing(self, error: BaseException) -> bool:
        """Return whether an error of the driver may not happen again if the transaction is repeated."""
        return False

    @abstractmethod
    def diagnose(self, error: BaseException) -> tuple[type[StoreError], str]:
        """Return the error of lshdb for an error of the driver, and its reason in one line."""


def as_list(column: NDArray[np.generic] | Sequence[object]) -> Sequence[object]:
    """Return a column as Python values."""
    return column.tolist() if isinstance(column, np.ndarray) else column


def one_line(error: BaseException) -> str:
    """Return the first line of a driver's message."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def dangling(table: str, parent: str) -> str:
    """Return the message about rows of a table that refer to a row of another one that does not exist."""
    return f"a row of {table} refers to none of {parent}"


def failed(error: BaseException) -> tuple[type[StoreError], str]:
    """Return the diagnosis of an error that has no narrower class."""
    return StoreFailed, one_line(error)
