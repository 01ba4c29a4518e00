"""A copy of an index has every row, compared and found equal; an interrupted copy leaves nothing."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import Column, Table, delete, insert, select, update

from lshdb import Decision, Index
from lshdb.errors import CopyDiffers, IndexExists, IndexMissing, NotAnIndex, OutputFailed
from lshdb.model.values import Document
from lshdb.store import whole
from lshdb.store.dialect import Columns
from lshdb.store.schema import (
    content,
    content_text,
    key_counter,
    metadata,
    new_digest,
    oversized_bucket,
    pair,
    passage_build,
    rejected,
    run,
    source,
    unlinked,
)
from lshdb.store.store import Store
from lshdb.store.tables import bands, filter_merges
from lshdb.store.transaction import Transaction
from tests.cli.conftest import Run, lshdb
from tests.recovery.tables import rows_of

__all__ = ["lshdb"]

SAMPLE = Path(__file__).parents[2] / "sample_data"
TEXT = "one two three four five six seven eight nine ten"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def destination(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty place on each database in turn, independent of the database of `url`."""
    if request.param == "sqlite":
        return str(tmp_path / "copied.db")
    made: str = request.getfixturevalue("new_postgres_url")()
    return made


def make_index(url: str) -> None:
    """An index with rows in every table, except temporary ones."""
    with Index.create(url, {"passages": 13}) as index:
        index.ingest([SAMPLE / "crawl"])
        index.measure()
        index.add([Document("é\U0001f600", TEXT), Document("none", ""), Document("gone", TEXT + " and more")], "odd")
        index.remove(["gone"], "odd")
        index.remove([str(SAMPLE / "crawl" / "empty.html")])
        index.add([Document("late", TEXT + " eleven")], link=False)
        made = {"id": "é\U0001f600", "collection": "odd", "other": "none", "who": "Ada", "reason": "a\tb\n'\""}
        index.decide(Decision("different", **made))
        index.decide(Decision("keep", "late", who="Ada"))
    with Store.open(url) as store, store.writing() as transaction:
        hot = {"band": [3], "bucket_hash": [-(2**63)], "num_contents": [2**40], "num_pairs": [2**62]}
        transaction.bulk_insert(oversized_bucket, hot)
        values = {"rejected_key": 7, "run_key": 1, "source": "a\tb\n'\"", "locator": "", "reason": "\\N"}
        transaction.execute(insert(rejected).values(values))
        while filter_merges.advance(transaction, full=1):
            pass


def test_a_copy_has_every_row_of_the_original(url: str, destination: str, lshdb: Run) -> None:
    make_index(url)
    ended = lshdb("none.db", "copy", "--json", url, destination)
    assert ended.code == 0, ended.err
    report = json.loads(ended.out)
    rows = rows_of(destination)
    assert rows == rows_of(url)
    empty = {name for name, found in rows.items() if not found}
    assert empty == {"rebanding", "passage_build", "new_digest"}
    assert {name: table["rows"] for name, table in report["tables"].items()} == {
        name: len(found) for name, found in rows.items()
    }
    with Store.open(url) as one, Store.open(destination) as other, one.reading() as left, other.reading() as right:
        times = select(run.c.started_at, run.c.finished_at).order_by(run.c.run_key)
        assert left.execute(times).all() == right.execute(times).all()


def test_a_copy_goes_on_where_the_original_was(url: str, destination: str) -> None:
    make_index(url)
    with Index.open(url) as index:
        index.copy(destination)
        expected = index.ingest([SAMPLE / "crawl"])
        more = index.add([Document("new", TEXT + " eleven twelve")])
        pairs = list(index.pairs(0.5))
    with Index.open(destination) as copied:
        found = copied.ingest([SAMPLE / "crawl"])
        assert (found.run, found.counts) == (expected.run, expected.counts)
        assert found.counts.num_unchanged == 30
        assert copied.add([Document("new", TEXT + " eleven twelve")]).run == more.run
        assert list(copied.pairs(0.5)) == pairs
    assert rows_of(destination) == rows_of(url)


def test_a_copy_is_of_one_moment(url: str, destination: str) -> None:
    make_index(url)
    before = rows_of(url)
    copied_first: list[float] = []

    def write(share: float) -> None:
        if not copied_first:
            copied_first.append(share)
            with Index.open(url) as writer:
                writer.add([Document("meanwhile", TEXT + " meanwhile")])

    with Store.open(url) as store:
        whole.copy(store, destination, write)
    assert copied_first
    assert rows_of(destination) == before != rows_of(url)


def test_a_copy_of_a_copy_in_the_other_database_is_the_original_again(tmp_path: Path, url: str) -> None:
    first, second = str(tmp_path / "first.db"), str(tmp_path / "second.db")
    make_index(first)
    for one, other in ((first, url), (url, second)):
        with Index.open(one) as index:
            index.copy(other)
    assert rows_of(second) == rows_of(first)
    with Index.open(first) as one, Index.open(second) as other:
        assert one.copy(str(tmp_path / "third.db")).tables == other.copy(str(tmp_path / "fourth.db")).tables


def test_blocks_of_a_few_rows_give_the_same_copy_and_digests(
    url: str, destination: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make_index(url)
    with Index.open(url) as index:
        expected = index.copy(str(tmp_path / "whole.db")).tables
        monkeypatch.setattr(whole, "BLOCK_ROWS", 7)
        monkeypatch.setattr(whole, "LARGE_ROWS", {content_text.name: 1, content.name: 2})
        assert index.copy(destination).tables == expected
    assert rows_of(destination) == rows_of(url)


def test_nothing_is_copied_over_an_index(url: str, destination: str, lshdb: Run) -> None:
    make_index(url)
    Index.create(destination).close()
    ended = lshdb("none.db", "copy", url, destination)
    assert (ended.code, ended.out) == (23, "")
    with Index.open(destination) as index, pytest.raises(IndexExists):
        index.copy(destination)
    with Index.open(destination) as index:
        assert index.stats().figures.num_documents == 0


def test_there_is_nothing_to_copy_where_there_is_no_index(url: str, destination: str, lshdb: Run) -> None:
    assert lshdb("none.db", "copy", url, destination).code == 11
    with pytest.raises(IndexMissing):
        Index.open(destination)


@pytest.mark.sqlite
def test_nothing_is_copied_to_where_something_else_is(tmp_path: Path) -> None:
    original = str(tmp_path / "original.db")
    (tmp_path / "letter.txt").write_text("Dear reader, " * 500)
    (tmp_path / "rest.db-wal").write_bytes(b"log")
    with Index.create(original) as index:
        with pytest.raises(NotAnIndex):
            index.copy(str(tmp_path / "letter.txt"))
        with pytest.raises(OutputFailed, match=r"rest\.db-wal is next to it"):
            index.copy(str(tmp_path / "rest.db"))
        with pytest.raises(OutputFailed, match="there is no such folder"):
            index.copy(str(tmp_path / "nowhere" / "copy.db"))
    assert (tmp_path / "letter.txt").read_text().startswith("Dear reader")
    assert not (tmp_path / "rest.db").exists()


def test_what_arrives_as_something_else_is_an_error_and_no_index(
    url: str, destination: str, monkeypatch: pytest.MonkeyPatch, lshdb: Run
) -> None:
    make_index(url)
    original = Transaction.bulk_insert
    for table in (pair, content, content_text, unlinked, source, key_counter):

        def lose_one(transaction: Transaction, into: Table, columns: Columns, lost_from: Table = table) -> None:
            kept = {name: values[:-1] for name, values in columns.items()} if into is lost_from else columns
            original(transaction, into, kept)

        monkeypatch.setattr(Transaction, "bulk_insert", lose_one)
        ended = lshdb("none.db", "copy", url, destination)
        assert ended.code == CopyDiffers.exit_code == 22
        assert f" of the table {table.name} arrived" in ended.err
        with pytest.raises(IndexMissing):
            Index.open(destination)
    monkeypatch.undo()
    with Index.open(url) as index:
        index.copy(destination)
    assert rows_of(destination) == rows_of(url)


def test_a_value_that_arrives_as_another_one_is_an_error_though_all_rows_arrive(
    url: str, destination: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_index(url)
    original = Transaction.bulk_insert
    for altered in (pair.c.similarity, content.c.signature, content_text.c.text):

        def alter_one(transaction: Transaction, into: Table, columns: Columns, at: Column[Any] = altered) -> None:
            if into is at.table:
                columns = {**columns, at.name: [*columns[at.name][:-1], another(columns[at.name][-1])]}
            original(transaction, into, columns)

        monkeypatch.setattr(Transaction, "bulk_insert", alter_one)
        with Index.open(url) as index, pytest.raises(CopyDiffers) as caught:
            index.copy(destination)
        assert caught.value.table == altered.table.name
        with pytest.raises(IndexMissing):
            Index.open(destination)


class Altered(Transaction, frozen=True, kw_only=True):
    """A transaction that returns another value than the table has, in one column of its last row."""

    place: int

    def stream(self, *given: Any, **named: Any) -> Iterator[list[Any]]:
        return self._altered(super().stream(*given, **named))

    def stream_integers(self, *given: Any, **named: Any) -> Iterator[NDArray[np.int64]]:
        return self._altered(super().stream_integers(*given, **named))

    def _altered(self, blocks: Iterator[Any]) -> Iterator[Any]:
        before = next(blocks)
        for block in blocks:
            yield before
            before = block
        last = list(before[-1])
        last[self.place] = another(last[self.place])
        before[-1] = last if isinstance(before, np.ndarray) else tuple(last)
        yield before


def another(value: object) -> object:
    match value:
        case bool():
            return not value
        case float():
            return math.nextafter(value, 2)
        case int() | np.int64():
            return value + 1
        case bytes():
            return value + b"x"
        case str():
            return value + "x"
    return 0


@pytest.mark.sqlite
def test_one_changed_value_in_any_column_is_noticed(tmp_path: Path) -> None:
    url = str(tmp_path / "original.db")
    make_index(url)
    with Store.open(url) as store, store.writing() as transaction:
        bands.begin(transaction, store.params.banding)
        transaction.execute(insert(passage_build).values(build_key=1, passages=13, last_content_key=7))
        transaction.execute(insert(new_digest).values(content_key=1, digest=bytes(16)))
    unnoticed = []
    with Store.open(url) as store, store.reading() as snapshot:
        for table in metadata.sorted_tables:
            list(whole.compare(snapshot, snapshot, table, url))
            for place, column in enumerate(table.columns):
                altered = Altered(snapshot.connection, snapshot.dialect, place=place)
                try:
                    list(whole.compare(snapshot, altered, table, url))
                except CopyDiffers:
                    continue
                unnoticed.append(f"{table}.{column.key}")
    assert not unnoticed


SLOW = """
import sys, time
from lshdb import Index
from lshdb.store import whole
def tell(share):
    if 0.4 < share:
        print("half", flush=True)
        time.sleep(60)
from lshdb.store.store import Store
with Store.open(sys.argv[1]) as store:
    whole.copy(store, sys.argv[2], tell)
"""


def test_a_copy_that_is_killed_leaves_no_index_and_the_next_one_succeeds(url: str, destination: str) -> None:
    make_index(url)
    with subprocess.Popen([sys.executable, "-c", SLOW, url, destination], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"half\n"
        with pytest.raises(IndexMissing):
            Index.open(destination)
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    with pytest.raises(IndexMissing):
        Index.open(destination)
    deadline = time.monotonic() + 20
    while True:  # The server takes a moment to notice.
        try:
            with Index.open(url) as index:
                index.copy(destination)
        except IndexExists:
            assert time.monotonic() < deadline
        else:
            break
    assert rows_of(destination) == rows_of(url)


@pytest.mark.postgres
def test_a_copy_never_prints_a_password(tmp_path: Path, lshdb: Run) -> None:
    original = str(tmp_path / "original.db")
    Index.create(original).close()
    for arguments in (
        (original, "postgresql://me:hush@127.0.0.1:1/name"),
        ("postgresql://me:hush@127.0.0.1:1/name", str(tmp_path / "copy.db")),
    ):
        ended = lshdb("none.db", "copy", *arguments)
        assert ended.code == 16
        assert "hush" not in ended.out + ended.err
        assert "me:***@127.0.0.1" in ended.err


def test_an_index_whose_documents_all_went_can_be_copied(url: str, destination: str) -> None:
    make_index(url)
    with Store.open(url) as store, store.writing() as transaction:
        for table in reversed(metadata.sorted_tables):
            if table.name != "index_params":
                transaction.execute(delete(table))
        transaction.execute(update(metadata.tables["index_params"]).values(lshdb_version="0.0.1"))
    with Index.open(url) as index:
        index.copy(destination)
    assert rows_of(destination) == rows_of(url)
