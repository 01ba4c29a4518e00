"""Moved passages: runs of words that were removed at one place of a text and added at another.

A run is found by words in a row that occur once among the removed words, and once among the added ones. So the time is
linear for any texts. Limitation: a run that consists of nothing but repetitions is not found.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import Match
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["moves"]

# Of the polynomial that is the hash of a window, modulo 2**64; odd.
BASE: Final = np.uint64(0x9E3779B97F4A7C15)
# Stand for words that cannot move. They differ, so that no run contains them.
LEFT, RIGHT = -1, -2


def moves(left: NDArray[np.int64], right: NDArray[np.int64], matches: Sequence[Match], size: int) -> list[Match]:
    """Return the runs of at least `size` words that were removed at one place and added at another.

    Args:
        left, right: word ids, int64, shape (n,) and (m,).
        matches: the runs of equal words that are at the same place in both.

    Returns: runs in the order of the left text. They overlap neither each other nor the matches.
    """
    removed, added = left.copy(), right.copy()
    for match in matches:
        removed[match.a : match.a + match.size] = LEFT
        added[match.b : match.b + match.size] = RIGHT
    ours, theirs, found = removed.tolist(), added.tolist(), list[Match]()
    for one, other in _places(removed, added, size):
        run = _grown(ours, theirs, one, other)
        if run.size >= size:
            ours[run.a : run.a + run.size] = [LEFT] * run.size
            theirs[run.b : run.b + run.size] = [RIGHT] * run.size
            found.append(run)
    return sorted(found)


def _places(removed: NDArray[np.int64], added: NDArray[np.int64], size: int) -> list[tuple[int, int]]:
    """Return where windows begin that occur once on each side, in the order of the left text.

    Two windows may have the same hash by chance.
    """
    ours, our_places = _single(removed, size)
    theirs, their_places = _single(added, size)
    _, mine, yours = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
    return sorted(zip(our_places[mine].tolist(), their_places[yours].tolist(), strict=True))


def _single(words: NDArray[np.int64], size: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the hashes of the windows that occur once, ascending, and where they begin."""
    count = max(0, len(words) - size + 1)
    hashes = np.zeros(count, dtype=np.uint64)
    for place in range(size):
        hashes = hashes * BASE + words[place : place + count].astype(np.uint64)
    found, places, counts = np.unique(hashes, return_index=True, return_counts=True)
    return found[counts == 1], places[counts == 1]


def _grown(ours: list[int], theirs: list[int], one: int, other: int) -> Match:
    """Return the longest run of equal words around two places, which is empty if their words differ."""
    begin, end = 0, 0
    while end < min(len(ours) - one, len(theirs) - other) and ours[one + end] == theirs[other + end]:
        end += 1
    while begin < min(one, other) and end and ours[one - begin - 1] == theirs[other - begin - 1]:
        begin += 1
    return Match(one - begin, other - begin, begin + end)
