"""The sessions of a Postgres server: they are replaced when they have ended, and a question asks them little."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import text

from lshdb import Document, Index
from lshdb.errors import StoreUnreachable, UsageError
from lshdb.store.postgres import sessions
from lshdb.store.retrying import once
from lshdb.store.schema import content
from lshdb.store.store import Store
from lshdb.store.transaction import Transaction
from tests.store.conftest import count

pytestmark = pytest.mark.postgres


def session_of(store: Store) -> int:
    """The server process that answers, after a snapshot was read."""
    with store.reading() as transaction:
        assert count(transaction, content) == 0
        return int(transaction.execute(text("SELECT pg_backend_pid()")).scalar_one())


def end(server: str, session: int) -> None:
    """End a session, as a restart does, and wait until it has ended."""
    with psycopg.connect(server, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [session])
        alive = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s"
        deadline = time.monotonic() + 20
        while (found := other.execute(alive, [session]).fetchone()) is not None and found[0]:
            assert time.monotonic() < deadline
            time.sleep(0.01)


@contextmanager
def heard(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Yield the statements that the driver executes meanwhile."""
    said: list[str] = []
    execute = psycopg.Cursor.execute

    def executed(cursor: psycopg.Cursor[tuple[object, ...]], query: str, *given: object, **options: object) -> object:
        said.append(str(query))
        return execute(cursor, query, *given, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(psycopg.Cursor, "execute", executed)
        yield said


@pytest.mark.parametrize("fresh_seconds", [0.0, sessions.FRESH_SECONDS])
def test_a_session_that_has_ended_is_replaced(
    fresh_seconds: float, postgres_store: Store, postgres_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "FRESH_SECONDS", fresh_seconds)
    before = session_of(postgres_store)
    assert session_of(postgres_store) == before
    end(postgres_server, before)
    after = session_of(postgres_store)
    assert after != before
    assert session_of(postgres_store) == after


def test_a_session_that_ends_while_it_answers_is_an_error(postgres_store: Store, postgres_server: str) -> None:
    def ended(transaction: Transaction) -> int:
        end(postgres_server, int(transaction.execute(text("SELECT pg_backend_pid()")).scalar_one()))
        return count(transaction, content)

    with pytest.raises(StoreUnreachable):
        once(postgres_store.reading, ended)
    session_of(postgres_store)


@pytest.mark.parametrize(("fresh_seconds", "asked"), [(sessions.FRESH_SECONDS, []), (0.0, [";"])])
def test_only_a_session_that_was_idle_is_asked_whether_it_is_alive(
    fresh_seconds: float, asked: list[str], postgres_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "FRESH_SECONDS", fresh_seconds)
    session_of(postgres_store)
    with heard(monkeypatch) as said, postgres_store.reading():
        pass
    assert [query.split(" ")[0] for query in said] == [*asked, "BEGIN"]


def test_a_statement_is_planned_once(postgres_store: Store) -> None:
    with postgres_store.reading() as transaction:
        assert transaction.execute(text("SHOW plan_cache_mode")).scalar_one() == "force_generic_plan"


def test_a_role_without_all_digits_of_a_number_has_the_same_parameters(new_postgres_url: Callable[[], str]) -> None:
    url, floor = new_postgres_url(), 0.1 + 0.2
    Index.create(f"{url}%20-cextra_float_digits%3D0", {"floor": floor}).close()
    with Store.open(f"{url}%20-cextra_float_digits%3D-15") as store, store.reading():
        assert store.params.floor == floor


@pytest.fixture
def database_with(postgres_server: str) -> Iterator[Callable[[str], str]]:
    """Create databases with an encoding, and return their URLs."""
    names: list[str] = []

    def create(encoding: str) -> str:
        names.append(f"d_{uuid.uuid4().hex[:12]}")
        statement = sql.SQL("CREATE DATABASE {} ENCODING {} LOCALE 'C' TEMPLATE template0")
        connection.execute(statement.format(sql.Identifier(names[-1]), encoding))
        return postgres_server.replace("/postgres?", f"/{names[-1]}?", 1)

    with psycopg.connect(postgres_server, autocommit=True) as connection:
        yield create
        for name in names:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def test_a_database_without_an_encoding_returns_texts(database_with: Callable[[str], str]) -> None:
    # A server that was created with LANG=C makes them.
    url = database_with("SQL_ASCII")
    with Index.create(url) as index:
        index.add([Document("文書", "one two three four five six"), Document("é", "One two three four five six")])
    with Index.open(url) as index:
        assert [(pair.left, pair.right) for pair in index.pairs(0.8)] == [("文書", "é")]


def test_no_index_is_created_in_a_database_that_lacks_characters(database_with: Callable[[str], str]) -> None:
    url = database_with("LATIN1")
    with pytest.raises(UsageError, match=r"the encoding of the database, LATIN1, lacks characters"):
        Index.ensure(url)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT FROM pg_namespace WHERE nspname = 'lshdb'").fetchall() == []
