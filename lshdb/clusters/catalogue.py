"""A snapshot of the clusters, held in memory, to look them up and page through them.

Memory is 24 bytes for each document of a cluster, and 24 for each cluster. Names are looked up when they are shown.
Limitation: documents that have been removed since are left out, and other changes are not seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from lshdb.clusters.arrange import Clusters
from lshdb.clusters.members import Member, cluster_id, members
from lshdb.clusters.portrait import Portrait, portrait
from lshdb.model.arrays import distinct
from lshdb.model.params import Params
from lshdb.store.store import Store
from lshdb.store.tables import clusters as stored
from lshdb.store.tables import graph, locators
from lshdb.store.transaction import Transaction

__all__ = ["FOUND_DOCUMENTS", "Catalogue", "ClusterOrder", "Listed", "catalogue_of"]

# The largest clusters first, or those that a document joined last.
ClusterOrder = Literal["size", "newest"]

# Clusters named at a time while their ids are computed.
NAMED_CLUSTERS: Final = 10_000

# Documents that a search by id finds at most.
FOUND_DOCUMENTS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Listed:
    """A cluster in a list.

    Args:
        keep: the id of the kept document.
        num_documents, num_texts: how many documents and distinct texts it has.
        examples: the ids of its first other documents.
    """

    cluster: str
    keep: str
    keep_collection: str
    num_documents: int
    num_texts: int
    examples: tuple[str, ...]


class Catalogue:
    """A snapshot of the clusters of an index, the largest first. `Index.catalogue` makes it."""

    def __init__(self, store: Store, clusters: Clusters, ids: NDArray[np.uint64]) -> None:
        self._store = store
        self._params: Params = store.params
        self._clusters = clusters
        self._ids = ids
        self._by_id = np.argsort(ids)

    def __len__(self) -> int:
        return len(self._clusters)

    @property
    def num_documents(self) -> int:
        """The number of documents in clusters."""
        return len(self._clusters.doc_keys)

    @property
    def num_redundant(self) -> int:
        """The number of documents in clusters that are not kept."""
        return self.num_documents - len(self)

    def brought_by(self, run: int) -> Catalogue:
        """Return the clusters that a run created or enlarged, each with its kept document and what the run brought.

        A run brought the documents that it added, and those with whose texts it found new pairs. If it brought the kept
        document, the cluster has all its documents.
        """
        doc_keys = self._store.read(lambda snapshot: stored.documents_of_run(snapshot, run))
        clusters, places = self._clusters.touched(doc_keys)
        return Catalogue(self._store, clusters, self._ids[places])

    def place(self, cluster: str) -> int | None:
        """Return the place of a cluster among all, by its id; None if there is none."""
        try:
            wanted = np.uint64(int(cluster, 16))
        except (ValueError, OverflowError):
            return None
        found = np.searchsorted(self._ids, wanted, sorter=self._by_id)
        place = int(self._by_id[found]) if found < len(self._ids) else 0
        return place if len(self._ids) and self._ids[place] == wanted else None

    def holding(self, text: str) -> NDArray[np.int64]:
        """Return the keys of documents whose ids contain a text, int64; at most 10,000."""
        return self._store.read(lambda snapshot: stored.holding(snapshot, text, FOUND_DOCUMENTS))

    def from_sources(self, text: str) -> NDArray[np.int64]:
        """Return the keys of the documents from files whose addresses contain a text, int64."""
        return self._store.read(lambda snapshot: stored.from_sources(snapshot, text))

    def named(self, documents: Iterable[tuple[str, str]]) -> NDArray[np.int64]:
        """Return the keys of the documents with these collections and ids, int64; some may not exist."""
        doc_ids = defaultdict[str, list[str]](list)
        for collection, doc_id in documents:
            doc_ids[collection].append(doc_id)
        found = self._store.read(lambda snapshot: [locators.doc_keys(snapshot, *some) for some in doc_ids.items()])
        return np.asarray([key for keys in found for key in keys.values()], dtype=np.int64)

    def places(
        self, order: ClusterOrder = "size", min_size: int = 2, having: Iterable[NDArray[np.int64]] = ()
    ) -> NDArray[np.int64]:
        """Return the places of clusters, int64, in an order.

        Args:
            min_size: only clusters with at least as many documents.
            having: keys of documents; only clusters that have one of each.
        """
        places = np.flatnonzero(np.diff(self._clusters.offsets) >= min_size)
        for doc_keys in having:
            spots = np.flatnonzero(np.isin(self._clusters.doc_keys, doc_keys))
            places = np.intersect1d(places, np.searchsorted(self._clusters.offsets, spots, side="right") - 1)
        if order == "newest" and len(places):
            newest = np.maximum.reduceat(self._clusters.doc_keys, self._clusters.offsets[:-1])
            places = places[np.argsort(-newest[places], kind="stable")]
        return places

    def listed(self, places: Sequence[int], num_examples: int = 2) -> list[Listed]:
        """Return the clusters at these places, without those whose documents are gone."""
        return self._store.read(lambda snapshot: list(self._listed(snapshot, places, num_examples)))

    def members(self, place: int, most: int | None = None) -> list[Member]:
        """Return the first `most` documents of a cluster, the kept one first. Those that are gone are left out."""
        one = self._clusters.chosen(place, most)
        return self._store.read(lambda snapshot: list(members(snapshot, _present(snapshot, one), self._params)))

    def portrait(self, place: int, most: int, most_texts: int) -> Portrait:
        """Return the first `most` documents of a cluster, and how similar their first `most_texts` texts are."""
        one = self._clusters.chosen(place, most)
        return self._store.read(lambda snapshot: portrait(snapshot, _present(snapshot, one), self._params, most_texts))

    def size(self, place: int) -> int:
        """Return the number of documents of a cluster."""
        return int(self._clusters.offsets[place + 1] - self._clusters.offsets[place])

    def num_texts(self, place: int) -> int:
        """Return the number of distinct texts of a cluster."""
        return len(distinct(self._clusters.chosen(place).content_keys))

    def _listed(self, snapshot: Transaction, places: Sequence[int], num_examples: int) -> Iterator[Listed]:
        clusters = [self._clusters.chosen(place) for place in places]
        shown = [one.doc_keys[: 1 + num_examples] for one in clusters]
        names = stored.names(snapshot, np.concatenate([np.empty(0, dtype=np.int64), *shown]))
        for place, one, keys in zip(places, clusters, shown, strict=True):
            there = [names[key] for key in keys.tolist() if key in names]
            if there:
                (collection, keep), *others = there
                examples = tuple(doc_id for _, doc_id in others)
                name, size = f"{self._ids[place]:016x}", len(one.doc_keys)
                yield Listed(name, keep, collection, size, self.num_texts(place), examples)


def catalogue_of(store: Store, snapshot: Transaction, clusters: Clusters) -> Catalogue:
    """Return a catalogue of clusters. Args: snapshot: the transaction in which they were found."""
    ids = np.empty(len(clusters), dtype=np.uint64)
    for begin in range(0, len(clusters), NAMED_CLUSTERS):
        firsts = clusters.first_keys[begin : begin + NAMED_CLUSTERS]
        names = stored.names(snapshot, firsts)
        ids[begin : begin + len(firsts)] = [int(cluster_id(names[key]), 16) for key in firsts.tolist()]
    return Catalogue(store, clusters, ids)


def _present(snapshot: Transaction, one: Clusters) -> Clusters:
    """Return a single cluster without the documents that are gone, or whose text was replaced."""
    wanted = np.append(one.doc_keys, one.first_keys)
    there = np.fromiter(stored.names(snapshot, wanted), dtype=np.int64)
    contents = graph.existing(snapshot, distinct(one.content_keys))
    is_there = np.isin(one.doc_keys, there) & np.isin(one.content_keys, contents)
    doc_keys = one.doc_keys[is_there]
    first = one.first_keys if np.isin(one.first_keys, there).all() else doc_keys[:1]
    size = np.asarray([0, len(doc_keys)]) if len(doc_keys) else np.asarray([0])
    return Clusters(doc_keys, one.content_keys[is_there], size, first, one.measure)
