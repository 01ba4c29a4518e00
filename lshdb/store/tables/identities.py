"""Finds contents by their digests: the rows of `band_bucket` in DIGEST_BAND, one for each content.

The digests of new contents are spread over all digests, as their buckets are over all hashes. So the first 8 bytes of a
digest are a row of the same generations, which merge and have filters. Texts may share these bytes by chance, so the
whole digests are compared, too.

The database does not keep digests unique. Limitation: the caller that adds a content must hold the write lock, and must
have looked for its digest. `check` finds a digest that two contents have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import delete, select

from lshdb.model.values import BandKeys
from lshdb.store.dialect import Columns
from lshdb.store.schema import DIGEST_BAND, band_bucket, content
from lshdb.store.staging import staged_digest
from lshdb.store.statements import statements
from lshdb.store.statements.generations import in_use
from lshdb.store.tables import filters, generations, lookups, shared_buckets
from lshdb.store.tables.buckets import bucket_rows, members, put_rows
from lshdb.store.tables.held_buckets import HeldBuckets
from lshdb.store.transaction import Transaction

__all__ = [
    "as_digests",
    "buckets_of",
    "content_with",
    "known",
    "num_contents",
    "of_contents",
    "rewrite",
    "rows_by_key",
    "rows_of",
    "twins",
]

REWRITTEN_CONTENTS: Final = 200_000

_STAGED: Final = select(staged_digest.c.ordinal, content.c.content_key).join_from(
    staged_digest, content, content.c.digest == staged_digest.c.digest
)


def as_digests(values: Sequence[bytes]) -> NDArray[np.void]:
    """Return digests of 16 bytes as V16, shape (n,)."""
    return np.frombuffer(b"".join(values), dtype="V16")


def buckets_of(digests: NDArray[np.void]) -> BandKeys:
    """Return the first 8 bytes of digests as hashes of DIGEST_BAND, shape (n, 1). Args: digests: V16, shape (n,)."""
    return BandKeys(np.ascontiguousarray(digests).view(">u8")[::2].astype(np.uint64)[:, None], DIGEST_BAND)


def rows_of(content_keys: NDArray[np.int64], digests: NDArray[np.void]) -> Columns:
    """Return the rows of contents in DIGEST_BAND, sorted. Args: digests: V16, shape (n,)."""
    return bucket_rows(content_keys, buckets_of(digests))


def rows_by_key(digests: Mapping[int, bytes]) -> Columns:
    """Return the rows of contents in DIGEST_BAND, sorted. Args: digests: by content key."""
    return rows_of(np.asarray(list(digests), dtype=np.int64), as_digests(list(digests.values())))


def num_contents(transaction: Transaction) -> int:
    """Return the number of contents. Their digests take a tenth of the bytes of the contents."""
    return transaction.num_rows(band_bucket, in_use(), band_bucket.c.band == DIGEST_BAND)


def content_with(transaction: Transaction, digest: bytes) -> int | None:
    """Return the key of the content with this digest, or None if there is none."""
    young, filtered = lookups.possible(transaction, filters.scheme_of(transaction), buckets_of(as_digests([digest])))
    if not (places := young + filtered):
        return None
    ((key,),) = transaction.rows(statements.content_with_digest(), {"places": places, "digest": digest})
    return None if key is None else int(key)


def known(transaction: Transaction, digests: NDArray[np.void], held: HeldBuckets | None = None) -> NDArray[np.int64]:
    """Return the content_key of each digest, int64, shape (n,); 0 if it is new.

    Args:
        digests: V16, shape (n,).
        held: the digests of contents that this transaction has added already.
    """
    keys = np.zeros(len(digests), dtype=np.int64)
    if generations.lacks_key(transaction):
        transaction.stage(staged_digest, {"ordinal": np.arange(len(digests)), "digest": digests})
        for ordinal, key in transaction.execute(_STAGED):
            keys[ordinal] = key
    else:
        named = buckets_of(digests)
        candidates = [*_candidates(transaction, named, held), *(() if held is None else held.with_digests(named))]
        found = np.concatenate([np.empty((0, 2), dtype=np.int64), *candidates])
        stored = of_contents(transaction, np.unique(found[:, 1]))
        for place, key in found.tolist():
            if stored.get(key) == digests[place].tobytes():
                keys[place] = key
    return keys


def _candidates(transaction: Transaction, named: BandKeys, held: HeldBuckets | None) -> Iterator[NDArray[np.int64]]:
    """Yield (place of a digest, content_key) of the contents with the same first 8 bytes, int64, shape (n, 2).

    Args: named: as `buckets_of` returns them.
    """
    hashes = named.keys[:, 0].view(np.int64)
    order = np.argsort(hashes)
    if held is not None:
        order = order[held.may_be_stored(transaction, hashes[order])]
    for rows in members(transaction, np.column_stack([np.full(len(order), DIGEST_BAND), hashes[order]])):
        yield np.column_stack([order[rows[:, 0]], rows[:, 1]])


def of_contents(transaction: Transaction, content_keys: NDArray[np.int64]) -> dict[int, bytes]:
    """Return the digests of those of the contents that exist, by content key. Args: content_keys: int64, ascending."""
    parts = transaction.parts(content_keys)
    return dict(row for part in parts for row in transaction.rows(statements.content_digests(), part))


def twins(transaction: Transaction) -> Iterator[tuple[int, int]]:
    """Yield the contents whose digest an earlier content has, each with that content."""
    for rows in shared_buckets.of_band(transaction, DIGEST_BAND):
        stored, first = of_contents(transaction, np.unique(rows[:, 1])), dict[bytes, int]()
        for key in rows[:, 1].tolist():
            if key in stored and first.setdefault(stored[key], key) != key:
                yield key, first[stored[key]]


def rewrite(transaction: Transaction) -> None:
    """Write the rows of all contents again, after all digests have changed."""
    transaction.execute(delete(band_bucket).where(in_use(), band_bucket.c.band == DIGEST_BAND))
    filters.delete_band(transaction, DIGEST_BAND)
    ordered = select(content.c.content_key, content.c.digest).order_by(content.c.content_key)
    for block in transaction.stream(ordered, rows=REWRITTEN_CONTENTS):
        put_rows(transaction, rows_by_key(dict(tuple(row) for row in block)))
