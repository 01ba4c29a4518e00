"""Random samples of what the index holds, drawn without holding the whole: stored pairs, and pairs of bucket-mates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lshdb.model.values import VerifiedPairs
from lshdb.store.staging import staged_bucket
from lshdb.store.statements import statements
from lshdb.store.tables.graph import verified_pairs
from lshdb.store.transaction import Transaction

__all__ = ["bucket_contents", "bucket_sizes", "num_bucket_pairs", "stored_pairs"]


def stored_pairs(transaction: Transaction, count: int, since: int, chance: np.random.Generator) -> VerifiedPairs:
    """`count` random pairs, in order, of those written by run `since` or later or outside of a run; all if fewer."""
    a, b, c = chance.integers(1, 2**30, 3).tolist()
    parameters = {"a": a, "b": b, "c": c, "count": count, "since": since}
    return verified_pairs(sorted(transaction.execute(statements.pair_sample(), parameters).all()))


def num_bucket_pairs(transaction: Transaction, band: int) -> int:
    """How many pairs the buckets of a band hold."""
    return int(transaction.execute(statements.num_bucket_pairs(), {"band": band}).scalar_one())


def bucket_sizes(transaction: Transaction, band: int) -> Iterator[NDArray[np.int64]]:
    """Blocks of (bucket_hash, num_contents), int64, shape (n, 2), sorted: the buckets with two contents or more."""
    return transaction.stream_integers(statements.bucket_sizes(), {"band": band})


def bucket_contents(
    transaction: Transaction, bands: NDArray[np.int64], hashes: NDArray[np.int64]
) -> Iterator[NDArray[np.int64]]:
    """Blocks of (band, bucket_hash, content_key), int64, shape (n, 3), sorted: the contents of these buckets."""
    none = np.zeros(len(bands), dtype=np.int64)
    transaction.stage(staged_bucket, {"band": bands.astype(np.int16), "bucket_hash": hashes, "content_key": none})
    return transaction.stream_integers(statements.bucket_contents())
