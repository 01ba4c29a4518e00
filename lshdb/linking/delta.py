"""The candidates of a few new contents, found by looking up each of their buckets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.linking.buckets import expand
from lshdb.linking.components import Rows
from lshdb.model.arrays import are_first
from lshdb.model.values import BandKeys
from lshdb.store.tables import buckets, generations
from lshdb.store.transaction import Transaction

__all__ = ["Delta"]


class Delta(Struct, frozen=True):
    """The buckets of new contents in some bands, and those of them that have two or more contents.

    Args: new: (band, bucket_hash, content_key) of the new contents, int64, shape (n, 3), sorted.
    """

    _transaction: Transaction
    new: NDArray[np.int64]
    rows: Rows
    shared: buckets.SharedBuckets

    @classmethod
    def of(cls, transaction: Transaction, keys: NDArray[np.int64], band_keys: BandKeys) -> Delta:
        """Look up buckets of new contents. Args: keys: int64, shape (n,), ascending. band_keys: shape (n, bands)."""
        columns = buckets.bucket_rows(keys, band_keys)
        new = np.column_stack([np.asarray(values, dtype=np.int64) for values in columns.values()])
        is_first, rows = are_first(new[:, 0], new[:, 1]), Rows(keys)
        # What a load has put into a generation of its own is in memory.
        filled, is_known = generations.filled_by(transaction, keys)
        known = np.column_stack([np.cumsum(is_first) - 1, new[:, 2]])[is_known[rows.of(new[:, 2])]]
        return cls(transaction, new, rows, buckets.shared_among(transaction, new[is_first, :2], known, filled))

    @property
    def hot(self) -> NDArray[np.int64]:
        """The shared buckets that are beyond the cap."""
        return self.shared.buckets[self._is_hot]

    def candidates(self) -> Iterator[NDArray[np.int64]]:
        """Yield the candidate pairs of the new contents, as `expand` does."""
        for rows in self._rows():
            yield from expand(rows, self.rows.have(rows[:, 1]), self._transaction.expansion)

    @property
    def _is_hot(self) -> NDArray[np.bool_]:
        return self._transaction.expansion.is_oversized(self.shared.buckets[:, 2])

    def _rows(self) -> Iterator[NDArray[np.int64]]:
        """Yield (bucket, content_key) of whole buckets, and of hot ones what a new content is paired with."""
        places, known = (some[~self._is_hot[some[:, 0]]] for some in (self.shared.places, self.shared.known))
        yield from buckets.members_at(self._transaction, self.shared.buckets, places, known)
        for band, bucket_hash, _ in self.hot.tolist():
            keys = self._paired(band, bucket_hash)
            yield np.column_stack([np.zeros_like(keys), keys])

    def _paired(self, band: int, bucket_hash: int) -> NDArray[np.int64]:
        """Return the new contents of a hot bucket, and those that they are paired with, int64, ascending.

        A bucket of 20,000 contents has 266 of them, unless one of its hubs is new.
        """
        mine = self.new[(self.new[:, 0] == band) & (self.new[:, 1] == bucket_hash), 2]
        first = buckets.first_in(self._transaction, band, bucket_hash, self._transaction.expansion.cap)
        if np.isin(first[: self._transaction.expansion.hubs], mine).any():
            first = buckets.first_in(self._transaction, band, bucket_hash)
        return np.union1d(first, mine)
