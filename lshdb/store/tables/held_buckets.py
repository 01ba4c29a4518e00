"""Buckets and fingerprints of new contents, held in memory until their transaction ends.

The buckets of a content are spread over the young generation, so writing a few of them writes most of its pages. The
more contents are written together, the fewer pages each of them costs. So it is with the fingerprints of its passages.
A bucket takes 8 bytes of memory, a fingerprint 4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lshdb.model.values import BandKeys, Fingerprints
from lshdb.store.tables import filters, fingerprints, generations
from lshdb.store.tables.buckets import bucket_rows, put_rows
from lshdb.store.tables.graph import existing
from lshdb.store.transaction import Transaction

__all__ = ["HeldBuckets"]


class HeldBuckets:
    """Collects buckets and fingerprints of contents and writes them together."""

    def __init__(self) -> None:
        self._held: list[tuple[NDArray[np.int64], BandKeys]] = []
        self._prints: list[Fingerprints] = []

    def add(self, content_keys: NDArray[np.int64], band_keys: BandKeys, prints: Fingerprints | None = None) -> None:
        """Hold the buckets of n contents.

        Args:
            content_keys: int64, shape (n,), greater than those held.
            band_keys: shape (n, bands).
            prints: the fingerprints of their passages, if the index has passages.
        """
        if len(content_keys):
            self._held.append((content_keys, band_keys))
            if prints is not None:
                self._prints.append(prints)

    def write(self, transaction: Transaction) -> None:
        """Write the rows of the contents that still exist, and forget them."""
        if not self._held:
            return
        keys = np.concatenate([content_keys for content_keys, _ in self._held])
        is_there = np.isin(keys, existing(transaction, keys), assume_unique=True)
        keys, bands, first_band = keys[is_there], self._held[0][1].keys.shape[1], self._held[0][1].first_band
        num_rows = bands * len(keys)
        generation = generations.young(transaction, num_rows)
        number = filters.begin(transaction, generation) if generations.fills_one(transaction, num_rows) else None
        for band in range(first_band, first_band + bands):
            hashes = np.concatenate([band_keys.keys[:, band - first_band] for _, band_keys in self._held])[is_there]
            rows = bucket_rows(keys, BandKeys(hashes[:, None], band))
            put_rows(transaction, rows, generation)
            if number is not None:
                filters.build(transaction, number, generation, band, np.asarray(rows["bucket_hash"]))
        if self._prints:
            fingerprints.put(transaction, keys, Fingerprints.concatenate(self._prints).chosen(np.flatnonzero(is_there)))
        self._held, self._prints = [], []
