"""Opens an index and hands out transactions on it.

Owns the engine, the translation of the driver's errors and the parameters' row. What is asked inside a
transaction lives in the modules beside it: `documents`, `sources`, `runs`, `graph`, `answers`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import get_type_hints

from sqlalchemy import URL, Engine, create_engine, insert, inspect, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from lshdb.errors import IndexDamaged, IndexMissing, LshdbError, NotAnIndex
from lshdb.params import Params
from lshdb.store import address, upgrade
from lshdb.store.dialect import Dialect, failed
from lshdb.store.dialects import dialect_for
from lshdb.store.schema import index_params
from lshdb.store.transaction import Transaction

__all__ = ["Store"]


class Store:
    """An open index: its parameters, and transactions that read or write it.

    Make one with `open` or `create`; use it as a context manager, or `close` it.
    """

    def __init__(self, url: URL) -> None:
        self.url = address.masked(url)
        self._address = dialect_for(url).normalised(url)
        self.dialect: Dialect = dialect_for(url)
        with self._translated():
            self._engine: Engine = create_engine(self._address, **self.dialect.engine_options())
        self.dialect.prepare(self._engine)
        self.params: Params

    @classmethod
    def at(cls, location: str) -> Store:
        """A store that is not opened yet: for asking whether there is an index, and for upgrading it."""
        return cls(address.parse(location))

    @classmethod
    def open(cls, location: str) -> Store:
        """The index at a URL or path.

        Raises: IndexMissing, NotAnIndex, IndexOutdated, IndexTooNew, StoreUnreachable, AccessDenied.
        """
        store = cls.at(location)
        try:
            store._require_existing()
            store._require_current()
            store.params = store._load_params()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def create(cls, location: str, params: Params, version: str) -> Store:
        """The index at a URL or path, made with `params` where there is none.

        Args: version: of lshdb, kept with the index.
        Raises: as `open`; an index that is there keeps its own parameters.
        """
        store = cls.at(location)
        try:
            if not store.is_born():
                store._bear(params, version)
        finally:
            store.close()
        return cls.open(location)

    def close(self) -> None:
        """Closes every connection."""
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def is_born(self) -> bool:
        """Whether there is an index here. Raises: NotAnIndex: there is something else."""
        if not self.dialect.exists(self._address):
            return False
        with self._translated(), self._engine.connect() as connection:
            if upgrade.current(connection) is not None:
                return True
            foreign = [] if self.dialect.shares_schema else inspect(connection).get_table_names()
        if foreign:
            raise NotAnIndex(url=self.url, reason=f"it is another program's database, with a table {foreign[0]!r}")
        return False

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A transaction that sees one state of the index; writers do not wait for it."""
        with self._translated(), self._engine.connect() as connection:
            isolated = connection.execution_options(**self.dialect.snapshot_options)
            with isolated.begin():
                yield Transaction(isolated, self.dialect)

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """The one transaction that may write now; committed at the end, rolled back by an exception."""
        with self._translated(), self._engine.connect() as connection:
            locked = connection.execution_options(lshdb_writes=True)
            with locked.begin():
                self.dialect.lock(locked)
                yield Transaction(locked, self.dialect)

    def sole_ingest(self, wait: bool) -> AbstractContextManager[None]:
        """Keeps a second ingest off, where the database takes one writer.

        Raises: IndexBusy: one runs, and we are not to wait.
        """
        return self.dialect.sole_ingest(self._address, wait)

    @property
    def files(self) -> frozenset[Path]:
        """The files that the index is made of."""
        return self.dialect.files(self._address)

    def is_locked(self) -> bool:
        """Whether another process is writing right now, so that `writing` would wait."""
        with self._translated():
            return self.dialect.is_locked(self._engine)

    def upgrade(self) -> upgrade.Upgrade:
        """Brings the schema to the newest revision, one transaction. Returns: from, to, and the copy made before."""
        self._require_existing()
        with self._translated(), self._engine.connect() as connection:
            plan = upgrade.plan(connection, self.url)
        if plan.is_current:
            return plan
        copy = self.dialect.before_upgrade(self._address)
        with self.writing() as transaction:
            upgrade.to_head(transaction.connection)
        return plan.with_copy(copy)

    def _bear(self, params: Params, version: str) -> None:
        with self._translated():
            self.dialect.before_birth(self._engine)
        with self.writing() as transaction:
            if upgrade.current(transaction.connection) is None:  # another process may have been first
                upgrade.to_head(transaction.connection)
                values = asdict(params) | {"params_key": 1, "recall": params.recall, "lshdb_version": version}
                transaction.execute(insert(index_params).values(values))

    def _require_existing(self) -> None:
        if not self.is_born():
            raise IndexMissing(url=self.url)

    def _require_current(self) -> None:
        with self._translated(), self._engine.connect() as connection:
            upgrade.require_head(connection, self.url)

    def _load_params(self) -> Params:
        names = list(get_type_hints(Params))
        with self.reading() as transaction:
            row = transaction.execute(select(*(index_params.c[name] for name in names))).one_or_none()
        if row is None:
            raise IndexDamaged(url=self.url, reason="the table index_params is empty")
        return Params(**dict(zip(names, row, strict=True)))

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """The one place where the driver's errors become lshdb's."""
        try:
            yield
        except LshdbError:
            raise
        except DBAPIError as error:
            kind, reason = self.dialect.diagnose(error.orig or error)
            raise kind(url=self.url, reason=self._without_password(reason)) from None
        except SQLAlchemyError as error:
            kind, reason = failed(error)
            raise kind(url=self.url, reason=self._without_password(reason)) from None
        except self.dialect.driver_error as error:
            kind, reason = self.dialect.diagnose(error)
            raise kind(url=self.url, reason=self._without_password(reason)) from None

    def _without_password(self, reason: str) -> str:
        password = self._address.password
        return reason.replace(password, "***") if password else reason
