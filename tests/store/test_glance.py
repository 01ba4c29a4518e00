"""Short statements without a transaction that see one state of the index, as `Store.read_briefly` asks them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from contextlib import ExitStack

import pytest
from psycopg.pq import TransactionStatus
from sqlalchemy import func, null, select

from lshdb.errors import IndexRebanded, StoreUnreachable
from lshdb.model.params import Params
from lshdb.store.glance import Glance
from lshdb.store.postgres.dialect import Postgres
from lshdb.store.schema import run
from lshdb.store.store import Store
from lshdb.store.tables import runs
from lshdb.store.transaction import Snapshot, Transaction
from tests.store.conftest import PARAMS

pytestmark = pytest.mark.postgres

LATEST_FIRST = select(run.c.run_key).order_by(run.c.run_key.desc())
NO_RUN = LATEST_FIRST.where(run.c.run_key < 0)
NOTHING_KNOWN = select(null())
MANY = select(func.generate_series(1, 50_000))
NINE = [(number,) for number in range(9, 0, -1)]
TEN = [(10,), *NINE]


class Reading:
    """Reads the runs twice, and notes each time in what. Args: between: is called between the first two statements."""

    def __init__(self, between: Callable[[], object] = lambda: None) -> None:
        self.snapshots: list[type[Snapshot]] = []
        self._between = between

    def __call__(self, snapshot: Snapshot) -> list[list[tuple[int, ...]]]:
        """Return the runs, as two statements see them."""
        self.snapshots.append(type(snapshot))
        first = list(snapshot.rows(LATEST_FIRST))
        if len(self.snapshots) == 1:
            self._between()
        return [first, list(snapshot.rows(LATEST_FIRST))]


def begin_run(store: Store) -> None:
    with store.writing() as transaction:
        runs.begin(transaction, "add", "default", "test")


def test_statements_about_one_state_need_no_transaction(postgres_store: Store) -> None:
    def rows(snapshot: Snapshot) -> list[list[tuple[object, ...]]]:
        assert isinstance(snapshot, Glance)
        found = [list(snapshot.rows(statement)) for statement in (LATEST_FIRST, NO_RUN, NOTHING_KNOWN)]
        driver = snapshot.connection.connection.driver_connection
        assert driver is not None
        assert driver.info.transaction_status == TransactionStatus.IDLE
        return found

    assert postgres_store.read_briefly(rows) == [NINE, [], [(None,)]]
    with postgres_store.writing() as transaction:
        # The connection, which is the same, does not commit each statement any more.
        runs.begin(transaction, "add", "default", "test")
        assert postgres_store.read_briefly(Reading()) == [NINE, NINE]


def test_many_rows_are_not_held_as_objects(postgres_store: Store) -> None:
    """An oversized bucket has any number of contents."""

    def count(snapshot: Snapshot) -> tuple[int, int]:
        tracemalloc.start()
        num_rows = sum(1 for _ in snapshot.rows(MANY))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return num_rows, peak

    num_rows, peak = postgres_store.read_briefly(count)
    assert num_rows == 50_000
    assert peak < 1_000_000


def test_a_commit_between_two_statements_makes_it_start_over_in_a_transaction(postgres_store: Store) -> None:
    reading = Reading(lambda: begin_run(postgres_store))
    assert postgres_store.read_briefly(reading) == [TEN, TEN]
    assert reading.snapshots == [Glance, Transaction]


def test_after_a_change_questions_are_asked_in_transactions_for_a_while(
    postgres_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seconds, expected in ((0.0, Glance), (60.0, Transaction)):
        monkeypatch.setattr("lshdb.store.store.CALM_SECONDS", seconds)
        postgres_store.read_briefly(Reading(lambda: begin_run(postgres_store)))
        reading = Reading()
        postgres_store.read_briefly(reading)
        assert reading.snapshots == [expected]


def test_a_transaction_that_does_not_end_between_two_statements_changes_nothing(postgres_store: Store) -> None:
    with ExitStack() as open_ones:
        writing = open_ones.enter_context(postgres_store.writing())
        runs.begin(writing, "add", "default", "test")
        reading = Reading()
        assert postgres_store.read_briefly(reading) == [NINE, NINE]
        assert reading.snapshots == [Glance]
        assert postgres_store.read_briefly(Reading(open_ones.close)) == [TEN, TEN]


def test_a_session_that_ends_between_two_statements_is_replaced(
    postgres_store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    def end_session(snapshot: Snapshot) -> None:
        ((own,),) = snapshot.rows(select(func.pg_backend_pid()))
        with postgres_store.writing() as other:
            other.execute(select(func.pg_terminate_backend(own)))
        list(snapshot.rows(LATEST_FIRST))

    with pytest.raises(StoreUnreachable):
        postgres_store.read_briefly(end_session)
    assert caplog.messages == []
    assert postgres_store.read_briefly(Reading()) == [NINE, NINE]


def test_on_a_standby_a_second_statement_needs_a_transaction(
    postgres_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not list the transactions that have not ended, so the states are unknown."""
    monkeypatch.setattr(Postgres, "state", "CAST(NULL AS text)")
    postgres_store.reload()
    assert postgres_store.read_briefly(lambda snapshot: (type(snapshot), list(snapshot.rows(NO_RUN)))) == (Glance, [])
    reading = Reading()
    assert postgres_store.read_briefly(reading) == [NINE, NINE]
    assert reading.snapshots == [Glance, Transaction]


def test_a_question_of_an_index_with_other_parameters_is_refused(postgres_store: Store) -> None:
    with Store.open(postgres_store._address.render_as_string(hide_password=False)) as other:
        assert other.replace_params(Params(shingle="set", bands=4, rows=1, floor=0.1, min_sim=0.1, keep_text=False))
    with pytest.raises(IndexRebanded):
        postgres_store.read_briefly(Reading())
    postgres_store.reload()
    assert postgres_store.params != PARAMS
    assert postgres_store.read_briefly(Reading()) == [NINE, NINE]
