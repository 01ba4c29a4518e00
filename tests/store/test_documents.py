"""Documents and contents are added, changed and removed, together with exactly their own rows."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy import insert, select

from lshdb.ingest.removal import retire
from lshdb.model.params import Params
from lshdb.model.values import Document
from lshdb.sketch.sketch import sketch
from lshdb.store.schema import band_bucket, content, content_text, document, new_digest, pair, unlinked
from lshdb.store.store import Store
from lshdb.store.tables import answers, documents, fingerprints, locators, sources
from lshdb.store.tables.entries import Entries
from lshdb.store.tables.held_buckets import HeldBuckets
from lshdb.store.transaction import Transaction
from tests.store.conftest import PARAMS, add, content_key_of, count, link, linked_pairs, new_store_at, put, sketches_of

ONE, TWO, THREE = (1, 2, 3), (4, 5, 6), (1, 8, 9)


def counted(outcome: documents.PutOutcome) -> tuple[int, int, int, int, list[int]]:
    """(added, updated, unchanged, new contents, released)."""
    counts = outcome.counts
    numbers = (counts.num_added, counts.num_updated, counts.num_unchanged, counts.num_contents)
    return (*numbers, outcome.released.tolist())


def sizes(transaction: Transaction) -> tuple[int, int, int, int]:
    """Rows of (document, content, band_bucket, unlinked)."""
    return tuple(count(transaction, table) for table in (document, content, band_bucket, unlinked))  # type: ignore[return-value]


def remove(store: Store, *doc_ids: str) -> None:
    """Remove documents, and the contents that no other document has."""
    with store.writing() as transaction:
        keys = list(locators.doc_keys(transaction, "default", doc_ids).values())
        assert len(keys) == len(doc_ids)
        retire(transaction, documents.remove(transaction, keys), PARAMS)


def test_a_new_document_brings_its_content_its_buckets_and_a_place_on_the_list_to_link(store: Store) -> None:
    with store.writing() as transaction:
        assert counted(put(transaction, {"a": ONE, "b": TWO})) == (2, 0, 0, 2, [])
        assert sizes(transaction) == (2, 2, 6, 2)
        rows = transaction.execute(select(content.c.content_key, content.c.num_shingles, content.c.signature)).all()
        expected = [(1, 1, np.array(ONE, "<u2").tobytes()), (2, 1, np.array(TWO, "<u2").tobytes())]
        assert sorted(map(tuple, rows)) == expected
        assert count(transaction, content_text) == 0


def test_two_documents_with_one_content_share_it(store: Store) -> None:
    with store.writing() as transaction:
        assert counted(put(transaction, {"a": ONE, "b": ONE})) == (2, 0, 0, 1, [])
        assert counted(put(transaction, {"c": ONE})) == (1, 0, 0, 0, [])
        assert sizes(transaction) == (3, 1, 3, 1)
        assert {content_key_of(transaction, doc_id) for doc_id in "abc"} == {1}


def test_the_same_document_again_is_unchanged(store: Store) -> None:
    add(store, {"a": ONE, "b": None})
    assert counted(add(store, {"a": ONE, "b": None})) == (0, 0, 2, 0, [])


def test_the_same_text_twice_in_a_batch_is_unchanged(store: Store) -> None:
    with store.writing() as transaction:
        assert counted(put(transaction, [("a", ONE), ("b", None), ("a", ONE), ("b", None)])) == (2, 0, 2, 1, [1])
        assert counted(put(transaction, [("a", TWO), ("a", TWO), ("a", ONE)])) == (0, 2, 1, 1, [2])


def test_an_older_record_of_a_batch_changes_nothing(store: Store) -> None:
    records = [Document("a", dated_at=2), Document("a", dated_at=1), Document("a", dated_at=3)]
    with store.writing() as transaction:
        outcome = documents.put(transaction, records, sketches_of([ONE, TWO, ONE]), documents.Place(1, "default", {}))
        assert counted(outcome) == (1, 0, 2, 2, [1, 2])


def test_the_later_of_two_documents_with_one_id_in_a_batch_stays(store: Store) -> None:
    with store.writing() as transaction:
        assert counted(put(transaction, [("a", ONE), ("b", TWO), ("a", THREE), ("a", TWO)])) == (2, 2, 0, 3, [1, 3])
        assert content_key_of(transaction, "a") == content_key_of(transaction, "b") == 2


def test_a_repeated_id_in_a_batch_leaves_no_orphan_behind(store: Store) -> None:
    """A content that no document ever had must go too, or it stays in the answers for ever."""
    with store.writing() as transaction:
        outcome = put(transaction, [("a", ONE), ("a", TWO)])
        retire(transaction, outcome.released, PARAMS)
        assert sizes(transaction) == (1, 1, 3, 1)


def test_a_repeated_id_of_a_known_document_leaves_no_orphan_behind(store: Store) -> None:
    add(store, {"a": ONE})
    with store.writing() as transaction:
        outcome = put(transaction, [("a", TWO), ("a", THREE)])
        retire(transaction, outcome.released, PARAMS)
        assert sizes(transaction) == (1, 1, 3, 1)


def test_a_repeated_id_does_not_take_away_what_another_document_holds(store: Store) -> None:
    add(store, {"b": ONE})
    with store.writing() as transaction:
        outcome = put(transaction, [("a", ONE), ("a", TWO), ("c", THREE), ("c", None)])
        retire(transaction, outcome.released, PARAMS)
        assert sizes(transaction) == (3, 2, 6, 2)
        assert content_key_of(transaction, "b") == 1


def test_a_document_that_moves_to_another_content_releases_the_old_one(store: Store) -> None:
    add(store, {"a": ONE, "b": TWO})
    with store.writing() as transaction:
        outcome = put(transaction, {"a": THREE})
        assert counted(outcome) == (0, 1, 0, 1, [1])
        retire(transaction, outcome.released, PARAMS)
        assert sizes(transaction) == (2, 2, 6, 2)
        assert content_key_of(transaction, "a") == 3
        found = transaction.execute(select(content.c.content_key).order_by(content.c.content_key)).scalars().all()
        assert found == [2, 3]


def test_a_content_stays_while_any_document_points_to_it(store: Store) -> None:
    add(store, {"a": ONE, "b": ONE})
    with store.writing() as transaction:
        outcome = put(transaction, {"a": TWO})
        assert outcome.released.tolist() == [1]
        keys, signatures = documents.orphans(transaction, outcome.released)
        assert (keys.tolist(), signatures) == ([], [])


def test_a_document_moves_to_a_content_that_is_there(store: Store) -> None:
    add(store, {"a": ONE, "b": TWO})
    assert counted(add(store, {"a": TWO})) == (0, 1, 0, 0, [1])
    with store.reading() as transaction:
        assert content_key_of(transaction, "a") == content_key_of(transaction, "b") == 2


def test_documents_may_swap_their_contents_in_one_batch(store: Store) -> None:
    add(store, {"a": ONE, "b": TWO})
    with store.writing() as transaction:
        outcome = put(transaction, {"a": TWO, "b": ONE})
        assert counted(outcome) == (0, 2, 0, 0, [1, 2])
        retire(transaction, outcome.released, PARAMS)
        assert sizes(transaction) == (2, 2, 6, 2)
        assert (content_key_of(transaction, "a"), content_key_of(transaction, "b")) == (2, 1)


def test_an_empty_document_has_no_content_and_may_get_one_and_lose_it(store: Store) -> None:
    with store.writing() as transaction:
        assert counted(put(transaction, {"a": None, "b": None})) == (2, 0, 0, 0, [])
        assert sizes(transaction) == (2, 0, 0, 0)
        assert counted(put(transaction, {"a": ONE})) == (0, 1, 0, 1, [])
        outcome = put(transaction, {"a": None})
        assert counted(outcome) == (0, 1, 0, 0, [1])
        retire(transaction, outcome.released, PARAMS)
        assert sizes(transaction) == (2, 0, 0, 0)


def test_an_empty_batch_changes_nothing(store: Store) -> None:
    with store.writing() as transaction:
        assert counted(put(transaction, {})) == (0, 0, 0, 0, [])
        assert sizes(transaction) == (0, 0, 0, 0)


def test_one_id_in_two_collections_is_two_documents(store: Store) -> None:
    add(store, {"a": ONE})
    with store.writing() as transaction:
        place = documents.Place(2, "other", {})
        outcome = documents.put(transaction, [Document("a")], sketches_of([TWO]), place)
        assert counted(outcome) == (1, 0, 0, 1, [])
        assert answers.content_of(transaction, "default", "a") == (True, 1)
        assert answers.content_of(transaction, "other", "a") == (True, 2)
        assert answers.content_of(transaction, "third", "a") == (False, None)


def test_an_update_keeps_the_key_and_the_first_run_and_moves_source_and_last_run(store: Store) -> None:
    add(store, {"a": ONE})
    moved = Document("a", source="file:///b", locator="line 7")
    with store.writing() as transaction:
        state = sources.SourceState("file:///b", 1, 1, None, sources.READING, 0, 0, "{}", 9)
        (key,) = sources.put(transaction, "default", [state], 9).keys.values()
        documents.put(transaction, [moved], sketches_of([ONE]), documents.Place(9, "default", {"file:///b": key}))
        (row,) = transaction.execute(select(document)).all()
    assert row._asdict() == {
        "doc_key": 1,
        "doc_id": "a",
        "source_key": key,
        "locator": "line 7",
        "content_key": 1,
        "dated_at": None,
        "first_seen_run": 1,
        "last_seen_run": 9,
        "collection_key": 1,
    }


def test_an_id_of_any_characters_is_found_again(store: Store) -> None:
    doc_ids = ["a\tb", "a\nb", "it's", '"', "\\N", "ä", "a\u0308", "\U0001f600", "a", "A", "a ", "%", "_", "x" * 2000]
    add(store, {doc_id: (number, number, number) for number, doc_id in enumerate(doc_ids)})
    with store.reading() as transaction:
        found = [answers.content_of(transaction, "default", doc_id) for doc_id in doc_ids]
        assert found == [(True, key + 1) for key in range(len(doc_ids))]
        for doc_id in ("b", "Ä", "aa", " a", "a\\tb"):
            assert answers.content_of(transaction, "default", doc_id) == (False, None)


def test_removing_says_which_contents_were_released(store: Store) -> None:
    add(store, {"a": ONE, "b": TWO, "c": TWO, "d": None})
    with store.writing() as transaction:
        assert documents.remove(transaction, [1, 3, 4]).tolist() == [1, 2]
        keys, signatures = documents.orphans(transaction, np.array([1, 2]))
        assert keys.tolist() == [1]
        assert signatures == [np.array(ONE, "<u2").tobytes()]
        assert documents.remove(transaction, []).tolist() == []


def test_a_removed_content_goes_with_its_buckets_pairs_text_and_place_on_the_list(store: Store) -> None:
    add(store, {"a": ONE, "b": THREE, "c": (7, 5, 9)})
    link(store)
    assert linked_pairs(store) == {("a", "b"), ("b", "c")}
    add(store, {"d": (7, 5, 3)})
    remove(store, "b", "d")
    with store.reading() as transaction:
        assert sizes(transaction) == (2, 2, 6, 0)
        assert count(transaction, pair) == 0
        left = transaction.execute(select(band_bucket.c.content_key).distinct()).scalars().all()
        assert sorted(left) == [1, 3]


def test_only_the_pairs_of_a_removed_content_go_from_either_side(store: Store) -> None:
    add(store, {doc_id: (0, 10 + number, 20 + number) for number, doc_id in enumerate("abcd")})
    link(store)
    remove(store, "b")
    assert linked_pairs(store) == {("a", "c"), ("a", "d"), ("c", "d")}


def test_a_content_that_comes_back_is_a_new_one_and_is_linked_again(store: Store) -> None:
    add(store, {"a": ONE, "b": THREE})
    link(store)
    remove(store, "b")
    assert linked_pairs(store) == set()
    assert counted(add(store, {"b": THREE})) == (1, 0, 0, 1, [])
    assert link(store) == 1
    assert linked_pairs(store) == {("a", "b")}
    with store.reading() as transaction:
        assert content_key_of(transaction, "b") == 3


def test_texts_are_kept_and_deleted_with_their_contents(url: str) -> None:
    params = Params(shingle="set", bands=3, rows=1, floor=0.1, min_sim=0.1)
    with new_store_at(url, params) as store, store.writing() as transaction:
        place = documents.Place(1, "default", {})
        documents.put(transaction, [Document("a"), Document("b")], sketches_of([ONE, TWO], params), place)
        statement = select(content_text.c.text).order_by(content_text.c.content_key)
        assert list(transaction.execute(statement).scalars()) == [b"(1, 2, 3)", b"(4, 5, 6)"]
        retire(transaction, documents.remove(transaction, [1]), params)
        assert list(transaction.execute(statement).scalars()) == [b"(4, 5, 6)"]


def test_a_batch_of_a_thousand_documents_arrives_whole(store: Store) -> None:
    contents = {f"d{number}": (number, number + 1, number % 7) for number in range(1000)}
    assert counted(add(store, contents)) == (1000, 0, 0, 1000, [])
    changed = {doc_id: (one[0] + 5000, *one[1:]) for doc_id, one in contents.items()}
    with store.writing() as transaction:
        outcome = put(transaction, changed)
        assert counted(outcome) == (0, 1000, 0, 1000, list(range(1, 1001)))
        retire(transaction, outcome.released, PARAMS)
        assert sizes(transaction) == (1000, 1000, 3000, 1000)


def test_buckets_that_are_held_are_written_when_the_caller_writes_them(store: Store) -> None:
    held = HeldBuckets()
    with store.writing() as transaction:
        place = documents.Place(1, "default", {})
        documents.put(transaction, [Document("a"), Document("b")], sketches_of([ONE, TWO]), place, held)
        assert sizes(transaction) == (2, 2, 0, 2)
        held.write(transaction)
        assert sizes(transaction) == (2, 2, 6, 2)


@pytest.mark.parametrize("is_held", [False, True])
def test_the_fingerprints_of_passages_are_written_with_their_contents(url: str, is_held: bool) -> None:
    params, held = Params(shingle="word:2", passages=2), HeldBuckets() if is_held else None
    texts = [Document("a", "one two three"), Document("empty"), Document("b", "ant bee cat dog")]
    with new_store_at(url, params) as store, store.writing() as transaction:
        for batch in (texts[:1], texts):
            documents.put(transaction, batch, sketch(batch, params), documents.Place(1, "default", {}), held)
        if held is not None:
            held.write(transaction)
        found = Entries.concatenate(list(fingerprints.all_entries(transaction)))
    expected = {
        (hashed, key)
        for key, one in ((1, texts[0]), (2, texts[2]))
        for hashed in sketch([one], params).fingerprints.hashes.tolist()  # type: ignore[union-attr]
    }
    assert len(expected) == 2 + 3
    assert set(zip(found.hashes.tolist(), found.content_keys.tolist(), strict=True)) == expected


def test_a_deleted_content_leaves_no_row_in_any_table(store: Store) -> None:
    add(store, {"a": ONE, "b": TWO})
    with store.writing() as transaction:
        for key in (1, 2):
            transaction.execute(insert(new_digest).values(content_key=key, digest=bytes(16)))
            transaction.execute(insert(content_text).values(content_key=key, text=b"text"))
        retire(transaction, documents.remove(transaction, [1]), PARAMS)
        for table in (content, content_text, unlinked, new_digest):
            assert transaction.execute(select(table.c.content_key)).scalars().all() == [2]
        assert set(transaction.execute(select(band_bucket.c.content_key)).scalars()) == {2}


def state_of(uri: str) -> sources.SourceState:
    return sources.SourceState(uri, 10, 1, None, sources.DONE, 1, 1, "{}", 1)


def test_what_a_later_run_has_seen_is_not_gone_for_an_earlier_one_that_goes_on(store: Store) -> None:
    with store.writing() as transaction:
        for run_key in (2, 1):
            sources.put(transaction, "default", [state_of("file:///crawl/put")], run_key)
            sources.see(transaction, "default", [state_of("file:///crawl/put")], run_key)
            sources.see_under(transaction, "default", "file:///crawl", run_key)
        assert sources.gone(transaction, "default", "file:///crawl", 1) == []
        assert sources.gone(transaction, "default", "file:///crawl", 2) == []
        assert sources.gone(transaction, "default", "file:///crawl", 3) == [1]


def test_a_document_that_an_earlier_run_reads_last_was_still_seen_by_the_later_one(store: Store) -> None:
    with store.writing() as transaction:
        for run_key in (2, 1):
            place = documents.Place(run_key, "default", {})
            documents.put(transaction, [Document("a")], sketches_of([ONE]), place)
        assert transaction.execute(select(document.c.last_seen_run)).scalars().all() == [2]
