"""Bucket hashes, and how often a pair shares one."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from lshdb.errors import InvalidParams
from lshdb.model.params import Banding, Permutations, Scheme
from lshdb.model.values import ShingleSets, Signatures
from lshdb.sketch.banding import band_keys
from lshdb.sketch.minhash import sign

# Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, section 3.4.2: 1-(1-s^5)^20.
CURVE = [(0.2, 0.006), (0.3, 0.047), (0.4, 0.186), (0.5, 0.470), (0.6, 0.802), (0.7, 0.975), (0.8, 0.9996)]


def signatures(*minima: list[int]) -> Signatures:
    return Signatures(np.array(minima, np.uint32), "fss1")


def test_signatures_that_agree_on_a_band_share_its_key_and_no_other() -> None:
    one, other = band_keys(signatures([1, 2, 3, 4, 5, 6], [1, 2, 3, 9, 5, 6]), Banding(3, 2)).keys
    assert (one == other).tolist() == [True, False, True]


def test_the_same_minima_in_another_band_have_another_key() -> None:
    keys = band_keys(signatures([7, 8, 7, 8]), Banding(2, 2)).keys
    assert keys[0, 0] != keys[0, 1]


def test_the_order_of_minima_in_a_band_matters() -> None:
    keys = band_keys(signatures([7, 8], [8, 7]), Banding(1, 2)).keys
    assert keys[0, 0] != keys[1, 0]


def test_keys_are_64_bit_and_do_not_collide() -> None:
    minima = np.arange(200_000, dtype=np.uint32).reshape(-1, 1)
    keys = band_keys(Signatures(minima, "fss1"), Banding(1, 1)).keys
    assert keys.dtype == np.uint64
    assert len(np.unique(keys)) == 200_000


def test_keys_of_fss2_have_47_bits_and_do_not_collide() -> None:
    minima = np.arange(65_536, dtype=np.uint32).reshape(-1, 1)
    keys = band_keys(Signatures(minima, "fss2"), Banding(1, 1)).keys
    assert 2**46 <= int(keys.max()) < 2**47
    assert len(np.unique(keys)) == 65_536


def test_bands_that_need_more_minima_than_the_signature_has_are_refused() -> None:
    with pytest.raises(InvalidParams, match="num_perm is 6"):
        band_keys(signatures([1, 2, 3, 4, 5, 6]), Banding(2, 4))


def test_minima_after_the_last_band_make_no_bucket() -> None:
    all_bands = band_keys(signatures([1, 2, 3, 4, 5, 6]), Banding(3, 2)).keys
    some_bands = band_keys(signatures([1, 2, 3, 4, 9, 9]), Banding(2, 2)).keys
    assert some_bands.tolist() == all_bands[:, :2].tolist()


@pytest.mark.parametrize(("similarity", "probability"), CURVE)
def test_the_candidate_probability_is_the_textbook_curve(similarity: float, probability: float) -> None:
    digits = 4 if probability > 0.99 else 3
    assert round(Banding(20, 5).candidate_probability(similarity), digits) == probability


@pytest.mark.parametrize("scheme", get_args(Scheme))
@pytest.mark.parametrize("similarity", [similarity for similarity, _ in CURVE])
def test_pairs_become_candidates_as_often_as_the_curve_says(scheme: Scheme, similarity: float) -> None:
    count, union = 3000, 1000
    shared = round(similarity * union)
    size = (union + shared) // 2
    random = np.random.default_rng(round(10 * similarity))
    left, right = random.integers(0, 2**64, (2, count, size), np.uint64)
    right[:, :shared] = left[:, :shared]
    offsets, permutations, banding = np.arange(count + 1) * size, Permutations(scheme, 100, 1), Banding(20, 5)
    one, other = (
        band_keys(sign(ShingleSets(hashes.ravel(), offsets), permutations), banding).keys for hashes in (left, right)
    )
    probability = banding.candidate_probability(similarity)
    frequency = np.mean(np.any(one == other, axis=1))
    assert abs(frequency - probability) <= 4 * np.sqrt(probability * (1 - probability) / count)
