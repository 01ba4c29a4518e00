"""On Postgres, what a first load puts off always comes back, even if it is killed while it is built."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest

from lshdb import Document, Index
from tests.recovery.calls import Call, ingest
from tests.recovery.conftest import Crawl
from tests.recovery.small_batches import KEYING
from tests.recovery.tables import contradictions, differences, missing, run_states

pytestmark = pytest.mark.postgres

WAITING_SECONDS = 30.0
UNFINISHED = {"key-missing"}
# The session that waits for the table to build its index.
BUILDING = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'CREATE UNIQUE INDEX%'"


@pytest.fixture
def url(new_postgres_url: Callable[[], str]) -> str:
    return new_postgres_url()


@contextmanager
def building(url: str, crawl: Crawl) -> Iterator[tuple[Call, psycopg.Connection[tuple[int]], int]]:
    """A first load that waits to build its key, the session that it waits for, and the id of the one that waits."""
    Index.ensure(url, {}).close()
    with Call(url, crawl.folder, "--workers", 1) as call, psycopg.connect(url) as in_the_way:
        call.wait_for("committed", 6)
        in_the_way.execute("LOCK TABLE band_bucket IN ROW EXCLUSIVE MODE")
        call.wait_for(KEYING)
        yield call, in_the_way, waiting_session(url)


def waiting_session(url: str) -> int:
    deadline = time.monotonic() + WAITING_SECONDS
    with psycopg.connect(url, autocommit=True) as admin:
        while time.monotonic() < deadline:
            if row := admin.execute(BUILDING).fetchone():
                return int(row[0])
            time.sleep(0.01)
    raise AssertionError("no session builds the key")


def assert_ends_well(url: str, crawl: Crawl) -> None:
    assert differences(url, crawl.facts) == {}
    assert contradictions(url) == {}
    assert missing(url) == []


def test_a_load_that_is_killed_while_it_builds_the_key_has_it_after_the_next_one(crawl: Crawl, url: str) -> None:
    with building(url, crawl) as (call, in_the_way, _):
        call.send(signal.SIGKILL)
        assert call.end().code == -signal.SIGKILL
        in_the_way.rollback()
    assert set(missing(url)) == UNFINISHED
    assert contradictions(url) == {}
    ingest(url, crawl.folder)
    assert_ends_well(url, crawl)


def test_ctrl_c_ends_the_run_while_it_builds_the_key_and_the_next_one_builds_it(crawl: Crawl, url: str) -> None:
    with building(url, crawl) as (call, _, _):
        call.send(signal.SIGINT)
        assert call.end().code == 130
    assert run_states(url) == ["interrupted"]
    assert set(missing(url)) == UNFINISHED
    ingest(url, crawl.folder)
    assert_ends_well(url, crawl)


def test_a_session_that_is_killed_while_it_builds_the_key_begins_again(crawl: Crawl, url: str) -> None:
    with building(url, crawl) as (call, in_the_way, session):
        in_the_way.execute("SELECT pg_terminate_backend(%s)", [session])
        in_the_way.commit()
        assert call.end().code == 0
    assert_ends_well(url, crawl)


def test_questions_are_answered_while_the_key_is_built(crawl: Crawl, url: str) -> None:
    with building(url, crawl) as (call, in_the_way, _):
        with Index.open(url) as index:
            assert index.stats().figures.num_documents == len(crawl.facts["document"])
            assert index.query(Document("", "not one word of this is anywhere in the whole crawl")) == []
        in_the_way.rollback()
        assert call.end().code == 0
    assert_ends_well(url, crawl)


def test_a_second_writer_goes_on_while_the_first_one_has_no_key(crawl: Crawl, url: str) -> None:
    Index.ensure(url, {}).close()
    # Slow: it is to be at work until the second one comes.
    with Call(url, crawl.folder, slow=0.1) as first:
        first.wait_for("committed", 6)
        assert set(missing(url)) == UNFINISHED
        ingest(url, crawl.folder)
        assert first.end().code == 0
    assert set(differences(url, crawl.facts)) <= {"rejected"}
    assert contradictions(url) == {}
    assert missing(url) == []
