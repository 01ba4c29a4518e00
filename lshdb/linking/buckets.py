"""From buckets to candidate pairs, in arrays. The rule itself is `Expansion`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.model.expansion import Expansion

__all__ = ["complete_buckets", "expand", "oversized_among", "with_any"]

# Candidate pairs made at a time: 64 MB of keys.
SLICE_PAIRS: Final = 4_000_000


def complete_buckets(blocks: Iterator[NDArray[np.int64]]) -> Iterator[NDArray[np.int64]]:
    """Yield the same rows in blocks of whole buckets.

    Args:
        blocks: (bucket_hash, content_key), int64, shape (n, 2), sorted across all blocks.
    """
    held = np.empty((0, 2), dtype=np.int64)
    for block in blocks:
        rows = np.concatenate([held, block])
        last = np.searchsorted(rows[:, 0], rows[-1, 0])
        held = rows[last:]
        if last:
            yield rows[:last]
    if len(held):
        yield held


def oversized_among(band: int, rows: NDArray[np.int64], expansion: Expansion) -> NDArray[np.int64]:
    """Return (band, bucket_hash, num_contents) of those of a band's buckets that are hot, int64, shape (m, 3).

    Args:
        rows: (bucket_hash, content_key) of whole buckets, int64, shape (n, 2), sorted.
    """
    starts, sizes = _bucket_sizes(rows)
    hot = expansion.is_oversized(sizes)
    return np.column_stack([np.full(int(hot.sum()), band), rows[starts[hot], 0], sizes[hot]])


def with_any(rows: NDArray[np.int64], content_keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows are in a bucket that has one of the contents, bool, shape (n,).

    Args:
        rows: (bucket_hash, content_key) of whole buckets, int64, shape (n, 2), sorted.
    """
    starts, sizes = _bucket_sizes(rows)
    return np.repeat(np.logical_or.reduceat(np.isin(rows[:, 1], content_keys), starts), sizes)


def _bucket_sizes(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each bucket of sorted (bucket_hash, content_key) rows starts, and how many rows it has."""
    starts = np.flatnonzero(np.r_[True, rows[1:, 0] != rows[:-1, 0]])
    return starts, np.diff(np.append(starts, len(rows)))


def expand(
    rows: NDArray[np.int64], is_new: NDArray[np.bool_], expansion: Expansion, slice_pairs: int = SLICE_PAIRS
) -> Iterator[NDArray[np.int64]]:
    """Yield the candidate pairs of whole buckets that have a new content, int64, shape (m, 2), left < right.

    Args:
        rows: (bucket_hash, content_key), int64, shape (n, 2), sorted.
        is_new: bool, shape (n,).
        slice_pairs: roughly how many pairs are made at a time.
    """
    starts, sizes = _bucket_sizes(rows)
    first = np.repeat(starts, sizes)
    rank = np.arange(len(rows)) - first
    num_mates = expansion.num_mates(rank)
    for begin, end in _slices(num_mates, slice_pairs):
        counts = num_mates[begin:end]
        later = np.repeat(np.arange(begin, end), counts)
        # 0, 1, ... within each run of `later`: the ranks of the mates.
        ranks = np.arange(len(later)) - np.repeat(np.cumsum(counts) - counts, counts)
        earlier = first[later] + ranks
        kept = is_new[earlier] | is_new[later]
        yield np.column_stack([rows[earlier[kept], 1], rows[later[kept], 1]])


def _slices(num_mates: NDArray[np.int64], slice_pairs: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows that expand to about `slice_pairs` pairs each."""
    total = np.cumsum(num_mates)
    begin = 0
    while begin < len(num_mates):
        done = total[begin - 1] if begin else 0
        end = int(np.searchsorted(total, done + slice_pairs, side="right"))
        end = max(end, begin + 1)
        yield begin, end
        begin = end
