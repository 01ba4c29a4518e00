"""What the decisions of people change in clusters: pairs of texts that do not count, and documents to keep.

Memory is up to 32 bytes for each pair that is decided, and 8 for each document to keep, whatever the size of the index.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.model.arrays import PairPlaces
from lshdb.store.tables import decisions
from lshdb.store.transaction import Transaction

__all__ = ["Overrides"]


class Overrides(Struct, frozen=True):
    """The decisions that concern texts and documents of today.

    Args:
        different: pairs of contents that are not duplicates.
        chosen: int64, shape (n,): keys of documents to keep, those decided last at the end.
    """

    different: PairPlaces
    chosen: NDArray[np.int64]

    @classmethod
    def of(cls, snapshot: Transaction) -> Self:
        """Return those of an index."""
        return cls(PairPlaces(decisions.different_contents(snapshot)), decisions.chosen_documents(snapshot))

    def counts(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which pairs of contents nobody has decided to be different, bool, shape (m,).

        Args: pairs: int64, shape (m, 2), each in any order.
        """
        if not len(self.different):
            return np.ones(len(pairs), dtype=np.bool_)
        return ~self.different.holds(np.sort(pairs, axis=1))

    def preferred(self, doc_keys: NDArray[np.int64], preference: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the preference of documents, less is better: one below 0 for those to keep, least for the latest.

        Args: preference: int64, in the shape of `doc_keys`: that of all others.
        """
        if not len(self.chosen):
            return preference
        order = np.argsort(self.chosen)
        found = np.minimum(np.searchsorted(self.chosen, doc_keys, sorter=order), len(order) - 1)
        return np.where(self.chosen[order[found]] == doc_keys, -1 - order[found], preference)
