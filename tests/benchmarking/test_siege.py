"""The siege itself: it must see what is lost, doubled or damaged."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest

from benchmarks.siege import crawl
from benchmarks.siege.contents import Difference, contents_of, differences
from benchmarks.siege.power import Cut, Image, copied, cut
from lshdb import Document, Index

TEXT = "the ferry was late because a heron stood on the pier and would not move"


@pytest.fixture
def filled(tmp_path: Path) -> str:
    """An index of three documents, two of which are similar."""
    url = str(tmp_path / "index.db")
    with Index.ensure(url, {}) as index:
        index.add([Document("a", TEXT), Document("b", f"{TEXT} today"), Document("c", "something else")])
    return url


def test_the_same_documents_in_another_order_are_the_same_contents(filled: str, tmp_path: Path) -> None:
    other = str(tmp_path / "other.db")
    with Index.ensure(other, {}) as index:
        for doc_id, text in (("c", "something else"), ("b", f"{TEXT} today"), ("a", TEXT)):
            index.add([Document(doc_id, text)])
        index.link()
    assert differences(contents_of(filled), contents_of(other)) == []


@pytest.mark.parametrize(
    ("damage", "seen"),
    [
        ("DELETE FROM pair", Difference("pair", 1, 0)),
        ("DELETE FROM document WHERE doc_id = 'a'", Difference("document", 1, 0)),
        ("UPDATE document SET locator = 'line 7' WHERE doc_id = 'a'", Difference("document", 1, 1)),
        ("DELETE FROM band_bucket WHERE band = 3", Difference("band_bucket", 3, 0)),
        ("INSERT INTO unlinked SELECT max(content_key) FROM content", Difference("unlinked", 0, 1)),
    ],
)
def test_a_row_that_is_lost_or_surplus_is_counted(filled: str, damage: str, seen: Difference) -> None:
    expected = contents_of(filled)
    with sqlite3.connect(filled) as connection:
        connection.execute(damage)
    connection.close()
    assert differences(expected, contents_of(filled)) == [seen]


@pytest.fixture
def image(tmp_path: Path) -> Image:
    """A copy of a database whose log has one checkpointed row and one that came after."""
    path = tmp_path / "plain.db"
    with sqlite3.connect(path, isolation_level=None) as connection:
        for statement in ("PRAGMA journal_mode = WAL", "CREATE TABLE t (x)", "INSERT INTO t VALUES (1)"):
            connection.execute(statement)
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        connection.execute("BEGIN")
        # Keeps the log from being restarted.
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM t").fetchall()
        connection.execute("INSERT INTO t VALUES (2)")
        connection.execute("COMMIT")
        made = copied(path, tmp_path / "image" / "plain.db")
        reader.close()
    connection.close()
    return made


@pytest.mark.parametrize(
    ("kind", "kept"),
    [("copied", [1, 2]), ("log truncated", [1]), ("log garbage", [1]), ("pages torn", [1, 2])],
)
def test_a_power_cut_damages_only_what_was_not_synced(image: Image, kind: Cut, kept: list[int]) -> None:
    cut(image, kind, random.Random(1))
    connection = sqlite3.connect(image.database)
    assert [x for (x,) in connection.execute("SELECT x FROM t")] in ([1, 2], kept)
    connection.close()


def test_the_second_day_changes_half_of_each_container(tmp_path: Path) -> None:
    written = crawl.write(tmp_path, 1_200)
    written.turn("monday")
    monday = {path.name: path.read_bytes().splitlines() for path in written.folder.glob("*.jsonl")}
    written.turn("tuesday")
    tuesday = {path.name: path.read_bytes().splitlines() for path in written.folder.glob("*.jsonl")}
    assert (monday.keys() - tuesday.keys(), tuesday.keys() - monday.keys()) == (
        {"container-0.jsonl"},
        {"container-6.jsonl"},
    )
    pairs = list(zip(monday["container-1.jsonl"], tuesday["container-1.jsonl"], strict=True))
    assert 0.4 < sum(old != new for old, new in pairs) / len(pairs) < 0.6
