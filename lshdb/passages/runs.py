"""The runs of words that one text shares with another.

Limitation: an N-gram that occurs more often than `MAX_OCCURRENCES` times in the other text is compared at the first of
these places only, and if that makes more than `MAX_PLACES` in all, at still fewer. In a text of nothing but
repetitions, a run may therefore be found in several parts.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.model.arrays import places_within, runs_of

__all__ = ["shared_runs"]

MAX_OCCURRENCES: Final = 64
# 300 MB, and four seconds.
MAX_PLACES: Final = 1 << 22


def shared_runs(grams: NDArray[np.uint64], others: NDArray[np.uint64], num_words: int) -> NDArray[np.int64]:
    """Return the runs of words of a text that occur in another text and cannot be extended there.

    Args:
        grams, others: uint64, the N-grams of both texts in reading order; see `words.ngrams`.
        num_words: N.

    Returns: int64, shape (m, 2): words [start, stop), by both; no run contains another.
    """
    if not len(others):
        return np.empty((0, 2), np.int64)
    ordered = np.argsort(others, kind="stable")
    ascending = others[ordered]
    starts, sizes = runs_of(ascending)
    which = np.minimum(np.searchsorted(ascending[starts], grams), len(starts) - 1)
    first = starts[which]
    counts = np.where(ascending[first] == grams, sizes[which], 0)
    counts = np.minimum(counts, MAX_OCCURRENCES)
    while counts.sum() > MAX_PLACES and counts.max() > 1:
        counts = np.minimum(counts, counts.max() // 2)
    places = np.repeat(np.arange(len(grams)), counts)
    diagonals = ordered[np.repeat(first, counts) + places_within(counts)] - places
    return _maximal(_segments(places, diagonals, num_words))


def _segments(places: NDArray[np.int64], diagonals: NDArray[np.int64], num_words: int) -> NDArray[np.int64]:
    """Return the runs that consist of N-grams at consecutive places of both texts: words [start, stop)."""
    if not len(places):
        return np.empty((0, 2), np.int64)
    order = np.lexsort((places, diagonals))
    places, diagonals = places[order], diagonals[order]
    begins = np.append(True, (places[1:] != places[:-1] + 1) | (diagonals[1:] != diagonals[:-1]))
    ends = np.append(begins[1:], True)
    return np.column_stack([places[begins], places[ends] + num_words])


def _maximal(runs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the runs that no other contains, in order."""
    runs = runs[np.lexsort((-runs[:, 1], runs[:, 0]))]
    furthest = np.maximum.accumulate(runs[:, 1])
    is_new = np.append(True, runs[1:, 1] > furthest[:-1])[: len(runs)]
    maximal: NDArray[np.int64] = runs[is_new]
    return maximal
