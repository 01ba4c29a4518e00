"""How many of the pairs that share a bucket are near-duplicates: what LSH alone, without a verification, gets wrong.

The estimate comes from a random sample of bucket-mates. A pair that shares m buckets is drawn m times as often as one
that shares one, so it counts 1/m. Limitation: pairs whose text is gone are left out, as if they were like the others.
Costs two passes over the buckets, and the texts of the sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.linking.comparison import Contents, compare, contents_of
from lshdb.linking.rereading import spool_lost
from lshdb.model.params import Params
from lshdb.model.reports import CandidatePrecision
from lshdb.model.values import CandidatePairs, VerifiedPairs
from lshdb.readers import ReadOptions
from lshdb.sketch.banding import band_keys
from lshdb.store.tables import samples
from lshdb.store.transaction import Transaction

__all__ = ["candidate_precision", "wilson_interval"]

# Bucket-mates that are drawn: an interval of 3 points on either side.
SAMPLED_MATES: Final = 1_000

# Of the standard normal distribution: 95 of 100 intervals hold the truth.
Z_95: Final = 1.959964


def candidate_precision(
    snapshot: Transaction, params: Params, options: ReadOptions, chance: np.random.Generator
) -> CandidatePrecision:
    """The share of the candidate pairs whose exact similarity is at least the index's `min_sim`."""
    sizes = [samples.num_bucket_pairs(snapshot, band) for band in params.banding.numbers]
    drawn = _drawn(sum(sizes), chance)
    candidates, times = np.unique(_mates(snapshot, params, sizes, drawn), axis=0, return_counts=True)
    pairs, shared = _compared(snapshot, CandidatePairs(candidates), params, options)
    weights = times[pairs.exact] / shared[pairs.exact]
    is_near = pairs.similarity[pairs.exact] >= params.min_sim
    is_all = len(drawn) == sum(sizes) and bool(pairs.exact.all())
    return _precision(params.min_sim, len(candidates), weights, is_near, is_all=is_all)


def wilson_interval(share: float, size: float) -> tuple[float, float]:
    """The 95 % interval of a share that a random sample of that size shows; it is never a point.

    Source: Wilson 1927, Probable inference, the law of succession, and statistical inference.
    """
    centre = (share + Z_95**2 / (2 * size)) / (1 + Z_95**2 / size)
    half = Z_95 / (1 + Z_95**2 / size) * sqrt(share * (1 - share) / size + Z_95**2 / (4 * size**2))
    return max(0.0, centre - half), min(1.0, centre + half)


def _precision(
    min_sim: float, num_sampled: int, weights: NDArray[np.float64], is_near: NDArray[np.bool_], *, is_all: bool
) -> CandidatePrecision:
    if not len(weights):
        return CandidatePrecision(min_sim, num_sampled, 0, None, None, None, is_all)
    share = float(weights[is_near].sum() / weights.sum())
    # The effective size of a weighted sample. Source: Kish 1965, Survey sampling.
    size = float(weights.sum() ** 2 / (weights**2).sum())
    low, high = (share, share) if is_all else wilson_interval(share, size)
    return CandidatePrecision(min_sim, num_sampled, len(weights), share, low, high, is_all)


def _drawn(number: int, chance: np.random.Generator) -> NDArray[np.int64]:
    """Ranks of bucket-mates in [0, number), int64, ascending, none twice; all of them where they are few."""
    if number <= SAMPLED_MATES:
        return np.arange(number)
    return np.unique(chance.integers(0, number, SAMPLED_MATES))


def _mates(snapshot: Transaction, params: Params, sizes: list[int], drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """The pairs of contents of these ranks, int64, shape (n, 2), left < right, a pair again for each further bucket.

    Ranks count the pairs bucket by bucket, in the order of the bands.
    """
    picks = [np.empty((0, 4), dtype=np.int64)]
    for band, begin, size in zip(params.banding.numbers, np.cumsum([0, *sizes]).tolist(), sizes, strict=False):
        mine = drawn[(drawn >= begin) & (drawn < begin + size)] - begin
        picks += _picked(snapshot, band, mine) if len(mine) else []
    return _contents_picked(snapshot, np.concatenate(picks))


def _picked(snapshot: Transaction, band: int, ranks: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """(band, bucket_hash, place of the left content, of the right one) of the pairs of these ranks in a band."""
    passed = 0
    for block in samples.bucket_sizes(snapshot, band):
        ends = passed + np.cumsum(block[:, 1] * (block[:, 1] - 1) // 2)
        mine = ranks[(ranks >= passed) & (ranks < ends[-1])]
        rows = np.searchsorted(ends, mine, side="right")
        starts = np.append(passed, ends)[rows]
        left, right = _places(mine - starts)
        yield np.column_stack([np.full(len(mine), band), block[rows, 0], left, right])
        passed = int(ends[-1])


def _places(ranks: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The two places of the pair of each rank, where (0, 1), (0, 2), (1, 2), (0, 3) ... are ranks 0, 1, 2, 3 ..."""
    right = np.floor((1 + np.sqrt(1 + 8.0 * ranks)) / 2).astype(np.int64)
    # The root of a large rank may be off by one.
    right = right - (right * (right - 1) // 2 > ranks) + ((right + 1) * right // 2 <= ranks)
    return ranks - right * (right - 1) // 2, right


def _contents_picked(snapshot: Transaction, picks: NDArray[np.int64]) -> NDArray[np.int64]:
    """The contents at those places of their buckets, int64, shape (n, 2)."""
    wanted: dict[tuple[int, int], dict[int, int]] = {}
    for band, bucket_hash, left, right in picks.tolist():
        wanted.setdefault((band, bucket_hash), {}).update({left: -1, right: -1})
    place, current = 0, (-1, 0)
    buckets = np.asarray(sorted(wanted), dtype=np.int64).reshape(-1, 2)
    blocks = samples.bucket_contents(snapshot, buckets[:, 0], buckets[:, 1])
    for band, bucket_hash, content_key in chain.from_iterable(block.tolist() for block in blocks):
        place = place + 1 if (band, bucket_hash) == current else 0
        current = (band, bucket_hash)
        if place in wanted[current]:
            wanted[current][place] = content_key
    pairs = [(wanted[band, hashed][left], wanted[band, hashed][right]) for band, hashed, left, right in picks.tolist()]
    return np.asarray(pairs, dtype=np.int64).reshape(-1, 2)


def _compared(
    snapshot: Transaction, candidates: CandidatePairs, params: Params, options: ReadOptions
) -> tuple[VerifiedPairs, NDArray[np.int64]]:
    """The candidates with their exact similarity where it can be known, and how many buckets each shares."""
    contents = contents_of(snapshot, candidates.keys, params)
    if not params.keep_text:
        spool_lost(snapshot, params, options, contents.keys)
    unsure = VerifiedPairs.estimated(candidates.keys, np.zeros(len(candidates)))
    pairs = compare(snapshot, contents, unsure, params, spooled=not params.keep_text)
    return pairs, _num_shared(contents, candidates, params)


def _num_shared(contents: Contents, candidates: CandidatePairs, params: Params) -> NDArray[np.int64]:
    keys = band_keys(contents.signatures, params.banding).keys
    rows = contents.rows(candidates.keys)
    shared: NDArray[np.int64] = np.count_nonzero(keys[rows[:, 0]] == keys[rows[:, 1]], axis=1)
    return shared
