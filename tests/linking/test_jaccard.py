"""Exact similarities, and the least number of equal minima."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lshdb.errors import InvalidParams
from lshdb.linking.jaccard import containment, groups, intersections, jaccard, jaccard_with_first, min_agreement
from lshdb.model.arrays import distinct
from lshdb.model.params import Params
from lshdb.model.values import ShingleSets
from lshdb.sketch.sketch import shingle_sets

words = st.lists(st.sampled_from(["a", "b", "c", "\u0627\u0644", "\u4e2d"]), max_size=25)


def similarity(one: str, other: str, params: Params) -> float:
    sets = shingle_sets([one, other], params)
    return float(jaccard(sets, np.array([0]), np.array([1]))[0])


def grams(tokens: list[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(tokens[i : i + size]) for i in range(max(len(tokens) - size + 1, min(1, len(tokens))))]


@settings(max_examples=200, deadline=None)
@given(words, words, st.integers(1, 4))
def test_jaccard_is_that_of_the_sets_of_token_tuples(one: list[str], other: list[str], size: int) -> None:
    left, right = set(grams(one, size)), set(grams(other, size))
    expected = len(left & right) / len(left | right) if left | right else 0.0
    assert similarity(" ".join(one), " ".join(other), Params(shingle=f"word:{size}")) == expected


@settings(max_examples=200, deadline=None)
@given(st.text("ab ", max_size=30), st.text("ab ", max_size=30), st.integers(1, 4))
def test_char_jaccard_is_that_of_the_sets_of_substrings(one: str, other: str, size: int) -> None:
    left, right = (set(grams(list(" ".join(text.split())), size)) for text in (one, other))
    expected = len(left & right) / len(left | right) if left | right else 0.0
    assert similarity(one, other, Params(shingle=f"char:{size}")) == expected


@settings(max_examples=200, deadline=None)
@given(words, words, st.integers(1, 3))
def test_multiset_jaccard_is_the_bag_jaccard(one: list[str], other: list[str], size: int) -> None:
    left, right = Counter(grams(one, size)), Counter(grams(other, size))
    expected = (left & right).total() / (left | right).total() if left | right else 0.0
    assert similarity(" ".join(one), " ".join(other), Params(shingle=f"word:{size}", multiset=True)) == expected


def test_many_pairs_are_computed_at_once() -> None:
    sets = shingle_sets(["a b c", "b c d", "", "x"], Params(shingle="word:1"))
    similarities = jaccard(sets, np.array([0, 0, 0, 2, 1]), np.array([0, 1, 2, 2, 3]))
    assert similarities.dtype == np.float64
    assert similarities.tolist() == [1.0, 0.5, 0.0, 0.0, 0.0]


@settings(max_examples=100, deadline=None)
@given(st.lists(words, min_size=1, max_size=6))
def test_the_first_of_some_sets_is_compared_with_each_of_the_others(texts: list[list[str]]) -> None:
    sets = shingle_sets([" ".join(one) for one in texts], Params(shingle="word:2"))
    others = np.arange(1, len(texts))
    assert jaccard_with_first(sets).tolist() == jaccard(sets, np.zeros_like(others), others).tolist()


def test_no_pairs_have_no_similarities() -> None:
    none = np.empty(0, np.int64)
    assert jaccard(shingle_sets([], Params()), none, none).tolist() == []


@pytest.mark.parametrize(
    ("num_perm", "percent"), [(1, 50), (10, 50), (100, 50), (100, 80), (128, 90), (100, 5), (300, 99)]
)
@pytest.mark.parametrize("loss", [1e-5, 1e-2])
def test_min_agreement_is_the_exact_binomial_bound(num_perm: int, percent: int, loss: float) -> None:
    p = Fraction(percent, 100)
    terms = [math.comb(num_perm, k) * p**k * (1 - p) ** (num_perm - k) for k in range(num_perm + 1)]
    agreement = min_agreement(num_perm, percent / 100, loss)
    assert sum(terms[:agreement]) <= loss < sum(terms[: agreement + 1])


def test_min_agreement_of_a_hundred_minima_at_one_half_is_29() -> None:
    assert min_agreement(100, 0.5) == 29


def test_min_agreement_at_the_ends() -> None:
    assert min_agreement(100, 1.0) == 100
    assert min_agreement(100, 0.0) == 0
    assert min_agreement(65_536, 0.5) == 32_222
    assert min_agreement(100, 0.5, loss=1.0) == 100


def test_a_similarity_above_one_is_refused() -> None:
    with pytest.raises(InvalidParams, match="similarity"):
        min_agreement(100, 1.1)


@settings(max_examples=200, deadline=None)
@given(words, words, st.integers(1, 4))
def test_containment_is_the_share_of_the_left_set_that_is_in_the_right_one(
    one: list[str], other: list[str], size: int
) -> None:
    left, right = set(grams(one, size)), set(grams(other, size))
    sets = shingle_sets([" ".join(one), " ".join(other)], Params(shingle=f"word:{size}"))
    both = containment(sets, np.array([0, 1]), np.array([1, 0]))
    assert both.tolist() == [len(left & right) / len(side) if side else 0.0 for side in (left, right)]
    shared, sizes = intersections(sets, np.array([0]), np.array([1]))
    assert (shared.tolist(), sizes.tolist()) == ([len(left & right)], [len(left), len(right)])


def test_repeats_in_a_set_do_not_count() -> None:
    hashes = np.array([9, 3, 9, 3, 2**64 - 1, 0, 5, 5, 9, 9], np.uint64)
    sets = ShingleSets(hashes, np.array([0, 4, 4, 7, 10]))
    shared, sizes = intersections(sets, np.array([0, 0, 3]), np.array([1, 3, 2]))
    assert (shared.tolist(), sizes.tolist()) == ([0, 1, 1], [2, 0, 3, 2])


def test_a_set_without_a_pair_is_not_counted() -> None:
    sets = shingle_sets(["a b", "a c", "d"], Params(shingle="word:1"))
    assert intersections(sets, np.array([0]), np.array([1]))[1].tolist() == [2, 2, 0]


def test_a_part_is_contained_in_the_whole_and_not_the_other_way_round() -> None:
    sets = shingle_sets(["a b c", "a b c d e f"], Params(shingle="word:1"))
    assert containment(sets, np.array([0, 1]), np.array([1, 0])).tolist() == [1.0, 0.5]


@pytest.mark.parametrize(
    ("most", "expected"),
    [(19, [[0], [1], [2], [3]]), (50, [[0, 1, 2, 3]])],
)
def test_pairs_of_one_group_have_few_shingles_together_unless_it_is_a_single_pair(
    most: int, expected: list[list[int]]
) -> None:
    num_shingles = np.array([10, 10, 0, 10, 20])
    pairs = np.array([[0, 1], [0, 2], [1, 3], [0, 4]])
    assert sorted(group.tolist() for group in groups(num_shingles, pairs, most)) == expected


@pytest.mark.parametrize("most", [1, 2, 60, 250, 300, 10_000])
def test_each_pair_is_in_one_group(most: int) -> None:
    chance = np.random.default_rng(1)
    num_shingles = chance.integers(0, 100, 50)
    pairs = distinct(chance.integers(0, 2_000, 300))
    pairs = np.column_stack([pairs // 50, pairs % 50])
    found = list(groups(num_shingles, pairs, most))
    assert sorted(np.concatenate(found).tolist()) == list(range(len(pairs)))
    for group in found:
        assert len(group) == 1 or num_shingles[distinct(pairs[group])].sum() <= most
        assert group.tolist() == sorted(group.tolist())


def test_a_set_of_a_large_family_is_in_a_group_for_each_block_and_not_for_each_pair() -> None:
    num_sets, per_group = 120, 30
    pairs = np.stack(np.triu_indices(num_sets, 1), axis=1)
    found = list(groups(np.full(num_sets, 10), pairs, 10 * per_group))
    num_read = sum(len(distinct(pairs[group])) for group in found)
    # 12 blocks of 10 sets: 78 pairs of blocks, of 20 sets at most. Row by row, it was one set for each of 7,140 pairs.
    assert num_read <= 78 * 20


def test_no_pairs_are_no_group() -> None:
    assert list(groups(np.array([10]), np.empty((0, 2), np.int64))) == []
