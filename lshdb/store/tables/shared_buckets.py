"""All buckets of some bands with two or more contents, slice by slice.

A server groups the rows of a slice by bucket, so only shared buckets pass through the network. SQLite would sort them
for that, because every generation has its own order, and return one row for each bucket. To read a slice as two
strings, and to sort it here, takes half of the time. Most of it is spent in SQLite without the interpreter lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict
from numpy.typing import NDArray

from lshdb.store.returned import integers
from lshdb.store.statements import statements
from lshdb.store.tables import filters, generations
from lshdb.store.transaction import FETCH_ROWS, Transaction

__all__ = ["Slice", "of_band", "of_slice", "slices"]


class Slice(Struct, frozen=True):
    """The buckets of a band from one hash to another, both included."""

    band: int
    first: int
    last: int


def slices(transaction: Transaction, numbers: Iterable[int]) -> Iterator[Slice]:
    """Yield the slices of some bands in order. Each has up to FETCH_ROWS rows, or a few more: hashes are uniform."""
    num_slices = generations.num_contents(transaction) // FETCH_ROWS + 1
    if num_slices == 1:
        yield from (Slice(band, filters.LEAST_HASH, generations.LAST_HASH) for band in numbers)
        return
    for band in numbers:
        limits = [row for row in transaction.rows(statements.hash_limits(), {"band": band}) if row[0] is not None]
        if limits:
            first, last = min(least for least, _ in limits), max(greatest for _, greatest in limits)
            width = (last - first) // num_slices + 1
            for begin in range(first, last + 1, width):
                yield Slice(band, begin, min(begin + width - 1, last))


def of_band(transaction: Transaction, band: int) -> Iterator[NDArray[np.int64]]:
    """Yield the shared buckets of all slices of a band, as `of_slice` returns them."""
    for one in slices(transaction, [band]):
        yield of_slice(transaction, one)


def of_slice(transaction: Transaction, one: Slice) -> NDArray[np.int64]:
    """Return the buckets of a slice with two or more contents: (bucket_hash, content_key), int64, shape (n, 2), sorted.

    It has all contents of each bucket.
    """
    rows = (_read if transaction.dialect.is_local else _grouped)(transaction, one)
    is_sorted = (rows[1:, 1] > rows[:-1, 1]) | (rows[1:, 0] != rows[:-1, 0])
    return rows if is_sorted.all() else rows[np.lexsort((rows[:, 1], rows[:, 0]))]


def _read(transaction: Transaction, one: Slice) -> NDArray[np.int64]:
    """Return what `of_slice` does, sorted by bucket."""
    hashes, keys = transaction.execute(statements.bucket_slice(), asdict(one)).one()
    rows = np.column_stack([integers(hashes), integers(keys)])
    # Merges the generations.
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    # Whether each row is in the bucket of the row before; with one more at the end.
    goes_on = np.zeros(len(rows) + 1, dtype=np.bool_)
    goes_on[1:-1] = rows[1:, 0] == rows[:-1, 0]
    return rows[goes_on[:-1] | goes_on[1:]]


def _grouped(transaction: Transaction, one: Slice) -> NDArray[np.int64]:
    """Return what `of_slice` does, sorted by bucket."""
    buckets = transaction.execute(statements.shared_buckets(), asdict(one)).all()
    sizes = np.asarray([size for _hash, size, _contents in buckets], np.int64)
    hashes = np.repeat(np.asarray([value for value, _size, _contents in buckets], np.int64), sizes)
    return np.column_stack([hashes, integers(",".join(contents for _hash, _size, contents in buckets))])
