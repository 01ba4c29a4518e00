"""``--schema`` names the Postgres schema of the index."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lshdb.cli.settings import in_schema
from tests.cli.conftest import Run


@pytest.mark.postgres
def test_it_names_the_schema_of_the_index(
    postgres_server: str, new_postgres_url: Callable[[], str], crawl: Path, lshdb: Run
) -> None:
    url = new_postgres_url()
    schema = url.rpartition("search_path%3D")[2]
    assert lshdb(postgres_server, "--schema", schema, "ingest", "--base", crawl, crawl).code == 0
    found = lshdb(postgres_server, "--schema", schema, "dupes")
    assert found.rows == [["a.txt", "c.txt", "1.0", "true"], ["a.txt", "b.txt", "0.8571428571428571", "true"]]
    assert lshdb(f"{postgres_server}&schema={schema}", "dupes").out == found.out
    assert lshdb(url, "dupes").out == found.out
    other = lshdb(postgres_server, "--schema", "none_here", "dupes")
    assert (other.code, other.out) == (11, "")


@pytest.mark.sqlite
@pytest.mark.parametrize("scheme", ["", "sqlite:///", "sqlite+pysqlite:///"])
@pytest.mark.parametrize("verb", [("dupes",), ("ingest", "."), ("upgrade",), ("init",), ("backup", "copy.db")])
def test_an_index_in_sqlite_has_none(verb: tuple[str, ...], scheme: str, tmp_path: Path, lshdb: Run) -> None:
    ended = lshdb(f"{scheme}{tmp_path}/crawl.db", "--schema", "crawl", *verb)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == ("lshdb: --schema crawl: a SQLite index has no schema; name a Postgres database with --db\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.sqlite
def test_a_copy_takes_it_in_its_two_urls_only(tmp_path: Path, lshdb: Run) -> None:
    ended = lshdb("postgresql://me@db.example/crawl", "--schema", "crawl", "copy", tmp_path / "a.db", tmp_path / "b.db")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "lshdb: copy takes no --schema: write ?schema=NAME into the URL of SRC or DST\n"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("postgresql://me@db.example/crawl", "postgresql://me@db.example/crawl?schema=odd%20%26%20Name"),
        ("postgresql:///crawl?schema=old", "postgresql:///crawl?schema=odd%20%26%20Name"),
        (
            "postgresql://me@db/crawl?sslmode=require&schema=old&host=%2Ftmp%2Fa%20b",
            "postgresql://me@db/crawl?sslmode=require&host=%2Ftmp%2Fa%20b&schema=odd%20%26%20Name",
        ),
        ("postgresql://me:what?@db/crawl", "postgresql://me:what?@db/crawl?schema=odd%20%26%20Name"),
        ("postgresql+psycopg://db/crawl", "postgresql+psycopg://db/crawl?schema=odd%20%26%20Name"),
    ],
)
def test_it_becomes_an_option_of_the_url_and_wins_over_the_one_there(address: str, expected: str) -> None:
    assert in_schema(address, "odd & Name") == expected
