"""The order in which candidate pairs are computed: pairs of the same contents one after the other.

What pairs connect is a family. In the order of their keys the pairs of a family lie as far apart as the nights that
brought its versions, and each of their texts was read and cut again for every part that has a pair of it: 8 times of a
million texts of 25 versions. Memory is 32 bytes a content that has candidates; the pairs are spilled as before.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np
from numpy.typing import NDArray

from lshdb.clustering import Rows, components
from lshdb.model.values import CandidatePairs
from lshdb.occurrences import Occurrences

__all__ = ["by_family"]


def by_family(candidates: Occurrences, given: Callable[[float], None]) -> Generator[CandidatePairs, None, None]:
    """Every pair once, left < right: family by family, and within a family in the order of their right content.

    A generator to be closed: that closes its file.

    Args: given: hears the share that is given out.
    Raises: SpillFailed: the disk is full.
    """
    keys = _by_family(candidates)
    order = np.argsort(keys)
    rows = Rows(keys[order])
    with Occurrences(len(keys)) as ranked:
        for part in candidates.parts():
            ranked.add(order[rows.of(part.keys)])
        for part in ranked.parts():
            yield CandidatePairs(keys[part.keys])
            given(ranked.share)


def _by_family(candidates: Occurrences) -> NDArray[np.int64]:
    """The contents of the pairs, int64, shape (n,): family by family, ascending within each."""
    is_there = np.zeros(candidates.last_key + 1, dtype=np.bool_)
    for part in candidates.parts():
        is_there[part.keys] = True
    keys = np.flatnonzero(is_there)
    families = components(Rows(keys), len(keys), (part.keys for part in candidates.parts()))
    return keys[np.argsort(families, kind="stable")]
