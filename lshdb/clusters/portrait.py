"""A cluster to look at: its documents with their dates, and how similar its texts are to each other.

The number of pairs grows with the square of the texts, so only the first texts are compared.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lshdb.clusters.arrange import Clusters
from lshdb.clusters.clusters import similarities
from lshdb.clusters.members import ANY, Member, members
from lshdb.model.params import Params
from lshdb.store.tables import clusters as stored
from lshdb.store.transaction import Transaction

__all__ = ["Compared", "Portrait", "portrait"]


@dataclass(frozen=True, slots=True)
class Compared:
    """Two texts of a cluster by their numbers, left < right; `similarity` is estimated if it is not `exact`."""

    left: int
    right: int
    similarity: float
    exact: bool


@dataclass(frozen=True, slots=True)
class Portrait:
    """Documents of a cluster, the kept one first.

    Args:
        texts: for each member, the number of its text. Texts are numbered from 0, in the order of the members.
        dates: for each member, its date in microseconds since 1970 UTC; None if it has none.
        pairs: every pair of the first texts.
    """

    members: tuple[Member, ...]
    texts: tuple[int, ...]
    dates: tuple[int | None, ...]
    pairs: tuple[Compared, ...]


def portrait(snapshot: Transaction, cluster: Clusters, params: Params, most_texts: int) -> Portrait:
    """Return the portrait of a single cluster. Args: most_texts: how many texts are compared with each other."""
    _, firsts, numbers = np.unique(cluster.content_keys, return_index=True, return_inverse=True)
    keys = cluster.content_keys[np.sort(firsts)][:most_texts]
    left, right = np.triu_indices(len(keys), 1)
    found = similarities(snapshot, np.column_stack([keys[left], keys[right]]), params, ANY)
    compared = zip(left.tolist(), right.tolist(), found.similarity.tolist(), found.exact.tolist(), strict=True)
    dates = stored.dates(snapshot, cluster.doc_keys)
    return Portrait(
        tuple(members(snapshot, cluster, params)),
        tuple(np.argsort(np.argsort(firsts))[numbers].tolist()),
        tuple(dates.get(key) for key in cluster.doc_keys.tolist()),
        tuple(Compared(*one) for one in compared),
    )
