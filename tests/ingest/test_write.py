"""The batches of a transaction, and the state after a failed one."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from sqlalchemy import func, select

from lshdb import Index, IngestOptions
from lshdb.errors import StoreError
from lshdb.ingest.batches import Batch, Batches
from lshdb.ingest.make import Chunk
from lshdb.ingest.options import Budgets
from lshdb.ingest.plan import Plan
from lshdb.ingest.workers import Ahead
from lshdb.ingest.write import Writer
from lshdb.model.params import Params
from lshdb.model.values import Document
from lshdb.sketch.sketch import sketch
from lshdb.store import retrying
from lshdb.store.dialect import Dialect, Growth
from lshdb.store.postgres.dialect import Postgres
from lshdb.store.schema import document, source
from lshdb.store.sqlite.dialect import Sqlite
from lshdb.store.store import Store
from lshdb.store.tables import documents
from lshdb.store.tables.sources import SourceState
from tests.audit.test_planted import audited

EMPTY = sketch([], Params())
SMALL = Budgets(batch_documents=10, batch_bytes=1_000)
Put = Callable[[Plan | Chunk], None]


def chunk(num_documents: int, num_bytes: int) -> Chunk:
    return Chunk(tuple(Document(f"{index}", "") for index in range(num_documents)), EMPTY, (), (), num_bytes, 0)


def unchanged(num_files: int) -> Plan:
    states = tuple(SourceState(f"file:///{number}", 0, 0, None, "done", 0, 1, "{}", 1) for number in range(num_files))
    return Plan(
        tasks=(),
        known={},
        unchanged=states,
        unwalked=(),
        num_skipped=0,
        unfollowed=(),
        roots=frozenset(),
        num_files=num_files,
        num_bytes=0,
        is_last=False,
    )


def batches_of(
    values: Sequence[Plan | Chunk], num_contents: int = 0, budgets: Budgets = SMALL, growth: Growth = Dialect.growth
) -> list[Batch]:
    def make(put: Put) -> None:
        for value in values:
            put(value)

    made = []
    with Ahead[Plan | Chunk](make) as ahead:
        batches = Batches(ahead, lambda _value: None, lambda: num_contents, budgets, growth)
        while (batch := batches.next()) is not None:
            made.append(batch)
    return made


def sizes(
    values: Sequence[Plan | Chunk], num_contents: int = 0, budgets: Budgets = SMALL, growth: Growth = Dialect.growth
) -> list[int]:
    return [len(batch.chunks) for batch in batches_of(values, num_contents, budgets, growth)]


def test_a_batch_is_complete_after_so_many_documents_or_bytes() -> None:
    assert sizes([chunk(4, 1)] * 7) == [3, 3, 1]
    assert sizes([chunk(1, 500)] * 7) == [2, 2, 2, 1]
    assert sizes([]) == []


def test_files_that_did_not_change_fill_a_batch_too() -> None:
    batches = batches_of([unchanged(6)] * 5)
    assert [len(batch.plans) for batch in batches] == [2, 2, 1]


def test_batches_grow_with_the_index_up_to_a_bound() -> None:
    assert sizes([chunk(5, 1)] * 8, 40 * 10) == [2, 2, 2, 2]
    assert sizes([chunk(5, 1)] * 8, 40 * 20) == [4, 4]
    assert sizes([chunk(5, 1)] * 20, 10**9) == [8, 8, 4]
    assert sizes([chunk(1, 500)] * 20, 10**9) == [8, 8, 4]


def test_a_database_says_how_far_batches_grow_but_not_beyond_four_times_the_bytes() -> None:
    assert sizes([chunk(5, 1)] * 8, 5 * 10, growth=Postgres.growth) == [2, 2, 2, 2]
    assert sizes([chunk(5, 1)] * 8, 5 * 20, growth=Postgres.growth) == [4, 4]
    assert sizes([chunk(5, 1)] * 20, 10**9, growth=Postgres.growth) == [12, 8]
    assert sizes([chunk(1, 500)] * 20, 10**9, growth=Postgres.growth) == [8, 8, 4]


def test_a_batch_that_takes_long_is_complete_however_little_is_in_it() -> None:
    assert sizes([chunk(1, 1)] * 3, budgets=Budgets(batch_seconds=-1.0)) == [1, 1, 1]


def test_the_writer_of_a_load_waits_for_no_batch_to_grow() -> None:
    is_taken = threading.Event()

    def make(put: Put) -> None:
        for _ in range(3):
            put(chunk(5, 1))
        is_taken.wait(20)
        put(chunk(5, 1))

    with Ahead[Plan | Chunk](make) as ahead:
        batches = Batches(ahead, lambda _value: None, lambda: 10**9, SMALL, Dialect.growth, eager=True)
        first = batches.next()
        is_taken.set()
        second = batches.next()
    assert first is not None
    assert second is not None
    assert 2 <= len(first.chunks) <= 3
    assert len(first.chunks) + len(second.chunks) == 4


def test_slow_files_hold_back_neither_a_load_nor_a_batch() -> None:
    is_over = threading.Event()

    def make(put: Put) -> None:
        put(chunk(1, 1))
        is_over.wait(20)

    with Ahead[Plan | Chunk](make) as ahead:
        batches = Batches(ahead, lambda _value: None, lambda: 0, Budgets(batch_seconds=0.2), Dialect.growth)
        assert batches.next(0.01) is None
        late = batches.next()
        is_over.set()
    assert late is not None
    assert len(late.chunks) == 1


@pytest.mark.sqlite
@pytest.mark.parametrize(("seconds_made", "num_asked"), [(0.0, 3), (6.0, 0)])
def test_a_load_waits_for_no_batch_that_would_not_fit(seconds_made: float, num_asked: int, tmp_path: Path) -> None:
    """If the first batch took six of ten seconds, the next one would take too long."""
    asked: list[float] = []

    def more(seconds: float) -> Batch | None:
        asked.append(seconds)
        return Batch((), ()) if len(asked) < 3 else None

    with Store.create(str(tmp_path / "index.db"), Params(), "test") as store:
        writer = Writer(store, 1, IngestOptions(), lambda _written: None)
        writer.write_load(Batch((), ()), more, 10.0, time.monotonic() - seconds_made)
    assert len(asked) == num_asked
    assert all(9.0 < seconds <= 10.0 for seconds in asked)


NUM_RECORDS = 2_000


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """A file that is read in twenty chunks, two per batch."""
    lines = [json.dumps({"id": f"d{number}", "text": f"{number} some words"}) for number in range(NUM_RECORDS)]
    file = tmp_path / "records.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


@pytest.fixture
def locked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fourth batch fails once because the database is locked, which is treated as temporary."""
    put, calls = documents.put, list[int]()

    def put_or_fail(*arguments: object) -> documents.PutOutcome:
        calls.append(1)
        if len(calls) == 4:
            raise sqlite3.OperationalError("database is locked")
        return put(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(retrying, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(Sqlite, "is_passing", lambda _dialect, error: "locked" in str(error))
    monkeypatch.setattr(documents, "put", put_or_fail)


def ingest(url: str, file: Path, load_seconds: float) -> None:
    budgets = Budgets(chunk_bytes=4_000, chunk_items=100, batch_documents=200, load_seconds=load_seconds)
    with Index.ensure(url, {}) as index:
        index.ingest([file], IngestOptions(budgets=budgets), link=False)


def stored(url: str) -> tuple[int, list[tuple[str, int, int]]]:
    """Return the number of documents, and the state, position and number of documents of each source."""
    with Store.open(url) as store, store.reading() as transaction:
        number = transaction.execute(select(func.count()).select_from(document)).scalar_one()
        rows = transaction.execute(select(source.c.state, source.c.position, source.c.num_documents))
        return int(number), [tuple(row) for row in rows]


@pytest.mark.sqlite
def test_a_batch_that_failed_in_passing_is_written_again(locked_once: None, records: Path, tmp_path: Path) -> None:
    url = str(tmp_path / "index.db")
    ingest(url, records, load_seconds=0.0)
    assert stored(url) == (NUM_RECORDS, [("done", NUM_RECORDS, NUM_RECORDS)])
    assert audited(url) == set()


@pytest.mark.sqlite
def test_a_load_that_failed_in_passing_ends_the_run_and_loses_nothing(
    locked_once: None, records: Path, tmp_path: Path
) -> None:
    """Its batches have been discarded, so a repetition would write only the rest."""
    url = str(tmp_path / "index.db")
    with pytest.raises(StoreError, match="locked"):
        ingest(url, records, load_seconds=60.0)
    assert stored(url) == (0, [])
    ingest(url, records, load_seconds=60.0)
    assert stored(url) == (NUM_RECORDS, [("done", NUM_RECORDS, NUM_RECORDS)])
    assert audited(url) == set()
