"""Recall from a sample: known intervals, and their coverage."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from numpy.typing import NDArray

from lshdb.tuning.intervals import CONFIDENCE, _clopper_pearson, recall_of

ONE_EACH = np.ones(300, np.int64)


def binomial(there: int, share: float, least: int, most: int) -> float:
    return sum(comb(there, k) * share**k * (1 - share) ** (there - k) for k in range(least, most + 1))


@pytest.mark.parametrize(("found", "there"), [(5, 10), (1, 20), (90, 100), (999, 1_000)])
def test_each_end_of_the_interval_is_where_what_was_found_is_as_rare_as_it_may_be(found: int, there: int) -> None:
    low, high = _clopper_pearson(found, there)
    assert binomial(there, low, found, there) == pytest.approx(0.005)
    assert binomial(there, high, 0, found) == pytest.approx(0.005)


def test_where_all_is_found_the_lower_end_is_what_would_still_show_it_once_in_a_hundred() -> None:
    estimate = recall_of(ONE_EACH, ONE_EACH, 10_000)
    assert (estimate.share, estimate.high) == (1.0, 1.0)
    assert estimate.low**300 == pytest.approx(0.01)


def test_where_nothing_is_found_the_upper_end_is_the_mirror_image() -> None:
    estimate = recall_of(0 * ONE_EACH, ONE_EACH, 10_000)
    assert (estimate.share, estimate.low) == (0.0, 0.0)
    assert (1 - estimate.high) ** 300 == pytest.approx(0.01)


def test_pairs_of_one_large_cluster_are_not_worth_their_number() -> None:
    there = np.array([1_000, *[1] * 50])
    assert recall_of(there, there, 10_000).low < 0.02
    assert recall_of(ONE_EACH[:51], ONE_EACH[:51], 10_000).low > 0.9


def test_a_sample_of_everything_leaves_no_doubt() -> None:
    there, found = np.array([3, 0, 5]), np.array([3, 0, 2])
    assert recall_of(found, there, 3) == recall_of(found, there, 2)
    assert (recall_of(found, there, 3).low, recall_of(found, there, 3).high) == (0.625, 0.625)


def test_without_a_pair_nothing_is_known() -> None:
    estimate = recall_of(np.zeros(5, np.int64), np.zeros(5, np.int64), 100)
    assert (estimate.share, estimate.low, estimate.high) == (None, 0.0, 1.0)


def clustered(chance: np.random.Generator, recall: float, apart: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (found, total) of each content with earlier ones, in clusters that are found more or less completely."""
    found, there = [], []
    for _ in range(1_500):
        size = int(min(80, chance.pareto(1.2) + 1))
        share = chance.beta(recall / apart, (1 - recall) / apart) if apart else recall
        found += np.tril(chance.random((size, size)) < share, -1).sum(axis=1).tolist()
        there += range(size)
    return np.array(found), np.array(there)


@pytest.mark.slow
@pytest.mark.parametrize("recall", [0.5, 0.9, 0.99, 0.9996])
@pytest.mark.parametrize("apart", [0.0, 0.2, 0.9])
def test_the_interval_holds_the_truth_as_often_as_it_says(recall: float, apart: float) -> None:
    chance = np.random.default_rng(20241108)
    found, there = clustered(chance, recall, apart)
    truth = found.sum() / there.sum()
    covered, repetitions = 0, 200
    for _ in range(repetitions):
        probes = chance.choice(len(there), 400, replace=False)
        estimate = recall_of(found[probes], there[probes], len(there))
        covered += estimate.low <= truth <= estimate.high
    # Four standard errors below the claim.
    assert covered >= repetitions * CONFIDENCE - 4 * (repetitions * CONFIDENCE * (1 - CONFIDENCE)) ** 0.5
