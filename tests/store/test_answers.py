"""Pairs of documents in the order and range that was asked for, and what the index says about itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from sqlalchemy import insert

from lshdb.model.reports import Figures, RunRow
from lshdb.model.values import Counts, Document, Rejection, VerifiedPairs
from lshdb.store.schema import oversized_bucket
from lshdb.store.store import Store
from lshdb.store.tables import answers, documents, graph, locators, runs, sources
from lshdb.store.tables.answers import Chosen, PairRow
from lshdb.store.transaction import Transaction
from tests.store.conftest import Minima, sketches_of

ONE, TWO, THREE = (1, 2, 3), (4, 5, 6), (7, 8, 9)
PAIRS = VerifiedPairs(
    np.array([[1, 2], [1, 3], [2, 3]]), np.array([0.5, 0.75, 0.875]), np.array([False, True, True])
)  # fmt: skip


def put_in(transaction: Transaction, collection: str, contents: dict[str, Minima | None]) -> None:
    batch = [Document(doc_id) for doc_id in contents]
    documents.put(transaction, batch, sketches_of(list(contents.values())), documents.Place(1, collection, {}))


@pytest.fixture
def snapshot(store: Store) -> Iterator[Transaction]:
    """Two collections of three contents, every two of which are a pair; c, e and z are copies of a, d and x."""
    with store.writing() as transaction:
        put_in(transaction, "p", {"b": ONE, "d": TWO, "c": THREE, "a": ONE, "e": TWO, "none": None, "null": None})
        put_in(transaction, "q", {"y": TWO, "x": THREE, "z": THREE, "b": ONE})
        graph.put_pairs(transaction, PAIRS, 1)
        yield transaction


def row(left: str, right: str, similarity: float, *collections: str) -> PairRow:
    """A pair of documents. That of similarity 0.5 alone is estimated."""
    one, other = collections or ("p", "p")
    return left, right, similarity, similarity != 0.5, one, other


def within(snapshot: Transaction, chosen: Chosen, *, expand: bool = False, more: tuple[PairRow, ...] = ()) -> object:
    return list(answers.pairs(snapshot, chosen, expand=expand, within="p", more=more))


COPIES = [row("b", "a", 1.0), row("d", "e", 1.0)]
SIMILAR = [row("b", "d", 0.5), row("b", "c", 0.75), row("d", "c", 0.875)]
LATER = row("k", "l", 0.625)


def test_pairs_come_with_copies_first_then_by_content_then_what_was_compared_later(snapshot: Transaction) -> None:
    assert within(snapshot, Chosen(0.5), more=(LATER,)) == [*COPIES, *SIMILAR, LATER]
    assert within(snapshot, Chosen(0.75)) == [*COPIES, *SIMILAR[1:]]
    assert within(snapshot, Chosen(0.5, limit=3), more=(LATER,)) == [*COPIES, SIMILAR[0]]


def test_pairs_up_to_a_similarity_are_without_copies(snapshot: Transaction) -> None:
    assert within(snapshot, Chosen(0.5, 0.75)) == SIMILAR[:2]
    assert within(snapshot, Chosen(0.75, 0.8, order="id"), expand=True) == [row("a", "c", 0.75), row("b", "c", 0.75)]


def test_pairs_are_sorted_by_similarity_or_by_id_together_with_those_that_were_compared_later(
    snapshot: Transaction,
) -> None:
    nearest = [*COPIES, SIMILAR[2], SIMILAR[1], LATER, SIMILAR[0]]
    assert within(snapshot, Chosen(0.5, order="similarity"), more=(LATER,)) == nearest
    assert within(snapshot, Chosen(0.5, order="similarity", limit=4), more=(LATER,)) == nearest[:4]
    by_id = [COPIES[0], SIMILAR[1], SIMILAR[0], SIMILAR[2], COPIES[1], LATER]
    assert within(snapshot, Chosen(0.5, order="id"), more=(LATER,)) == by_id


def test_every_pair_of_documents_is_listed_if_expanded(snapshot: Transaction) -> None:
    similar = [(left, right) for left in "ab" for right in "cde"] + [("d", "c"), ("e", "c")]
    found = answers.pairs(snapshot, Chosen(0.5, order="id"), expand=True, within="p")
    assert [found_row[:2] for found_row in found] == sorted([*similar, ("b", "a"), ("d", "e")])


def test_pairs_of_all_collections_name_both(snapshot: Transaction) -> None:
    copies = [
        row("b", "a", 1.0), row("b", "b", 1.0, "p", "q"), row("d", "e", 1.0), row("d", "y", 1.0, "p", "q"),
        row("c", "x", 1.0, "p", "q"), row("c", "z", 1.0, "p", "q"),
    ]  # fmt: skip
    assert list(answers.pairs(snapshot, Chosen(0.5), expand=False)) == [*copies, *SIMILAR]


def between(snapshot: Transaction, chosen: Chosen, *, expand: bool = False) -> list[PairRow]:
    later = (row("m", "n", 0.625, "p", "q"),)
    return list(answers.pairs_between(snapshot, chosen, "p", "q", expand=expand, more=later))


def test_pairs_between_two_collections_have_the_document_of_the_first_on_the_left(snapshot: Transaction) -> None:
    copies = [row("b", "b", 1.0, "p", "q"), row("d", "y", 1.0, "p", "q"), row("c", "x", 1.0, "p", "q")]
    forth = [row("b", "y", 0.5, "p", "q"), row("b", "x", 0.75, "p", "q"), row("d", "x", 0.875, "p", "q")]
    back = [row("d", "b", 0.5, "p", "q"), row("c", "b", 0.75, "p", "q"), row("c", "y", 0.875, "p", "q")]
    later = row("m", "n", 0.625, "p", "q")
    assert between(snapshot, Chosen(0.5)) == [*copies, *forth, *back, later]
    assert between(snapshot, Chosen(0.5, limit=4)) == [*copies, forth[0]]
    assert between(snapshot, Chosen(0.75, 0.8)) == [forth[1], back[1], later]
    assert between(snapshot, Chosen(0.5, order="similarity", limit=8)) == [
        copies[0], copies[2], copies[1], back[2], forth[2], forth[1], back[1], later,
    ]  # fmt: skip
    by_id = [copies[0], forth[1], forth[0], back[1], copies[2], back[2], back[0], forth[2], copies[1], later]
    assert between(snapshot, Chosen(0.5, order="id")) == by_id


def test_every_pair_of_documents_between_two_collections_is_listed_if_expanded(snapshot: Transaction) -> None:
    found = [(left, right) for left, right, *_ in between(snapshot, Chosen(0.5), expand=True)]
    everything = {(left, right) for left in "abcde" for right in "bxyz"} | {("m", "n")}
    assert (set(found), len(found)) == (everything, 5 * 4 + 1)


@pytest.mark.parametrize("given", [1, 2, 10_000])
def test_the_documents_of_given_pairs_come_pair_by_pair(
    snapshot: Transaction, given: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "GIVEN_PAIRS", given)

    def of(between: tuple[str, str] | None, *, expand: bool = False) -> list[PairRow]:
        return list(answers.pairs_of_documents(snapshot, PAIRS, expand=expand, between=between))

    assert of(None) == SIMILAR
    assert of(("q", "q")) == [
        row("b", "y", 0.5, "q", "q"),
        row("b", "x", 0.75, "q", "q"),
        row("y", "x", 0.875, "q", "q"),
    ]
    assert of(("p", "q")) == [
        row("b", "y", 0.5, "p", "q"), row("d", "b", 0.5, "p", "q"), row("b", "x", 0.75, "p", "q"),
        row("c", "b", 0.75, "p", "q"), row("d", "x", 0.875, "p", "q"), row("c", "y", 0.875, "p", "q"),
    ]  # fmt: skip
    assert of(("p", "p"), expand=True) == [
        row("b", "d", 0.5), row("b", "e", 0.5), row("a", "d", 0.5), row("a", "e", 0.5),
        row("b", "c", 0.75), row("a", "c", 0.75), row("d", "c", 0.875), row("e", "c", 0.875),
    ]  # fmt: skip


def test_the_documents_of_contents_come_in_the_order_of_their_keys(snapshot: Transaction) -> None:
    found = list(answers.documents_of(snapshot, np.array([1, 3])))
    assert found == [(1, "b", "p"), (1, "a", "p"), (1, "b", "q"), (3, "c", "p"), (3, "x", "q"), (3, "z", "q")]


def test_a_document_is_found_in_its_collection_alone(snapshot: Transaction) -> None:
    assert answers.content_of(snapshot, "p", "d") == (True, 2)
    assert answers.content_of(snapshot, "p", "none") == (True, None)
    assert answers.content_of(snapshot, "q", "d") == (False, None)
    assert locators.doc_keys(snapshot, "q", ["b"]) == {"b": 11}
    assert locators.doc_keys(snapshot, "q", ["d"]) == {}


def test_the_neighbours_of_a_content_are_the_nearest_first_and_say_whether_they_are_exact(
    snapshot: Transaction,
) -> None:
    assert answers.neighbours(snapshot, 1, 0.75) == [
        ("b", 1.0, True, "p"), ("a", 1.0, True, "p"), ("b", 1.0, True, "q"),
        ("c", 0.75, True, "p"), ("x", 0.75, True, "q"), ("z", 0.75, True, "q"),
    ]  # fmt: skip
    estimated = [("d", 0.5, False, "p"), ("e", 0.5, False, "p"), ("y", 0.5, False, "q")]
    assert answers.neighbours(snapshot, 1, 0.5)[6:] == estimated


def test_the_figures_count_the_rows_of_each_table(snapshot: Transaction) -> None:
    sources.put(
        snapshot, "p", [sources.SourceState(f"file:///{n}", 1, 1, None, "done", 0, 0, "{}", 1) for n in "ab"], 1
    )
    for band, num_pairs in ((0, 5), (1, 6)):
        values = {"band": band, "bucket_hash": 1, "num_contents": 9, "num_pairs": num_pairs}
        snapshot.execute(insert(oversized_bucket).values(values))
    figures = answers.figures(snapshot)
    assert figures == Figures(11, 2, 3, 2, 3, 3, 1, 2, 11, 0, 0, figures.num_bytes)
    assert figures.num_bytes > 10_000


def run_row(run: int, verb: str, state: str) -> RunRow:
    return RunRow(run, verb, "p", state, "2026-01-01T00:00:00.000+00:00", None, 0, 0, 0, 0)


def test_the_last_runs_are_listed_the_newest_first(store: Store) -> None:
    """The store already has nine runs that have not ended, numbered from 1."""
    with store.writing() as transaction:
        assert runs.begin(transaction, "tune", "", "test") == 10
        assert runs.begin(transaction, "ingest", "p", "test") == 11
        runs.record(transaction, 11, Counts(1, 2, 3, 4, 5, 6))
        runs.finish(transaction, 11, "failed")
        found = answers.runs(transaction, 3)
        assert [(one.run, one.verb, one.collection, one.state) for one in found] == [
            (11, "ingest", "p", "failed"),
            (10, "tune", "", "running or killed"),
            (9, "add", "default", "running or killed"),
        ]
        newest = found[0]
        assert (newest.num_added, newest.num_updated, newest.num_removed, newest.num_rejected) == (1, 2, 4, 6)
        assert found[0].finished_at is not None
        assert found[1].finished_at is None
        assert len(answers.runs(transaction, 99)) == 11


@pytest.mark.parametrize(
    ("is_ingesting", "expected"),
    [
        (True, ["finished", "running", "running or killed", "killed"]),
        (False, ["finished", "killed", "running or killed", "killed"]),
        (None, ["finished", "running or killed", "running or killed", "running or killed"]),
    ],
)
def test_of_the_ingests_that_have_not_ended_only_the_newest_can_be_running(
    is_ingesting: bool | None, expected: list[str]
) -> None:
    found = [run_row(4, "ingest", "finished"), run_row(3, "ingest", "running"), run_row(2, "add", "running")]
    found.append(run_row(1, "ingest", "running"))
    settled = answers._settled(found, is_ingesting)
    assert [one.state for one in settled] == expected
    assert [(one.run, one.verb) for one in settled] == [(4, "ingest"), (3, "ingest"), (2, "add"), (1, "ingest")]


def test_the_rejections_of_a_run_come_in_the_order_of_reading(store: Store) -> None:
    items = [Rejection("b", "line 1", "bad"), Rejection("a", "line 2", "worse")]
    with store.writing() as transaction:
        runs.reject(transaction, 1, items[:1])
        runs.reject(transaction, 2, [Rejection("c", "", "of another run")])
        runs.reject(transaction, 1, items[1:])
        assert list(answers.rejections(transaction, 1)) == items
