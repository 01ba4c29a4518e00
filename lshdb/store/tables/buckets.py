"""The rows of `band_bucket`, written, deleted and looked up. Only here do 64-bit hashes become signed SQL integers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import delete, select, tuple_

from lshdb.model.arrays import distinct
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


# From this number of buckets of a band on, reading its filters takes less time than a page per bucket and generation.
# Filters and generations both grow with the index, so the number does not depend on its size.
FILTERED_HASHES: Final = 50
# Looking a bucket up takes as long as reading so many rows.
ROWS_A_LOOKUP: Final = 6


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
    if _are_few(buckets):
        for number, part in enumerate(transaction.parts(buckets)):
            for block in transaction.stream_integers(statements.bucket_members(), part):
                block[:, 0] += number * GIVEN_KEYS
                yield block
        return
    for begin, band, hashes in _by_band(buckets):
        yield from _members(transaction, begin, band, hashes)


def _members(transaction: Transaction, begin: int, band: int, hashes: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield what `members` yields for the buckets of one band, of which there are `begin` in other bands before."""
    among = [(number, chosen) for numbers, chosen in filters.lookups(transaction, band, hashes) for number in numbers]
    for first in range(0, len(hashes), GIVEN_KEYS):
        found = [np.empty((0, 2), dtype=np.int64)]
        for number, chosen in among:
            places = first + np.flatnonzero(chosen[first : first + GIVEN_KEYS])
            if not len(places):
                continue
            asked = {"given": hashes[places].tolist(), "band": band, "generation": number}
            rows = transaction.integers(statements.contents_in_band(), asked)
            found.append(np.column_stack([begin + places[rows[:, 0]], rows[:, 1]]))
        rows = np.concatenate(found)
        yield rows[np.lexsort((rows[:, 1], rows[:, 0]))]


def _are_few(buckets: NDArray[np.int64]) -> bool:
    """Return whether looking the buckets up in all generations takes less time than reading all filters."""
    return len(buckets) < FILTERED_HASHES * len(distinct(buckets[:, 0]))


def _by_band(buckets: NDArray[np.int64]) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
    """Yield the hashes of each band, with the number of buckets before and that of the band."""
    for band in distinct(buckets[:, 0]).tolist():
        begin, end = np.searchsorted(buckets[:, 0], (band, band + 1)).tolist()
        yield begin, band, buckets[begin:end, 1]


def shared_among(transaction: Transaction, buckets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (band, bucket_hash, num_contents) of the buckets with two or more contents, int64, shape (k, 3).

    Args: buckets: (band, bucket_hash), int64, shape (m, 2), sorted.
    """
    if _are_few(buckets):
        return _sizes(transaction, buckets, generations.numbers(transaction), least=2)
    found = [np.empty((0, 3), dtype=np.int64)]
    num_rows, num_bands = generations.num_rows_by_number(transaction), len(distinct(buckets[:, 0]))
    for begin, band, hashes in _by_band(buckets):
        mine = buckets[begin : begin + len(hashes)]
        having = sorted(filters.lookups(transaction, band, hashes), key=lambda one: np.count_nonzero(one[1]))
        elsewhere = [_sizes(transaction, mine[chosen], numbers, least=1) for numbers, chosen in having[:-1]]
        found += elsewhere
        # Last, the one that has nearly all of them: new contents are in one generation. Most are alone in their bucket.
        for numbers, chosen in having[-1:]:
            is_there = np.isin(hashes, [bucket_hash for rows in elsewhere for bucket_hash in rows[:, 1].tolist()])
            found.append(_sizes(transaction, mine[chosen & is_there], numbers, least=1))
            rest = mine[chosen & ~is_there]
            if len(numbers) == 1 and num_rows[numbers[0]] < ROWS_A_LOOKUP * num_bands * len(rest):
                found.append(_repeated(transaction, band, numbers[0], rest))
            else:
                found.append(_sizes(transaction, rest, numbers, least=2))
    return _added_up(np.concatenate(found))


def _repeated(transaction: Transaction, band: int, generation: int, buckets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what `_sizes` does for two contents or more, from all rows of a band and generation."""
    asked = {"band": band, "generations": [generation]}
    rows = chain.from_iterable(transaction.stream_rows(statements.shared_buckets(), asked))
    found = np.asarray([(band, bucket_hash, size) for bucket_hash, size, _ in rows], dtype=np.int64).reshape(-1, 3)
    return found[np.isin(found[:, 1], buckets[:, 1])]


def _added_up(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the buckets with two or more contents in all generations together, sorted."""
    if not len(sizes):
        return sizes
    rows = sizes[np.lexsort((sizes[:, 1], sizes[:, 0]))]
    starts = np.flatnonzero(np.r_[True, (rows[1:, :2] != rows[:-1, :2]).any(axis=1)])
    totals = np.column_stack([rows[starts, :2], np.add.reduceat(rows[:, 2], starts)])
    return totals[totals[:, 2] > 1]


def _sizes(transaction: Transaction, buckets: NDArray[np.int64], among: Sequence[int], least: int) -> NDArray[np.int64]:
    """Return (band, bucket_hash, num_contents) of the buckets with `least` contents or more in these generations."""
    parts = (buckets[begin : begin + GIVEN_KEYS] for begin in range(0, len(buckets), GIVEN_KEYS))
    asked = {"generations": among, "least": least}
    found = (transaction.integers(statements.bucket_sizes(), {"given": part, **asked}) for part in parts)
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
