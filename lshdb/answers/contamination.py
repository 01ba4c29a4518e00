"""Find documents of one collection, such as a test set, that are near-duplicates of another, such as a training set.

Stored pairs answer this for all contents except those in hot buckets, where linking computed pairs with hubs only.
These contents are compared with the training documents in their hot buckets, so that no near-duplicate is missed.
Limitation: of each 10,000 contents in hot buckets, only the ten with the most similar signatures are compared. Ten more
follow until a near-duplicate is found. "Nearest" means nearest among those.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.linking.comparison import Contents, compare, contents_of
from lshdb.linking.jaccard import min_agreement
from lshdb.model.params import Params
from lshdb.model.values import VerifiedPairs
from lshdb.sketch.banding import band_keys
from lshdb.store.tables import clusters, collections, oversized
from lshdb.store.transaction import Transaction

__all__ = ["Nearest", "nearest"]

# Documents of the test collection that are answered at a time.
PAGE_DOCUMENTS: Final = 2_000

# Contents of hot buckets whose signatures are held at a time: 4 MB of 400 bytes each.
SLICE_CONTENTS: Final = 10_000

# Contents whose exact similarity is computed at a time, those with the most similar signatures first.
TRIED_CONTENTS: Final = 10


@dataclass(frozen=True, slots=True)
class Nearest:
    """A test document and its nearest training document. Only `test` is set if there is none."""

    test: str
    train: str | None = None
    similarity: float | None = None
    exact: bool | None = None


def nearest(transaction: Transaction, train: str, test: str, min_sim: float, params: Params) -> Iterator[Nearest]:
    """Yield every document of the collection `test`, by id, with its nearest in `train` at `min_sim` or more.

    Among equally near documents, this is the one that was ingested first.
    """
    is_any_oversized = oversized.exist(transaction)
    for page in collections.document_pages(transaction, test, PAGE_DOCUMENTS):
        found = _Found(train, min_sim, params)
        keys = np.unique(np.asarray([key for _, key in page if key is not None], dtype=np.int64))
        found.take_stored(transaction, keys)
        if is_any_oversized:
            found.take_oversized(transaction, keys)
        names = clusters.names(transaction, found.doc_keys)
        yield from (found.nearest(doc_id, key, names) for doc_id, key in page)


class _Found:
    """The nearest training documents of some contents."""

    def __init__(self, train: str, min_sim: float, params: Params) -> None:
        self._train = train
        self._min_sim = min_sim
        self._params = params
        self._least_equal = min_agreement(params.num_perm, min_sim)
        # For each content (similarity, -doc_key, exact). The greatest is the nearest.
        self._best: dict[int, tuple[float, int, bool]] = {}

    @property
    def doc_keys(self) -> NDArray[np.int64]:
        """The training documents found, int64, ascending."""
        return np.unique(np.asarray([-negative for _, negative, _ in self._best.values()], dtype=np.int64))

    def nearest(self, doc_id: str, content_key: int | None, names: dict[int, tuple[str, str]]) -> Nearest:
        """Return the nearest document for a document with this content."""
        if content_key not in self._best:
            return Nearest(doc_id)
        similarity, negative, exact = self._best[content_key]
        return Nearest(doc_id, names[-negative][1], similarity, exact)

    def take_stored(self, transaction: Transaction, keys: NDArray[np.int64]) -> None:
        """Consider the contents' copies and their stored pairs."""
        for key, doc_key, similarity, exact in collections.mates(transaction, keys, self._train, self._min_sim):
            self._offer(key, doc_key, similarity, exact)

    def take_oversized(self, transaction: Transaction, keys: NDArray[np.int64]) -> None:
        """Consider the members of the contents' hot buckets."""
        contents = contents_of(transaction, keys[[not self._is_copied(key) for key in keys.tolist()]], self._params)
        buckets = band_keys(contents.signatures, self._params.banding)
        hot, hot_buckets = collections.oversized_contents(transaction, contents.keys, buckets)
        if not len(hot):
            return
        for block in collections.oversized_mates(transaction, hot_buckets, self._train):
            for begin in range(0, len(block), SLICE_CONTENTS):
                self._meet(transaction, hot, block[begin : begin + SLICE_CONTENTS])

    def _meet(self, transaction: Transaction, hot: NDArray[np.int64], mates: NDArray[np.int64]) -> None:
        """Compare contents with the mates, (content_key, doc_key), that have the most similar signatures."""
        mates = mates[np.argsort(mates[:, 1])]  # Among equals, the first is the nearest.
        contents = contents_of(transaction, np.concatenate([hot, mates[:, 0]]), self._params)
        rows = contents.rows(mates[:, 0])
        minima = contents.signatures.minima
        for key, row in zip(hot.tolist(), contents.rows(hot).tolist(), strict=True):
            equal = np.count_nonzero(minima[rows] == minima[row], axis=1)
            equal[mates[:, 0] == key] = -1
            order = np.argsort(-equal, kind="stable")
            order = order[equal[order] >= self._least_equal]
            for begin in range(0, len(order), TRIED_CONTENTS):
                if self._is_copied(key) or (begin and key in self._best):
                    break
                tried = order[begin : begin + TRIED_CONTENTS]
                self._compare(transaction, contents, key, mates[tried], equal[tried])

    def _compare(
        self,
        transaction: Transaction,
        contents: Contents,
        key: int,
        mates: NDArray[np.int64],
        equal: NDArray[np.int64],
    ) -> None:
        pairs = np.sort(np.column_stack([np.full(len(mates), key), mates[:, 0]]), axis=1)
        estimated = VerifiedPairs.estimated(pairs, equal / self._params.num_perm)
        compared = compare(transaction, contents, estimated, self._params)
        scores = zip(mates[:, 1].tolist(), compared.similarity.tolist(), compared.exact.tolist(), strict=True)
        for doc_key, similarity, exact in scores:
            if similarity >= self._min_sim:
                self._offer(key, doc_key, similarity, exact)

    def _offer(self, key: int, doc_key: int, similarity: float, exact: bool) -> None:
        offered = (similarity, -doc_key, exact)
        self._best[key] = max(self._best.get(key, offered), offered)

    def _is_copied(self, key: int) -> bool:
        return key in self._best and self._best[key][0] == 1.0
