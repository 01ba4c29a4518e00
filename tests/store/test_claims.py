"""Which document of a batch gets the id that it claims, if the index or the batch has another text of that id."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.dialects import sqlite

from lshdb.errors import IdConflict
from lshdb.model.choices import OnConflict
from lshdb.model.values import MAX_NAME_BYTES, Conflicts, Document
from lshdb.store.schema import document
from lshdb.store.store import Store
from lshdb.store.tables import claims, documents, sources
from lshdb.store.tables.documents import PutOutcome
from lshdb.store.transaction import Transaction
from tests.store.conftest import Minima, new_store_at, sketches_of

# Two files of one age, and a newer one.
A, B, NEW = "file:///a", "file:///b", "file:///new"
KEYS = {A: 1, B: 2, NEW: 3}
ONE, TWO, THREE = (1, 2, 3), (4, 5, 6), (7, 8, 9)
Claim = tuple[str, str | None, Minima | None]


@pytest.fixture
def transaction(store: Store) -> Iterator[Transaction]:
    """A transaction in an index that knows the files, and in which the file A has the document x."""
    with store.writing() as transaction:
        states = [sources.SourceState(uri, 1, 100 + (uri == NEW), None, sources.DONE, 1, 1, "{}", 1) for uri in KEYS]
        sources.put(transaction, "default", states, 1)
        put(transaction, ("x", A, ONE))
        yield transaction


def put(
    transaction: Transaction,
    *claims: Claim,
    run_key: int = 1,
    on_conflict: OnConflict | None = None,
    qualified: frozenset[int] = frozenset(),
) -> PutOutcome:
    """Store documents. Each has an id, a file, or None for a program, and a content."""
    batch = [Document(doc_id, source=uri) for doc_id, uri, _ in claims]
    sketches = sketches_of([content for _, _, content in claims])
    place = documents.Place(
        run_key, "default", KEYS, on_conflict, qualified, file_of=lambda uri: uri.removeprefix("file:///")
    )
    return documents.put(transaction, batch, sketches, place)


def stored(transaction: Transaction) -> dict[str, tuple[int | None, int | None]]:
    """Return the source and the content of each document."""
    rows = transaction.execute(select(document.c.doc_id, document.c.source_key, document.c.content_key))
    return {doc_id: (source_key, content_key) for doc_id, source_key, content_key in rows}


def counted(outcome: PutOutcome) -> tuple[int, int, int]:
    return outcome.counts.num_added, outcome.counts.num_updated, outcome.counts.num_unchanged


def test_a_newer_file_takes_the_id_and_another_gets_one_of_its_own(transaction: Transaction) -> None:
    outcome = put(transaction, ("x", B, TWO), ("y", B, TWO))
    assert (counted(outcome), outcome.conflicts) == ((2, 0, 0), Conflicts(num_qualified=1))
    outcome = put(transaction, ("x", NEW, THREE))
    assert (counted(outcome), outcome.conflicts) == ((0, 1, 0), Conflicts(num_replaced=1))
    assert stored(transaction) == {"x": (3, 3), "x@b": (2, 2), "y": (2, 2)}


def test_the_files_of_one_batch_are_compared_too(transaction: Transaction) -> None:
    outcome = put(transaction, ("y", B, ONE), ("y", A, TWO), ("y", NEW, THREE), ("y", A, THREE))
    # The last one has the text of the document by then, so it takes the document over.
    assert (counted(outcome), outcome.conflicts) == ((2, 1, 1), Conflicts(num_replaced=1, num_qualified=1))
    assert stored(transaction) == {"x": (1, 1), "y": (1, 3), "y@a": (1, 2)}
    assert outcome.released.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("on_conflict", "expected", "numbers", "conflicts"),
    [
        ("replace", {"x": (2, 2)}, (0, 1, 0), Conflicts(num_replaced=1)),
        ("keep", {"x": (1, 1)}, (0, 0, 0), Conflicts(num_left_out=1)),
        ("qualify", {"x": (1, 1), "x@b": (2, 2)}, (1, 0, 0), Conflicts(num_qualified=1)),
    ],
)
def test_a_rule_may_be_chosen(
    transaction: Transaction, on_conflict: OnConflict, expected: object, numbers: object, conflicts: Conflicts
) -> None:
    outcome = put(transaction, ("x", B, TWO), on_conflict=on_conflict)
    assert (stored(transaction), counted(outcome), outcome.conflicts) == (expected, numbers, conflicts)


def test_a_conflict_may_be_an_error_that_names_both_files(transaction: Transaction) -> None:
    with pytest.raises(IdConflict) as raised:
        put(transaction, ("x", B, TWO), on_conflict="error")
    assert raised.value.fields == {"doc_id": "x", "collection": "default", "one": A, "other": B}


def test_a_document_of_a_program_and_one_of_a_file_replace_each_other(transaction: Transaction) -> None:
    claims: tuple[tuple[Claim, tuple[int, int, int]], ...] = (
        (("x", None, TWO), (0, 1, 0)), (("x", B, THREE), (0, 1, 0)), (("x", None, THREE), (0, 0, 1))
    )  # fmt: skip
    for claim, expected in claims:
        outcome = put(transaction, claim, on_conflict="error")
        assert (counted(outcome), outcome.conflicts) == (expected, Conflicts())
    assert stored(transaction) == {"x": (None, 3)}


def test_the_same_text_of_another_file_is_no_conflict(transaction: Transaction) -> None:
    assert counted(put(transaction, ("x", B, ONE), on_conflict="error")) == (0, 0, 1)
    assert stored(transaction) == {"x": (2, 1)}


def test_a_record_that_a_file_repeats_in_one_run_is_counted(transaction: Transaction) -> None:
    assert put(transaction, ("x", A, TWO), run_key=2).conflicts == Conflicts()
    outcome = put(transaction, ("x", A, THREE), ("x", A, THREE), ("x", A, ONE), run_key=2)
    assert (counted(outcome), outcome.conflicts) == ((0, 2, 1), Conflicts(num_repeated=2))
    assert outcome.released.tolist() == [2, 3]
    assert stored(transaction) == {"x": (1, 1)}


def test_a_file_that_was_read_before_keeps_its_qualified_ids_only(transaction: Transaction) -> None:
    put(transaction, ("x", B, TWO), ("y@b", A, TWO))
    # It has x@b. That there is a y@b of another file gives it nothing.
    outcome = put(transaction, ("x", B, THREE), ("y", B, THREE), run_key=2, qualified=frozenset({2}))
    assert (counted(outcome), outcome.conflicts) == ((1, 1, 0), Conflicts())
    assert stored(transaction) == {"x": (1, 1), "x@b": (2, 3), "y@b": (1, 2), "y": (2, 3)}
    # Without knowing that, it would be a conflict again.
    assert put(transaction, ("x", B, ONE)).conflicts == Conflicts()
    assert stored(transaction)["x"] == (2, 1)


def test_a_qualified_id_that_is_taken_is_qualified_again(transaction: Transaction) -> None:
    put(transaction, ("x@b", A, ONE))
    assert put(transaction, ("x", B, TWO)).conflicts == Conflicts(num_qualified=2)
    assert stored(transaction) == {"x": (1, 1), "x@b": (1, 1), "x@b@b": (2, 2)}


def test_a_qualified_id_that_would_be_too_long_ends_with_a_digest(transaction: Transaction) -> None:
    longest = "é" * ((MAX_NAME_BYTES - len("@b")) // 2)
    for doc_id in (longest, f"{longest}é"):
        put(transaction, (doc_id, A, ONE))
        put(transaction, (doc_id, B, TWO))
    made = sorted(
        doc_id.removeprefix(longest) for doc_id, (source_key, _) in stored(transaction).items() if source_key == 2
    )
    assert made == ["@b", "é@4b2212e31ac97fd4575a0b1c44d8843f"]


@pytest.mark.sqlite
def test_sqlite_looks_ids_up_even_without_statistics(tmp_path: Path) -> None:
    statement = str(claims._HOLDERS.compile(dialect=sqlite.dialect()))
    with new_store_at(str(tmp_path / "index.db")) as store, store.reading() as transaction:
        asked = transaction.connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", (1, '["a"]'))
        plan = [row.detail for row in asked]
    assert any(re.match(r"SEARCH (TABLE )?document .*doc_id=\?", step) for step in plan), plan
