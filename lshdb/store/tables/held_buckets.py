"""Buckets, digests and fingerprints of new contents, held in memory until their transaction ends.

The buckets of a content are spread over all hashes, so writing a few of them to a young generation writes most of its
pages. The more contents are written together, the fewer pages each of them costs, and many fill a generation of their
own. So it is with their digests, and with the fingerprints of their passages. A bucket takes 8 bytes of memory, a
digest 24, a fingerprint 4.

New digests are looked up among those of the index, whose high bits are held, too, if many are looked up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.model.calls import calls_ahead
from lshdb.model.values import BandKeys, Fingerprints
from lshdb.store.dialect import Columns
from lshdb.store.tables import filters, fingerprints, generations
from lshdb.store.tables.buckets import bucket_rows, joined, put_rows
from lshdb.store.tables.graph import existing_between
from lshdb.store.tables.stored_digests import StoredDigests
from lshdb.store.transaction import Transaction

__all__ = ["HeldBuckets"]

# About as many rows are written at once, of several bands if need be: on a server, each time takes a millisecond.
WRITTEN_ROWS: Final = 10_000


class HeldBuckets:
    """Collects buckets, digests and fingerprints of contents and writes them together, in one transaction.

    Args: known: the digests that the index had earlier, as `write` returned them.
    """

    def __init__(self, known: StoredDigests | None = None) -> None:
        self._keys: list[NDArray[np.int64]] = []
        self._bands: list[Sequence[BandKeys]] = []
        self._digests: list[tuple[NDArray[np.uint64], NDArray[np.int64]]] = []
        self._prints: list[Fingerprints] = []
        self._known = known
        # All digests of the index, without those of the contents that are held.
        self._stored: StoredDigests | None = None

    def add(
        self,
        content_keys: NDArray[np.int64],
        band_keys: BandKeys,
        digests: BandKeys,
        prints: Fingerprints | None = None,
    ) -> None:
        """Hold the buckets of n contents.

        Args:
            content_keys: int64, shape (n,), greater than those held.
            band_keys: shape (n, bands).
            digests: as `identities.buckets_of` returns them.
            prints: the fingerprints of their passages, if the index has passages.
        """
        if len(content_keys):
            self._keys.append(content_keys)
            self._bands.append([*band_keys.by_band(), digests])
            order = np.argsort(digests.keys[:, 0])
            self._digests.append((digests.keys[order, 0], content_keys[order]))
            if prints is not None:
                self._prints.append(prints)

    def with_digests(self, digests: BandKeys) -> Iterator[NDArray[np.int64]]:
        """Yield (row of `digests`, content_key) of the held contents that have one of them, int64, shape (n, 2).

        Args: digests: as `identities.buckets_of` returns them.
        """
        for hashes, keys in self._digests:
            first, after = (np.searchsorted(hashes, digests.keys[:, 0], side=side) for side in ("left", "right"))
            rows = np.flatnonzero(first < after)
            for place in range(int((after - first).max(initial=0))):
                rows = rows[first[rows] + place < after[rows]]
                yield np.column_stack([rows, keys[first[rows] + place]])

    def may_be_stored(self, transaction: Transaction, hashes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which digests the index may have, without those held, bool, shape (n,).

        Args: hashes: in DIGEST_BAND, int64, shape (n,).
        """
        # Once in a transaction: until it ends, nobody else adds a content.
        if self._stored is None:
            self._stored = StoredDigests.of(transaction, len(hashes), self._known)
        return np.ones(len(hashes), dtype=np.bool_) if self._stored is None else self._stored.may_have(hashes)

    def write(self, transaction: Transaction) -> StoredDigests | None:
        """Write the rows of the contents that still exist, and forget them.

        Returns: the digests that the index has once the transaction is committed; None if they are not known.
        """
        if not self._keys:
            return self._stored or self._known
        keys = np.concatenate(self._keys)
        is_there = np.isin(keys, existing_between(transaction, int(keys[0]), int(keys[-1])), assume_unique=True)
        keys = keys[is_there]
        num_rows = len(self._bands[0]) * len(keys)
        generation, scheme = generations.young(transaction, num_rows), filters.scheme_of(transaction)
        number = None
        if generations.fills_one(transaction, num_rows):
            generations.mark_load(transaction, generation, keys)
            number = filters.begin(transaction, generation)

        def made(parts: Sequence[BandKeys]) -> tuple[Columns, NDArray[np.int64] | None]:
            """Return the rows of a band, and the entries that its filter has of them."""
            band, hashes = parts[0].first_band, np.concatenate([part.keys for part in parts])[is_there]
            rows = bucket_rows(keys, BandKeys(hashes, band))
            if number is None:
                return rows, None
            return rows, filters.entries_of(np.asarray(rows["bucket_hash"]), band, scheme)

        # A thread sorts the next band while the database writes this one.
        with closing(calls_ahead(made, zip(*self._bands, strict=True), threads=1)) as bands:
            while some := list(islice(bands, max(1, WRITTEN_ROWS // max(1, len(keys))))):
                put_rows(transaction, joined(*(rows for rows, _ in some)), generation)
                for _, entries in some:
                    if number is not None and entries is not None:
                        filters.put(transaction, number, entries)
        if self._prints:
            fingerprints.put(transaction, keys, Fingerprints.concatenate(self._prints).chosen(np.flatnonzero(is_there)))
        if self._stored is not None:
            hashes = np.concatenate([digests for digests, _ in self._digests]).view(np.int64)
            self._stored = self._stored.with_added(hashes, int(keys.max(initial=self._stored.last_key)))
        self._keys, self._bands, self._digests, self._prints = [], [], [], []
        return self._stored
