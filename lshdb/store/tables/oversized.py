"""The buckets that were too hot to expand, and how many pairs each of them leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from lshdb.model.values import BandKeys
from lshdb.store.schema import oversized_bucket
from lshdb.store.statements import statements
from lshdb.store.tables.buckets import buckets_of, first_in
from lshdb.store.tables.graph import mark_unlinked
from lshdb.store.transaction import GIVEN_KEYS, Transaction

__all__ = ["among", "exist", "forget", "mates", "members", "put", "relink"]

_ALL: Final = select(oversized_bucket.c.band, oversized_bucket.c.bucket_hash)
_ANY: Final = _ALL.limit(1)


def exist(transaction: Transaction) -> bool:
    """Return whether any bucket was too hot to expand."""
    return transaction.execute(_ANY).first() is not None


def among(transaction: Transaction, buckets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return which of the buckets were too hot to expand: their rows, int64, ascending.

    Args: buckets: (band, bucket_hash), int64, shape (m, 2).
    """
    found = [np.empty(0, dtype=np.int64)]
    for number, part in enumerate(transaction.parts(buckets)):
        found.append(number * GIVEN_KEYS + transaction.few_integers(statements.oversized_given(), part)[:, 0])
    return np.sort(np.concatenate(found))


def mates(transaction: Transaction, band_keys: BandKeys) -> NDArray[np.int64]:
    """Return the contents in the oversized buckets of a sketch, int64, ascending. Args: band_keys: shape (1, bands)."""
    buckets, found = buckets_of(band_keys), np.empty(0, dtype=np.int64)
    for keys in _members(transaction, buckets[among(transaction, buckets)]):
        found = np.union1d(found, keys)
    return found


def members(transaction: Transaction) -> Iterator[NDArray[np.int64]]:
    """Yield the contents of each oversized bucket, int64, ascending."""
    return _members(transaction, transaction.integers(_ALL))


def _members(transaction: Transaction, buckets: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    for band, bucket_hash in buckets.tolist():
        yield first_in(transaction, band, bucket_hash)


def put(transaction: Transaction, hot: NDArray[np.int64]) -> None:
    """Record buckets that were too hot to expand. Earlier records of the same buckets are replaced.

    Args: hot: (band, bucket_hash, num_contents), int64, shape (m, 3).
    """
    if not len(hot):
        return
    forget(transaction, hot)
    sizes = {"num_contents": hot[:, 2], "num_pairs": transaction.expansion.num_skipped(hot[:, 2])}
    transaction.bulk_insert(oversized_bucket, {**_keys(hot), **sizes})


def forget(transaction: Transaction, buckets: NDArray[np.int64]) -> None:
    """Delete the records of buckets. Args: buckets: (band, bucket_hash, ...), int64, shape (m, 2) or more columns."""
    transaction.delete(oversized_bucket, _keys(buckets))


def relink(transaction: Transaction, band_keys: BandKeys) -> None:
    """Mark contents to be linked again that moved up in hot buckets when contents were removed from them.

    In each bucket, as many contents as were removed became hubs, and as many moved up into the first `cap`.

    Args: band_keys: those of the removed contents, shape (n, bands).
    """
    # Most indexes have none, and a large removal has millions of buckets.
    if not exist(transaction):
        return
    buckets = buckets_of(band_keys)
    cap, hubs = transaction.expansion.cap, transaction.expansion.hubs
    moved, are_hot = [np.empty(0, dtype=np.int64)], list[bool]()
    hot, num_removed = np.unique(buckets[among(transaction, buckets)], axis=0, return_counts=True)
    for (band, bucket_hash), removed in zip(hot.tolist(), num_removed.tolist(), strict=True):
        keys = first_in(transaction, band, bucket_hash, cap + 1)
        moved += [keys[max(0, hubs - removed) : hubs], keys[max(0, cap - removed) : cap]]
        are_hot.append(len(keys) > cap)
    forget(transaction, hot[~np.asarray(are_hot, dtype=np.bool_)])
    mark_unlinked(transaction, np.unique(np.concatenate(moved)))


def _keys(buckets: NDArray[np.int64]) -> dict[str, NDArray[np.generic]]:
    return {"band": buckets[:, 0].astype(np.int16), "bucket_hash": buckets[:, 1]}
