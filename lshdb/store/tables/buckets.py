"""The rows of `band_bucket`, written, deleted and looked up. Only here do 64-bit hashes become signed SQL integers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import delete, select, tuple_

from lshdb.model.values import BandKeys
from lshdb.store.dialect import Columns
from lshdb.store.schema import band_bucket
from lshdb.store.staging import staged_bucket
from lshdb.store.statements import statements
from lshdb.store.statements.generations import in_use
from lshdb.store.tables import filters, generations
from lshdb.store.transaction import GIVEN_KEYS, Transaction

__all__ = [
    "bucket_rows",
    "buckets_of",
    "delete_rows",
    "first_in",
    "joined",
    "members",
    "put_rows",
    "shared_among",
    "signed_hashes",
]


# From so many lookups on, reading all filters takes less time than reading a page for each lookup.
FILTERED_BUCKETS: Final = 100_000


def put_rows(transaction: Transaction, rows: Columns, into: int | None = None) -> None:
    """Insert rows, as `bucket_rows` returns them.

    Args: into: a generation that `generations.young` returned for more rows than these; None for one that takes these.
    """
    count = len(rows["content_key"])
    number = generations.young(transaction, count) if into is None else into
    transaction.bulk_insert(band_bucket, {"generation": np.full(count, number, dtype=np.int16), **rows})


def delete_rows(transaction: Transaction, rows: Columns) -> None:
    """Delete rows from all generations. Rows that do not exist are ignored."""
    transaction.stage(staged_bucket, rows)
    # A row value, not EXISTS: SQLite then looks up each row by its primary key instead of scanning the table.
    mine = tuple_(band_bucket.c.band, band_bucket.c.bucket_hash, band_bucket.c.content_key).in_(select(staged_bucket))
    transaction.execute(delete(band_bucket).where(in_use(), mine))


def members(transaction: Transaction, buckets: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield sorted blocks of (row of `buckets`, content_key), int64, shape (n, 2): the contents of each bucket.

    Args: buckets: (band, bucket_hash), int64, shape (m, 2); sorted like the table, successive lookups share a page.
    """
    for number, part in enumerate(transaction.parts(buckets)):
        for block in transaction.stream_integers(statements.bucket_members(), part):
            block[:, 0] += number * GIVEN_KEYS
            yield block


def shared_among(transaction: Transaction, buckets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (band, bucket_hash, num_contents) of the buckets with two or more contents, int64, shape (k, 3).

    Args: buckets: (band, bucket_hash), int64, shape (m, 2), sorted.
    """
    numbers = generations.numbers(transaction)
    if len(buckets) < FILTERED_BUCKETS:
        return _sizes(transaction, buckets, numbers)
    filtered = [number for number in numbers if filters.exists(transaction, number)]
    is_there = np.zeros(len(buckets), dtype=np.bool_)
    for number in filtered:
        is_there |= filters.may_have(transaction, number, buckets)
    young = [number for number in numbers if number not in filtered]
    found = np.concatenate(
        [_sizes(transaction, buckets[is_there], numbers), _sizes(transaction, buckets[~is_there], young)]
    )
    return found[np.lexsort((found[:, 1], found[:, 0]))]


def _sizes(transaction: Transaction, buckets: NDArray[np.int64], among: Sequence[int]) -> NDArray[np.int64]:
    """Return what `shared_among` returns, with the contents of some generations."""
    parts = (buckets[begin : begin + GIVEN_KEYS] for begin in range(0, len(buckets), GIVEN_KEYS))
    found = (transaction.integers(statements.bucket_sizes(), {"given": part, "generations": among}) for part in parts)
    return np.concatenate([np.empty((0, 3), dtype=np.int64), *found])


def first_in(
    transaction: Transaction, band: int, bucket_hash: int, count: int = statements.NO_LIMIT
) -> NDArray[np.int64]:
    """Return the first contents of a bucket, or all, int64, shape (n,), ascending."""
    place = {"band": band, "bucket_hash": bucket_hash, "count": count}
    return transaction.integers(statements.first_in_bucket(), place)[:, 0]


def bucket_rows(content_keys: NDArray[np.int64], band_keys: BandKeys) -> Columns:
    """Return the columns of `band_bucket` for n contents, sorted by (band, bucket_hash) like a generation of the table.

    Args: content_keys: int64, shape (n,). band_keys: shape (n, bands).
    """
    hashes = signed_hashes(band_keys)
    bands, count = hashes.shape
    numbers = np.arange(band_keys.first_band, band_keys.first_band + bands, dtype=np.int16)
    # A stable sort keeps the contents of one bucket in the order of their keys.
    order = np.argsort(hashes, axis=1, kind="stable")
    return {
        "band": np.repeat(numbers, count),
        "bucket_hash": np.take_along_axis(hashes, order, axis=1).ravel(),
        "content_key": content_keys[order].ravel(),
    }


def joined(*parts: Columns) -> Columns:
    """Return the rows of all parts."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def buckets_of(band_keys: BandKeys) -> NDArray[np.int64]:
    """Return the bucket of each content, band by band: (band, bucket_hash), int64, shape (bands * n, 2)."""
    hashes = signed_hashes(band_keys)
    numbers = np.arange(band_keys.first_band, band_keys.first_band + len(hashes))
    return np.column_stack([np.repeat(numbers, hashes.shape[1]), hashes.ravel()])


def signed_hashes(band_keys: BandKeys) -> NDArray[np.int64]:
    """Return the hashes, band by band, int64, shape (bands, n)."""
    # The same 64 bits as a signed integer, because SQL has no unsigned ones.
    return np.ascontiguousarray(band_keys.keys.T).view(np.int64)
