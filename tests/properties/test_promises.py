"""The parameters chosen for a similarity and a recall find that share of random pairs, by signatures and buckets."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lshdb.model.params import Params, Scheme
from lshdb.model.values import ShingleSets
from lshdb.sketch.banding import band_keys
from lshdb.sketch.minhash import sign
from lshdb.tuning.choice import params_for_recall

PAIRS = 4_000
# A union of 180 elements: s of them are shared exactly for each s below.
UNION = 180


@pytest.mark.parametrize("scheme", ["fss1", "universal"])
@pytest.mark.parametrize("recall", [0.9, 0.99, 0.999])
@pytest.mark.parametrize("min_sim", [0.5, 0.6, 0.7, 0.8, 0.9])
def test_chosen_parameters_keep_their_promise_on_random_sets(min_sim: float, recall: float, scheme: Scheme) -> None:
    params = params_for_recall(min_sim, recall, scheme=scheme, seed=17)
    assert params.recall >= recall
    found = np.mean(shares_a_bucket(random_pairs(min_sim, seed=5), params))
    assert found >= params.recall - 4 * math.sqrt(params.recall * (1 - params.recall) / PAIRS)
    # And no more bands than necessary.
    assert found <= params.recall + 4 * math.sqrt(params.recall * (1 - params.recall) / PAIRS)


def random_pairs(similarity: float, seed: int) -> ShingleSets:
    """Return sets of which 2i and 2i + 1 have this similarity."""
    shared = round(similarity * UNION)
    assert shared / UNION == pytest.approx(similarity)
    elements = np.random.default_rng(seed).integers(0, 2**64, (PAIRS, UNION), dtype=np.uint64)
    left = shared + (UNION - shared) // 2
    rows = [part for row in elements for part in (row[:left], np.concatenate([row[:shared], row[left:]]))]
    sizes = [len(row) for row in rows]
    return ShingleSets(np.concatenate(rows), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def shares_a_bucket(sets: ShingleSets, params: Params) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    keys = band_keys(sign(sets, params.permutations), params.banding).keys
    return np.asarray((keys[0::2] == keys[1::2]).any(axis=1))
