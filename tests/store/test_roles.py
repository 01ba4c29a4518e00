"""Roles of Postgres: an owner of a schema can do everything, a reader can ask everything. Options of libpq."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import URL

from lshdb import Index
from lshdb.errors import AccessDenied, IndexBusy, IndexReadOnly, StoreUnreachable
from lshdb.model.values import Document
from lshdb.store.postgres.dialect import LINK_SPACE
from lshdb.store.store import Store
from lshdb.store.url import parse
from tests.cli.conftest import Run, lshdb
from tests.readers.crawls import crawl

__all__ = ["lshdb"]

pytestmark = pytest.mark.postgres

SAMPLE = Path(__file__).parents[2] / "sample_data"
PLUM_CAKE = SAMPLE / "crawl" / "recipes" / "plum-cake.md"
INSTALL = ("crawl/docs/1.0/install.html", "crawl/docs/2.0/install.html")


class Database:
    """A new database, and roles that are dropped with it."""

    def __init__(self, server: str) -> None:
        self._server = server
        self.name = f"d_{uuid.uuid4().hex[:12]}"
        self._roles: list[str] = []
        self.execute("CREATE DATABASE {}", self.name, url=server)

    def execute(self, statement: LiteralString, *names: str, url: str | None = None) -> None:
        with psycopg.connect(url or self._url().render_as_string(hide_password=False), autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))

    def role(self) -> str:
        """Create a role that may only log in."""
        self._roles.append(f"r_{uuid.uuid4().hex[:12]}")
        self.execute("CREATE ROLE {} LOGIN PASSWORD 'hush'", self._roles[-1])
        return self._roles[-1]

    def url(self, role: str, schema: str, **options: str) -> str:
        """Return a URL for a role, with a schema as search_path."""
        query = {**self._url().query, "options": f"-csearch_path={schema}", **options}
        return self._url().set(username=role, password="hush", query=query).render_as_string(hide_password=False)

    def drop(self) -> None:
        self.execute("DROP DATABASE {} WITH (FORCE)", self.name, url=self._server)
        for role in self._roles:
            self.execute("DROP ROLE {}", role, url=self._server)

    def _url(self) -> URL:
        return parse(self._server).set(database=self.name)


@pytest.fixture
def database(postgres_server: str) -> Iterator[Database]:
    made = Database(postgres_server)
    yield made
    made.drop()


@pytest.fixture
def owned(database: Database) -> tuple[str, str]:
    """The URL of a role that owns one schema only, not even public, and the name of the schema."""
    owner = database.role()
    database.execute("CREATE SCHEMA crawl AUTHORIZATION {}", owner)
    database.execute("REVOKE ALL ON SCHEMA public FROM PUBLIC")
    return database.url(owner, "crawl"), "crawl"


@pytest.fixture
def reader(database: Database, owned: tuple[str, str], lshdb: Run) -> str:
    """The URL of a role that may read the owner's index, which is linked."""
    url, _ = owned
    assert lshdb(url, "ingest", "--base", SAMPLE, SAMPLE / "crawl").code == 0
    assert lshdb(url, "ingest", "--base", SAMPLE, "--collection", "test", SAMPLE / "crawl" / "recipes").code == 0
    role = database.role()
    database.execute("GRANT USAGE ON SCHEMA crawl TO {}", role)
    database.execute("GRANT SELECT ON ALL TABLES IN SCHEMA crawl TO {}", role)
    return database.url(role, "crawl")


QUESTIONS: tuple[tuple[Any, ...], ...] = (
    ("dupes",),
    ("dupes", "--expand", "--between", "default", "test"),
    ("query", PLUM_CAKE),
    ("query", PLUM_CAKE, "-k", "1", PLUM_CAKE),
    ("query", "--id", "crawl/recipes/plum-cake.md"),
    ("clusters", "--members"),
    ("clusters", "--linkage", "complete-to-keep"),
    ("explain", *INSTALL),
    ("stats", "--hot"),
    ("stats", "--json"),
    ("stats", "--rejected", "1"),
    ("export", "--what", "records"),
    ("contaminated", "--train", "default", "--test", "test", "--max-share", "1"),
    ("contaminated", "--train", "default", "--test", "test", "--max-share", "1", "--measure", "jaccard"),
    ("tune",),
    ("check", "--all"),
)


def ask_all(run: Run, url: str) -> dict[str, tuple[int, str, str]]:
    """Exit code, output and messages of every question, without what differs from role to role: the URL, the time."""
    ended = {" ".join(map(str, question)): run(url, *question) for question in QUESTIONS}
    plain = {
        question: (one.code, re.sub(r'"postgresql:[^"]*"', '"URL"', one.out), one.err)
        for question, one in ended.items()
    }
    return {
        question: (code, out, re.sub(r"[0-9.]+ s$", "", err.strip())) for question, (code, out, err) in plain.items()
    }


def test_a_role_that_may_only_read_gets_every_answer(owned: tuple[str, str], reader: str, lshdb: Run) -> None:
    expected = ask_all(lshdb, owned[0])
    assert {code for code, _, _ in expected.values()} == {0}
    assert all(
        out for question, (_, out, _) in expected.items() if question not in ("stats --rejected 1", "check --all")
    )
    assert ask_all(lshdb, reader) == expected


def test_a_role_that_may_only_read_sees_the_captures(
    owned: tuple[str, str], reader: str, lshdb: Run, tmp_path: Path
) -> None:
    warc = tmp_path / "crawl.warc.gz"
    warc.write_bytes(b"".join(crawl(1, date="2026-01-01T00:00:00Z") + crawl(1, date="2026-02-01T00:00:00Z")))
    assert lshdb(owned[0], "ingest", "--captures", "all", warc).code == 0
    ended = lshdb(reader, "captures", "http://a.org/0")
    assert (ended.code, ended.err) == (0, "")
    assert [row[0] for row in ended.rows] == ["http://a.org/0@20260101000000", "http://a.org/0@20260201000000"]


def test_a_role_that_may_only_read_cannot_write_and_hears_why(reader: str, lshdb: Run, tmp_path: Path) -> None:
    for verb in (
        ("ingest", __file__),
        ("remove", "crawl/recipes/plum-cake.md"),
        ("reband", "--min-sim", "0.7"),
        ("vacuum",),
    ):
        ended = lshdb(reader, *verb)
        assert ended.code == AccessDenied.exit_code, verb
        assert "permission denied" in ended.err
        assert "hush" not in ended.err
    assert lshdb("none.db", "copy", reader, tmp_path / "mine.db").code == 0
    assert lshdb(tmp_path / "mine.db", "dupes").out == lshdb(reader, "dupes").out


@pytest.mark.parametrize("verb", [("dupes",), ("ingest", __file__), ("init",)])
@pytest.mark.parametrize("named", ["options", "schema"])
def test_a_schema_that_a_role_may_not_use_is_not_an_empty_place(
    named: str, verb: tuple[str, ...], database: Database, owned: tuple[str, str], lshdb: Run
) -> None:
    Index.create(owned[0]).close()
    url = database.url(database.role(), "crawl")
    given = ("--schema", "crawl") if named == "schema" else ()
    ended = lshdb(url.replace("options=-csearch_path%3Dcrawl", "") if given else url, *given, *verb)
    assert ended.code == AccessDenied.exit_code
    assert "permission denied for schema crawl" in ended.err


def test_contents_that_are_not_linked_are_named_and_not_computed_in_vain(
    owned: tuple[str, str], reader: str, lshdb: Run
) -> None:
    with Index.open(owned[0]) as index:
        words = "one two three four five six seven eight nine ten"
        index.add([Document("a", words), Document("b", words + " eleven")], link=False)
    before = lshdb(reader, "dupes")
    assert before.code == 0
    assert before.err == "warning  2 contents are not linked yet and are missing from this answer\n"
    assert len(lshdb(owned[0], "dupes").rows) == len(before.rows) + 1


def test_a_role_without_temporary_tables_whose_transactions_only_read_gets_every_answer(
    database: Database, owned: tuple[str, str], reader: str, lshdb: Run
) -> None:
    expected = ask_all(lshdb, owned[0])
    database.execute("REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC", database.name)
    assert ask_all(lshdb, read_only(reader)) == expected


def test_a_role_that_may_only_read_has_texts_that_are_not_kept_read_again(
    database: Database, owned: tuple[str, str], lshdb: Run
) -> None:
    url, _ = owned
    assert lshdb(url, "init", "--no-keep-text").code == 0
    assert lshdb(url, "ingest", "--base", SAMPLE, SAMPLE / "crawl").code == 0
    database.execute("REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC", database.name)
    found = lshdb(read_only(url), "explain", *INSTALL)
    assert (found.code, found.err) == (0, "")
    assert "0.8216 exact" in found.out
    assert "[-supply-]{+adapter+}" in found.out
    assert found.out == lshdb(url, "explain", *INSTALL).out


def read_only(url: str) -> str:
    """The URL of the same index whose every transaction only reads, as on a standby."""
    changed = url.replace("search_path%3Dcrawl", "search_path%3Dcrawl%20-cdefault_transaction_read_only%3Don")
    assert changed != url
    return changed


def test_a_server_that_takes_no_writes_is_named_as_that(owned: tuple[str, str], lshdb: Run) -> None:
    url, _ = owned
    assert lshdb(url, "ingest", "--base", SAMPLE, SAMPLE / "crawl").code == 0
    standby = read_only(url)
    ended = lshdb(standby, "ingest", "--base", SAMPLE, SAMPLE / "crawl")
    assert ended.code == IndexReadOnly.exit_code
    assert "read-only transaction" in ended.err
    assert lshdb(standby, "stats").code == 0
    assert lshdb(standby, "dupes").code == 0
    found = lshdb(standby, "query", PLUM_CAKE)
    assert (found.code, found.out) == (0, lshdb(url, "query", PLUM_CAKE).out)


def test_a_role_that_owns_one_schema_can_do_everything(owned: tuple[str, str], tmp_path: Path, lshdb: Run) -> None:
    url, schema = owned
    for verb in (
        ("init", "--min-sim", "0.8"),
        ("ingest", "--base", SAMPLE, SAMPLE / "crawl"),
        ("ingest", "--prune", "--no-link", "--base", SAMPLE, SAMPLE / "crawl"),
        ("remove", "crawl/recipes/plum-cake.md"),
        ("link",),
        ("verify",),
        ("tune", "--measure"),
        ("reband", "--min-sim", "0.7"),
        ("vacuum",),
        ("vacuum", "--full"),
        ("upgrade",),
        ("upgrade", "--dry-run"),
        ("copy", url, tmp_path / "copy.db"),
        ("dupes",),
    ):
        ended = lshdb(url, *verb)
        assert ended.code == 0, (verb, ended.err)
        assert "WARNING" not in ended.err
    with Store.open(url) as store, store.reading() as transaction:
        found = transaction.connection.exec_driver_sql(
            "SELECT DISTINCT schemaname FROM pg_tables WHERE tablename IN ('document', 'lshdb_revision')"
        )
        assert [name for (name,) in found] == [schema]


def test_an_ingest_of_a_role_with_few_connections_waits_for_a_free_one(
    database: Database, owned: tuple[str, str], lshdb: Run
) -> None:
    url, _ = owned
    database.execute("ALTER ROLE {} CONNECTION LIMIT 2", parse(url).username or "")
    ended = lshdb(url, "ingest", "--base", SAMPLE, SAMPLE / "crawl")
    assert ended.code == 0, ended.err
    assert "waiting for the database" in ended.err
    assert lshdb(url, "dupes").out


def test_a_role_that_waits_for_another_one_hears_its_process_and_none_of_another_database(
    owned: tuple[str, str], reader: str, postgres_server: str
) -> None:
    asked = "SELECT pg_advisory_lock(%s, hashtext('crawl'))"
    with (
        psycopg.connect(postgres_server) as elsewhere,
        Store.open(owned[0]) as owner,
        psycopg.connect(reader) as there,
        Store.open(reader) as waiting,
    ):
        elsewhere.execute(asked, [LINK_SPACE])
        with owner.sole_link(wait=True):
            holders = "SELECT pid FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory'"
            rows = there.execute(f"{holders} AND datname = current_database()").fetchall()
            assert len(rows) == 1
            with (
                pytest.raises(IndexBusy, match=rf"process {rows[0][0]}, computes pairs"),
                waiting.sole_link(wait=False),
            ):
                pass


def test_the_search_path_of_the_url_tells_two_indexes_of_one_database_apart(
    database: Database, owned: tuple[str, str]
) -> None:
    database.execute("CREATE SCHEMA {} AUTHORIZATION {}", "odd Name", parse(owned[0]).username or "")
    # libpq needs a backslash before a blank in an option.
    other = owned[0].replace("search_path%3Dcrawl", "search_path%3D%22odd%5C%20Name%22")
    assert other != owned[0]
    with Index.create(owned[0]) as one, Index.create(other) as two:
        one.add([Document("a", "one two three")])
        assert two.stats().figures.num_documents == 0
        assert one.stats().figures.num_documents == 1


def test_the_options_of_the_url_reach_libpq(
    monkeypatch: pytest.MonkeyPatch, new_postgres_url: Callable[[], str]
) -> None:
    given: list[dict[str, Any]] = []

    def connect(*_: object, **options: Any) -> None:
        given.append(options)
        raise psycopg.OperationalError("not now")

    monkeypatch.setattr(psycopg.Connection, "connect", connect)
    monkeypatch.setattr(psycopg, "connect", connect)
    with pytest.raises(StoreUnreachable, match="not now"):
        Store.open(
            "postgresql://me@db.example/crawl?sslmode=verify-full&sslrootcert=/etc/ca.pem&sslcert=me.crt&sslkey=me.key"
            "&channel_binding=require&target_session_attrs=read-write"
        )
    expected = {
        "host": "db.example",
        "user": "me",
        "dbname": "crawl",
        "sslmode": "verify-full",
        "sslrootcert": "/etc/ca.pem",
        "sslcert": "me.crt",
        "sslkey": "me.key",
        "channel_binding": "require",
        "target_session_attrs": "read-write",
    }
    assert given[0].items() >= expected.items()
