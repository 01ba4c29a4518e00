"""Fixtures: an empty SQLite file or Postgres schema for each test. Postgres starts once per session."""

from __future__ import annotations

import gc
import os
import uuid
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from hypothesis import settings
from psycopg import sql
from sqlalchemy import create_engine

from benchmarks.runs.servers import server
from lshdb import Index

# No deadline: the first call of a kernel compiles or loads it, and machines are shared.
settings.register_profile("lshdb", deadline=None)
settings.load_profile("lshdb")

# As the command line does. With Python's own threshold, the search for cycles takes 6 % of the time.
gc.set_threshold(100_000)

SERVER_VARIABLE = "LSHDB_TEST_POSTGRES_URL"


class SharedStatements(dict[tuple[Hashable, ...], object]):
    """Compiled statements by SQLAlchemy's key, with the name of the database instead of the dialect of one engine."""

    def get(self, key: tuple[Any, ...], default: object = None) -> object:
        """The statement of a key, whichever engine has compiled it."""
        return super().get((key[0].name, *key[1:]), default)

    def __setitem__(self, key: tuple[Any, ...], statement: object) -> None:
        super().__setitem__((key[0].name, *key[1:]), statement)


@pytest.fixture(scope="session", autouse=True)
def statements_are_compiled_once() -> Iterator[None]:
    """Compile a statement once for all tests: to compile it for the engine of each takes 9 % of their time."""
    with pytest.MonkeyPatch.context() as patched:
        create = partial(create_engine, execution_options={"compiled_cache": SharedStatements()})
        patched.setattr("lshdb.store.store.create_engine", create)
        yield


# Tests in these folders work on an index, also where they take no URL from a fixture.
WITH_AN_INDEX = (
    "audit",
    "benchmarking",
    "cli",
    "docs",
    "oracle",
    "recovery",
    "spark",
    "stages",
    "store",
    "test_imports.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a database, so that ``-m "not sqlite and not postgres"`` selects what needs none."""
    for item in items:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        if folder in WITH_AN_INDEX and not item.get_closest_marker("postgres"):
            item.add_marker(pytest.mark.sqlite)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a Postgres database: the one in the environment, else one on a server that we start."""
    if url := os.environ.get(SERVER_VARIABLE):
        yield url
        return
    with server() as started:
        # A power cut would lose no more than the tests.
        with psycopg.connect(started.url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("ALTER SYSTEM SET full_page_writes = off")
            connection.execute("SELECT pg_reload_conf()")
        yield started.url


@pytest.fixture(
    params=[pytest.param("sqlite", marks=pytest.mark.sqlite), pytest.param("postgres", marks=pytest.mark.postgres)]
)
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], str]]:
    """A function that returns URLs of empty places for an index, on each database in turn."""
    if request.param == "sqlite":
        yield lambda: str(tmp_path / f"{uuid.uuid4().hex[:8]}.db")
        return
    yield request.getfixturevalue("new_postgres_url")


@pytest.fixture
def schemas(postgres_server: str) -> Iterator[Schemas]:
    """Schemas that the test makes."""
    made = Schemas(postgres_server)
    yield made
    made.drop()


@pytest.fixture
def new_postgres_url(schemas: Schemas) -> Callable[[], str]:
    """A function that returns URLs of empty schemas."""
    return schemas.new


class Schemas:
    """Schemas of a Postgres database, dropped at the end."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._names: list[str] = []

    def new(self) -> str:
        """The URL of an empty schema."""
        self._names.append(f"t_{uuid.uuid4().hex[:12]}")
        self._execute("CREATE SCHEMA {}", self._names[-1])
        return f"{self._server}{'&' if '?' in self._server else '?'}options=-csearch_path%3D{self._names[-1]}"

    def drop(self) -> None:
        """Drop all schemas."""
        for name in self._names:
            self._execute("DROP SCHEMA {} CASCADE", name)

    def _execute(self, statement: LiteralString, name: str) -> None:
        with psycopg.connect(self._server, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(name)))


@pytest.fixture
def url(new_url: Callable[[], str]) -> str:
    """The URL of an empty place for an index."""
    return new_url()


@pytest.fixture
def index(url: str) -> Iterator[Index]:
    """An empty index."""
    with Index.create(url) as index:
        yield index
