"""Clusters: the connected components of contents by their pairs, and the order in which clusters are listed.

Owns no threshold and no storage: pairs come in blocks of any size and are never held together. Memory is 16 bytes a
content, and up to 64 more while pairs are mapped to rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.model.arrays import row_offsets
from lshdb.sketch import kernels

__all__ = ["Clusters", "Ranked", "Rows", "arrange", "components", "repeated"]

# Keys are counted up, so a table of all of them is small and 20 times faster than searching: 17 s for 10 million
# pairs. Where so many contents have gone that it would not be small, the keys are searched.
MAX_SPREAD: Final = 8


@dataclass(frozen=True, slots=True)
class Clusters:
    """Clusters of documents: cluster i has ``doc_keys[offsets[i]:offsets[i + 1]]``, the document kept for it first.

    Args:
        doc_keys, content_keys: int64, shape (d,); a document and its content.
        offsets: int64, shape (n + 1,).
        first_keys: int64, shape (n,); the first document of each cluster, which names it.
    """

    doc_keys: NDArray[np.int64]
    content_keys: NDArray[np.int64]
    offsets: NDArray[np.int64]
    first_keys: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first_keys)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Documents in the order of their contents' rows, and the order in which they would be kept, 0 the best.

    Args: rows, doc_keys, ranks: int64, shape (d,). best: int64, shape (n,); the least rank of each content.
    """

    rows: NDArray[np.int64]
    doc_keys: NDArray[np.int64]
    ranks: NDArray[np.int64]
    best: NDArray[np.int64]


class Rows:
    """The rows of keys in an ascending array of them, int64, shape (n,)."""

    def __init__(self, keys: NDArray[np.int64]) -> None:
        self._keys = keys
        self._first = int(keys[0]) if len(keys) else 0
        spread = int(keys[-1]) - self._first + 1 if len(keys) else 0
        self._table = np.full(spread if spread <= MAX_SPREAD * len(keys) else 0, -1, dtype=np.int64)
        if len(self._table):
            self._table[keys - self._first] = np.arange(len(keys))

    def of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row of each key, int64, the shape of the argument; -1 where it is not among them."""
        if not len(self._keys):
            return np.full(keys.shape, -1, dtype=np.int64)
        if len(self._table):
            inside = (keys >= self._first) & (keys < self._first + len(self._table))
            return np.where(inside, self._table[np.where(inside, keys - self._first, 0)], -1)
        found = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[found] == keys, found, -1)


def components(rows: Rows, num_contents: int, blocks: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The component of each content, int64, shape (num_contents,): the least row that is connected with it.

    Args:
        rows: of the contents' keys.
        blocks: pairs of keys, int64, shape (m, 2); a pair with a key that is none of the contents' joins nothing.
    """
    parents = np.arange(num_contents, dtype=np.int64)
    for block in blocks:
        left, right = rows.of(block[:, 0]), rows.of(block[:, 1])
        known = (left >= 0) & (right >= 0)
        kernels.unite(parents, left[known], right[known])
    kernels.settle(parents)
    return parents


def repeated(labels: NDArray[np.int64], sizes: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Which contents are in a component of two documents or more, bool, shape (n,); and their components, renumbered.

    Args: labels: as `components` returns them. sizes: int64, shape (n,); the number of documents of each content.
    """
    # Sums of counts, exact in float64 up to 2**53.
    is_repeated = np.bincount(labels, weights=sizes, minlength=len(labels))[labels] >= 2
    rows = np.cumsum(is_repeated) - 1
    return is_repeated, rows[labels[is_repeated]]


def arrange(
    kept: NDArray[np.int64],
    keys: NDArray[np.int64],
    documents: Ranked,
    min_size: int,
    limit: int | None,
) -> Clusters:
    """The clusters of `min_size` documents or more, the largest first, at most `limit` of them.

    Args:
        kept: int64, shape (n,); for each content the row of the content that is kept for it.
        keys: int64, shape (n,); of the contents.
        documents: those of the contents; of the content that is kept, the best ranked document is.
    """
    mine = kept[documents.rows]
    sizes = np.bincount(mine, minlength=len(kept))
    first_keys = np.full(len(kept), np.iinfo(np.int64).max)
    np.minimum.at(first_keys, mine, documents.doc_keys)
    shown = np.flatnonzero(sizes >= min_size)
    shown = shown[np.lexsort((first_keys[shown], -sizes[shown]))][:limit]
    place = np.full(len(kept), -1, dtype=np.int64)
    place[shown] = np.arange(len(shown))
    # The kept document before the others; negative in a cluster that is not shown.
    spot = 2 * place[mine] + (documents.ranks != documents.best[mine])
    # By key, which they nearly are, and then, with one more stable sort, by cluster.
    order = np.argsort(documents.doc_keys, kind="stable")
    order = order[spot[order] >= 0]
    order = order[np.argsort(spot[order], kind="stable")]
    offsets = row_offsets(sizes[shown])
    return Clusters(documents.doc_keys[order], keys[documents.rows[order]], offsets, first_keys[shown])
