"""The choice of the kept document, and the order of clusters."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lshdb.clusters import keep
from lshdb.clusters.arrange import Ranked, arrange
from lshdb.errors import UsageError


def numbers(*values: int) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


def test_the_first_pattern_that_matches_an_id_counts_wherever_it_matches() -> None:
    patterns = keep.compiled(["^https:", "example"])
    ids = ["http://example.org", "https://example.org", "https://else", "ftp://else"]
    assert keep.preferences(ids, patterns).tolist() == [1, 0, 0, 2]
    assert keep.preferences(ids, ()).tolist() == [0, 0, 0, 0]
    assert keep.preferences(ids, patterns).dtype == np.int64


def test_a_pattern_that_is_none_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"--prefer \(: not a valid regular expression"):
        keep.compiled(["fine", "("])


def test_preference_goes_before_merit_and_merit_before_age() -> None:
    preference = numbers(1, 0, 0, 0, 0)
    merit = numbers(99, 5, 7, 7, keep.NO_MERIT)
    assert keep.ranks(preference, merit, numbers(1, 2, 9, 4, 3)).tolist() == [4, 2, 1, 0, 3]


def test_single_linkage_keeps_the_best_of_a_component() -> None:
    assert keep.best_of_component(numbers(0, 0, 2, 0), numbers(3, 1, 2, 0)).tolist() == [3, 3, 2, 3]


def test_a_chain_keeps_the_one_that_is_unlike_the_kept_one() -> None:
    """a ~ b ~ c, but a and c differ: b is dropped for a, and c is kept."""

    def near(pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.abs(pairs[:, 0] - pairs[:, 1]) == 1

    assert keep.keep_near(numbers(0, 0, 0), numbers(0, 1, 2), near).tolist() == [0, 0, 2]
    assert keep.keep_near(numbers(0, 0, 0), numbers(1, 0, 2), near).tolist() == [1, 1, 1]
    assert keep.best_of_component(numbers(0, 0, 0), numbers(0, 1, 2)).tolist() == [0, 0, 0]


def test_a_long_chain_is_left_after_so_many_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_near(pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.zeros(len(pairs), dtype=np.bool_)

    monkeypatch.setattr("lshdb.clusters.keep.ROUNDS", 2)
    kept = keep.keep_near(numbers(0, 0, 0, 0, 4), numbers(4, 3, 2, 1, 0), none_near)
    assert kept.tolist() == [-1, -1, 2, 3, 4]
    keep.sweep(kept, [(1, [0, 2]), (0, [])])
    assert kept.tolist() == [1, 1, 2, 3, 4]


def test_a_sweep_leaves_what_is_settled() -> None:
    """Contents 0 and 1 are kept for content 0."""
    kept = numbers(0, 0, -1, -1)
    keep.sweep(kept, [(1, [3]), (2, [0, 1])])
    assert kept.tolist() == [0, 0, 2, -1]


# Contents 0 and 1 are a cluster that keeps 1. 2 has two documents, 3 has one.
KEPT = numbers(1, 1, 2, 3)
KEYS = numbers(10, 11, 12, 13)
DOCUMENTS = Ranked(
    rows=numbers(0, 1, 1, 2, 2, 3),
    doc_keys=numbers(5, 7, 8, 1, 6, 2),
    ranks=numbers(3, 2, 1, 5, 4, 0),
    best=numbers(3, 1, 4, 0),
)


def test_clusters_are_arranged_by_size_with_the_kept_document_first() -> None:
    clusters = arrange(KEPT, KEYS, DOCUMENTS, 2, None)
    assert clusters.offsets.tolist() == [0, 3, 5]
    assert clusters.doc_keys.tolist() == [8, 5, 7, 6, 1]
    assert clusters.content_keys.tolist() == [11, 10, 11, 12, 12]
    assert clusters.first_keys.tolist() == [5, 1]
    assert len(clusters) == 2


def test_one_of_the_clusters_has_its_first_documents() -> None:
    clusters = arrange(KEPT, KEYS, DOCUMENTS, 2, None, "containment")
    for most, doc_keys, content_keys in (
        (None, [6, 1], [12, 12]),
        (1, [6], [12]),
        (2, [6, 1], [12, 12]),
        (9, [6, 1], [12, 12]),
    ):
        one = clusters.chosen(1, most)
        assert (one.doc_keys.tolist(), one.content_keys.tolist()) == (doc_keys, content_keys)
        assert (one.offsets.tolist(), one.first_keys.tolist(), one.measure) == ([0, len(doc_keys)], [1], "containment")
    assert clusters.chosen(0, 2).doc_keys.tolist() == [8, 5]
    assert clusters.chosen(0).offsets.tolist() == [0, 3]


def test_small_clusters_and_those_beyond_the_limit_are_left_out() -> None:
    assert arrange(KEPT, KEYS, DOCUMENTS, 3, None).first_keys.tolist() == [5]
    assert arrange(KEPT, KEYS, DOCUMENTS, 2, 1).first_keys.tolist() == [5]
    assert arrange(KEPT, KEYS, DOCUMENTS, 4, None).doc_keys.tolist() == []


def test_clusters_of_one_size_come_in_the_order_of_their_first_documents() -> None:
    kept = numbers(0, 1, 2)
    documents = Ranked(
        numbers(0, 0, 1, 1, 2, 2), numbers(5, 6, 1, 9, 3, 4), numbers(0, 1, 2, 3, 4, 5), numbers(0, 2, 4)
    )
    assert arrange(kept, numbers(1, 2, 3), documents, 2, None).first_keys.tolist() == [1, 3, 5]


def test_the_other_documents_of_a_large_cluster_come_in_the_order_they_were_added() -> None:
    keys = np.random.default_rng(1).permutation(200)
    ranks = np.where(keys == 123, 0, keys + 1)
    documents = Ranked(np.arange(200) % 2, keys, ranks, np.array([ranks[::2].min(), ranks[1::2].min()]))
    best = int(np.flatnonzero(keys == 123)[0] % 2)
    clusters = arrange(numbers(best, best), numbers(7, 8), documents, 2, None)
    expected = [123, *(key for key in range(200) if key != 123)]
    assert clusters.doc_keys.tolist() == expected
