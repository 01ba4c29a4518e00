"""Opens an index and hands out transactions on it.

Owns the engine, the translation of the driver's errors and the parameters' row. What is asked inside a
transaction lives in the modules beside it: `documents`, `sources`, `runs`, `graph`, `answers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Final, TypeVar, get_type_hints

from sqlalchemy import URL, Engine, create_engine, insert, inspect, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from lshdb.errors import (
    IndexBusy,
    IndexDamaged,
    IndexExists,
    IndexMissing,
    IndexRebanded,
    InvalidParams,
    LshdbError,
    NotAnIndex,
    StoreError,
)
from lshdb.model.expansion import EXPANSION
from lshdb.model.params import Params
from lshdb.store import interrupts, upgrade
from lshdb.store.dialect import Dialect, failed
from lshdb.store.dialects import dialect_for
from lshdb.store.retrying import Counted, once, persist
from lshdb.store.schema import index_params
from lshdb.store.transaction import Transaction
from lshdb.store.url import masked, parse

__all__ = ["Store"]

_Made = TypeVar("_Made")

_BANDS: Final = select(index_params.c.bands, index_params.c.rows, index_params.c.first_band)


class Store:
    """An open index: its parameters, and transactions that read or write it.

    Make one with `open` or `create`; use it as a context manager, or `close` it.
    """

    def __init__(self, url: URL) -> None:
        self.url = masked(url)
        self._address = dialect_for(url).normalised(url)
        self.dialect: Dialect = dialect_for(url)
        with self._translated():
            self._engine: Engine = create_engine(self._address, **self.dialect.engine_options())
        self.dialect.prepare(self._engine)
        self.params: Params
        self.expansion = EXPANSION
        # Hears that we wait for the database, or for another process.
        self.noticed: Callable[[str], None] = lambda _message: None

    @classmethod
    def at(cls, location: str) -> Store:
        """A store that is not opened yet: for asking whether there is an index, and for upgrading it."""
        return cls(parse(location))

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
        """A transaction that sees one state of the index; writers do not wait for it.

        Raises: IndexRebanded: the index has other bands than when it was opened.
        """
        with self._reading() as transaction:
            self._require_same_bands(transaction)
            yield transaction

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """The one transaction that may write now; committed at the end, rolled back by an exception.

        Raises: IndexRebanded: the index has other bands than when it was opened.
        """
        with self.changing() as transaction:
            self._require_same_bands(transaction)
            yield transaction

    def read(self, function: Callable[[Transaction], _Made]) -> _Made:
        """What `function` returns in a transaction as of `reading`, run again where the database failed in passing.

        Args: function: may be called several times, and does no harm by that.
        Raises: StoreError: as `reading`, and where the database does not come back.
        """
        return persist(partial(once, self.reading, function), self.noticed)

    def write(self, function: Callable[[Transaction], _Made], run_key: int | None = None) -> _Made:
        """What `function` returns in a transaction as of `writing`, run again where the database failed in passing.

        Args:
            function: changes nothing but the database, for it may be called several times; one that consumes a
                generator goes to `write_once`.
            run_key: the run that `function` counts for; None where all it does may be done twice.

        Raises: StoreError: as `writing`, and where the database does not come back.
        """
        called = function if run_key is None else Counted(function, run_key)
        return persist(partial(once, self.writing, called), self.noticed)

    def write_once(self, function: Callable[[Transaction], _Made]) -> _Made:
        """Return what `function` returns in a transaction as of `writing`, which is never run again.

        For a function that cannot be repeated, such as one that consumes a generator.

        Raises: StoreError: as `writing`; an error that might pass, too, rolls the transaction back and ends the call.
        """
        try:
            return once(self.writing, function)
        except StoreError as error:
            # Callers that retry must not begin again either.
            error.is_passing = False
            raise

    def reload(self) -> None:
        """Takes over the parameters that the index has now."""
        self.params = self._load_params()

    def _require_same_bands(self, transaction: Transaction) -> None:
        ours = (self.params.bands, self.params.rows, self.params.first_band)
        if tuple(transaction.execute(_BANDS).one()) != ours:
            raise IndexRebanded(url=self.url)

    @contextmanager
    def _reading(self) -> Iterator[Transaction]:
        interrupts.raise_missed()
        with self._translated(), self._engine.connect() as connection:
            isolated = connection.execution_options(**self.dialect.snapshot_options)
            with isolated.begin():
                yield Transaction(isolated, self.dialect, self.expansion)

    @contextmanager
    def changing(self) -> Iterator[Transaction]:
        """A transaction as of `writing`, also of an index of another revision or of none."""
        interrupts.raise_missed()
        with self._translated(), self._engine.connect() as connection:
            locked = connection.execution_options(lshdb_writes=True)
            with locked.begin():
                self.dialect.lock(locked)
                yield Transaction(locked, self.dialect, self.expansion)

    def sole_ingest(self, wait: bool) -> AbstractContextManager[None]:
        """Keeps a second ingest off, where the database takes one writer.

        Raises: IndexBusy: one runs, and we are not to wait.
        """
        return self.dialect.sole_ingest(self._address, wait)

    @property
    def files(self) -> frozenset[Path]:
        """The files that the index is made of."""
        return self.dialect.files(self._address)

    @contextmanager
    def sole_link(self, wait: bool) -> Iterator[None]:
        """Keeps a second linking off, where processes on several machines might link the same.

        Raises: IndexBusy: one goes on, and we are not to wait.
        """
        said: list[str] = []

        def waits() -> None:
            if not wait:
                raise IndexBusy(url=self.url, reason="it computes pairs")
            if not said:
                said.append("another process computes pairs; waiting for it")
                self.noticed(said[0])

        with ExitStack() as held:
            persist(lambda: self._link_alone(held, waits), self.noticed)
            yield

    def _link_alone(self, held: ExitStack, waits: Callable[[], None]) -> None:
        with self._translated():
            held.enter_context(self.dialect.sole_link(self._engine, waits))

    def is_locked(self) -> bool:
        """Whether another process is writing right now, so that `writing` would wait.

        Raises: AccessDenied, IndexReadOnly: we may not write at all.
        """
        with self._translated():
            with self._engine.connect() as connection:
                self.dialect.require_writable(connection)
            return self.dialect.is_locked(self._engine)

    @contextmanager
    def whole(self) -> Iterator[Engine]:
        """The engine of the index that is here, of whatever revision, for what is done to it as a whole.

        Raises: IndexMissing, NotAnIndex.
        """
        self._require_existing()
        with self._translated():
            yield self._engine

    @contextmanager
    def bearing(self, *, unseen: bool = False) -> Iterator[Transaction]:
        """The transaction in which the tables of a new index are made; broken off, there is none.

        Args: unseen: nobody opens it before it is complete.
        Raises: IndexExists: another process was first.
        """
        with self._translated():
            self.dialect.before_birth(self._engine, unseen=unseen)
        with self.changing() as transaction:
            if upgrade.current(transaction.connection) is not None:
                raise IndexExists(url=self.url)
            upgrade.to_head(transaction.connection, self.dialect)
            yield transaction

    def _bear(self, params: Params, version: str) -> None:
        values = asdict(params) | {"params_key": 1, "recall": params.recall, "lshdb_version": version}
        with suppress(IndexExists), self.bearing() as transaction:
            transaction.execute(insert(index_params).values(values))

    def _require_existing(self) -> None:
        if not self.is_born():
            raise IndexMissing(url=self.url)

    def _require_current(self) -> None:
        with self._translated(), self._engine.connect() as connection:
            upgrade.require_head(connection, self.url)

    def _load_params(self) -> Params:
        names = list(get_type_hints(Params))
        with self._reading() as transaction:
            row = transaction.execute(select(*(index_params.c[name] for name in names))).one_or_none()
        if row is None:
            raise IndexDamaged(url=self.url, reason="the table index_params is empty")
        try:
            return Params(**dict(zip(names, row, strict=True)))
        except InvalidParams as error:
            raise IndexDamaged(url=self.url, reason=f"in the table index_params, {error}") from None

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """The one place where the driver's errors become lshdb's."""
        try:
            yield
        except LshdbError:
            raise
        except DBAPIError as error:
            raise self._diagnosed(error.orig or error) from None
        except SQLAlchemyError as error:
            kind, reason = failed(error)
            raise kind(url=self.url, reason=self._without_password(reason)) from None
        except self.dialect.driver_error as error:
            raise self._diagnosed(error) from None

    def _diagnosed(self, error: BaseException) -> StoreError:
        kind, reason = self.dialect.diagnose(error)
        translated = kind(url=self.url, reason=self._without_password(reason))
        translated.is_passing = self.dialect.is_passing(error)
        return translated

    def _without_password(self, reason: str) -> str:
        password = self._address.password
        return reason.replace(password, "***") if password else reason
