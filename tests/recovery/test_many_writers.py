"""Concurrent ingests into one Postgres, with sessions killed all the time, leave the same as a single one.

``LSHDB_WRITERS_SECONDS=120`` runs for that long instead of a few seconds.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from lshdb import Document, Index
from lshdb.errors import StoreUnreachable
from tests.conftest import Schemas
from tests.recovery.calls import Call, Ended, ingest
from tests.recovery.conftest import Crawl, EditedCrawl
from tests.recovery.tables import Facts, contradictions, differences, missing, run_states

SECONDS_VARIABLE = "LSHDB_WRITERS_SECONDS"
SECONDS = float(os.environ.get(SECONDS_VARIABLE, "5"))
NUM_WRITERS = 4
SEED = 20241122
# Sessions of lshdb. One at a time is killed.
KILL = """SELECT pg_terminate_backend(pid) FROM (
    SELECT pid FROM pg_stat_activity WHERE application_name = 'lshdb' AND datname = current_database()
    ORDER BY random() LIMIT 1) AS one"""


class Killer(threading.Thread):
    """Kill sessions of lshdb at random moments, until stopped."""

    def __init__(self, server: str, chance: random.Random) -> None:
        super().__init__()
        self._server = server
        self._chance = chance
        self._stopped = threading.Event()
        self.num_killed = 0

    def run(self) -> None:
        with psycopg.connect(self._server, autocommit=True) as admin:
            while not self._stopped.wait(self._chance.uniform(0.2, 1.0)):
                self.num_killed += len(admin.execute(KILL).fetchall())

    def __enter__(self) -> Killer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self.join()


def ingest_at_once(url: str, folder: Path, *arguments: object) -> list[Ended]:
    """Return the results of four simultaneous calls."""
    with ExitStack() as running:
        calls = [running.enter_context(Call(url, folder, "--workers", 1, *arguments)) for _ in range(NUM_WRITERS)]
        threads = [threading.Thread(target=call.wait_for, args=["no such line"]) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [call.end() for call in calls]


def other_than_rejections(url: str, crawl: Crawl) -> Facts:
    """Return the differences from the index of a single writer. Each run records its own rejections."""
    return {what: rows for what, rows in differences(url, crawl.facts).items() if what != "rejected"}


def could_not_begin(ended: Ended) -> bool:
    """Return whether the session that opened the index was killed, which is not retried."""
    return ended.stage == "starting" and ended.code == StoreUnreachable.exit_code and "writing" not in ended.lines


@pytest.mark.postgres
def test_four_writers_whose_sessions_are_killed_leave_what_one_writer_leaves(
    crawl: Crawl, schemas: Schemas, postgres_server: str
) -> None:
    deadline, chance, num_killed = time.monotonic() + SECONDS, random.Random(SEED), 0
    while time.monotonic() < deadline:
        url = schemas.new()
        Index.ensure(url, {}).close()
        with Killer(postgres_server, chance) as killer:
            ended = [one for one in ingest_at_once(url, crawl.folder) if not could_not_begin(one)]
        assert [one.code for one in ended] == [0] * max(1, len(ended)), ended
        assert other_than_rejections(url, crawl) == {}
        assert contradictions(url) == {}
        assert missing(url) == []
        assert run_states(url).count("finished") == len(ended)
        num_killed += killer.num_killed
    print(f"{num_killed} sessions killed")
    assert num_killed > SECONDS / 5


@pytest.mark.postgres
def test_four_writers_that_prune_at_once_remove_what_is_gone_and_nothing_else(
    edited_crawl: EditedCrawl, schemas: Schemas
) -> None:
    url = schemas.new()
    edited_crawl.turn(edited_crawl.yesterday)
    ingest(url, edited_crawl.folder)
    edited_crawl.turn(edited_crawl.today)
    ended = ingest_at_once(url, edited_crawl.folder, "--prune")
    assert [one.code for one in ended] == [0] * NUM_WRITERS, ended
    assert other_than_rejections(url, edited_crawl) == {}
    assert contradictions(url) == {}


@pytest.mark.postgres
def test_writers_that_are_killed_themselves_let_the_others_finish(crawl: Crawl, schemas: Schemas) -> None:
    url = schemas.new()
    Index.ensure(url, {}).close()
    with Call(url, crawl.folder) as doomed, Call(url, crawl.folder) as other:
        doomed.wait_for("committed", 4)
        doomed.send(signal.SIGKILL)
        assert other.end().code == 0
    # The last commit can be that of the killed writer: then a file counts as half read until the next run.
    assert other_than_rejections(url, crawl).keys() <= {"source", "missing source"}
    ingest(url, crawl.folder)
    assert other_than_rejections(url, crawl) == {}
    assert contradictions(url) == {}
    assert missing(url) == []


@pytest.mark.sqlite
def test_on_sqlite_readers_are_not_blocked_and_a_second_writer_waits_or_is_told(crawl: Crawl, tmp_path: Path) -> None:
    url = str(tmp_path / "index.db")
    Index.ensure(url, {}).close()
    with Call(url, crawl.folder) as call:
        call.wait_for("committed", 2)
        with Call(url, crawl.folder) as second:
            told = second.end()
        reading = slowest(lambda: [asked(url) for _ in range(20)])
        with Index.open(url) as index:
            index.add([Document("by hand", "a text of a program that writes while the ingest goes on")])
        ended = call.end()
    assert ended.code == 0, ended.err
    assert told.code in {0, 18}, told
    if told.code:
        assert ": an ingest, process" in told.err
    assert "locked" not in told.err + ended.err
    assert reading < 10.0
    assert contradictions_but_of_sources(url) == {}


def asked(url: str) -> int:
    with Index.open(url) as index:
        return index.stats().figures.num_documents


def slowest(ask: Callable[[], object]) -> float:
    started = time.monotonic()
    ask()
    return time.monotonic() - started


def contradictions_but_of_sources(url: str) -> dict[str, object]:
    """A document added by a program has no source."""
    return {what: rows for what, rows in contradictions(url).items() if what != "documents of no source"}
