"""On Postgres, a first load builds a key and indexes at its end, even if it is interrupted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import insert, inspect

from lshdb import Document, Index, IngestOptions
from lshdb.ingest.options import Budgets
from lshdb.linking import candidates, link
from lshdb.linking.link import SEARCH_SHARE
from lshdb.model.progress import Progress
from lshdb.model.values import Counts
from lshdb.store.postgres import late_indexes as on_postgres
from lshdb.store.schema import band_bucket, content
from lshdb.store.store import Store
from lshdb.store.tables import audit, late_indexes
from tests.audit.test_planted import audited, repaired
from tests.store.test_roles import Database, database

__all__ = ["database"]

pytestmark = pytest.mark.postgres

WORDS = [f"word{number}" for number in range(40)]
KEY_MISSING = {("key-missing", "pk_band_bucket")}
PAIRS_MISSING = {("index-missing", "ix_pair_right_key")}
# A file of texts is a batch.
ONE_WORKER = IngestOptions(workers=1, budgets=Budgets(chunk_items=2, batch_documents=1))


class BrokenOff(Exception):
    """Ends an ingest."""


class Watcher(Progress):
    """Record after each batch whether the key exists, and stop the ingest after `batches` of them."""

    def __init__(self, url: str, num_batches: int | None = None) -> None:
        self._url = url
        self._num_batches = num_batches
        self.had_key: list[bool] = []

    def ingested(self, counts: Counts) -> None:
        self.had_key.append(has_key(self._url))
        if len(self.had_key) == self._num_batches:
            raise BrokenOff


@pytest.fixture
def url(new_postgres_url: Callable[[], str]) -> str:
    return new_postgres_url()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files of two texts each. The first texts of all files are similar."""
    for number in range(3):
        near = [f"other{number}", *WORDS]
        write(
            tmp_path / f"{number}.jsonl", {f"near{number}": near, f"far{number}": [f"{number}{one}" for one in WORDS]}
        )
    return tmp_path


def write(file: Path, texts: dict[str, list[str]]) -> None:
    file.write_text("".join(json.dumps({"id": name, "text": " ".join(words)}) + "\n" for name, words in texts.items()))


def has_key(url: str) -> bool:
    with Store.open(url) as store, store.reading() as transaction:
        return audit.schema_faults(transaction) == []


def load(url: str, folder: Path, num_batches: int | None = None, *, link: bool = True) -> list[bool]:
    """Ingest, and return whether the key existed after each batch."""
    watcher = Watcher(url, num_batches)
    with Index.ensure(url, {}, progress=watcher) as index:
        index.ingest([folder], ONE_WORKER, link=link)
    return watcher.had_key


def break_off(url: str, folder: Path) -> None:
    """Stop a first ingest after two of its three batches."""
    with pytest.raises(BrokenOff):
        load(url, folder, 2)
    assert not has_key(url)
    assert has_index_of_digests(url)


def has_index_of_digests(url: str) -> bool:
    with Store.open(url) as store, store.reading() as transaction:
        return "ix_content_digest" in {one["name"] for one in inspect(transaction.connection).get_indexes("content")}


def near_ones(url: str) -> set[tuple[str, str]]:
    with Index.open(url) as index:
        return {(pair.left, pair.right) for pair in index.pairs()}


@pytest.mark.parametrize("link", [True, False])
def test_a_first_load_is_without_the_key_until_its_end_and_no_other_one_is(url: str, folder: Path, link: bool) -> None:
    assert load(url, folder, link=link) == [False, False, False]
    assert has_key(url)
    assert not has_index_of_digests(url)
    write(folder / "3.jsonl", {"near3": ["other3", *WORDS]})
    assert load(url, folder, link=link)[-1:] == [True]
    assert audited(url) == set()
    assert len(near_ones(url)) == 6


def test_a_load_that_was_broken_off_is_named_by_check_and_the_repair_builds_the_key(url: str, folder: Path) -> None:
    break_off(url, folder)
    assert audited(url) == KEY_MISSING
    assert repaired(url) == {}
    assert has_key(url)
    assert near_ones(url) == {("near0", "near1")}


def test_a_load_that_was_broken_off_goes_on_without_the_key(url: str, folder: Path) -> None:
    break_off(url, folder)
    assert set(load(url, folder)) == {False}
    assert has_key(url)
    assert len(near_ones(url)) == 3


def test_a_question_behind_a_load_that_was_broken_off_builds_the_key(url: str, folder: Path) -> None:
    break_off(url, folder)
    assert near_ones(url) == {("near0", "near1")}
    assert has_key(url)


def test_what_deletes_buckets_builds_the_key_first(url: str, folder: Path) -> None:
    write(folder / "1.jsonl", {"near0": ["another", *WORDS]})
    assert load(url, folder) == [False, True, True]
    assert audited(url) == set()


def test_a_role_that_may_only_read_is_answered_without_the_key(database: Database, folder: Path) -> None:
    owner, reader = database.role(), database.role()
    database.execute("CREATE SCHEMA crawl AUTHORIZATION {}", owner)
    break_off(database.url(owner, "crawl"), folder)
    database.execute("GRANT USAGE ON SCHEMA crawl TO {}", reader)
    database.execute("GRANT SELECT ON ALL TABLES IN SCHEMA crawl TO {}", reader)
    with Index.open(database.url(reader, "crawl")) as index:
        found = index.query(Document("mine", " ".join(["other0", *WORDS])))
    assert [match.id for match in found] == ["near0", "near1"]


def test_a_role_that_does_not_own_the_table_loads_with_the_key_in_place(database: Database, folder: Path) -> None:
    owner, writer = database.role(), database.role()
    database.execute("CREATE SCHEMA crawl AUTHORIZATION {}", owner)
    Index.create(database.url(owner, "crawl")).close()
    database.execute("GRANT USAGE ON SCHEMA crawl TO {}", writer)
    database.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA crawl TO {}", writer)
    assert load(database.url(writer, "crawl"), folder) == [True, True, True]


Reading = Callable[[], psycopg.Connection[tuple[object, ...]]]


@pytest.fixture
def reading(url: str) -> Iterator[Reading]:
    """Start reading the buckets in another session, which stays open."""
    sessions: list[psycopg.Connection[tuple[object, ...]]] = []

    def begin() -> psycopg.Connection[tuple[object, ...]]:
        sessions.append(psycopg.connect(url))
        sessions[-1].execute("SELECT FROM band_bucket")
        return sessions[-1]

    yield begin
    for session in sessions:
        session.close()


def test_who_reads_the_empty_buckets_keeps_their_key(url: str, folder: Path, reading: Reading) -> None:
    Index.create(url).close()
    reading()
    assert load(url, folder) == [True, True, True]


def test_who_reads_on_leaves_the_key_an_index_until_the_next_one_comes(
    url: str, folder: Path, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_postgres, "PATIENCE", "200ms")
    break_off(url, folder)
    session = reading()
    load(url, folder)
    assert audited(url) == KEY_MISSING
    names = session.execute("SELECT indexname FROM pg_indexes WHERE schemaname = current_schema()").fetchall()
    assert ("pk_band_bucket",) in names
    session.rollback()
    load(url, folder)
    assert has_key(url)
    assert len(near_ones(url)) == 3


def test_settings_of_the_transaction_are_what_they_were(url: str, folder: Path) -> None:
    break_off(url, folder)
    with Store.open(url) as store, store.writing() as transaction:
        for name, value in (("statement_timeout", "77s"), ("lock_timeout", "88s")):
            transaction.connection.exec_driver_sql(f"SET LOCAL {name} = '{value}'")
        late_indexes.build(transaction, late_indexes.FIRST_INGEST)
        found = [
            transaction.connection.exec_driver_sql(f"SHOW {name}").scalar_one()
            for name in ("statement_timeout", "lock_timeout")
        ]
    assert found == ["77s", "88s"]


def test_the_key_that_is_built_says_how_far_it_is(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_postgres, "WATCHING_SECONDS", 0.005)
    Index.create(url).close()
    heard: list[float] = []
    with Store.open(url) as store:
        late_indexes.put_off(store, late_indexes.FIRST_INGEST)
        with store.writing() as transaction:
            transaction.connection.exec_driver_sql(
                "INSERT INTO band_bucket SELECT 0, 0, hashint8(n) * 4294967296, n FROM generate_series(1, 300000) n"
            )
        late_indexes.ensure(store, late_indexes.FIRST_INGEST, heard.append)
    assert heard == sorted(heard)
    assert 0.0 <= heard[0] < heard[-1] <= 1.0
    assert has_key(url)


def test_two_rows_of_one_key_are_an_error_and_stay_for_somebody_to_look_at(url: str) -> None:
    Index.create(url).close()
    with Store.open(url) as store:
        late_indexes.put_off(store, late_indexes.FIRST_INGEST)
        twice = [{"generation": 0, "band": 0, "bucket_hash": 1, "content_key": 1}] * 2
        with store.writing() as transaction:
            for row in twice:
                transaction.execute(insert(band_bucket).values(row))
        with pytest.raises(Exception, match="could not create unique index"):
            late_indexes.ensure(store, late_indexes.FIRST_INGEST, lambda _share: None)
    assert not has_key(url)


def test_an_index_with_a_content_keeps_its_key(url: str) -> None:
    Index.create(url).close()
    with Store.open(url) as store:
        row = {"content_key": 1, "digest": bytes(16), "num_shingles": 1, "signature": b""}
        with store.writing() as transaction:
            transaction.execute(insert(content).values(row))
        late_indexes.put_off(store, late_indexes.FIRST_INGEST)
    assert has_key(url)


class Looker(Progress):
    """Record what is missing while pairs are computed. Args: stops: end the link then."""

    def __init__(self, url: str, *, stops: bool = False) -> None:
        self._url = url
        self._stops = stops
        self.saw: list[set[tuple[str, str]]] = []

    def advanced(self, stage: str, share: float) -> None:
        if stage == "link" and SEARCH_SHARE < share < 1:
            self.saw.append(audited(self._url))
            if self._stops:
                raise BrokenOff


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "MANY_CONTENTS", 3)
    # One family in each part.
    monkeypatch.setattr(candidates, "PART_PAIRS", 1)


@pytest.fixture
def families(tmp_path: Path) -> Path:
    """Three families of two texts."""
    texts = {f"{one}{two}": [two, *(f"{one}{word}" for word in WORDS)] for one in "abc" for two in ("first", "second")}
    write(tmp_path / "families.jsonl", texts)
    return tmp_path


@pytest.mark.usefixtures("few_are_many")
def test_a_first_link_of_many_texts_builds_the_indexes_of_the_pairs_at_its_end(url: str, families: Path) -> None:
    load(url, families, link=False)
    looker = Looker(url)
    with Index.open(url, progress=looker) as index:
        assert index.link() == 3
    assert looker.saw
    assert set(map(frozenset, looker.saw)) == {frozenset(PAIRS_MISSING)}
    assert audited(url) == set()


@pytest.mark.usefixtures("few_are_many")
def test_a_later_link_finds_the_indexes_of_the_pairs_in_place(url: str, families: Path) -> None:
    load(url, families)
    texts = {f"{one}third": ["third", *(f"{one}{word}" for word in WORDS)] for one in "abcd"}
    write(families / "more.jsonl", texts)
    load(url, families, link=False)
    looker = Looker(url)
    with Index.open(url, progress=looker) as index:
        assert index.link() == 6
    assert set(map(frozenset, looker.saw)) == {frozenset()}


@pytest.mark.usefixtures("few_are_many")
def test_a_first_link_that_was_broken_off_is_named_by_check_and_repeated(url: str, families: Path) -> None:
    load(url, families, link=False)
    with Index.open(url, progress=Looker(url, stops=True)) as index, pytest.raises(BrokenOff):
        index.link()
    assert audited(url) >= PAIRS_MISSING
    assert len(near_ones(url)) == 3
    assert audited(url) == set()


@pytest.mark.usefixtures("few_are_many")
def test_a_repair_builds_what_a_first_link_left_out(url: str, families: Path) -> None:
    load(url, families, link=False)
    with Index.open(url, progress=Looker(url, stops=True)) as index, pytest.raises(BrokenOff):
        index.link()
    assert repaired(url) == {}
    assert audited(url) == set()
