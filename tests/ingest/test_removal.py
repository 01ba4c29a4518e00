"""What a removal deletes, counts and forgets, and in which collection."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from lshdb.errors import CollectionUnknown, DocumentUnknown, PruneRefused
from lshdb.ingest import removal
from lshdb.ingest.removal import Removed
from lshdb.model.banding import Banding
from lshdb.model.values import Counts, Document, Signatures
from lshdb.sketch.banding import band_keys
from lshdb.store.schema import band_bucket, content, document, run, source
from lshdb.store.store import Store
from lshdb.store.tables import bands, documents, removals, runs, sources
from lshdb.store.transaction import Transaction
from tests.store.conftest import PARAMS, commits_are_lost, count, new_store_at, sketches_of

CRAWL = "file:///crawl"
URIS = (f"{CRAWL}/a", f"{CRAWL}/b", "file:///other/c")


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """Documents a and b of source 1, c of 2, d of 3 and e of a program; and a of source 4 in another collection."""
    with new_store_at(url) as store:
        with store.writing() as transaction:
            put(transaction, "default", {"a": URIS[0], "b": URIS[0], "c": URIS[1], "d": URIS[2], "e": None})
            put(transaction, "other", {"a": URIS[0]})
        yield store


def put(transaction: Transaction, collection: str, contents: dict[str, str | None], run_key: int = 1) -> None:
    """Store documents of sources, each with a content of its id."""
    uris = dict.fromkeys(uri for uri in contents.values() if uri)
    states = [sources.SourceState(uri, 1, 1, None, sources.DONE, 2, 2, "{}", run_key) for uri in uris]
    place = documents.Place(run_key, collection, sources.put(transaction, collection, states, run_key).keys)
    batch = [Document(doc_id, source=uri) for doc_id, uri in contents.items()]
    documents.put(transaction, batch, sketches_of([(ord(doc_id), 2, 3) for doc_id in contents]), place)


def left(store: Store) -> list[str]:
    """Return the ids of the documents, a collection after the other."""
    with store.reading() as transaction:
        statement = select(document.c.doc_id).order_by(document.c.collection_key, document.c.doc_id)
        return list(transaction.execute(statement).scalars())


def counted(store: Store, run_key: int) -> Counts:
    with store.reading() as transaction:
        return runs.counts(transaction, run_key)


def states(store: Store) -> list[tuple[int, str]]:
    """Return the key and the state of each source."""
    with store.reading() as transaction:
        rows = transaction.execute(select(source.c.source_key, source.c.state).order_by(source.c.source_key))
        return [tuple(row) for row in rows]


def num_removed(store: Store, source_key: int) -> int:
    """Return how many documents of a source were removed by their ids."""
    with store.reading() as transaction:
        return removals.num_since(transaction, source_key, 0)


def test_documents_are_removed_by_their_ids_from_their_collection(store: Store) -> None:
    removed = removal.remove_documents(store, ["a", "d", "e"], 3, "default")
    assert (removed.number, sorted(removed.sources)) == (3, [URIS[0], URIS[2]])
    assert left(store) == ["b", "c", "a"]
    assert counted(store, 3) == Counts(num_removed=3)
    assert states(store) == [(key, "done") for key in (1, 2, 3, 4)]
    assert [num_removed(store, key) for key in (1, 2, 3, 4)] == [1, 0, 1, 0]


def test_their_sources_may_be_forgotten(store: Store) -> None:
    removal.remove_documents(store, ["a"], 3, "default", forget_sources=True)
    assert states(store) == [(1, "reading"), (2, "done"), (3, "done"), (4, "done")]


def test_one_unknown_id_stops_the_removal_of_all(store: Store) -> None:
    with pytest.raises(DocumentUnknown) as raised:
        removal.remove_documents(store, ["b", "a", "nobody"], 3, "other")
    assert raised.value.fields == {"doc_id": "b", "collection": "other", "url": store.url}
    with pytest.raises(DocumentUnknown):
        removal.remove_documents(store, ["a", "nobody"], 3, "other")
    assert len(left(store)) == 6


def test_a_removal_whose_commit_got_no_answer_is_not_repeated(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    commits_are_lost(monkeypatch)
    assert removal.remove_documents(store, ["a", "b"], 3, "default") == Removed(2, (URIS[0],))
    assert removal.remove_collection(store, "default", 4, 2) == 3
    assert (counted(store, 3).num_removed, counted(store, 4).num_removed) == (2, 3)


@pytest.mark.parametrize("batch", [1, 2, 5, 9])
def test_a_collection_goes_with_its_sources_in_batches(store: Store, batch: int) -> None:
    assert removal.remove_collection(store, "default", 3, batch) == 5
    assert left(store) == ["a"]
    assert states(store) == [(4, "done")]
    assert counted(store, 3) == Counts(num_removed=5)
    with pytest.raises(CollectionUnknown) as raised:
        removal.remove_collection(store, "default", 3, batch)
    assert (raised.value.collection, raised.value.url) == ("default", store.url)


def test_an_interrupted_removal_leaves_no_source_that_counts_as_read_and_goes_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    some_of = documents.some_of

    def some_once(transaction: Transaction, collection: str, number: int) -> list[int]:
        if count(transaction, document) < 6:
            raise KeyboardInterrupt
        return some_of(transaction, collection, number)

    with monkeypatch.context() as patch:
        patch.setattr(documents, "some_of", some_once)
        with pytest.raises(KeyboardInterrupt):
            removal.remove_collection(store, "default", 3, 2)
    assert left(store) == ["c", "d", "e", "a"]
    assert states(store) == [(1, "reading"), (2, "reading"), (3, "reading"), (4, "done")]
    assert removal.remove_collection(store, "default", 4, 2) == 3


def test_pruning_removes_what_a_root_no_longer_has(store: Store) -> None:
    with store.writing() as transaction:
        put(transaction, "default", {"c": URIS[1]}, run_key=3)
        assert removal.prune(transaction, "default", CRAWL, 3, PARAMS, is_empty=False) == Counts(num_removed=2)
        assert removal.prune(transaction, "default", CRAWL, 3, PARAMS, is_empty=True) == Counts()
    assert left(store) == ["c", "d", "e", "a"]
    assert states(store) == [(2, "done"), (3, "done"), (4, "done")]
    assert counted(store, 3) == Counts(num_removed=2)


def test_a_root_without_files_is_not_pruned(store: Store) -> None:
    with store.writing() as transaction, pytest.raises(PruneRefused) as raised:
        removal.prune(transaction, "default", CRAWL, 3, PARAMS, is_empty=True)
    assert raised.value.fields == {"path": CRAWL, "num_sources": 2}
    assert len(left(store)) == 6


def test_documents_expire_with_their_sources_in_their_collection(store: Store) -> None:
    begun = {1: 9, 2: 5, 3: 1}
    now = datetime.now(UTC)
    with store.writing() as transaction:
        for run_key, days in begun.items():
            moment = (now - timedelta(days=days)).isoformat(timespec="milliseconds")
            transaction.execute(update(run).where(run.c.run_key == run_key).values(started_at=moment))
        put(transaction, "default", {"c": URIS[1], "f": None}, run_key=2)
        put(transaction, "default", {"d": URIS[2]}, run_key=3)
    expected = {7: (3, ["c", "d", "f", "a"], [2, 3, 4]), 4: (2, ["d", "a"], [3, 4]), 3: (0, ["d", "a"], [3, 4])}
    for days, (number, doc_ids, keys) in expected.items():
        with store.writing() as transaction:
            counts = removal.expire(transaction, "default", now - timedelta(days=days), 4, PARAMS)
        assert counts == Counts(num_removed=number)
        assert left(store) == doc_ids
        assert states(store) == [(key, "done") for key in keys]
    assert counted(store, 4) == Counts(num_removed=5)


def test_a_content_goes_from_the_bands_that_are_being_written_too(store: Store) -> None:
    """Its rows would stay for ever, because nothing else knows its signature."""
    coming = Banding(1, 2, -1)
    with store.writing() as transaction:
        bands.begin(transaction, coming)
        stored = bands.next_contents(transaction, 0, 2)
        signatures = Signatures.read(stored.signatures, PARAMS.permutations)
        bands.put(transaction, stored.keys, band_keys(signatures, coming))
        assert removal.remove(transaction, [1], PARAMS) == Counts(num_removed=1)
        assert removal.remove(transaction, [], PARAMS) == Counts()
        # The copy of the content in the other collection keeps it.
        assert count(transaction, content) == 5
        assert removal.remove(transaction, [2, 6], PARAMS) == Counts(num_removed=2)
        assert set(transaction.execute(select(band_bucket.c.content_key)).scalars()) == {3, 4, 5}
