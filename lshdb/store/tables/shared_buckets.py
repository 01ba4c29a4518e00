"""All buckets of a band with two or more contents.

A server groups the rows of the band by bucket, so only shared buckets pass through the network. SQLite would sort them
for that, because every generation has its own order, and return one row for each bucket. To read slices of the band as
two strings each, and to sort them here, takes half of the time. Most of it is spent in SQLite without the interpreter
lock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.store.statements import statements
from lshdb.store.transaction import FETCH_ROWS, Transaction

__all__ = ["of_band"]

# Buckets that a server returns at a time. Each may have any number of contents.
FETCHED_BUCKETS: Final = 1_000

# The first slice has this share of the hashes of a band. The next ones have FETCH_ROWS rows, and up to 64 times as many
# hashes as the one before.
FIRST_SLICE: Final = 1_024
MAX_GROWTH: Final = 64


def of_band(transaction: Transaction, band: int) -> Iterator[NDArray[np.int64]]:
    """Yield all buckets with two or more contents in sorted blocks of (bucket_hash, content_key), int64, shape (n, 2).

    No bucket is in two blocks.
    """
    return (_sliced if transaction.dialect.is_local else _grouped)(transaction, band)


def _sliced(transaction: Transaction, band: int) -> Iterator[NDArray[np.int64]]:
    limits = [row for row in transaction.rows(statements.hash_limits(), {"band": band}) if row[0] is not None]
    if not limits:
        return
    first, last = min(least for least, _ in limits), max(greatest for _, greatest in limits)
    width = (last - first) // FIRST_SLICE + 1
    while first <= last:
        place = {"band": band, "first": first, "last": min(first + width - 1, last)}
        hashes, keys = transaction.execute(statements.bucket_slice(), place).one()
        rows = np.column_stack([_numbers(hashes or ""), _numbers(keys or "")])
        if len(shared := _shared(rows)):
            yield shared
        first += width
        width = max(1, min(MAX_GROWTH * width, width * FETCH_ROWS // max(1, len(rows))))


def _shared(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows whose bucket has another row, sorted. Args: rows: a few sorted arrays, joined."""
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    # Whether each row is in the bucket of the row before; with one more at the end.
    goes_on = np.zeros(len(rows) + 1, dtype=np.bool_)
    goes_on[1:-1] = rows[1:, 0] == rows[:-1, 0]
    return _ordered(rows[goes_on[:-1] | goes_on[1:]])


def _grouped(transaction: Transaction, band: int) -> Iterator[NDArray[np.int64]]:
    found: list[tuple[int, int, str]] = []
    num_rows = 0
    for buckets in transaction.stream_rows(statements.shared_buckets(), {"band": band}, FETCHED_BUCKETS):
        found += buckets
        num_rows += sum(size for _hash, size, _contents in buckets)
        if num_rows >= FETCH_ROWS:
            yield _unfolded(found)
            found, num_rows = [], 0
    if found:
        yield _unfolded(found)


def _unfolded(buckets: Sequence[tuple[int, int, str]]) -> NDArray[np.int64]:
    """Return sorted rows of (bucket_hash, number of contents, their keys with commas) as a row for each content."""
    hashes, sizes, contents = zip(*buckets, strict=True)
    return _ordered(np.column_stack([np.repeat(np.asarray(hashes, np.int64), sizes), _numbers(",".join(contents))]))


def _numbers(text: str) -> NDArray[np.int64]:
    """Return numbers with commas between them, int64, shape (n,)."""
    return np.fromstring(text, np.int64, sep=",")


def _ordered(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return rows that are sorted by their bucket, sorted by their content, too."""
    is_sorted = (rows[1:, 1] > rows[:-1, 1]) | (rows[1:, 0] != rows[:-1, 0])
    return rows if is_sorted.all() else rows[np.lexsort((rows[:, 1], rows[:, 0]))]
