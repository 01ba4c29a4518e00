"""The rows of `band_bucket`, written, deleted and looked up. Only here do 64-bit hashes become signed SQL integers."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.model.arrays import distinct
from lshdb.model.values import BandKeys
from lshdb.store.dialect import Columns
from lshdb.store.schema import band_bucket
from lshdb.store.statements import statements
from lshdb.store.tables import generations, lookups
from lshdb.store.transaction import GIVEN_KEYS, Transaction

__all__ = [
    "SharedBuckets",
    "bucket_rows",
    "buckets_of",
    "contents_at",
    "delete_rows",
    "first_in",
    "joined",
    "members",
    "members_at",
    "put_rows",
    "shared_among",
    "signed_hashes",
]


_NO_PAIRS: Final = np.empty((0, 2), dtype=np.int64)


def put_rows(transaction: Transaction, rows: Columns, into: int | None = None) -> None:
    """Insert rows, as `bucket_rows` returns them.

    Args: into: a generation that `generations.young` returned for more rows than these; None for one that takes these.
    """
    count = len(rows["content_key"])
    if not count:
        return
    number = generations.young(transaction, count) if into is None else into
    transaction.bulk_insert(band_bucket, {"generation": np.full(count, number, dtype=np.int16), **rows})


def delete_rows(transaction: Transaction, rows: Columns) -> None:
    """Delete rows from the generations that may have them. Rows that do not exist are ignored.

    Args: rows: sorted by (band, bucket_hash), as `bucket_rows` returns them.
    """
    known = {name: np.asarray(values) for name, values in rows.items()}
    buckets = np.column_stack([known["band"], known["bucket_hash"]]).astype(np.int64)
    row, generation = lookups.places(transaction, buckets).T
    there = {name: values[row] for name, values in known.items()}
    generations.forget_loads(transaction, distinct(generation).tolist())
    transaction.delete(band_bucket, {"generation": generation, **there})


def members(transaction: Transaction, buckets: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield sorted blocks of (row of `buckets`, content_key), int64, shape (n, 2): the contents of each bucket.

    Args: buckets: (band, bucket_hash), int64, shape (m, 2), sorted.
    """
    return members_at(transaction, buckets, lookups.places(transaction, buckets))


def members_at(
    transaction: Transaction,
    buckets: NDArray[np.int64],
    places: NDArray[np.int64],
    known: NDArray[np.int64] = _NO_PAIRS,
) -> Iterator[NDArray[np.int64]]:
    """Yield what `members` does, from the given places only. No bucket is in two blocks.

    Args:
        buckets, places: as of `contents_at`.
        known: members that are elsewhere, as rows of the blocks, sorted by bucket.
    """
    begin = 0
    for some in _parts_of(places):
        end = int(np.searchsorted(known[:, 0], some[-1, 0], side="right"))
        rows = np.concatenate([known[begin:end], *contents_at(transaction, buckets, some)])
        yield rows[np.lexsort((rows[:, 1], rows[:, 0]))]
        begin = end
    if begin < len(known):
        yield known[begin:]


def contents_at(
    transaction: Transaction, buckets: NDArray[np.int64], places: NDArray[np.int64]
) -> Iterator[NDArray[np.int64]]:
    """Yield (row of `buckets`, content_key) of the contents in the given places, int64, shape (n, 2), in any order.

    Args: places: (row of `buckets`, generation), int64, shape (k, 2), sorted; see `lookups.places`.
    """
    for some in _parts_of(places):
        asked = {"places": _given(buckets, some)}
        for block in transaction.stream_integers(statements.place_contents(), asked):
            block[:, 0] = some[block[:, 0], 0]
            yield block


def _parts_of(places: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield the places in order, about GIVEN_KEYS at a time. All places of a bucket are together."""
    begin = 0
    while begin < len(places):
        end = int(np.searchsorted(places[:, 0], places[min(begin + GIVEN_KEYS, len(places)) - 1, 0], side="right"))
        yield places[begin:end]
        begin = end


def _given(buckets: NDArray[np.int64], places: NDArray[np.int64]) -> list[list[int]]:
    """Return places as the statements take them."""
    rows: list[list[int]] = np.column_stack([places[:, 1], buckets[places[:, 0], :2]]).tolist()
    return rows


class SharedBuckets(Struct, frozen=True):
    """Buckets with two or more contents, and where these are.

    Args:
        buckets: (band, bucket_hash, num_contents), int64, shape (m, 3), sorted.
        places: (row of `buckets`, generation), int64, shape (k, 2), sorted.
        known: (row of `buckets`, content_key) of contents in other places, int64, shape (n, 2), sorted.
    """

    buckets: NDArray[np.int64]
    places: NDArray[np.int64]
    known: NDArray[np.int64]


def shared_among(
    transaction: Transaction,
    buckets: NDArray[np.int64],
    known: NDArray[np.int64] = _NO_PAIRS,
    without: Collection[int] = (),
) -> SharedBuckets:
    """Return those of the buckets that have two or more contents.

    Args:
        buckets: as of `members`.
        known: (row of `buckets`, content_key) of the rows of some generations, int64, shape (n, 2), sorted.
        without: these generations.
    """
    sized = lookups.sized_places(transaction, buckets, without)
    places, sizes = sized[:, :2], sized[:, 2]
    is_unknown = sizes == lookups.UNKNOWN
    sizes[is_unknown] = _sizes(transaction, buckets, places[is_unknown])
    totals = np.bincount(places[:, 0], sizes, len(buckets)).astype(np.int64)
    totals += np.bincount(known[:, 0], minlength=len(buckets))
    # The row of each bucket among those that are shared.
    is_shared = totals > 1
    row = np.cumsum(is_shared) - 1
    places = places[(sizes > 0) & is_shared[places[:, 0]]]
    known = known[is_shared[known[:, 0]]]
    return SharedBuckets(
        np.column_stack([buckets[is_shared], totals[is_shared]]),
        np.column_stack([row[places[:, 0]], places[:, 1]]),
        np.column_stack([row[known[:, 0]], known[:, 1]]),
    )


def _sizes(transaction: Transaction, buckets: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many contents each place has, int64, shape (k,)."""
    sizes = np.zeros(len(places), dtype=np.int64)
    for begin in range(0, len(places), GIVEN_KEYS):
        asked = {"places": _given(buckets, places[begin : begin + GIVEN_KEYS])}
        found = transaction.few_integers(statements.place_sizes(), asked)
        sizes[begin + found[:, 0]] = found[:, 1]
    return sizes


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
    order = np.argsort(hashes, axis=1)
    ordered = np.take_along_axis(hashes, order, axis=1)
    # The contents of a shared bucket in the order of their keys. A stable sort would take four times as long.
    goes_on = np.zeros((bands, count + 1), dtype=np.bool_)
    goes_on[:, 1:-1] = ordered[:, 1:] == ordered[:, :-1]
    is_shared = goes_on[:, 1:] | goes_on[:, :-1]
    bucket = count * np.cumsum(~goes_on[:, :-1])[is_shared.ravel()]
    order[is_shared] = np.sort(bucket + order[is_shared]) - bucket
    return {
        "band": np.repeat(numbers, count),
        "bucket_hash": ordered.ravel(),
        "content_key": content_keys[order].ravel(),
    }


def joined(*parts: Columns) -> Columns:
    """Return the rows of all parts."""
    if len(parts) == 1:
        return parts[0]
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
