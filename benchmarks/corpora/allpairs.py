"""Find all pairs of sets with an exact Jaccard similarity of at least s, without sampling.

An inverted index over the rarest members of each set proves that most pairs are below s. For the others, the common
members are counted in full.

Source: Chaudhuri, Ganti, Kaushik, A Primitive Operator for Similarity Joins in Data Cleaning (ICDE 2006), the prefix
filter; Bayardo, Ma, Srikant, Scaling Up All Pairs Similarity Search (WWW 2007), the order by size.
Limitation: time grows with the number of similar pairs. Memory does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora.definition import ExactSets, batches, sets_of

# Members gathered at once while counting common members: 32 MB.
MAX_GATHERED: Final = 4_000_000


@dataclass(frozen=True, slots=True)
class Found:
    """The pairs of one set: ``right`` is its row, ``left`` the other rows. Arrays are int64, shape (m,)."""

    left: NDArray[np.int64]
    right: int
    common: NDArray[np.int64]
    united: NDArray[np.int64]

    @property
    def similarity(self) -> NDArray[np.float64]:
        """Jaccard similarities, float64, shape (m,): quotients of exact integers."""
        return self.common / self.united


@dataclass(frozen=True, slots=True)
class Postings:
    """An inverted index. ``keys`` are int64, ascending, each ``member * num_sets + rank``."""

    keys: NDArray[np.int64]
    num_sets: int

    def sharing(self, members: NDArray[np.int64], first: int, stop: int) -> NDArray[np.int64]:
        """Return the ranks in [first, stop) that have any of the members in their prefix, ascending."""
        starts = np.searchsorted(self.keys, members * self.num_sets + first)
        ends = np.searchsorted(self.keys, members * self.num_sets + stop)
        is_shared = np.zeros(max(stop - first, 0), np.bool_)
        is_shared[self.keys[spread(starts, ends - starts)] % self.num_sets - first] = True
        return np.flatnonzero(is_shared) + first


def similar_pairs(sets: ExactSets, min_sim: Fraction) -> Iterator[Found]:
    """Yield every pair of non-empty sets with Jaccard >= min_sim once, grouped by the larger set.

    Args:
        sets: n sets.
        min_sim: in (0, 1]. A fraction, so that 4/5 >= 0.8 does not depend on rounding.
    """
    order = np.argsort(sets.sizes, kind="stable")
    order = order[sets.sizes[order] > 0]
    ranked = by_rarity(sets, order)
    sizes, prefixes = ranked.sizes, prefix_sizes(ranked.sizes, min_sim)
    postings = inverted(ranked, prefixes)
    is_member = np.zeros(sets.bound, np.bool_)
    for rank in range(len(ranked)):
        smallest = int(np.searchsorted(sizes, -(-min_sim.numerator * sizes[rank] // min_sim.denominator)))
        candidates = postings.sharing(ranked[rank][: prefixes[rank]], smallest, rank)
        if len(candidates):
            common = num_common(ranked, candidates, ranked[rank], is_member)
            united = sizes[candidates] + sizes[rank] - common
            near = common * min_sim.denominator >= united * min_sim.numerator
            if near.any():
                yield Found(order[candidates[near]], int(order[rank]), common[near], united[near])


def by_rarity(sets: ExactSets, order: NDArray[np.int64]) -> ExactSets:
    """Return the sets of these rows in this order, with members renumbered from rare to frequent."""
    frequency = np.bincount(sets.members, minlength=sets.bound)
    rarity = np.empty(sets.bound, np.int64)
    rarity[np.argsort(frequency, kind="stable")] = np.arange(sets.bound)
    rank_of_row = np.full(len(sets), -1, np.int64)
    rank_of_row[order] = np.arange(len(order))
    return sets_of(np.repeat(rank_of_row, sets.sizes), rarity[sets.members], num_texts=len(order))


def prefix_sizes(sizes: NDArray[np.int64], min_sim: Fraction) -> NDArray[np.int64]:
    """Return how many of its rarest members a set must share one of with any similar set: n - ceil(s n) + 1."""
    return sizes + min_sim.numerator * -sizes // min_sim.denominator + 1


def inverted(ranked: ExactSets, prefixes: NDArray[np.int64]) -> Postings:
    """Return the inverted index over the first members of each set."""
    ranks = np.repeat(np.arange(len(ranked)), ranked.sizes)
    inside = np.arange(len(ranked.members)) - ranked.offsets[ranks] < prefixes[ranks]
    keys = ranked.members[inside] * len(ranked) + ranks[inside]
    keys.sort()
    return Postings(keys, len(ranked))


def num_common(
    ranked: ExactSets, candidates: NDArray[np.int64], members: NDArray[np.int64], is_member: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return how many of `members` each candidate has. `is_member` is a scratch array, all False before and after."""
    is_member[members] = True
    counts = [
        np.add.reduceat(is_member[gathered(ranked, batch)], starts_of(ranked.sizes[batch]), dtype=np.int64)
        for batch in batches(candidates, ranked.sizes, MAX_GATHERED)
    ]
    is_member[members] = False
    return np.concatenate(counts)


def gathered(ranked: ExactSets, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the members of these rows, concatenated."""
    return ranked.members[spread(ranked.offsets[rows], ranked.sizes[rows])]


def spread(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indices start, start + 1, ... of each range, concatenated."""
    return np.repeat(starts - starts_of(lengths), lengths) + np.arange(lengths.sum())


def starts_of(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each range begins when they are concatenated."""
    return np.cumsum(lengths) - lengths
