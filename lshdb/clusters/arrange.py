"""Arrange documents into clusters: the connected components of contents by their pairs, in the order they are listed.

Knows no threshold and no storage. Pairs are passed in blocks of any size and are not held. Memory is 16 bytes per
content, and up to 64 more while pairs are mapped to rows.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.model.arrays import row_offsets
from lshdb.model.choices import Comparing

__all__ = ["Clusters", "Ranked", "arrange"]


class Clusters(Struct, frozen=True):
    """Clusters of documents. Cluster i is ``doc_keys[offsets[i]:offsets[i + 1]]``, with the kept document first.

    Args:
        doc_keys, content_keys: int64, shape (d,); a document and its content.
        offsets: int64, shape (n + 1,).
        first_keys: int64, shape (n,); the first document of each cluster, which names it.
        measure: how documents compare with the kept one.
    """

    doc_keys: NDArray[np.int64]
    content_keys: NDArray[np.int64]
    offsets: NDArray[np.int64]
    first_keys: NDArray[np.int64]
    measure: Comparing

    def __len__(self) -> int:
        return len(self.first_keys)

    def chosen(self, place: int, most: int | None = None) -> Clusters:
        """Return one of the clusters, with its first `most` documents."""
        begin, end = self.offsets[place : place + 2].tolist()
        end = end if most is None else min(end, begin + most)
        here = slice(begin, end)
        offsets = np.asarray([0, end - begin])
        first = self.first_keys[place : place + 1]
        return Clusters(self.doc_keys[here], self.content_keys[here], offsets, first, self.measure)

    def touched(self, doc_keys: NDArray[np.int64]) -> tuple[Clusters, NDArray[np.int64]]:
        """Return the clusters that have some of these documents, and their places, int64.

        Of each, only the kept document and these are left; but all of them if the kept one is one of these.
        """
        sizes, kept = np.diff(self.offsets), self.offsets[:-1]
        is_left = np.isin(self.doc_keys, doc_keys)
        is_left |= np.repeat(is_left[kept], sizes)
        is_left[kept] = True
        left = np.diff(row_offsets(is_left.astype(np.int64))[self.offsets])
        places = np.flatnonzero(left > 1)
        is_left &= np.repeat(left > 1, sizes)
        offsets, first_keys = row_offsets(left[places]), self.first_keys[places]
        return Clusters(self.doc_keys[is_left], self.content_keys[is_left], offsets, first_keys, self.measure), places


class Ranked(Struct, frozen=True):
    """Documents in the order of their contents' rows, with their preference; rank 0 is kept first.

    Args: rows, doc_keys, ranks: int64, shape (d,). best: int64, shape (n,); the least rank of each content.
    """

    rows: NDArray[np.int64]
    doc_keys: NDArray[np.int64]
    ranks: NDArray[np.int64]
    best: NDArray[np.int64]


def arrange(
    kept: NDArray[np.int64],
    keys: NDArray[np.int64],
    documents: Ranked,
    min_size: int,
    limit: int | None,
    measure: Comparing = "jaccard",
) -> Clusters:
    """Return the clusters of at least `min_size` documents, the largest first, at most `limit` of them.

    Args:
        kept: int64, shape (n,); for each content, the row of the content that is kept for it.
        keys: int64, shape (n,); of the contents.
        documents: the documents of the contents. Of the kept content, the best-ranked document is kept.
    """
    mine = kept[documents.rows]
    sizes = np.bincount(mine)
    first_keys = np.full(len(kept), np.iinfo(np.int64).max)
    np.minimum.at(first_keys, mine, documents.doc_keys)
    shown = np.flatnonzero(sizes >= min_size)
    shown = shown[np.lexsort((first_keys[shown], -sizes[shown]))][:limit]
    place = np.full(len(kept), -1)
    place[shown] = np.arange(len(shown))
    # The kept document comes first. The place is negative in a cluster that is not shown.
    spot = 2 * place[mine] + (documents.ranks != documents.best[mine])
    # Sort by key, which is nearly their order already, then by cluster with a second, stable sort.
    order = np.argsort(documents.doc_keys, kind="stable")
    order = order[spot[order] >= 0]
    order = order[np.argsort(spot[order], kind="stable")]
    offsets = row_offsets(sizes[shown])
    return Clusters(documents.doc_keys[order], keys[documents.rows[order]], offsets, first_keys[shown], measure)
