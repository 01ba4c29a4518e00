"""What linking reads and writes: contents to link, their signatures and texts, hot buckets and pairs."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy import insert, select

from lshdb.model.values import VerifiedPairs
from lshdb.store.schema import content_text, oversized_bucket, pair
from lshdb.store.store import Store
from lshdb.store.tables import graph, oversized
from tests.store.conftest import add, sketches_of
from tests.store.test_graph import crowd, verified


def test_a_hot_bucket_is_recorded_once_and_others_stay(store: Store) -> None:
    with store.writing() as transaction:
        oversized.put(transaction, np.array([[0, 7, 300], [1, 7, 300], [1, 8, 300]]))
        oversized.put(transaction, np.array([[1, 7, 400], [2, 8, 400]]))
        oversized.put(transaction, np.empty((0, 3), dtype=np.int64))
        rows = transaction.execute(select(oversized_bucket).order_by(*oversized_bucket.primary_key.columns))
        # With 256 * 255 / 2 pairs of the first contents, and 10 for each of the others.
        assert [tuple(row) for row in rows] == [
            (0, 7, 300, 11_770),
            (1, 7, 400, 45_720),
            (1, 8, 300, 11_770),
            (2, 8, 400, 45_720),
        ]


def test_contents_are_counted_and_those_to_link_are_listed(store: Store) -> None:
    add(store, crowd(3))
    with store.writing() as transaction:
        graph.mark_linked(transaction, np.array([2]))
        assert graph.unlinked_keys(transaction).tolist() == [1, 3]
        assert graph.unlinked_keys(transaction, 1).tolist() == [1]
        assert (graph.num_unlinked(transaction), graph.num_contents(transaction)) == (2, 3)
        graph.mark_unlinked(transaction, np.array([2, 3]))
        assert graph.unlinked_keys(transaction).tolist() == [1, 2, 3]


def test_the_signatures_of_contents_are_read_by_key(store: Store) -> None:
    add(store, {"a": (1, 2, 3), "b": (4, 5, 6), "c": (7, 8, 9)})
    with store.reading() as transaction:
        found = graph.signatures(transaction, np.array([1, 3, 9]))
        assert graph.existing(transaction, np.array([1, 3, 9])).tolist() == [1, 3]
    assert (found.keys.tolist(), found.num_shingles.tolist()) == ([1, 3], [1, 1])
    assert found.signatures == np.array([1, 2, 3, 7, 8, 9], "<u2").tobytes()


def test_the_texts_of_contents_are_read_by_key(store: Store) -> None:
    add(store, crowd(3))
    with store.writing() as transaction:
        for key in (3, 2):
            transaction.execute(insert(content_text).values(content_key=key, text=f"text {key}".encode()))
        assert list(graph.texts(transaction, np.array([1, 2, 3]))) == [(2, b"text 2"), (3, b"text 3")]
        assert list(graph.texts(transaction, np.array([3]))) == [(3, b"text 3")]


def test_the_contents_in_the_buckets_of_several_sketches_are_found_band_by_band(store: Store) -> None:
    add(store, {"a": (1, 2, 3), "b": (1, 5, 6), "c": (7, 2, 9)})
    asked = sketches_of([(9, 9, 9), (7, 2, 3), (1, 2, 8)]).band_keys
    with store.reading() as transaction:
        found = [row for block in graph.contents_in(transaction, asked) for row in block.tolist()]
    assert sorted(found) == [[0, 3], [1, 1], [1, 1], [1, 3], [1, 3], [2, 1], [2, 1], [2, 2], [2, 3]]


def test_pairs_are_counted_from_a_run_on_with_those_of_no_run(store: Store) -> None:
    add(store, crowd(4))
    with store.writing() as transaction:
        for number, run_key in enumerate((3, 4, None), start=2):
            graph.put_pairs(transaction, verified((1, number)), run_key)
        assert [graph.num_pairs(transaction, since) for since in (0, 3, 4, 5)] == [3, 3, 2, 1]
        page = graph.pair_page(transaction, (-1, -1), 9, since=4)
        assert page.keys.tolist() == [[1, 3], [1, 4]]


@pytest.mark.parametrize("at_a_time", [1, 2, 5, 100])
def test_pairs_are_inserted_a_few_at_a_time(store: Store, at_a_time: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "INSERTED_PAIRS", at_a_time)
    add(store, crowd(4))
    given = [(3, 4), (1, 2), (2, 9), (2, 4), (1, 3), (2, 3)]
    pairs = VerifiedPairs(np.array(given), np.linspace(0.5, 0.75, 6), np.array([True, False] * 3))
    with store.writing() as transaction:
        assert graph.put_pairs(transaction, pairs, 5) == 5
        rows = [tuple(row) for row in transaction.execute(select(pair).order_by(*pair.primary_key.columns))]
    expected = [
        (*keys, similarity, exact, 5)
        for keys, similarity, exact in zip(given, pairs.similarity, pairs.exact, strict=True)
    ]
    assert rows == sorted(row for row in expected if row[1] != 9)
