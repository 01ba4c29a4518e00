"""The compiled comparison of signatures equals its reference."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lshdb.sketch import kernels
from lshdb.sketch.kernels import reference


@settings(deadline=None)
@given(st.integers(0, 9), st.integers(0, 9), st.integers(1, 70), st.integers(0, 2**32 - 1))
def test_the_numbers_of_equal_minima_are_the_references(lefts: int, rights: int, num_perm: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    left = chance.integers(0, 3, (lefts, num_perm), dtype=np.uint32)
    right = chance.integers(0, 3, (rights, num_perm), dtype=np.uint32)
    least = int(chance.integers(1, num_perm + 2))
    counts, found = kernels.agreements(left, right, least)
    expected, pairs = reference.agreements(left, right, least)
    assert (counts.dtype, found.dtype) == (np.int64, np.int64)
    assert counts.tolist() == expected.tolist()
    assert sorted(found.tolist()) == sorted(pairs.tolist())


@settings(deadline=None)
@given(st.integers(0, 9), st.integers(1, 70), st.integers(0, 2**32 - 1))
def test_the_equal_minima_of_pairs_are_the_references(pairs: int, num_perm: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    left, right = chance.integers(0, 3, (2, 5, num_perm), dtype=np.uint32)
    rows = chance.integers(0, 5, (pairs, 2))
    equal = kernels.equal_minima(left, right, rows)
    assert equal.dtype == np.int64
    assert equal.tolist() == reference.equal_minima(left, right, rows).tolist()


def test_two_signatures_agree_where_their_minima_are_equal() -> None:
    left = np.array([[1, 2, 3, 4]], np.uint32)
    right = np.array([[1, 2, 3, 4], [1, 9, 3, 9], [2, 1, 4, 3]], np.uint32)
    counts, found = kernels.agreements(left, right, 2)
    assert counts.tolist() == [1, 0, 1, 0, 1]
    assert found.tolist() == [[0, 0, 4], [0, 1, 2]]


def test_any_number_of_pairs_is_found() -> None:
    alike = np.ones((50, 3), np.uint32)
    counts, found = kernels.agreements(alike, alike, 3)
    assert counts.tolist() == [0, 0, 0, 2500]
    assert len({tuple(pair) for pair in found.tolist()}) == 2500
