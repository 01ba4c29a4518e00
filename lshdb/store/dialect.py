"""What a database does by a sequence of operations of its own; one class each.

Everything that is merely *spelled* differently is SQLAlchemy's business and has no place here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import URL, Connection, Engine, Table

from lshdb.errors import StoreError, StoreFailed
from lshdb.model.banding import Sizes

__all__ = ["Columns", "Dialect", "as_list", "failed", "one_line"]

# Column name -> its values, all of one length.
Columns = Mapping[str, NDArray[np.generic] | Sequence[object]]


class Dialect(ABC):
    """One database: engine options, connections, the write lock, bulk insert, statistics, its errors."""

    backend: ClassVar[str]
    # Other programs' tables beside ours are normal there.
    shares_schema: ClassVar[bool]
    # Execution options under which a transaction sees one state of the database.
    snapshot_options: ClassVar[Mapping[str, str]]
    driver_error: ClassVar[type[Exception]]
    # What its tables take.
    sizes: ClassVar[Sizes]
    # A table can do without its primary key while it is filled.
    builds_keys: ClassVar[bool] = False
    # How long an ingest may hold the write lock to write the buckets of several batches together. Where it is not 0,
    # no transaction is ever run again.
    load_seconds: ClassVar[float] = 0.0

    def normalised(self, url: URL) -> URL:
        """The URL with the driver that lshdb uses."""
        return url

    @abstractmethod
    def engine_options(self) -> dict[str, Any]:
        """Keyword arguments of create_engine."""

    @abstractmethod
    def prepare(self, engine: Engine) -> None:
        """Attaches what every new connection and transaction of `engine` needs."""

    @abstractmethod
    def exists(self, url: URL) -> bool:
        """False where connecting would only make an empty database."""

    @abstractmethod
    def before_birth(self, engine: Engine, *, unseen: bool = False) -> None:
        """Sets what must be set before the first table of a new index exists.

        Args: unseen: nobody opens it before it is complete.
        """

    @abstractmethod
    def making(self, url: URL) -> AbstractContextManager[URL]:
        """Where to make an index that is at `url` from the end of the block on, unless that fails; not before.

        It is made in one transaction. Raises: IndexExists: there is one meanwhile; OutputFailed.
        """

    @abstractmethod
    def lock(self, connection: Connection) -> None:
        """Makes this transaction the only one that writes, until it ends."""

    @abstractmethod
    def is_locked(self, engine: Engine) -> bool:
        """Whether another transaction is writing right now."""

    @abstractmethod
    def sole_ingest(self, url: URL, wait: bool) -> AbstractContextManager[None]:
        """Keeps a second ingest off, where only one may run. Raises: IndexBusy: one runs, and we are not to wait."""

    @abstractmethod
    def sole_link(self, engine: Engine, waits: Callable[[], None]) -> AbstractContextManager[None]:
        """Keeps a second linking off, so that no pair is computed twice. Args: waits: is called before each wait."""

    @abstractmethod
    def is_ingesting(self, connection: Connection) -> bool | None:
        """Whether an ingest into this index runs; None where that cannot be known."""

    @abstractmethod
    def files(self, url: URL) -> frozenset[Path]:
        """The files that the index is made of, which are no documents."""

    @abstractmethod
    def bulk_insert(self, connection: Connection, table: Table, columns: Columns) -> None:
        """Inserts rows by the fastest way that the database has."""

    @abstractmethod
    def insert_absent(self, connection: Connection, table: Table, columns: Columns) -> int:
        """`bulk_insert` of the rows whose primary key is not there yet. Returns: how many."""

    @abstractmethod
    def analyse(self, connection: Connection, table: Table) -> None:
        """Gives the planner statistics of a table that was just filled."""

    @abstractmethod
    def before_upgrade(self, url: URL) -> str | None:
        """Makes a copy to fall back on. Returns: where it is; None where the database needs none."""

    @abstractmethod
    def back_up(self, engine: Engine, path: Path, copied: Callable[[float], None]) -> str:
        """Writes a copy of the index, as it is at this moment, to a file, and checks it. Returns: its revision.

        Args: copied: hears the share that is done.
        Raises: UsageError: that is the business of another program; OutputFailed; IndexDamaged.
        """

    @abstractmethod
    def vacuum(self, engine: Engine, *, full: bool) -> None:
        """Gives up the space that nothing takes any more, outside of a transaction.

        Args: full: also where nobody can use the index meanwhile.
        """

    @abstractmethod
    def require_writable(self, connection: Connection) -> None:
        """Raises: AccessDenied, IndexReadOnly: we may not write here."""

    def damages(self, connection: Connection, *, full: bool) -> Sequence[str]:
        """What the database itself finds wrong with its file.

        Args: full: compare the indexes with their tables, too.
        """
        return []

    def invalid_indexes(self, connection: Connection) -> Sequence[tuple[str, str]]:
        """(table, index) of the indexes of our tables that the database does not use because they are unfinished."""
        return []

    def is_key_missing(self, connection: Connection, table: Table) -> bool:
        """Whether a table lacks its primary key and `build_key` would build it."""
        return False

    @abstractmethod
    def put_off_key(self, connection: Connection, table: Table) -> None:
        """Takes the primary key off a table that is about to be filled, where nobody reads it."""

    @abstractmethod
    def build_key(self, connection: Connection, table: Table, built: Callable[[float], None]) -> None:
        """Builds the primary key of a table where it is missing.

        Args: built: hears the share that is done, from another thread.
        """

    @abstractmethod
    def size(self, connection: Connection) -> int:
        """Bytes that the index takes on disk."""

    def is_passing(self, error: BaseException) -> bool:
        """Whether one of the driver's errors may be gone when the transaction is run again."""
        return False

    @abstractmethod
    def diagnose(self, error: BaseException) -> tuple[type[StoreError], str]:
        """The error of lshdb for one of the driver's, and its reason in a line."""


def as_list(column: NDArray[np.generic] | Sequence[object]) -> Sequence[object]:
    """A column as Python values."""
    return column.tolist() if isinstance(column, np.ndarray) else column


def one_line(error: BaseException) -> str:
    """The first line of a driver's message."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def failed(error: BaseException) -> tuple[type[StoreError], str]:
    """The diagnosis of an error without a narrower class."""
    return StoreFailed, one_line(error)
