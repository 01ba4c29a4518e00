"""The rule that turns a bucket into candidate pairs: which contents are paired, and how many pairs that makes."""

from __future__ import annotations

from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

__all__ = ["EXPANSION", "Expansion"]


class Expansion(Struct, frozen=True):
    """How buckets expand into candidate pairs.

    The first `cap` contents of a bucket, in the order of their keys, are all paired with each other. Each later content
    is paired with the first `hubs` only. So the number of pairs is linear in the size of the bucket, and does not
    depend on the order in which its contents were linked.

    Args:
        cap: a bucket with more contents than this is hot; at least `hubs`.
        hubs: how many contents of a hot bucket are paired with all others in it.
    """

    cap: int
    hubs: int

    def num_mates(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many earlier contents each content is paired with, int64.

        Args:
            ranks: int64, 0 for the first content of a bucket.
        """
        return np.where(ranks < self.cap, ranks, self.hubs)

    def is_oversized(self, sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which buckets of these sizes are hot, bool."""
        hot: NDArray[np.bool_] = sizes > self.cap
        return hot

    def num_pairs(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many pairs buckets of these sizes expand to, int64."""
        dense = np.minimum(sizes, self.cap)
        pairs: NDArray[np.int64] = dense * (dense - 1) // 2 + (sizes - dense) * self.hubs
        return pairs

    def num_skipped(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many pairs of buckets of these sizes are left out, int64; 0 if a bucket is not hot."""
        return sizes * (sizes - 1) // 2 - self.num_pairs(sizes)


# Measured on 46,000 real texts with 117,505 pairs at 0.5 (largest bucket 376): a cap of 256 loses 0.6 % of the pairs,
# and none at 0.8. In 16,000 pages of manuals, no bucket has more than 64 contents. A site made from a template has all
# its pages in one bucket: a cap of 2,000 makes 650 pairs per page there, a cap of 256 makes 100.
EXPANSION: Final = Expansion(cap=256, hubs=10)
