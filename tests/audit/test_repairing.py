"""Repairs that cannot derive everything, and the privileges and locks that a check needs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import psycopg
import pytest
from sqlalchemy import create_engine, func, select, text, update

from lshdb import Document, Index, Params
from lshdb.audit import Auditing, Fault, Thoroughness
from lshdb.errors import IndexBusy, IndexDamaged
from lshdb.model.progress import Progress
from lshdb.store.dialect import INGEST
from lshdb.store.dialects import dialect_for
from lshdb.store.schema import content, content_text, index_params, pair
from lshdb.store.store import Store
from lshdb.store.tables import identities
from lshdb.store.url import parse
from tests.audit.indexes import fill
from tests.audit.test_planted import audited, plant, repaired
from tests.conftest import Schemas

FEW = Thoroughness(sample=3)


@pytest.fixture
def filled(url: str, tmp_path: Path) -> str:
    """A sound index without oversized buckets."""
    fill(url, tmp_path / "folder")
    return url


def listed(url: str, thoroughness: Thoroughness | None = None) -> list[Fault]:
    with Index.open(url) as index:
        return list(index.check(thoroughness))


def test_what_only_a_lost_text_could_tell_stays_as_it_is_and_is_still_named(filled: str) -> None:
    plant(filled, ["broken_text"], 1)
    plant(filled, ["missing_text"], 2)
    plant(filled, ["text_of_another_content"], 5)
    with Store.open(filled) as store, store.reading() as transaction:
        before = transaction.execute(select(content_text).order_by(content_text.c.content_key)).all()
    left = repaired(filled)
    assert left.keys() >= {"text-unreadable", "text-missing", "text-differs"}
    assert left.keys() <= {"text-unreadable", "text-missing", "text-differs", "pair-unverifiable"}
    with Store.open(filled) as store, store.reading() as transaction:
        assert transaction.execute(select(content_text).order_by(content_text.c.content_key)).all() == before
    assert all(fault.repair.startswith("none: ") for fault in listed(filled))


def test_without_texts_the_signatures_decide(url: str, tmp_path: Path) -> None:
    fill(url, tmp_path / "folder", keep_text=False)
    plant(url, ["flipped_signature_bit", "wrong_similarity", "missing_bucket", "bucket_of_another_content"], 4)
    assert {kind for kind, _ in audited(url)} >= {"bucket-missing", "bucket-wrong", "estimate-differs"}
    assert repaired(url) == {}
    ((_, key),) = plant(url, ["short_signature"], 4)
    assert ("signature-length", key) in audited(url)
    assert repaired(url) == {"signature-length": 1}


def test_a_content_no_document_has_goes_whatever_its_signature_is(filled: str) -> None:
    ((_, key),) = plant(filled, ["content_of_no_document"], 1)
    mine = content.c.content_key == int(key)
    with Store.open(filled) as store, store.writing() as transaction:
        transaction.execute(update(content).where(mine).values(signature=b"short"))
        transaction.execute(content_text.delete().where(content_text.c.content_key == int(key)))
    assert repaired(filled) == {}
    with Store.open(filled) as store, store.reading() as transaction:
        assert transaction.execute(select(func.count()).select_from(content).where(mine)).scalar_one() == 0


def test_contents_that_have_lost_their_digests_get_them_back(filled: str) -> None:
    with Store.open(filled) as store, store.writing() as transaction:
        first, second = transaction.execute(
            select(content.c.content_key, content.c.digest).order_by(content.c.content_key).limit(2)
        ).all()
        one, other = str(first.content_key), str(second.content_key)
        for key, digest in ((first.content_key, bytes(16)), (second.content_key, first.digest)):
            transaction.execute(update(content).where(content.c.content_key == key).values(digest=digest))
    found = {(fault.fault, fault.key): fault.repair for fault in listed(filled) if fault.table == "content"}
    assert found == dict.fromkeys([("digest-differs", one), ("digest-differs", other)], "recomputed from the kept text")
    assert repaired(filled) == {}


def test_a_digest_that_two_contents_have_is_found(url: str) -> None:
    with Index.create(url, Params(keep_text=False)) as index:
        index.add([Document("a", "one two three"), Document("b", "four five six")])
    with Store.open(url) as store, store.writing() as transaction:
        digest = identities.of_contents(transaction, np.array([1, 2]))[1]
        transaction.execute(update(content).where(content.c.content_key == 2).values(digest=digest))
        identities.rewrite(transaction)
    found = [(fault.fault, fault.key, fault.detail, fault.repair) for fault in listed(url)]
    assert found == [("digest-twice", "2", "content 1 has the same digest", "none: restore it from a backup")]


def test_a_sample_has_that_many_texts_and_pairs_and_the_seed_chooses_them(filled: str) -> None:
    with Store.open(filled) as store, store.writing() as transaction:
        transaction.execute(update(pair).values(similarity=0.777))
        keys = transaction.execute(select(content.c.content_key)).scalars().all()
        for key in keys:
            mine = content.c.content_key == key
            transaction.execute(update(content).where(mine).values(num_shingles=content.c.num_shingles + 1))
    found = [{(fault.fault, fault.key) for fault in listed(filled, Thoroughness(3, seed))} for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]
    assert sorted(kind for kind, _ in found[0]) == 3 * ["num-shingles-differs"] + 3 * ["similarity-differs"]
    with Index.open(filled) as index:
        audit = index.check(FEW)
        list(audit)
        assert (audit.num_contents, audit.num_texts, audit.num_pairs) == (len(keys), 3, 3)


def test_a_sample_that_shows_a_fault_makes_the_repair_look_at_all(filled: str) -> None:
    with Store.open(filled) as store, store.writing() as transaction:
        transaction.execute(update(content).values(num_shingles=content.c.num_shingles + 1))
        transaction.execute(update(pair).values(similarity=0.777))
    with Index.open(filled) as index:
        audit = index.check(FEW)
        list(audit)
        index.repair(audit.counts)
    assert audited(filled) == set()


def test_a_limit_keeps_faults_from_being_told_and_none_from_being_counted(filled: str) -> None:
    with Store.open(filled) as store, store.writing() as transaction:
        transaction.execute(update(pair).values(similarity=0.777))
        number = transaction.execute(select(func.count()).select_from(pair)).scalar_one()
    with Index.open(filled) as index:
        audit = index.check(Thoroughness(limit=2))
        assert len(list(audit)) == 2
        assert audit.counts == {"similarity-differs": number}


def test_small_batches_find_the_same(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["missing_bucket", "extra_bucket", "flipped_signature_bit", "wrong_similarity", "bucket_of_no_content"]
    plant(filled, names, 1)
    found = audited(filled)
    for name, size in (("audit.BATCH_MINIMA", 60), ("audit.PAGE_PAIRS", 2), ("contents.PAGE_ROWS", 3)):
        monkeypatch.setattr(f"lshdb.audit.{name}", size)
    monkeypatch.setattr("lshdb.audit.contents.SKETCHED_BYTES", 100)
    monkeypatch.setattr("lshdb.audit.repair.PAGE_PAIRS", 2)
    monkeypatch.setattr("lshdb.audit.repair.BATCH_ROWS", 1)
    assert audited(filled) == found
    assert repaired(filled) == {}


def test_a_check_sees_one_state_while_others_write(filled: str) -> None:
    with Index.open(filled) as index, Index.open(filled) as other:
        faults = iter(index.check(Thoroughness(sample=None)))
        with Store.open(filled) as store, store.reading() as snapshot:
            found = Auditing(store, Thoroughness(), Progress()).faults(snapshot)
            plant(filled, ["missing_bucket"], 1)
            other.add([Document("more", "one two three four five six seven")])
            other.remove(["copy"])
            # A snapshot begins with its first statement.
            assert [fault.fault for fault in found] in ([], ["bucket-missing"])
        assert [fault.fault for fault in faults] == ["bucket-missing"]


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """The URL of an empty schema."""
    schemas = Schemas(postgres_server)
    yield schemas.new()
    schemas.drop()


@pytest.mark.postgres
def test_a_role_that_may_only_read_can_check(postgres_server: str, postgres_url: str, tmp_path: Path) -> None:
    url = postgres_url
    fill(url, tmp_path / "folder")
    schema = url.rpartition("%3D")[2]
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS lshdb_checker")
        connection.execute("CREATE ROLE lshdb_checker LOGIN")
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO lshdb_checker")  # type: ignore[arg-type]
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO lshdb_checker")  # type: ignore[arg-type]
    try:
        assert listed(url.replace("postgres:@", "lshdb_checker:@", 1)) == []
    finally:
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute("DROP OWNED BY lshdb_checker")
            connection.execute("DROP ROLE lshdb_checker")


@pytest.mark.sqlite
def test_a_repair_waits_for_no_ingest_unless_it_is_to(tmp_path: Path) -> None:
    path = str(tmp_path / "index.db")
    fill(path, tmp_path / "folder")
    plant(path, ["missing_bucket"], 1)
    with Index.open(path) as index:
        with index._store.sole_work(INGEST, wait=False), pytest.raises(IndexBusy):
            index.repair(["bucket-missing"])
        index.repair(["bucket-missing"], wait=True)
        assert list(index.check()) == []


@pytest.mark.sqlite
def test_a_table_or_a_column_that_is_missing_is_named_and_nothing_else_is_asked(tmp_path: Path) -> None:
    path = str(tmp_path / "index.db")
    fill(path, tmp_path / "folder")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("ALTER TABLE source RENAME COLUMN mtime_ns TO changed")
        connection.execute("DROP TABLE rejected")
    found = [(fault.fault, fault.table, fault.key, fault.repair) for fault in listed(path)]
    assert sorted(found) == [
        ("column-missing", "source", "mtime_ns", "none: restore it from a backup"),
        ("table-missing", "rejected", "rejected", "none: restore it from a backup"),
    ]
    with Index.open(path) as index:
        index.repair(["column-missing", "table-missing"])


def test_views_that_are_missing_are_each_named_and_created_again(filled: str) -> None:
    names = ["lshdb_buckets", "lshdb_documents", "lshdb_pairs"]
    with Store.open(filled) as store:
        with store.reading() as transaction:
            before = [transaction.execute(text(f"SELECT * FROM {name}")).all() for name in names]
        with store.writing() as transaction:
            for name in names:
                transaction.execute(text(f"DROP VIEW {name}"))
        found = sorted((fault.fault, fault.table, fault.key, fault.repair) for fault in listed(filled))
        assert found == [("view-missing", name, name, "created") for name in names]
        assert repaired(filled) == {}
        with store.reading() as transaction:
            after = [transaction.execute(text(f"SELECT * FROM {name}")).all() for name in names]
    assert list(map(set, after)) == list(map(set, before))


def second_params(url: str, key: int) -> None:
    """Insert a second row of parameters, which only a table without its constraints allows."""
    columns = ", ".join(str(key) if column.name == "params_key" else column.name for column in index_params.columns)
    with Store.open(url) as store, store.writing() as transaction:
        for statement in (
            "DROP VIEW IF EXISTS lshdb_buckets",
            f"CREATE TABLE both_params AS SELECT * FROM index_params UNION ALL SELECT {columns} FROM index_params",
            "DROP TABLE index_params",
            "ALTER TABLE both_params RENAME TO index_params",
        ):
            transaction.execute(text(statement))


def test_a_second_row_of_parameters_is_a_fault_and_is_deleted(filled: str) -> None:
    second_params(filled, 2)
    assert ("params-row", "2") in audited(filled)
    assert "params-row" not in repaired(filled)
    second_params(filled, 1)
    with pytest.raises(IndexDamaged, match="the table index_params has 2 rows with key 1"):
        Index.open(filled)


@pytest.mark.sqlite
def test_what_sqlite_finds_wrong_with_its_file_is_a_fault(tmp_path: Path) -> None:
    path = str(tmp_path / "index.db")
    Index.create(path, Params()).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("INSERT INTO unlinked VALUES (1)")
        connection.execute("INSERT INTO content VALUES (1, zeroblob(16), 7, zeroblob(400))")
        relaxed = "UPDATE sqlite_master SET sql = replace(sql, 'digest BLOB', 'digest BLOB CHECK (length(digest) = 4)')"
        connection.execute(f"{relaxed} WHERE name = 'content'")
    found = {(fault.fault, fault.detail) for fault in listed(path)}
    assert ("database-damaged", "CHECK constraint failed in content") in found


def test_a_row_that_refers_to_nothing_is_a_fault_of_the_database(url: str, tmp_path: Path) -> None:
    fill(url, tmp_path / "folder")
    engine = create_engine(dialect_for(parse(url)).normalised(parse(url)))
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE pair SET run_key = 99")
    engine.dispose()
    found = {(fault.fault, fault.detail, fault.repair) for fault in listed(url)}
    assert found == {("database-damaged", "a row of pair refers to none of run", "none: restore it from a backup")}


@pytest.mark.postgres
def test_an_index_that_postgres_does_not_use_is_made_anew(postgres_url: str, tmp_path: Path) -> None:
    url = postgres_url
    fill(url, tmp_path / "folder")
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'ix_pair_right_key'::regclass")
    assert audited(url) == {("index-invalid", "ix_pair_right_key")}
    assert repaired(url) == {}
