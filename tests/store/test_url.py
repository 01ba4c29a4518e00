"""The address of an index: the accepted forms, and errors that never repeat a password."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from lshdb import Document, Index
from lshdb.errors import IndexReadOnly, UsageError
from lshdb.store.url import parse
from tests.cli.conftest import Run, lshdb

__all__ = ["lshdb"]


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("host=localhost password=SEKRET", "looks like a server"),
        ("dbname = x user=me", "looks like a server"),
        ("postgres//u:SEKRET@h/x", "looks like a server"),
        ("postgresql:/u:SEKRET@h/x", "looks like a server"),
        ("postgresql+psycopg:/u:SEKRET@h/x", "looks like a server"),
        ("u:SEKRET@h/x", "looks like a server"),
        ("postgresql://u:SE@SEKRET@h/x", "two @"),
        ("postgresql://u:SE@KR/SEKRET@h/x", "two @"),
        ("postgresql://u:SEKRET@h:port/x", "not a database URL"),
        ("mysql://u:SEKRET@h/x", "mysql is not a database lshdb knows"),
        ("sqlite:///x.db?cache=SEKRET", "cache is not an option"),
        (":memory:", "an index in memory"),
        ("sqlite://", "an index in memory"),
        ("sqlite:///:memory:", "an index in memory"),
        ("", "--db is empty"),
        (" ", "--db is empty"),
    ],
)
def test_what_is_no_address_is_refused_without_repeating_it(address: str, reason: str, lshdb: Run) -> None:
    ended = lshdb(address, "stats")
    assert (ended.code, ended.out) == (UsageError.exit_code, "")
    assert reason in ended.err
    assert "SEKRET" not in ended.err
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize("path", ["a@b.db", "/data/me@host/a:b.db", "/data/password=1.db", "postgres.db", "C.db"])
def test_unusual_names_of_files_are_paths(path: str) -> None:
    assert parse(path).database == path


@pytest.mark.parametrize(("place", "read_only"), [("sqlite:///{}?mode=ro", False), ("{}", True)])
def test_an_index_that_is_opened_read_only_answers_and_is_not_changed(
    tmp_path: Path, place: str, read_only: bool
) -> None:
    path = tmp_path / "index.db"
    texts = ["one two three four five six seven", "one two three four five six seven!"]
    with Index.create(path) as index:
        index.add([Document(text, text) for text in texts])
    before = path.read_bytes()
    with Index.open(place.format(path), read_only=read_only) as index:
        assert [pair.similarity for pair in index.pairs()] == [1.0]
        for change in (lambda: index.remove(texts[0]), lambda: index.ingest(tmp_path), index.vacuum):
            with pytest.raises(IndexReadOnly, match="it was opened read-only"):
                change()
    assert path.read_bytes() == before


@pytest.mark.postgres
def test_the_folder_of_a_socket_may_stand_where_the_host_does(new_postgres_url: Callable[[], str]) -> None:
    url = parse(new_postgres_url())
    escaped = url.set(host=quote(str(url.query["host"]), safe="")).difference_update_query(["host"])
    with Index.create(escaped.render_as_string(hide_password=False)) as index:
        assert parse(index.url).query["host"] == url.query["host"]
        assert len(index) == 0
