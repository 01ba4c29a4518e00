"""On Postgres, an index lives in a separate schema."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql

from lshdb import Index
from lshdb.errors import IndexMissing, IndexOutdated
from tests.store.released import answers_of, restore
from tests.store.test_upgrade import ANSWERS, make_index

pytestmark = pytest.mark.postgres


@pytest.fixture
def database(postgres_server: str) -> Iterator[str]:
    """The URL of a new database that already has a table of another program."""
    name = f"d_{uuid.uuid4().hex[:12]}"
    execute(postgres_server, "CREATE DATABASE {}", name)
    url = postgres_server.replace("/postgres?", f"/{name}?", 1)
    assert url != postgres_server
    execute(url, "CREATE TABLE document (title text)")
    yield url
    execute(postgres_server, "DROP DATABASE {} WITH (FORCE)", name)


def execute(url: str, statement: LiteralString, *names: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        done = connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
        return done.fetchall() if done.description else []


def places(url: str) -> set[str]:
    """The schemas with tables of an index."""
    return {schema for (schema,) in execute(url, "SELECT schemaname FROM pg_tables WHERE tablename = 'band_bucket'")}


def test_another_programs_table_of_one_name_does_no_harm(database: str) -> None:
    make_index(database)
    with Index.open(database) as index:
        assert list(index.pairs(0.8)) == ANSWERS
    assert places(database) == {"lshdb"}
    assert execute(database, "SELECT * FROM public.document") == []


@pytest.mark.parametrize("name", ["odd Name", "100%b", 'a "quoted", one'])
def test_the_url_names_another_schema(name: str, database: str) -> None:
    odd = f"{database}&schema={quote(name)}"
    make_index(odd)
    assert places(database) == {name}
    with pytest.raises(IndexMissing):
        Index.open(database)
    with Index.open(odd) as index:
        assert list(index.pairs(0.8)) == ANSWERS


@pytest.mark.parametrize("name", ["revision_0001", "revision_0002"])
def test_an_index_of_before_is_moved_there_by_its_upgrade(name: str, database: str, tmp_path: Path) -> None:
    execute(database, "DROP TABLE document")
    restore(name, f"{database}&options=-csearch_path%3Dpublic", tmp_path)
    with pytest.raises(IndexOutdated):
        Index.open(database)
    statements = Index.upgrade(database, dry_run=True).statements
    assert any("SET SCHEMA" in statement for statement in statements)
    assert places(database) == {"public"}
    Index.upgrade(database)
    assert places(database) == {"lshdb"}
    with Index.open(database) as index:
        pairs = [[pair.left, pair.right, pair.similarity, pair.exact] for pair in index.pairs(index.params.floor)]
    assert sorted(pairs) == sorted(answers_of(name)["pairs"])


def test_an_index_that_a_search_path_leads_to_stays_where_it_is(database: str, tmp_path: Path) -> None:
    execute(database, "CREATE SCHEMA crawl")
    url = f"{database}&options=-csearch_path%3Dcrawl"
    restore("revision_0001", url, tmp_path)
    Index.upgrade(url)
    assert places(database) == {"crawl"}
    with Index.open(f"{database}&schema=crawl") as index:
        assert len(index.stats().collections) == 1


def test_an_index_of_before_stays_where_it_is_if_its_schema_is_named(database: str, tmp_path: Path) -> None:
    execute(database, "DROP TABLE document")
    restore("revision_0002", f"{database}&options=-csearch_path%3Dpublic", tmp_path)
    Index.upgrade(f"{database}&schema=public")
    assert places(database) == {"public"}
