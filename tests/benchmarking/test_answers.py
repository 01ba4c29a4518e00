"""Comparing the answers of a peer with the truth."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from benchmarks.peers.answers import Clusters, Pairs, Stretch, compare, found_of, pairs_of, read_answers
from benchmarks.peers.protocol import Answer

ROWS = {"a": 0, "b": 1, "c": 2, "d": 3}


def pair(left: str, right: str, similarity: float | None = None) -> Answer:
    return Answer(left, right, similarity)


def rows_of(found: Pairs) -> list[tuple[int, int]]:
    return [divmod(number, found.num_documents) for number in found.pairs.tolist()]


def test_a_pair_counts_once_whichever_document_comes_first() -> None:
    found = pairs_of([pair("b", "a", 0.9), pair("a", "b", 0.9), pair("c", "d", 0.8)], ROWS)
    assert rows_of(found) == [(0, 1), (2, 3)]
    assert found.similarities.tolist() == [0.9, 0.8]


def test_a_cluster_counts_as_all_pairs_of_its_members() -> None:
    found = found_of([Answer(cluster=["d", "a", "b"])], ROWS)
    assert isinstance(found, Clusters)
    assert (found.num_pairs, found.num_redundant) == (3, 2)
    every = pairs_of([pair(*both) for both in combinations(ROWS, 2)], ROWS)
    within = found.contains(every.pairs).tolist()
    assert [both for both, is_in in zip(combinations("abcd", 2), within, strict=True) if is_in] == [
        ("a", "b"),
        ("a", "d"),
        ("b", "d"),
    ]


def test_pairs_and_clusters_in_one_answer_are_an_error() -> None:
    with pytest.raises(ValueError, match="not with both"):
        found_of([Answer(cluster=["a", "b"]), pair("c", "d")], ROWS)


def test_a_document_that_the_corpus_does_not_have_is_an_error() -> None:
    with pytest.raises(KeyError, match="e"):
        found_of([pair("a", "e")], ROWS)


def test_recall_and_precision_are_shares_of_the_true_and_of_the_found_pairs() -> None:
    true = pairs_of([pair("a", "b", 0.85), pair("c", "d", 1.0), pair("b", "c", 0.95), pair("a", "c", 0.9)], ROWS)
    found = pairs_of([pair("a", "b"), pair("c", "d"), pair("a", "d")], ROWS)
    quality = compare(true, found, (0.8, 0.9, 1.0))
    assert (quality.num_pairs, quality.recall, quality.precision) == (3, 0.5, 2 / 3)
    assert quality.stretches == [Stretch(0.8, 0.9, 1, 1), Stretch(0.9, 1.0, 3, 1)]


def test_the_redundant_documents_are_all_but_one_of_each_component() -> None:
    assert compare(pairs_of([], ROWS), pairs_of([pair("a", "b"), pair("b", "d")], ROWS), ()).num_redundant == 2


def test_a_peers_own_similarity_decides_what_it_keeps() -> None:
    kept = pairs_of([pair("a", "b", 0.79), pair("c", "d", 0.8)], ROWS).at_least(0.8)
    assert kept is not None
    assert rows_of(kept) == [(2, 3)]
    assert pairs_of([pair("a", "b")], ROWS).at_least(0.8) is None


def test_the_lines_of_lshdb_are_answers(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text('{"left": "a", "right": "c", "similarity": 0.875, "exact": true}\n')
    found = read_answers(file, ROWS)
    assert isinstance(found, Pairs)
    assert rows_of(found) == [(0, 2)]
    assert found.similarities.tolist() == [0.875]
