"""The answers of a peer against the truth."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.answers import Found, Stretch, compare, found_of, read_answers
from benchmarks.peers.protocol import Answer

ROWS = {"a": 0, "b": 1, "c": 2, "d": 3}


def pair(left: str, right: str, similarity: float | None = None) -> Answer:
    return Answer(left, right, similarity)


def pairs_of(found: Found) -> list[tuple[int, int]]:
    return [divmod(number, found.num_documents) for number in found.pairs.tolist()]


def test_a_pair_counts_once_whichever_document_comes_first() -> None:
    found = found_of([pair("b", "a", 0.9), pair("a", "b", 0.9), pair("c", "d", 0.8)], ROWS)
    assert pairs_of(found) == [(0, 1), (2, 3)]
    assert found.similarities.tolist() == [0.9, 0.8]


def test_a_cluster_counts_as_all_pairs_of_its_members() -> None:
    found = found_of([Answer(cluster=["d", "a", "b"])], ROWS)
    assert pairs_of(found) == [(0, 1), (0, 3), (1, 3)]
    assert found.at_least(0.8) is None


def test_a_document_that_the_corpus_does_not_have_is_an_error() -> None:
    with pytest.raises(KeyError, match="e"):
        found_of([pair("a", "e")], ROWS)


def test_recall_and_precision_are_shares_of_the_true_and_of_the_found_pairs() -> None:
    true = found_of([pair("a", "b", 0.85), pair("c", "d", 1.0), pair("b", "c", 0.95), pair("a", "c", 0.9)], ROWS)
    found = found_of([pair("a", "b"), pair("c", "d"), pair("a", "d")], ROWS)
    quality = compare(true, found, (0.8, 0.9, 1.0))
    assert (quality.num_pairs, quality.recall, quality.precision) == (3, 0.5, 2 / 3)
    assert quality.stretches == [Stretch(0.8, 0.9, 1, 1), Stretch(0.9, 1.0, 3, 1)]


def test_the_redundant_documents_are_all_but_one_of_each_component() -> None:
    assert compare(found_of([], ROWS), found_of([pair("a", "b"), pair("b", "d")], ROWS), ()).num_redundant == 2


def test_a_peers_own_similarity_decides_what_it_keeps() -> None:
    kept = found_of([pair("a", "b", 0.79), pair("c", "d", 0.8)], ROWS).at_least(0.8)
    assert kept is not None
    assert pairs_of(kept) == [(2, 3)]


def test_the_lines_of_lshdb_are_answers(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text('{"left": "a", "right": "c", "similarity": 0.875, "exact": true}\n{"cluster": ["b", "d"]}\n')
    assert pairs_of(read_answers(file, ROWS)) == [(0, 2), (1, 3)]
