"""Which record of a document stays, what an older one and a revisit change, and which documents are stale."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy import select

from lshdb.model.values import Document
from lshdb.store.schema import document
from lshdb.store.store import Store
from lshdb.store.tables import documents, sources
from lshdb.store.transaction import Transaction
from tests.store.conftest import Minima, sketches_of

ONE, TWO = (1, 2, 3), (4, 5, 6)
FILES = ("file:///a", "file:///b")


@pytest.fixture
def filed(store: Store) -> Store:
    """A store that knows the sources 1 and 2."""
    with store.writing() as transaction:
        states = [sources.SourceState(uri, 1, 1, None, sources.DONE, 1, 1, "{}", 1) for uri in FILES]
        sources.put(transaction, "default", states, 1)
    return store


def place(run_key: int, collection: str = "default") -> documents.Place:
    return documents.Place(run_key, collection, {uri: key for key, uri in enumerate(FILES, start=1)})


def record(doc_id: str, date: int | None, source: str | None = FILES[0], locator: str = "first") -> Document:
    return Document(doc_id, source=source, locator=locator, dated_at=date)


def put(transaction: Transaction, run_key: int, *records: tuple[Document, Minima]) -> documents.PutOutcome:
    found = [one for one, _ in records]
    return documents.put(transaction, found, sketches_of([minima for _, minima in records]), place(run_key))


def stored(transaction: Transaction) -> dict[str, tuple[object, ...]]:
    """Return (source, locator, content, date, last run) by id."""
    columns = (
        document.c.source_key, document.c.locator, document.c.content_key, document.c.dated_at,
        document.c.last_seen_run,
    )  # fmt: skip
    return {doc_id: tuple(row) for doc_id, *row in transaction.execute(select(document.c.doc_id, *columns))}


def test_a_new_document_has_the_source_the_place_the_date_and_the_run_of_its_record(filed: Store) -> None:
    with filed.writing() as transaction:
        put(transaction, 3, (record("a", 5, FILES[1], "line 7"), ONE), (record("b", None, None, ""), TWO))
        assert stored(transaction) == {"a": (2, "line 7", 1, 5, 3), "b": (None, "", 2, None, 3)}


def test_a_newer_record_of_another_file_takes_the_document_and_an_older_one_does_not(filed: Store) -> None:
    with filed.writing() as transaction:
        put(transaction, 1, (record("a", 5), ONE), (record("b", 5), ONE))
        outcome = put(transaction, 2, (record("a", 6, FILES[1]), TWO), (record("b", 4, FILES[1], "second"), ONE))
        assert stored(transaction) == {"a": (2, "first", 2, 6, 2), "b": (1, "first", 1, 5, 1)}
        assert (outcome.counts.num_updated, outcome.counts.num_unchanged, outcome.released.tolist()) == (1, 1, [1])


def test_of_the_records_of_a_batch_the_newest_stays_and_of_two_of_one_date_the_later(filed: Store) -> None:
    records = [
        (record("a", date, locator=f"{number}"), ONE if date < 5 else TWO)
        for number, date in enumerate((2, 5, 3, 5, 4))
    ]
    with filed.writing() as transaction:
        put(transaction, 1, *records)
        assert stored(transaction) == {"a": (1, "3", 2, 5, 1)}


def test_an_older_record_in_its_own_file_is_seen_and_found_where_it_stands_now(filed: Store) -> None:
    """A revisit has made the documents newer than the records of their texts."""
    with filed.writing() as transaction:
        put(transaction, 1, *((record(doc_id, 5), ONE) for doc_id in "abc"))
        put(transaction, 2, (record("a", 4, locator="second"), ONE), (record("b", 4, locator="second"), TWO))
        assert stored(transaction) == {
            "a": (1, "second", 1, 5, 2), "b": (1, "first", 1, 5, 2), "c": (1, "first", 1, 5, 1)
        }  # fmt: skip


def test_of_several_older_records_in_a_batch_the_newest_tells_the_place(filed: Store) -> None:
    with filed.writing() as transaction:
        put(transaction, 1, (record("a", 5), ONE))
        older = [(record("a", date, locator=f"{number} at {date}"), ONE) for number, date in enumerate((3, 4, 4, 2))]
        put(transaction, 2, *older)
        assert stored(transaction) == {"a": (1, "2 at 4", 1, 5, 2)}


def test_an_older_record_before_a_newer_one_in_a_batch_is_forgotten(filed: Store) -> None:
    with filed.writing() as transaction:
        put(transaction, 1, (record("a", 5), ONE))
        put(transaction, 2, (record("a", 4, locator="older"), ONE), (record("a", 6, locator="newer"), TWO))
        assert stored(transaction) == {"a": (1, "newer", 2, 6, 2)}


def test_a_revisit_gives_a_document_its_date_if_that_is_newer(filed: Store) -> None:
    with filed.writing() as transaction:
        put(
            transaction,
            1,
            *((record(doc_id, date), ONE) for doc_id, date in (("a", 5), ("b", 5), ("c", None), ("d", 5))),
        )
        documents.put(transaction, [record("a", 5)], sketches_of([ONE]), place(1, "other"))
        revisits = [record("a", 9), record("a", 7), record("b", 4), record("c", 1), record("d", None), record("x", 9)]
        documents.confirm(
            transaction, [Document(r.doc_id, source=FILES[1], dated_at=r.dated_at) for r in revisits], place(2)
        )
        dates = select(document.c.doc_id, document.c.dated_at, document.c.source_key).order_by(document.c.doc_key)
        assert [tuple(row) for row in transaction.execute(dates)] == [
            ("a", 9, 1), ("b", 5, 1), ("c", 1, 1), ("d", 5, 1), ("a", 5, 1)
        ]  # fmt: skip
        assert stored(transaction)["b"] == (1, "first", 1, 5, 1)


def test_the_first_documents_of_a_collection_are_those_with_the_first_ids(filed: Store) -> None:
    with filed.writing() as transaction:
        put(transaction, 1, *((record(doc_id, None), ONE) for doc_id in "cab"))
        documents.put(transaction, [record("0", None)], sketches_of([ONE]), place(1, "other"))
        assert documents.some_of(transaction, "default", 2) == [2, 3]
        assert documents.some_of(transaction, "default", 9) == [2, 3, 1]
        assert documents.some_of(transaction, "nothing", 9) == []


def test_documents_of_programs_are_stale_if_no_later_run_added_them(filed: Store) -> None:
    with filed.writing() as transaction:
        put(transaction, 1, (record("a", None, None), ONE), (record("b", None), ONE))
        put(transaction, 2, (record("c", None, None), ONE))
        put(transaction, 3, (record("d", None, None), ONE))
        documents.put(transaction, [record("e", None, None)], sketches_of([ONE]), place(1, "other"))
        assert documents.stale(transaction, "default", 2) == [1, 3]
        assert documents.stale(transaction, "default", 0) == []
        assert documents.stale(transaction, "other", 9) == [5]


def test_contents_without_documents_are_orphans_in_the_order_of_their_keys(filed: Store) -> None:
    with filed.writing() as transaction:
        put(transaction, 1, (record("a", None), ONE), (record("b", None), TWO))
        documents.remove(transaction, [1, 2])
        keys, signatures = documents.orphans(transaction, np.array([2, 1, 9]))
        assert keys.tolist() == [1, 2]
        assert signatures == [np.array(minima, "<u2").tobytes() for minima in (ONE, TWO)]
