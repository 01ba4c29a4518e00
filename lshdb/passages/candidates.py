"""Contents that share fingerprints with a text.

A fingerprint in more contents than the cap of a bucket does not make all of them candidates: boilerplate would make
half of a site candidates of each other. Of the contents that share such fingerprints only, those with the most of them
are candidates, as many as the cap. The others are counted.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.model.arrays import distinct
from lshdb.model.expansion import Expansion
from lshdb.store.tables.entries import Entries

__all__ = ["Candidates", "candidates_among"]


class Candidates(Struct, frozen=True):
    """The contents to compare.

    Args:
        keys: int64, ascending.
        num_left_out: how many contents share frequent fingerprints only and are not among them.
        frequent: uint32, ascending: the fingerprints in more contents than the cap.
    """

    keys: NDArray[np.int64]
    num_left_out: int
    frequent: NDArray[np.uint32]


def candidates_among(entries: Entries, expansion: Expansion) -> Candidates:
    """Return the candidates among contents that share a fingerprint with a text. Args: entries: sorted."""
    hashes, counts = np.unique(entries.hashes, return_counts=True)
    frequent = hashes[expansion.is_oversized(counts)]
    is_frequent = np.isin(entries.hashes, frequent)
    keys = distinct(entries.content_keys[~is_frequent])
    others, shared = np.unique(entries.content_keys[is_frequent], return_counts=True)
    is_new = ~np.isin(others, keys)
    others, shared = others[is_new], shared[is_new]
    best = others[np.argsort(-shared, kind="stable")[: expansion.cap]]
    return Candidates(np.union1d(keys, best), len(others) - len(best), frequent)
