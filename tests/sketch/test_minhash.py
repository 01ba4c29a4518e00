"""Signatures: the textbook example, what changes a signature, and the error of the estimate."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lshdb.errors import InvalidParams
from lshdb.linking.jaccard import jaccard
from lshdb.model.choices import MINIMUM_BYTES
from lshdb.model.params import Permutations, Scheme
from lshdb.model.values import ShingleSets, Signatures
from lshdb.sketch.minhash import estimate, sign

SCHEMES = get_args(Scheme)

each_scheme = pytest.mark.parametrize("scheme", SCHEMES)


def sets_of(*lists: list[int]) -> ShingleSets:
    return ShingleSets(
        np.array([number for numbers in lists for number in numbers], np.uint64),
        np.cumsum([0, *map(len, lists)], dtype=np.int64),
    )


def rows(signatures: Signatures, *indices: int) -> Signatures:
    return Signatures(signatures.minima[list(indices)], signatures.scheme)


def random_pairs(size: int, shared: int, count: int, seed: int) -> tuple[ShingleSets, ShingleSets]:
    """Pairs of random sets of one size, of which `shared` elements are shared."""
    random = np.random.default_rng(seed)
    left, right = random.integers(0, 2**64, (2, count, size), np.uint64)
    right[:, :shared] = left[:, :shared]
    offsets = np.arange(count + 1) * size
    return ShingleSets(left.ravel(), offsets), ShingleSets(right.ravel(), offsets)


# Leskovec, Rajaraman, Ullman, the slides of Mining of Massive Datasets, Finding similar items: three permutations of
# seven rows, and the four documents as the rows they hold.
PERMUTATIONS = np.array([(2, 3, 7, 6, 1, 5, 4), (4, 2, 1, 3, 6, 7, 5), (3, 4, 7, 2, 6, 1, 5)])
DOCUMENTS = sets_of([1, 2, 6, 7], [3, 4, 5], [1, 6, 7], [2, 3, 4, 5])


def minima_of(features: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return MinHash by its definition: for each permutation, the least place that it gives a feature of the set."""
    least: NDArray[np.int64] = PERMUTATIONS[:, features.astype(np.int64) - 1].min(axis=1)
    return least


def textbook_signatures() -> Signatures:
    sets = np.split(DOCUMENTS.hashes, DOCUMENTS.offsets[1:-1])
    return Signatures(np.array([minima_of(features) for features in sets], np.uint32), "fss1")


def test_the_textbook_signature_matrix_is_2121_2141_1212() -> None:
    assert textbook_signatures().minima.T.tolist() == [[2, 1, 2, 1], [2, 1, 4, 1], [1, 2, 1, 2]]


@pytest.mark.parametrize(
    ("left", "right", "estimated", "exact"), [(1, 3, 2 / 3, 0.75), (2, 4, 1, 0.75), (1, 2, 0, 0), (3, 4, 0, 0)]
)
def test_the_textbook_pairs_have_their_similarities(left: int, right: int, estimated: float, exact: float) -> None:
    signatures = textbook_signatures()
    assert estimate(rows(signatures, left - 1), rows(signatures, right - 1)).tolist() == [estimated]
    assert jaccard(DOCUMENTS, np.array([left - 1]), np.array([right - 1])).tolist() == [exact]


@each_scheme
@pytest.mark.parametrize("num_perm", [1, 2, 7, 100, 300])
def test_a_signature_has_one_minimum_per_permutation(scheme: Scheme, num_perm: int) -> None:
    signatures = sign(sets_of([1, 2, 3], [], [4]), Permutations(scheme, num_perm, 1))
    assert signatures.minima.shape == (3, num_perm)
    assert signatures.minima.dtype == np.uint32
    assert signatures.scheme == scheme


def test_fss2_keeps_the_low_bits_of_fss1() -> None:
    sets = sets_of([1, 2, 3], list(range(500)))
    short, long = (sign(sets, Permutations(scheme, 100, 1)).minima for scheme in ("fss2", "fss1"))
    np.testing.assert_array_equal(short, long & 0xFFFF)


@each_scheme
def test_signatures_are_read_as_they_are_stored(scheme: Scheme) -> None:
    permutations = Permutations(scheme, 100, 1)
    signatures = sign(sets_of([1, 2, 3], [4, 5]), permutations)
    stored = signatures.stored.tobytes()
    assert len(stored) == 2 * 100 * MINIMUM_BYTES[scheme]
    read = Signatures.read(stored, permutations)
    np.testing.assert_array_equal(read.minima, signatures.minima)
    assert (read.scheme, read.minima.dtype) == (scheme, np.uint32)


@each_scheme
def test_the_signature_of_an_empty_set_is_all_ones(scheme: Scheme) -> None:
    assert sign(sets_of([]), Permutations(scheme, 4, 1)).minima.tolist() == [[256 ** MINIMUM_BYTES[scheme] - 1] * 4]


@each_scheme
@settings(max_examples=100, deadline=None)
@given(numbers=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=30), data=st.data())
def test_neither_order_nor_repeats_change_a_signature(scheme: Scheme, numbers: list[int], data: st.DataObject) -> None:
    repeated = data.draw(st.permutations(numbers + data.draw(st.lists(st.sampled_from(numbers), max_size=20))))
    one, other = sign(sets_of(numbers, repeated), Permutations(scheme, 20, 3)).minima
    np.testing.assert_array_equal(one, other)


@each_scheme
def test_another_seed_gives_another_signature(scheme: Scheme) -> None:
    one, other = (sign(sets_of([1, 2, 3]), Permutations(scheme, 64, seed)).minima for seed in (1, 2))
    assert not np.any(one == other)


@each_scheme
def test_consecutive_numbers_are_estimated_as_well_as_random_ones(scheme: Scheme) -> None:
    # Features hashed badly, or not at all, must not break the estimate: 2,000 pairs of ranges with J = 1/3.
    starts = range(0, 200_000, 100)
    left, right = (
        sign(
            sets_of(*[list(range(start + shift, start + shift + 100)) for start in starts]),
            Permutations(scheme, 100, 1),
        )
        for shift in (0, 50)
    )
    mean = estimate(left, right).mean()
    # The pairs share one family of functions: its 100 draws are the sample, not the pairs.
    assert abs(mean - 1 / 3) <= 4 * np.sqrt((1 / 3) * (2 / 3) / 100)


@each_scheme
@pytest.mark.parametrize("size", [10, 30, 100, 1000])
@pytest.mark.parametrize("shared", [0.2, 0.6, 0.9])
def test_the_estimate_is_unbiased_and_its_error_not_above_the_theory(scheme: Scheme, size: int, shared: float) -> None:
    num_perm, count = 100, 3000
    num_shared = round(shared * size)
    left, right = random_pairs(size, num_shared, count, seed=size)
    similarity = num_shared / (2 * size - num_shared)
    permutations = Permutations(scheme, num_perm, 1)
    errors = estimate(sign(left, permutations), sign(right, permutations)) - similarity
    variance = similarity * (1 - similarity) / num_perm
    assert abs(errors.mean()) <= 4 * np.sqrt(variance / count)
    # A mean square of `count` nearly normal errors has the relative standard error sqrt(2 / count).
    assert np.mean(errors**2) <= variance * (1 + 4 * np.sqrt(2 / count))


def test_fss1_is_more_exact_than_independent_permutations_on_small_sets() -> None:
    left, right = random_pairs(30, 20, 3000, seed=5)
    permutations = Permutations("fss1", 100, 1)
    errors = estimate(sign(left, permutations), sign(right, permutations)) - 0.5
    assert np.sqrt(np.mean(errors**2)) < 0.04 < np.sqrt(0.25 / 100)


@each_scheme
def test_large_sets_are_not_overestimated(scheme: Scheme) -> None:
    # 32-bit hash values make minima of large sets equal by chance (datasketch #212).
    left, right = random_pairs(1_000_000, 0, 1, seed=9)
    permutations = Permutations(scheme, 1000, 1)
    assert estimate(sign(left, permutations), sign(right, permutations)).tolist() == [0.0]


@each_scheme
def test_more_permutations_than_shingles_are_no_problem(scheme: Scheme) -> None:
    left, right = random_pairs(100, 50, 20, seed=3)
    permutations = Permutations(scheme, 10_000, 1)
    errors = estimate(sign(left, permutations), sign(right, permutations)) - 1 / 3
    assert np.abs(errors).max() <= 4 * np.sqrt((1 / 3) * (2 / 3) / 10_000)


def test_signatures_that_do_not_compare_are_refused() -> None:
    one = sign(sets_of([1]), Permutations("fss1", 4, 1))
    with pytest.raises(InvalidParams, match="scheme"):
        estimate(one, sign(sets_of([1]), Permutations("universal", 4, 1)))
    with pytest.raises(InvalidParams, match="shape"):
        estimate(one, sign(sets_of([1]), Permutations("fss1", 5, 1)))
