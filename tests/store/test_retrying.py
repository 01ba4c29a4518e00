"""A transaction that fails temporarily is repeated from its start, within limits, and never counted twice."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest
from sqlalchemy import Connection, event, insert, select, text

from lshdb import Document, Index
from lshdb.errors import IndexBusy, LshdbError, StoreError, StoreFailed, StoreUnreachable
from lshdb.model.progress import Progress
from lshdb.model.values import Counts
from lshdb.store import retrying
from lshdb.store.schema import band_bucket, run, unlinked
from lshdb.store.store import Store
from lshdb.store.tables import runs
from lshdb.store.transaction import Transaction
from tests.conftest import Schemas
from tests.store.conftest import add, count, link, new_store_at

# Rows of a table that refers to nothing.
TWO_ROWS = [{"generation": 0, "band": 0, "bucket_hash": 0, "content_key": key} for key in (1, 2)]

# Temporary: serialization failure, deadlock, cancelled, transaction too long, shut down, no free connection.
PASSING = ["40001", "40P01", "57014", "25P04", "57P01", "53300"]
# Permanent: disk full, out of memory, a constraint.
FOR_GOOD = ["53100", "53200", "23505"]


class Heard(Progress):
    """Collect the notes."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def noticed(self, message: str) -> None:
        self.messages.append(message)


def passing(reason: str = "gone") -> StoreError:
    error = StoreFailed(url="there", reason=reason)
    error.is_passing = True
    return error


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(retrying, "MAX_TRIES", 4)


def test_what_failed_in_passing_is_tried_again_and_said_once(hasty: None) -> None:
    failures, heard = [passing("down"), passing("starting up")], Heard()

    def attempt() -> str:
        if failures:
            raise failures.pop(0)
        return "done"

    assert retrying.persist(attempt, heard.noticed) == "done"
    assert heard.messages == ["waiting for the database, up to 120 s: down"]


def test_what_failed_for_good_is_raised_at_once(hasty: None) -> None:
    tries, heard = [], Heard()

    def attempt() -> None:
        tries.append(1)
        raise StoreFailed(url="there", reason="disk full")

    with pytest.raises(StoreFailed, match="disk full"):
        retrying.persist(attempt, heard.noticed)
    assert (len(tries), heard.messages) == (1, [])


def test_it_gives_up_after_so_many_tries_and_who_called_does_not_begin_again(hasty: None) -> None:
    tries, heard = [], Heard()

    def attempt() -> None:
        tries.append(1)
        raise passing()

    with pytest.raises(StoreFailed):
        retrying.persist(lambda: retrying.persist(attempt, heard.noticed), heard.noticed)
    assert len(tries) == 4


class Clock:
    """A clock that goes on only while someone sleeps."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now, self.slept = 1_000.0, list[float]()
        patch.setattr("lshdb.store.retrying.time.monotonic", lambda: self.now)
        patch.setattr("lshdb.store.retrying.time.sleep", self.sleep)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def test_it_pauses_twice_as_long_each_time_until_the_time_since_the_first_failure_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {"FIRST_PAUSE": 1.0, "LONGEST_PAUSE": 4.0, "MAX_SECONDS": 11.0}.items():
        monkeypatch.setattr(retrying, name, value)
    monkeypatch.setattr("lshdb.store.retrying.random.uniform", max)
    with monkeypatch.context() as patch:
        clock = Clock(patch)

        def attempt() -> None:
            # The first attempt takes longer than all others may.
            clock.now += 0.0 if clock.slept else 60.0
            raise passing()

        with pytest.raises(StoreFailed):
            retrying.persist(attempt, Heard().noticed)
    assert clock.slept == [1.0, 2.0, 4.0, 4.0]


def test_pauses_are_random_between_half_and_all_of_their_length(monkeypatch: pytest.MonkeyPatch) -> None:
    failures = [passing() for _ in range(15)]
    with monkeypatch.context() as patch:
        clock = Clock(patch)

        def attempt() -> str:
            clock.now = 1_000.0
            if failures:
                raise failures.pop()
            return "done"

        assert retrying.persist(attempt, Heard().noticed) == "done"
    longest = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, *[10.0] * 8]
    shares = [pause / most for pause, most in zip(clock.slept, longest, strict=True)]
    assert 0.5 <= min(shares) < max(shares) <= 1.0


class Calls:
    """A function that adds to the counts of run 1. Its result is the number of the call."""

    def __init__(self, num_added: int) -> None:
        self.number, self.num_added = 0, num_added

    def __call__(self, transaction: Transaction) -> int:
        self.number += 1
        runs.record(transaction, 1, Counts(num_added=self.num_added))
        return self.number


def test_what_was_committed_after_all_is_not_called_again(store: Store) -> None:
    counted = retrying.Counted(Calls(1), 1)
    for _ in range(3):
        assert retrying.once(store.writing, counted) == 1


def test_what_was_rolled_back_is_called_again(store: Store) -> None:
    counted = retrying.Counted(Calls(1), 1)

    def fail_afterwards(transaction: Transaction) -> None:
        counted(transaction)
        raise passing()

    with pytest.raises(StoreFailed):
        retrying.once(store.writing, fail_afterwards)
    assert retrying.once(store.writing, counted) == 2
    with store.reading() as transaction:
        assert runs.counts(transaction, 1) == Counts(num_added=1)


def test_what_counts_nothing_is_called_each_time(store: Store) -> None:
    counted = retrying.Counted(Calls(0), 1)
    assert [retrying.once(store.writing, counted) for _ in range(2)] == [1, 2]


def test_what_is_written_once_is_never_repeated(store: Store, hasty: None) -> None:
    calls: list[int] = []

    def fail_in_passing(transaction: Transaction) -> None:
        calls.append(1)
        transaction.execute(insert(unlinked).values(content_key=1))
        raise passing()

    with pytest.raises(StoreFailed) as caught:
        # Not by a caller that retries either.
        retrying.persist(lambda: store.write_once(fail_in_passing), Heard().noticed)
    assert calls == [1]
    assert not caught.value.is_passing
    with store.reading() as transaction:
        assert count(transaction, unlinked) == 0


def test_what_is_written_once_is_committed(store: Store) -> None:
    row = {"generation": 0, "band": 0, "bucket_hash": 0, "content_key": 1}
    assert store.write_once(lambda transaction: transaction.execute(insert(band_bucket).values(row)).rowcount) == 1
    with store.reading() as transaction:
        assert count(transaction, band_bucket) == 1


@pytest.mark.postgres
@pytest.mark.parametrize("state", PASSING)
def test_an_error_of_the_server_that_passes_runs_the_transaction_again(
    state: str, postgres_store: Store, hasty: None
) -> None:
    calls: list[int] = []
    assert postgres_store.write(lambda transaction: put_or_fail(transaction, calls, state)) == 2
    with postgres_store.reading() as transaction:
        assert transaction.execute(select(band_bucket.c.content_key)).scalars().all() == [2]


@pytest.mark.postgres
@pytest.mark.parametrize("state", FOR_GOOD)
def test_an_error_of_the_server_that_stays_ends_the_call_and_leaves_nothing(
    state: str, postgres_store: Store, hasty: None
) -> None:
    calls: list[int] = []
    with pytest.raises(StoreFailed):
        postgres_store.write(lambda transaction: put_or_fail(transaction, calls, state))
    assert calls == [1]
    with postgres_store.reading() as transaction:
        assert count(transaction, band_bucket) == 0


def put_or_fail(transaction: Transaction, calls: list[int], state: str) -> int:
    """Insert the number of the call. The first call fails afterwards."""
    calls.append(len(calls) + 1)
    transaction.execute(insert(band_bucket).values(generation=0, band=0, bucket_hash=0, content_key=calls[-1]))
    if calls == [1]:
        transaction.execute(text(f"DO $$ BEGIN RAISE EXCEPTION 'planned' USING ERRCODE = '{state}'; END $$"))
    return calls[-1]


@pytest.mark.postgres
def test_a_reading_and_a_writing_transaction_outlive_their_sessions(postgres_store: Store, hasty: None) -> None:
    killed: list[str] = []

    def kill_once(transaction: Transaction) -> int:
        if ask.__name__ not in killed:
            killed.append(ask.__name__)
            transaction.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        return count(transaction, unlinked)

    add(postgres_store, {"a": (1, 2, 3)})
    for ask in (postgres_store.read, postgres_store.write):
        assert ask(kill_once) == 1
    assert killed == ["read", "write"]


@pytest.mark.postgres
@pytest.mark.parametrize("is_done", [False, True])
def test_documents_are_added_and_counted_once_where_the_connection_is_lost_during_commit(
    is_done: bool, schemas: Schemas, hasty: None
) -> None:
    url, heard = schemas.new(), Heard()
    with Index.ensure(url, {"shingle": "char:3"}, heard) as index, lost_commit(index, is_done, "document"):
        report = index.add([Document("a", "the first text"), Document("b", "another one")])
    assert len(heard.messages) == 1, heard.messages
    assert (report.counts.num_added, report.counts.num_unchanged, report.counts.num_contents) == (2, 0, 2)
    with Store.open(url) as store, store.reading() as transaction:
        rows = transaction.execute(select(run.c.num_added, run.c.num_unchanged, run.c.state)).all()
    assert [tuple(row) for row in rows] == [(2, 0, "finished")]


@pytest.mark.postgres
@pytest.mark.parametrize("is_done", [False, True])
def test_documents_are_removed_once_where_the_connection_is_lost_during_commit(
    is_done: bool, schemas: Schemas, hasty: None
) -> None:
    with Index.ensure(schemas.new(), {"shingle": "char:3"}) as index:
        index.add([Document("a", "the first text"), Document("b", "another one")])
        with lost_commit(index, is_done, "document"):
            assert index.remove(["a"]) == 1
        assert index.stats().figures.num_documents == 1


@contextmanager
def lost_commit(index: Index, is_done: bool, table: str) -> Iterator[None]:
    """Drop the session at the first COMMIT of a transaction that changed a table. The server may have committed."""
    engine, lost = index._store._engine, list[bool]()

    def lose(connection: Connection) -> None:
        driver = connection.connection.driver_connection
        assert driver is not None
        changed = "SELECT n_tup_ins + n_tup_del FROM pg_stat_xact_user_tables WHERE relid = to_regclass(%s)"
        if lost or not driver.execute(changed, [table]).fetchone()[0]:
            return
        lost.append(is_done)
        if is_done:
            driver.commit()
        driver.close()

    event.listen(engine, "commit", lose)
    yield
    event.remove(engine, "commit", lose)
    assert lost == [is_done]


@pytest.mark.postgres
def test_a_writer_whose_turn_takes_longer_than_the_statement_timeout_waits_for_it(
    schemas: Schemas, hasty: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrying, "MAX_TRIES", 50)
    url, began = schemas.new(), threading.Event()
    new_store_at(url).close()

    def write_slowly() -> None:
        with Store.open(url) as other, other.writing():
            began.set()
            time.sleep(0.7)

    thread = threading.Thread(target=write_slowly)
    thread.start()
    began.wait()
    with Store.open(f"{url}%20-cstatement_timeout%3D200") as store:
        store.write(lambda transaction: transaction.execute(insert(band_bucket), TWO_ROWS[:1]))
        thread.join()
        with store.reading() as transaction:
            assert count(transaction, band_bucket) == 1


@pytest.mark.postgres
def test_a_deadlock_is_resolved_by_running_the_transaction_again(schemas: Schemas, hasty: None) -> None:
    url, ready = schemas.new(), threading.Barrier(2)
    new_store_at(url).close()
    calls: list[int] = []
    with Store.open(f"{url}%20-cdeadlock_timeout%3D50") as store, psycopg.connect(url) as other:
        store.write(lambda transaction: transaction.execute(insert(band_bucket), TWO_ROWS))
        other.execute("SET deadlock_timeout = '20s'")

        def lock_the_other_way_round() -> None:
            other.execute("SELECT FROM band_bucket WHERE content_key = 2 FOR UPDATE")
            ready.wait()
            other.execute("SELECT FROM band_bucket WHERE content_key = 1 FOR UPDATE")
            other.commit()

        def lock_both(transaction: Transaction) -> None:
            calls.append(1)
            for key in (1, 2):
                transaction.execute(select(band_bucket).where(band_bucket.c.content_key == key).with_for_update())
                if len(calls) == key == 1:
                    ready.wait()

        thread = threading.Thread(target=lock_the_other_way_round)
        thread.start()
        store.write(lock_both)
        thread.join()
    # The second call may also lock the first row before the other session, which has been woken.
    assert len(calls) >= 2


@pytest.mark.postgres
def test_a_server_that_never_was_there_is_not_waited_for() -> None:
    started = time.monotonic()
    with pytest.raises(StoreUnreachable):
        Store.open("postgresql://nobody@127.0.0.1:1/nothing")
    assert time.monotonic() - started < 5


@pytest.mark.postgres
def test_of_two_that_link_the_second_waits_or_says_that_it_may_not(schemas: Schemas, hasty: None) -> None:
    url = schemas.new()
    with new_store_at(url) as first, Store.open(url) as second:
        add(first, {"a": (1, 2, 3), "b": (1, 5, 6)})
        heard: list[str] = []
        second.noticed = heard.append
        thread = threading.Thread(target=link, args=[second])
        with first.sole_link(wait=True):
            with (
                pytest.raises(IndexBusy, match=r"process \d+( on \S+)?, connected since .* UTC, computes pairs"),
                second.sole_link(wait=False),
            ):
                pass
            thread.start()
            wait_until(lambda: bool(heard))
            assert link_count(first) == 2
        thread.join()
        assert len(heard) == 1
        assert re.fullmatch(
            r"another process computes pairs; waiting for it: process \d+( on \S+)?, connected since \d{4}-.* UTC",
            heard[0],
        )
        assert link_count(first) == 0


@pytest.mark.postgres
def test_the_lock_of_one_that_links_is_free_when_its_session_ends(schemas: Schemas) -> None:
    url = schemas.new()
    with new_store_at(url) as first, Store.open(url) as second:
        with first.sole_link(wait=True), psycopg.connect(url, autocommit=True) as admin:
            holders = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"
            assert len(admin.execute(holders).fetchall()) == 1
            wait_until(lambda: free_to_link(second))
        assert free_to_link(first)


def free_to_link(store: Store) -> bool:
    try:
        with store.sole_link(wait=False):
            return True
    except LshdbError:
        return False


def link_count(store: Store) -> int:
    with store.reading() as transaction:
        return count(transaction, unlinked)


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)
