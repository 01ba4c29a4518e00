"""Open an index, and start transactions on it.

Owns the engine, the translation of the driver's errors, and the row of parameters. The modules of `tables` read and
write inside a transaction.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import asdict
from functools import lru_cache, partial
from pathlib import Path
from threading import Thread
from typing import Any, Final, TypeVar, get_type_hints
from weakref import WeakSet

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Select,
    create_engine,
    delete,
    exists,
    insert,
    literal_column,
    select,
    update,
)
from sqlalchemy.engine.interfaces import Dialect as SqlDialect
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from lshdb.errors import (
    IndexBusy,
    IndexDamaged,
    IndexExists,
    IndexMissing,
    IndexRebanded,
    InvalidParams,
    LshdbError,
    StoreError,
    StoreFailed,
    UsageError,
)
from lshdb.model.expansion import EXPANSION
from lshdb.model.params import Params
from lshdb.store import interrupts, upgrade
from lshdb.store.dialect import Dialect, failed
from lshdb.store.dialects import dialect_for
from lshdb.store.glance import Glance, StateChanged
from lshdb.store.retrying import Counted, once, persist
from lshdb.store.returned import NotIntegers
from lshdb.store.schema import (
    content,
    document,
    fingerprint_block,
    index_params,
    passage_build,
    rebanding,
    removal,
    source,
)
from lshdb.store.transaction import Snapshot, Transaction
from lshdb.store.url import masked, parse, read_only

__all__ = ["Store"]

_Made = TypeVar("_Made")

# How long to wait for another process that computes pairs. Those of a million documents take minutes.
LINK_SECONDS: Final = 6 * 3600.0

# How long to ask in transactions after the state has changed between two statements.
CALM_SECONDS: Final = 1.0

# What a failure of a writing transaction does.
ROLLED_BACK: Final = " The last batch was rolled back; everything committed before it is kept."

_NAMES: Final = tuple(get_type_hints(Params))
# Nothing but damage can add another row.
_ONLY_ROW: Final = index_params.c.params_key == literal_column("1")
_PARAMS: Final = select(*(index_params.c[name] for name in _NAMES)).where(_ONLY_ROW)
_PARAMS_TEXT: Final = str(_PARAMS)
_IS_USED: Final = select(exists().select_from(document) | exists().select_from(content))


class Store:
    """An open index: its parameters, and transactions that read or write it.

    Make one with `open` or `create`; use it as a context manager, or `close` it.
    """

    def __init__(self, url: URL) -> None:
        self.url = masked(url)
        self._is_closed = False
        # When to ask without a transaction again.
        self._calm_from = 0.0
        # Answers that are not read to their end.
        self._streams: WeakSet[Generator[Any, None, None]] = WeakSet()
        self._address = dialect_for(url).normalised(url)
        self.dialect: Dialect = dialect_for(url)
        with self._translated():
            self._engine: Engine = create_engine(self._address, **self.dialect.engine_options())
        self.dialect.prepare(self._engine)
        self.params: Params
        self.expansion = EXPANSION
        # Is called with a message when we wait for the database or for another process.
        self.noticed: Callable[[str], None] = lambda _message: None

    @classmethod
    def at(cls, location: str) -> Store:
        """Return a store that is not opened yet, to find out whether there is an index, or to upgrade it."""
        return cls(parse(location))

    @classmethod
    def open(cls, location: str, *, reads_only: bool = False) -> Store:
        """Open the index at a URL or path.

        Args: reads_only: let the database refuse every write.
        Raises: IndexMissing, NotAnIndex, IndexOutdated, IndexTooNew, StoreUnreachable, AccessDenied.
        """
        store = cls(read_only(parse(location)) if reads_only else parse(location))
        with store._or_closed():
            store._require_current(store._require_existing())
            store.reload()
        return store

    @classmethod
    def create(cls, location: str, params: Params, version: str) -> Store:
        """Create an index with `params` at a URL or path, and open it.

        Args: version: the version of lshdb, stored in the index.
        Raises: IndexExists: there is one already; and as `open`.
        """
        store = cls.at(location)
        with store._or_closed():
            if store.exists():
                raise IndexExists(url=store.url)
            store._create(params, version)
            store.reload()
        return store

    @classmethod
    def ensure(cls, location: str, params: Params, version: str) -> Store:
        """Open the index at a URL or path, or create it as `create` does. An existing index keeps its parameters."""
        store = cls.at(location)
        with store._or_closed():
            if (found := store._revision()) is None:
                # Another process may be faster.
                with suppress(IndexExists):
                    store._create(params, version)
                found = store._require_existing()
            store._require_current(found)
            store.reload()
        return store

    def close(self) -> None:
        """Close all connections, and cut each `stream`. Other transactions that are open stay so; none can begin."""
        self._is_closed = True
        for rows in list(self._streams):
            # Another thread may be reading it; it ends with the next row.
            with suppress(ValueError):
                rows.close()
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def exists(self) -> bool:
        """Return whether there is an index here. Raises: NotAnIndex: there is something else; AccessDenied."""
        return self._revision() is not None

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Start a transaction that sees one state of the index. Writers do not wait for it.

        Raises: IndexRebanded: the index has other parameters than when it was opened.
        """
        interrupts.raise_missed()
        with (
            self._translated(),
            self._connected() as connection,
            self.dialect.snapshot(connection, _PARAMS_TEXT) as stored,
        ):
            self._require_same(stored)
            yield Transaction(connection, self.dialect, self.expansion)

    @contextmanager
    def writing(self, *, refers_safely: bool = False) -> Iterator[Transaction]:
        """Start the only transaction that may write now. It is committed at the end; an exception rolls it back.

        Args: refers_safely: it writes no reference without having made sure that the row exists, and deletes nothing,
            so that the database need not look up each reference if it can do without.
        Raises: IndexRebanded: the index has other parameters than when it was opened.
        """
        with self.changing(refers_safely=refers_safely) as transaction:
            self._require_same(list(transaction.rows(_PARAMS)))
            yield transaction

    def stream(self, rows: Generator[_Made, None, None]) -> Iterator[_Made]:
        """Return the rows of an answer, which may keep a transaction open while they are read.

        Raises: UsageError, when a row is read: the store was closed.
        """

        def answer() -> Iterator[_Made]:
            with closing(rows):
                for row in rows:
                    yield row
                    self._require_open()
            # Rows that were cut look like rows that were read to their end.
            self._require_open()

        self._streams.add(rows)
        return answer()

    def _require_open(self) -> None:
        """Raises: UsageError: the store was closed while an answer was read."""
        if self._is_closed:
            raise UsageError(
                reason=f"the index {self.url} is closed, and this answer is not complete. Open it again with Index.open"
            )

    def read(self, function: Callable[[Transaction], _Made]) -> _Made:
        """Return what `function` returns in a `reading` transaction. Repeat it if the database fails in passing.

        Args: function: it must be safe to call several times.
        Raises: StoreError: as `reading`, or the database does not come back.
        """
        return persist(partial(once, self.reading, function), self.noticed)

    def read_briefly(self, function: Callable[[Snapshot], _Made]) -> _Made:
        """Return what `function` returns about one state of the index, by a few short statements.

        A server is asked without a transaction. If the state changes meanwhile, it is asked again in one, and so is
        every question within the next second: on a busy server, the state would change each time.

        Args: function: it must be safe to call twice.
        Raises: StoreError: as `reading`.
        """
        if self._state is not None and time.monotonic() >= self._calm_from:
            interrupts.raise_missed()
            with suppress(StateChanged), self._translated(), self._connected() as connection:
                own = connection.execution_options(isolation_level="AUTOCOMMIT")
                try:
                    return function(Glance(own, self.dialect, self._state, []))
                except self.dialect.driver_error:
                    # SQLAlchemy does not know that the connection may be lost.
                    own.invalidate()
                    raise
            self._calm_from = time.monotonic() + CALM_SECONDS
        with self.reading() as transaction:
            return function(transaction)

    def write(
        self, function: Callable[[Transaction], _Made], run_key: int | None = None, *, refers_safely: bool = False
    ) -> _Made:
        """Return what `function` returns in a `writing` transaction. Repeat it if the database fails in passing.

        Args:
            function: changes only the database, because it may be called several times; use `write_once` if it consumes
                a generator.
            run_key: the run whose counts `function` updates; None if everything it does may be done twice.
            refers_safely: as of `writing`.

        Raises: StoreError: as `writing`, or the database does not come back.
        """
        called = function if run_key is None else Counted(function, run_key)
        return persist(partial(once, partial(self.writing, refers_safely=refers_safely), called), self.noticed)

    def write_once(self, function: Callable[[Transaction], _Made]) -> _Made:
        """Return what `function` returns in a `writing` transaction, which is never repeated.

        This is for functions that cannot be repeated, such as one that consumes a generator.

        Raises: StoreError: as `writing`. Even an error that might pass rolls the transaction back and ends the call.
        """
        try:
            return once(self.writing, function)
        except StoreError as error:
            # Callers that retry must not repeat it either.
            error.is_passing = False
            raise

    def reload(self) -> None:
        """Load the current parameters of the index."""
        interrupts.raise_missed()
        with self._translated(), self._engine.connect() as connection:
            rows = connection.execute(_PARAMS).all()
        if not rows:
            raise IndexDamaged(url=self.url, reason="the table index_params is empty")
        if len(rows) > 1:
            raise IndexDamaged(url=self.url, reason=f"the table index_params has {len(rows)} rows with key 1")
        row = rows[0]
        try:
            self.params = Params(**dict(zip(_NAMES, row, strict=True)))
        except InvalidParams as error:
            raise IndexDamaged(url=self.url, reason=f"in the table index_params, {error}") from None
        self._stored_params = tuple(row)
        state = self.dialect.state
        self._state = None if state is None else _state_query(state, self.dialect.compiler, self._stored_params)

    def replace_params(self, params: Params) -> bool:
        """Give an index other parameters if it has no documents. Returns: whether it had none.

        Every file counts as unread afterwards.
        """
        with self.writing() as transaction:
            if transaction.execute(_IS_USED).scalar_one():
                return False
            for table in (removal, source, rebanding, passage_build, fingerprint_block):
                transaction.execute(delete(table))
            transaction.execute(update(index_params).values(asdict(params) | {"recall": params.recall}))
        self.reload()
        return True

    def _require_same(self, stored: Sequence[tuple[Any, ...]]) -> None:
        if stored != [self._stored_params]:
            raise IndexRebanded(url=self.url)

    @contextmanager
    def changing(self, *, refers_safely: bool = False) -> Iterator[Transaction]:
        """Start a transaction like `writing`, even if the index has another revision or does not exist."""
        interrupts.raise_missed()
        with self._translated(ROLLED_BACK), self._connected() as connection:
            locked = connection.execution_options(lshdb_writes=True, lshdb_refers_safely=refers_safely)
            with locked.begin():
                self.dialect.lock(locked)
                yield Transaction(locked, self.dialect, self.expansion)

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        with self._engine.connect() as connection:
            try:
                yield connection
            finally:
                if self._is_closed:
                    # By another thread, meanwhile. Its pool is gone, and would leave the connection open.
                    connection.invalidate()

    @contextmanager
    def clearing_log(self) -> Iterator[None]:
        """While the block runs, let a thread copy the log of SQLite into the file.

        Otherwise, closing the index would: 85 MB in 0.3 s, most of it waiting for the disk.
        """
        thread = Thread(target=self.dialect.clear_log, args=(self._engine,), name="lshdb-log")
        thread.start()
        try:
            yield
        finally:
            thread.join()

    def empty_caches(self) -> None:
        """Empty the caches of the connections that nobody uses now. Raises: StoreError."""
        with self._translated():
            self.dialect.empty_caches(self._engine)

    def sweep_unlinked(self) -> None:
        """Remove what deleted rows leave in `unlinked`, which questions would have to pass. Raises: StoreError."""
        with self._translated():
            self.dialect.sweep_unlinked(self._engine)

    def sole_work(self, work: str, wait: bool) -> AbstractContextManager[None]:
        """Keep out other processes that write for long, if the database allows only one writer.

        Args: work: what the others are told is running; INGEST, or another noun with its article.
        Raises: IndexBusy: another process is at work, and `wait` is False.
        """
        return self.dialect.sole_work(self._address, work, wait)

    @property
    def files(self) -> frozenset[Path]:
        """The files of the index."""
        return self.dialect.files(self._address)

    @contextmanager
    def sole_link(self, wait: bool) -> Iterator[None]:
        """Keep out a second link, if processes on several machines might link the same contents.

        Raises: IndexBusy: another process is linking, and `wait` is False or LINK_SECONDS have passed.
        """
        started, said = time.monotonic(), set[str]()

        def waits(holder: str) -> None:
            if not wait or time.monotonic() - started > LINK_SECONDS:
                raise IndexBusy(url=self.url, reason=f"{holder}, computes pairs")
            if holder not in said:
                said.add(holder)
                self.noticed(f"another process computes pairs; waiting for it: {holder}")

        with ExitStack() as held:
            persist(lambda: self._link_alone(held, waits), self.noticed)
            yield

    def _link_alone(self, held: ExitStack, waits: Callable[[str], None]) -> None:
        with self._translated():
            held.enter_context(self.dialect.sole_link(self._engine, waits))

    def is_locked(self) -> bool:
        """Return whether another process is writing right now, so that `writing` would wait.

        Raises: AccessDenied, IndexReadOnly: we may not write at all.
        """
        with self._translated():
            with self._engine.connect() as connection:
                self.dialect.require_writable(connection)
            return self.dialect.is_locked(self._engine)

    @contextmanager
    def whole(self) -> Iterator[Engine]:
        """Yield the engine of an existing index of any revision, for work on the index as a whole.

        Raises: IndexMissing, NotAnIndex.
        """
        self._require_existing()
        with self._translated():
            yield self._engine

    @contextmanager
    def creating(self, *, unseen: bool = False) -> Iterator[Transaction]:
        """Start the transaction that creates the tables of a new index. If it fails, there is no index.

        Args: unseen: nobody opens the index before it is complete.
        Raises: IndexExists: another process was faster.
        """
        with self._translated():
            self.dialect.before_creation(self._engine, unseen=unseen)
        with self.changing() as transaction:
            if upgrade.current(transaction.connection) is not None:
                raise IndexExists(url=self.url)
            upgrade.create(transaction.connection, self.dialect)
            yield transaction

    @contextmanager
    def _or_closed(self) -> Iterator[None]:
        """Close the store if an exception is raised."""
        with ExitStack() as failed:
            failed.push(self)
            yield
            failed.pop_all()

    def _create(self, params: Params, version: str) -> None:
        values = asdict(params) | {"params_key": 1, "recall": params.recall, "lshdb_version": version}
        with self.creating() as transaction:
            transaction.execute(insert(index_params).values(values))

    def _revision(self) -> str | None:
        """Return the revision of the index; None if there is none. Raises: NotAnIndex, AccessDenied."""
        if not self.dialect.exists(self._address):
            return None
        with self._translated(), self._engine.connect() as connection:
            if (found := upgrade.current(connection)) is not None:
                return found
            self.dialect.require_vacant(connection)
        return None

    def _require_existing(self) -> str:
        if (found := self._revision()) is None:
            raise IndexMissing(url=self.url)
        return found

    def _require_current(self, found: str) -> None:
        with self._translated(), self._engine.connect() as connection:
            upgrade.require_head(connection, found, self.url)

    @contextmanager
    def _translated(self, outcome: str = "") -> Iterator[None]:
        """Translate the driver's errors into those of lshdb. This is the only place that does.

        Args: outcome: what a failure does to the data.
        Raises: UsageError: the index is closed.
        """
        if self._is_closed:
            raise UsageError(reason=f"the index {self.url} is closed. Open it again with Index.open")
        try:
            yield
        except LshdbError:
            raise
        except NotIntegers as error:
            raise IndexDamaged(url=self.url, reason=str(error)) from None
        except DBAPIError as error:
            raise self._diagnosed(error.orig or error, outcome) from None
        except SQLAlchemyError as error:
            kind, reason = failed(error)
            raise self._failure(kind, reason, outcome) from None
        except self.dialect.driver_error as error:
            raise self._diagnosed(error, outcome) from None

    def _diagnosed(self, error: BaseException, outcome: str) -> StoreError:
        translated = self._failure(*self.dialect.diagnose(error), outcome)
        translated.is_passing = self.dialect.is_passing(error)
        return translated

    def _failure(self, kind: type[StoreError], reason: str, outcome: str) -> StoreError:
        fields = {"outcome": outcome} if issubclass(kind, StoreFailed) else {}
        return kind(url=self.url, reason=self._without_password(reason), **fields)

    def _without_password(self, reason: str) -> str:
        password = self._address.password
        return reason.replace(password, "***") if password else reason


@lru_cache(maxsize=16)
def _state_query(state: str, compiler: SqlDialect, params: tuple[object, ...]) -> str:
    """Return a query for the state of an index, which has a row while its parameters are these.

    To compile it takes 2 ms, a sixth of opening an index on a server.
    """
    are_same = (index_params.c[name] == value for name, value in zip(_NAMES, params, strict=True))
    asked: Select[str] = select(literal_column(state).label("state")).where(_ONLY_ROW, *are_same)
    return str(asked.compile(dialect=compiler, compile_kwargs={"literal_binds": True}))
