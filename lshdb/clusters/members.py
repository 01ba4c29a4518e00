"""Name the documents of clusters, with their similarity to the kept document.

Names are looked up in batches and not held. Limitation: a `Cluster` holds the ids of all its members.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_hexdigest

from lshdb.clusters.arrange import Clusters
from lshdb.clusters.clusters import similarities
from lshdb.model.params import Params
from lshdb.passages.containment import containments
from lshdb.sketch.texts import encode
from lshdb.store.tables import clusters as stored
from lshdb.store.transaction import Transaction

__all__ = ["ANY", "Cluster", "Member", "cluster_id", "members", "named"]

# (collection, doc_id)
Name = tuple[str, str]

# Documents named at a time.
NAMED_DOCUMENTS: Final = 10_000

# A threshold that rules out nothing.
ANY: Final = sys.float_info.min


@dataclass(frozen=True, slots=True)
class Cluster:
    """Documents that are near-duplicates.

    Args:
        cluster: its id, derived from its first document. It does not depend on the other documents or on which is kept.
        keep: the kept document.
        members: all its documents, the kept one first.
    """

    cluster: str
    keep: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """A document of a cluster and its similarity to the kept one; estimated from signatures if it is not `exact`.

    Args: similarity: in a cluster by containment, the share of its shingles that the kept document has.
    """

    cluster: str
    keep: str
    document: str
    similarity: float
    exact: bool
    collection: str
    keep_collection: str

    @property
    def is_kept(self) -> bool:
        """Whether it is the kept document."""
        return (self.collection, self.document) == (self.keep_collection, self.keep)


def named(snapshot: Transaction, clusters: Clusters) -> Iterator[Cluster]:
    """Yield the clusters in order."""
    rows = (row for part in _parts(clusters) for row in _names(snapshot, clusters, part))
    for first, group in groupby(rows, key=lambda row: row[0]):
        doc_ids = tuple(doc_id for _, _, (_, doc_id) in group)
        yield Cluster(cluster_id(first), doc_ids[0], doc_ids)


def members(snapshot: Transaction, clusters: Clusters, params: Params) -> Iterator[Member]:
    """Yield the documents of the clusters, cluster by cluster, the kept one first."""
    for part in _parts(clusters):
        similarity, exact = _similarity_to_kept(snapshot, clusters, part, params)
        names = _names(snapshot, clusters, part)
        for (first, (keep_in, keep), (collection, doc_id)), one, is_exact in zip(
            names, similarity.tolist(), exact.tolist(), strict=True
        ):
            yield Member(cluster_id(first), keep, doc_id, one, is_exact, collection, keep_in)


def cluster_id(first: Name) -> str:
    """Return the id of a cluster. Args: first: its first document."""
    return xxh3_64_hexdigest(encode("\0".join(first)))


def _parts(clusters: Clusters) -> Iterator[NDArray[np.int64]]:
    """Yield the places of documents in batches, int64."""
    for begin in range(0, len(clusters.doc_keys), NAMED_DOCUMENTS):
        yield np.arange(begin, min(begin + NAMED_DOCUMENTS, len(clusters.doc_keys)))


def _kept(clusters: Clusters, part: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each place its cluster and the place of the document kept for it."""
    mine = np.searchsorted(clusters.offsets, part, side="right") - 1
    return mine, clusters.offsets[mine]


def _names(snapshot: Transaction, clusters: Clusters, part: NDArray[np.int64]) -> Iterator[tuple[Name, Name, Name]]:
    """Return for each place the names of the first document of its cluster, of the kept one, and of the one there."""
    mine, kept = _kept(clusters, part)
    keys = np.stack([clusters.first_keys[mine], clusters.doc_keys[kept], clusters.doc_keys[part]])
    names = stored.names(snapshot, keys)
    for first, keep, document in keys.T.tolist():
        yield names[first], names[keep], names[document]


def _similarity_to_kept(
    snapshot: Transaction, clusters: Clusters, part: NDArray[np.int64], params: Params
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the similarity of each document to the one kept for it, and whether it is exact."""
    _, kept = _kept(clusters, part)
    pairs = np.column_stack([clusters.content_keys[kept], clusters.content_keys[part]])
    similarity, exact = np.ones(len(part)), np.ones(len(part), dtype=np.bool_)
    different = np.flatnonzero(pairs[:, 0] != pairs[:, 1])
    # Several documents may share the content that is compared.
    unique, place = np.unique(pairs[different], axis=0, return_inverse=True)
    if clusters.measure == "containment":
        similarity[different] = containments(snapshot, unique[:, ::-1], params)[place.ravel()]
        return similarity, exact
    found = similarities(snapshot, unique, params, ANY)
    similarity[different], exact[different] = found.similarity[place.ravel()], found.exact[place.ravel()]
    return similarity, exact
