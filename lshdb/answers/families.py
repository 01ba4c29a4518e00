"""Compute the pairs that linking left out of oversized buckets, without storing them.

Contents that are connected by oversized buckets form a family. Families are computed one after another, and within a
family the pairs come in the order of their keys. Memory is the same for any number of pairs: 24 bytes for each content
of the index, and the pairs of a few contents with the rest of their family. Time grows with the square of a family.

Limitation: a pair is not compared if its signatures rule out the floor. As in linking, a pair at the floor is lost that
way with a probability of at most 1 in 100,000.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.linking.comparison import Contents, compare, contents_of, promising
from lshdb.linking.components import Rows, components
from lshdb.model.params import Params
from lshdb.model.values import CandidatePairs, VerifiedPairs
from lshdb.sketch.banding import band_keys
from lshdb.store.tables import bands, measurements, oversized
from lshdb.store.transaction import Transaction

__all__ = ["Families", "families_of", "left_out"]

# Pairs of one part: 25 MB, and three times that while they are sorted.
PART_PAIRS: Final = 1_000_000
# Pairs compared at a time.
TILE_PAIRS: Final = 500_000


class Families(Struct, frozen=True):
    """The contents in oversized buckets.

    Args:
        members: the keys of each family, int64, ascending.
        num_shared: pairs of contents that share an oversized bucket, counted once for each bucket.
    """

    members: tuple[NDArray[np.int64], ...]
    num_shared: int

    @property
    def num_contents(self) -> int:
        """The number of contents in all families."""
        return sum(map(len, self.members))

    @property
    def num_candidates(self) -> int:
        """The largest possible number of candidate pairs."""
        return min(self.num_shared, sum(len(keys) * (len(keys) - 1) // 2 for keys in self.members))


def families_of(transaction: Transaction) -> Families:
    """Return the families of the oversized buckets, in the order of their first contents."""
    count = (bands.last_content(transaction) or 0) + 1
    is_member, sizes = np.zeros(count, dtype=np.bool_), []

    def chains() -> Iterator[NDArray[np.int64]]:
        for keys in oversized.members(transaction):
            is_member[keys] = True
            sizes.append(len(keys))
            yield np.column_stack([np.full(len(keys), keys[0]), keys])

    family = components(Rows(np.arange(count)), count, chains())
    keys = np.flatnonzero(is_member)
    order = np.argsort(family[keys], kind="stable")
    ends = np.flatnonzero(np.diff(family[keys[order]])) + 1
    members = tuple(np.split(keys[order], ends)) if len(keys) else ()
    return Families(members, sum(size * (size - 1) // 2 for size in sizes))


def left_out(
    transaction: Transaction, families: Families, min_sim: float, params: Params, part_pairs: int = PART_PAIRS
) -> Iterator[VerifiedPairs]:
    """Yield the pairs at `min_sim` or more that share a bucket of a family and are not stored, in parts.

    Args:
        min_sim: at least the floor.
        part_pairs: how many pairs a part may have; it has at least the pairs of one content.
    """
    for keys in families.members:
        family = _Family(transaction, keys, min_sim, params)
        count = max(1, part_pairs // len(keys))
        for begin in range(0, len(keys), count):
            yield family.pairs_of(begin, min(begin + count, len(keys)))


class _Family:
    """The contents of a family. A place is the position of a content in it."""

    def __init__(self, transaction: Transaction, keys: NDArray[np.int64], min_sim: float, params: Params) -> None:
        self._transaction = transaction
        self._keys = keys
        self._rows = Rows(keys)
        self._min_sim = min_sim
        self._params = params

    def pairs_of(self, begin: int, end: int) -> VerifiedPairs:
        """Return the pairs whose left content is at the places `begin` to `end`, sorted."""
        stored = self._stored(begin, end)
        count = max(1, TILE_PAIRS // (end - begin))
        tiles = [
            self._tile((begin, end), (right, min(right + count, len(self._keys))), stored)
            for right in range(begin, len(self._keys), count)
        ]
        found = VerifiedPairs.joined(tiles)
        return found.chosen(np.lexsort((found.keys[:, 1], found.keys[:, 0])))

    def _stored(self, begin: int, end: int) -> NDArray[np.int64]:
        """Return the places of the stored pairs of these contents, int64, shape (m, 2)."""
        pairs, _ = measurements.pairs_of(self._transaction, self._keys[begin:end])
        return self._rows.of(pairs)

    def _tile(self, left: tuple[int, int], right: tuple[int, int], stored: NDArray[np.int64]) -> VerifiedPairs:
        """Return the pairs of two ranges of places. Args: stored: pairs that are left out."""
        one, other = self._keys[slice(*left)], self._keys[slice(*right)]
        contents = contents_of(self._transaction, np.concatenate([one, other]), self._params)
        shares = _shares_bucket(contents, one, other, self._params) & (one[:, None] < other)
        known = stored[(stored[:, 1] >= right[0]) & (stored[:, 1] < right[1])]
        shares[known[:, 0] - left[0], known[:, 1] - right[0]] = False
        rows, columns = np.nonzero(shares)
        candidates = CandidatePairs(np.column_stack([one[rows], other[columns]]))
        pairs = compare(self._transaction, contents, promising(contents, candidates, self._params), self._params)
        return pairs.chosen(pairs.similarity >= self._min_sim)


def _shares_bucket(
    contents: Contents, one: NDArray[np.int64], other: NDArray[np.int64], params: Params
) -> NDArray[np.bool_]:
    """Return whether each of some contents shares a bucket with each of some others, bool, shape (n, m)."""
    keys = band_keys(contents.signatures, params.banding).keys
    left, right = keys[contents.rows(one)], keys[contents.rows(other)]
    shares = np.zeros((len(one), len(other)), dtype=np.bool_)
    for band in range(keys.shape[1]):
        shares |= left[:, band, None] == right[None, :, band]
    return shares
