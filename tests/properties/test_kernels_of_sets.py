"""The compiled kernels from shingles to buckets and similarities equal their references."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lshdb.sketch import kernels
from lshdb.sketch.kernels import reference
from tests.properties.strategies import ragged, rows

num_perms = st.one_of(st.integers(1, 8), st.integers(1, 300))
seeds = st.integers(0, 2**63 - 1)


@settings(max_examples=300, deadline=None)
@given(rows)
def test_compiled_numbering_of_occurrences_equals_the_reference(lists: list[list[int]]) -> None:
    hashes, offsets = ragged(lists)
    expected = reference.number_occurrences(hashes, offsets)
    np.testing.assert_array_equal(kernels.number_occurrences(hashes, offsets), expected)


@settings(max_examples=150, deadline=None)
@given(rows, num_perms, seeds)
def test_compiled_fss1_minima_equal_the_reference(lists: list[list[int]], num_perm: int, seed: int) -> None:
    hashes, offsets = ragged(lists)
    numbers = np.random.default_rng(seed).integers(0, 2**64, 2 * num_perm, np.uint64)
    expected = reference.fss1_minima(hashes, offsets, numbers, num_perm)
    np.testing.assert_array_equal(kernels.fss1_minima(hashes, offsets, numbers, num_perm), expected)


@settings(max_examples=150, deadline=None)
@given(rows, num_perms, seeds)
def test_compiled_universal_minima_equal_the_reference(lists: list[list[int]], num_perm: int, seed: int) -> None:
    hashes, offsets = ragged(lists)
    multipliers, addends = np.random.default_rng(seed).integers(0, 2**64, (2, num_perm), np.uint64)
    multipliers |= np.uint64(1)
    expected = reference.universal_minima(hashes, offsets, multipliers, addends)
    np.testing.assert_array_equal(kernels.universal_minima(hashes, offsets, multipliers, addends), expected)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 4), st.integers(1, 12), st.integers(1, 12), seeds)
def test_compiled_band_hashes_equal_the_reference(count: int, bands: int, size: int, seed: int) -> None:
    minima = np.random.default_rng(seed).integers(0, 2**32, (count, bands * size), np.uint32)
    expected = reference.band_hashes(minima, bands, size)
    np.testing.assert_array_equal(kernels.band_hashes(minima, bands, size), expected)


@settings(max_examples=300, deadline=None)
@given(rows.filter(len), st.data(), seeds, st.sampled_from([1, 7, 1 << 20]), st.sampled_from([0, 3, 1 << 30]))
def test_compiled_intersections_equal_the_reference(
    lists: list[list[int]], data: st.DataObject, seed: int, matrix_words: int, lookup_words: int
) -> None:
    hashes, offsets = ragged(lists)
    texts = np.array(data.draw(st.permutations(range(len(lists)))), np.int64)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(lists)), max_size=3)))
    families = np.array([0, *cuts, len(lists)], np.int64)
    chosen: list[tuple[int, int]] = []
    pair_families = [0]
    for begin, end in pairwise(families.tolist()):
        if begin < end:
            chosen += data.draw(st.lists(st.tuples(*[st.integers(begin, end - 1)] * 2), max_size=10))
        pair_families.append(len(chosen))
    pairs = np.array(chosen, np.int64).reshape(-1, 2).T.copy()
    given = (hashes, offsets, texts, families, pairs, np.array(pair_families, np.int64), np.uint64(2 * seed + 1))
    shared, sizes = kernels.shared_in_families(*given, matrix_words, lookup_words)
    expected = reference.shared_in_families(*given, matrix_words, lookup_words)
    np.testing.assert_array_equal(shared, expected[0])
    np.testing.assert_array_equal(sizes, expected[1])


@settings(max_examples=300, deadline=None)
@given(rows, st.integers(1, 12))
def test_compiled_winnowing_equals_the_reference(lists: list[list[int]], window: int) -> None:
    hashes, offsets = ragged(lists)
    compiled, expected = kernels.winnow(hashes, offsets, window), reference.winnow(hashes, offsets, window)
    np.testing.assert_array_equal(compiled[0], expected[0])
    np.testing.assert_array_equal(compiled[1], expected[1])
