"""Find the connected components of pairs, by union-find."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.sketch import kernels

__all__ = ["MAX_SPREAD", "Rows", "components"]


class Rows:
    """Finds the rows of keys in an ascending array of keys, int64, shape (n,)."""

    def __init__(self, keys: NDArray[np.int64]) -> None:
        self._keys = keys
        self._first = int(keys[0]) if len(keys) else 0
        spread = int(keys[-1]) - self._first + 1 if len(keys) else 0
        may_be_table = spread <= min(MAX_SPREAD * len(keys), max(SMALL_TABLE, DENSE_SPREAD * len(keys)))
        self._table = np.full(spread if may_be_table else 0, -1, dtype=np.int32)
        if len(self._table):
            self._table[keys - self._first] = np.arange(len(keys))

    def of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each key, int64, in the shape of the argument; -1 for an unknown key."""
        if not len(self._keys):
            return np.full(keys.shape, -1, dtype=np.int64)
        if len(self._table):
            inside = (keys >= self._first) & (keys < self._first + len(self._table))
            return np.where(inside, self._table[np.where(inside, keys - self._first, 0)], -1).astype(np.int64)
        # Pairs repeat their keys. Searching for each once takes a quarter of the time.
        asked, numbers = np.unique(keys, return_inverse=True)
        found = np.minimum(np.searchsorted(self._keys, asked), len(self._keys) - 1)
        return np.where(self._keys[found] == asked, found, -1)[numbers].reshape(keys.shape)

    def have(self, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of the keys are known, bool, in the shape of the argument."""
        return self.of(keys) >= 0


def components(rows: Rows, num_contents: int, blocks: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the component of each content, int64, shape (num_contents,): the smallest row that it is connected with.

    Args:
        rows: finds the rows of the contents' keys.
        blocks: pairs of keys, int64, shape (m, 2). A pair with an unknown key connects nothing.
    """
    parents = np.arange(num_contents, dtype=np.int64)
    for block in blocks:
        left, right = rows.of(block[:, 0]), rows.of(block[:, 1])
        known = (left >= 0) & (right >= 0)
        kernels.unite(parents, left[known], right[known])
    kernels.settle(parents)
    return parents


# Keys are assigned in sequence, so a table of all of them is small and 20 times faster than a search. If most contents
# were deleted, or most are not asked for, it would be too large for the rest, and the keys are searched. A table of up
# to 16 MB takes less time even if few of its keys have a row, as in a part of a link whose families have grown over
# many ingests: 0.1 instead of 1.7 ms for 13,000 pairs of 2,000 contents among a million.
MAX_SPREAD: Final = 1_000
DENSE_SPREAD: Final = 32
SMALL_TABLE: Final = 1 << 22
