"""From buckets to candidate pairs, in arrays: the rule of what a bucket expands to.

Owns the cap and the hubs. Up to `CAP` contents, every two of a bucket are a candidate pair; in a hotter bucket the
first `CAP` still are, and every later content meets the first `HUBS` only. So the number of pairs is linear in
the bucket's size, and does not depend on the order in which its contents were linked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["CAP", "HUBS", "complete_buckets", "expand", "hot_among", "num_expanded"]

# Measured: of 117,505 pairs at 0.5 of 46,000 real texts (hottest bucket 376) a cap of 256 loses 0.6 in 100, and none at
# 0.8; 16,000 pages of manuals have no bucket beyond 64. A template site has all its pages in one bucket, and a cap of
# 2,000 made 650 pairs a page there, one of 256 makes 100.
CAP: Final = 256
HUBS: Final = 10

# Candidate occurrences made at a time: 64 MB of keys.
SLICE_PAIRS: Final = 4_000_000


def complete_buckets(blocks: Iterator[NDArray[np.int64]]) -> Iterator[NDArray[np.int64]]:
    """The same rows of (bucket_hash, content_key), int64, shape (n, 2), cut so that no bucket spans two blocks."""
    held = np.empty((0, 2), dtype=np.int64)
    for block in blocks:
        rows = np.concatenate([held, block])
        last = np.searchsorted(rows[:, 0], rows[-1, 0])
        held = rows[last:]
        if last:
            yield rows[:last]
    if len(held):
        yield held


def num_expanded(num_contents: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many pairs buckets of these sizes expand to, int64, the shape of the argument."""
    dense = np.minimum(num_contents, CAP)
    expanded: NDArray[np.int64] = dense * (dense - 1) // 2 + (num_contents - dense) * HUBS
    return expanded


def hot_among(band: int, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """(band, bucket_hash, num_contents), int64, shape (m, 3), of the whole buckets of a band that exceed the cap."""
    starts, sizes = _bucket_sizes(rows)
    hot = sizes > CAP
    return np.column_stack([np.full(int(hot.sum()), band), rows[starts[hot], 0], sizes[hot]])


def _bucket_sizes(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each bucket of sorted (bucket_hash, content_key) rows starts, and how many rows it has."""
    starts = np.flatnonzero(np.r_[True, rows[1:, 0] != rows[:-1, 0]])
    return starts, np.diff(np.append(starts, len(rows)))


def expand(rows: NDArray[np.int64], is_new: NDArray[np.bool_]) -> Iterator[NDArray[np.int64]]:
    """The candidate pairs of whole buckets that have a new content, int64, shape (m, 2), left < right.

    Args: rows: (bucket_hash, content_key), int64, shape (n, 2), sorted. is_new: bool, shape (n,).
    """
    starts, sizes = _bucket_sizes(rows)
    first = np.repeat(starts, sizes)
    rank = np.arange(len(rows)) - first
    num_mates = np.where(rank < CAP, rank, HUBS)
    for begin, end in _slices(num_mates):
        counts = num_mates[begin:end]
        later = np.repeat(np.arange(begin, end), counts)
        # 0, 1, ... within each run of `later`: the ranks of the mates.
        ranks = np.arange(len(later)) - np.repeat(np.cumsum(counts) - counts, counts)
        earlier = first[later] + ranks
        kept = is_new[earlier] | is_new[later]
        yield np.column_stack([rows[earlier[kept], 1], rows[later[kept], 1]])


def _slices(num_mates: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of rows that expand to about SLICE_PAIRS pairs each."""
    total = np.cumsum(num_mates)
    begin = 0
    while begin < len(num_mates):
        done = total[begin - 1] if begin else 0
        end = int(np.searchsorted(total, done + SLICE_PAIRS, side="right"))
        end = max(end, begin + 1)
        yield begin, end
        begin = end
