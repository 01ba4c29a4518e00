"""What is recorded of a file, and which files and documents are missing after a run."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from sqlalchemy import insert, select

from lshdb.model.reports import HalfRead
from lshdb.model.values import Document
from lshdb.store.schema import removal, source
from lshdb.store.store import Store
from lshdb.store.tables import documents, sources
from lshdb.store.tables.sources import DONE, READING, Put, SourceState
from lshdb.store.transaction import Transaction
from tests.store.conftest import count, sketches_of

CRAWL = "file:///crawl"
# Neither in the order of their URIs nor, with their collections, in that of their keys.
URIS = (f"{CRAWL}/c", f"{CRAWL}-2/a", CRAWL, f"{CRAWL}/a/b", f"{CRAWL}0")


def state(uri: str, run_key: int = 1) -> SourceState:
    return SourceState(uri, 10, 100, b"d" * 16, DONE, 7, 5, '{"id_prefix":"x"}', run_key)


@pytest.fixture
def filled(store: Store) -> Store:
    """Sources 1 to 5 of the default collection in run 1, 6 to 10 with the same URIs of another one in run 2."""
    with store.writing() as transaction:
        sources.put(transaction, "default", [state(uri) for uri in URIS], 1)
        sources.put(transaction, "other", [state(uri, 2) for uri in URIS], 2)
    return store


def last_seen(transaction: Transaction) -> list[int]:
    """Return the run that last saw each source, by key."""
    statement = select(source.c.last_seen_run).order_by(source.c.source_key)
    return list(transaction.execute(statement).scalars())


def put_documents(transaction: Transaction, run_key: int, *doc_ids: str, uri: str, key: int | None) -> None:
    """Store documents of a source in a run, each with the content of its number."""
    batch = [Document(doc_id, source=uri) for doc_id in doc_ids]
    place = documents.Place(run_key, "default", {} if key is None else {uri: key})
    documents.put(transaction, batch, sketches_of([(1, 2, len(doc_id)) for doc_id in doc_ids]), place)


def test_the_state_of_a_file_is_known_as_it_was_put(filled: Store) -> None:
    half_read = SourceState(URIS[1], 11, 101, None, READING, 3, 2, "{}", 3)
    with filled.writing() as transaction:
        put = sources.put(transaction, "default", [half_read, state("file:///new", 3)], 3)
        assert put == Put({URIS[1]: 2, "file:///new": 11}, frozenset({11}))
        known = sources.known(transaction, "default", [*URIS[:2], "file:///new", "file:///never"])
        assert known == {
            URIS[0]: state(URIS[0]), URIS[1]: half_read, "file:///new": state("file:///new", 3)
        }  # fmt: skip
        assert sources.known(transaction, "other", [URIS[1]]) == {URIS[1]: state(URIS[1], 2)}
        assert sources.known(transaction, "nothing", URIS) == {}
        assert last_seen(transaction) == [1, 3, 1, 1, 1, 2, 2, 2, 2, 2, 3]


def test_a_file_of_a_new_collection_is_put_and_no_file_is_nothing(store: Store) -> None:
    with store.writing() as transaction:
        assert sources.put(transaction, "first", [], 1) == Put({}, frozenset())
        assert sources.put(transaction, "first", [state("file:///a")], 1) == Put({"file:///a": 1}, frozenset({1}))


def test_files_that_were_not_read_to_their_end_are_counted_and_the_first_are_listed(filled: Store) -> None:
    half = {uri: replace(state(uri), state=READING, position=number) for number, uri in enumerate(URIS)}
    with filled.writing() as transaction:
        assert sources.half_read(transaction, 9) == (0, [])
        sources.put(transaction, "other", [half[URIS[0]], half[URIS[1]]], 2)
        sources.put(transaction, "default", [half[URIS[2]]], 2)
        expected = [HalfRead(URIS[2], "default", 2), HalfRead(URIS[0], "other", 0), HalfRead(URIS[1], "other", 1)]
        assert sources.half_read(transaction, 9) == (3, expected)
        assert sources.half_read(transaction, 2) == (3, expected[:2])


def test_origins_are_found_by_key(filled: Store) -> None:
    with filled.writing() as transaction:
        sources.put(transaction, "other", [replace(state(URIS[0]), mtime_ns=3)], 2)
        assert sources.origins(transaction, [6, 2, 99]) == {6: (URIS[0], 3), 2: (URIS[1], 100)}


def test_seeing_a_file_changes_its_size_and_time_and_nothing_else(filled: Store) -> None:
    seen = replace(state(URIS[0], 9), size=20, mtime_ns=200, digest=None, state=READING, position=1, options="{}")
    with filled.writing() as transaction:
        sources.see(transaction, "default", [seen], 4)
        assert sources.known(transaction, "default", URIS[:2]) == {
            URIS[0]: replace(state(URIS[0]), size=20, mtime_ns=200), URIS[1]: state(URIS[1])
        }  # fmt: skip
        assert last_seen(transaction) == [4, 1, 1, 1, 1, 2, 2, 2, 2, 2]


@pytest.mark.parametrize("root", [CRAWL, f"{CRAWL}/"])
def test_seeing_a_root_sees_what_is_under_it_in_its_collection(filled: Store, root: str) -> None:
    with filled.writing() as transaction:
        sources.see_under(transaction, "default", root, 4)
        assert last_seen(transaction) == [4, 1, 4 if root == CRAWL else 1, 4, 1, 2, 2, 2, 2, 2]


def test_gone_and_stale_are_those_of_a_collection_that_no_run_saw_since(filled: Store) -> None:
    with filled.writing() as transaction:
        sources.see(transaction, "default", [state(URIS[3])], 4)
        assert sources.gone(transaction, "default", CRAWL, 4) == [1, 3]
        assert sources.gone(transaction, "default", CRAWL, 5) == [1, 3, 4]
        assert sources.gone(transaction, "default", CRAWL, 1) == []
        assert sources.seen(transaction, "default", CRAWL, 4) == [4]
        assert sources.seen(transaction, "default", CRAWL, 1) == [1, 3, 4]
        assert sources.stale(transaction, "default", 1) == [1, 2, 3, 5]
        assert sources.stale(transaction, "default", 4) == [1, 2, 3, 4, 5]
        assert sources.stale(transaction, "default", 0) == []
        assert sources.all_of(transaction, "other") == [6, 7, 8, 9, 10]


def test_the_documents_of_sources_are_found_and_those_that_vanished_from_them(filled: Store) -> None:
    with filled.writing() as transaction:
        put_documents(transaction, 1, "a", "bb", uri=URIS[0], key=1)
        put_documents(transaction, 1, "ccc", uri=URIS[1], key=2)
        put_documents(transaction, 1, "dddd", uri="", key=None)
        assert sorted(sources.documents_of(transaction, [1, 9])) == [1, 2]
        assert sources.holding(transaction, [1, 2, 3, 4]) == {1: URIS[0], 2: URIS[1]}
        assert sources.holding(transaction, [3]) == {2: URIS[1]}
        assert sources.vanished(transaction, [1, 2], 9) == []
        sources.put(transaction, "default", [state(URIS[0], 3)], 3)
        put_documents(transaction, 3, "bb", uri=URIS[0], key=1)
        assert sources.vanished(transaction, [1, 2], 9) == [1]
        assert sources.vanished(transaction, [2], 9) == []
        assert sources.vanished(transaction, [1, 2], 0) == []
        assert sources.spared(transaction, [1, 2]) == 0
        for unclear, number in (
            (replace(state(URIS[0], 4), state=READING, digest=None), 0),
            (replace(state(URIS[0], 4), digest=None), 1),
            (replace(state(URIS[0], 4), position=0), 1),
        ):
            sources.put(transaction, "default", [unclear], 4)
            assert sources.vanished(transaction, [1, 2], 9) == []
            assert sources.spared(transaction, [1, 2]) == number


def test_more_documents_of_a_source_are_added_to_its_own(filled: Store) -> None:
    with filled.writing() as transaction:
        sources.add_documents(transaction, {1: 3, 7: 1})
        assert [
            row.num_documents for row in transaction.execute(select(source).order_by(source.c.source_key))
        ] == [8, 5, 5, 5, 5, 5, 6, 5, 5, 5]  # fmt: skip


def test_removed_sources_go_with_the_counts_of_their_removed_documents(filled: Store) -> None:
    with filled.writing() as transaction:
        for key in (1, 2):
            transaction.execute(insert(removal).values(source_key=key, run_key=1, num_documents=1))
        sources.remove(transaction, [1, 3])
        assert sources.all_of(transaction, "default") == [2, 4, 5]
        assert transaction.execute(select(removal.c.source_key)).scalars().all() == [2]
        assert count(transaction, source) == 8


def test_forgotten_sources_will_be_read_from_their_beginning(filled: Store) -> None:
    def unread(uri: str, run_key: int) -> SourceState:
        return replace(state(uri, run_key), digest=None, state=READING, position=0, num_documents=0)

    with filled.writing() as transaction:
        sources.forget(transaction, [1])
        known = sources.known(transaction, "default", URIS[:2])
        assert known == {URIS[0]: unread(URIS[0], 1), URIS[1]: state(URIS[1])}
        sources.forget_all(transaction, "other")
        assert sources.known(transaction, "other", URIS) == {uri: unread(uri, 2) for uri in URIS}
        assert sources.known(transaction, "default", URIS[1:2]) == {URIS[1]: state(URIS[1])}


def test_ids_that_look_qualified_name_the_sources_that_may_hold_some(filled: Store) -> None:
    with filled.writing() as transaction:
        for key, doc_id in enumerate(("a@/crawl/x", "a@-", "a@b", "a@/crawl/y"), start=1):
            put_documents(transaction, 1, doc_id, uri=URIS[key - 1], key=key)
        assert sources.may_hold_qualified(transaction, [1, 2, 3]) == {1, 2}
