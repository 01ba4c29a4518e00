"""Contents that share fingerprints with a text, and all pairs of contents that share some.

A fingerprint in more contents than the cap of a bucket does not make all of them candidates: boilerplate would make
half of a site candidates of each other. Of the contents that share such fingerprints only, those with the most of them
are candidates, as many as the cap. The others are counted.

Fingerprints of 32 bits are also equal by chance: 1,000 books of a megabyte have 33 million, and these make a hundred
thousand pairs. Pairs that share few fingerprints are therefore candidates only if 64 bits of one are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.linking.comparison import text_groups
from lshdb.model.arrays import among, are_first, distinct, places_within, runs_of, slices_within
from lshdb.model.expansion import Expansion
from lshdb.model.params import Params
from lshdb.sketch.normalization import normalise_utf8
from lshdb.sketch.winnowing import low_halves, minima
from lshdb.store.tables import fingerprints
from lshdb.store.tables.entries import Entries
from lshdb.store.transaction import Transaction

__all__ = ["Candidates", "candidate_pairs", "candidates_among"]

# Pairs with more shared fingerprints are compared at once. Two texts of a megabyte share 0.25 by chance.
FEW: Final = 3
# Pairs that are made at a time.
PART_PAIRS: Final = 1 << 20


class Candidates(Struct, frozen=True):
    """The contents to compare.

    Args:
        keys: int64, ascending.
        num_left_out: how many contents share frequent fingerprints only and are not among them.
        frequent: uint32, ascending: the fingerprints in more contents than the cap.
    """

    keys: NDArray[np.int64]
    num_left_out: int
    frequent: NDArray[np.uint32]


def candidates_among(entries: Entries, expansion: Expansion) -> Candidates:
    """Return the candidates among contents that share a fingerprint with a text. Args: entries: sorted."""
    hashes, counts = np.unique(entries.hashes, return_counts=True)
    frequent = hashes[expansion.is_oversized(counts)]
    is_frequent = np.isin(entries.hashes, frequent)
    keys = distinct(entries.content_keys[~is_frequent])
    others, shared = np.unique(entries.content_keys[is_frequent], return_counts=True)
    is_new = ~np.isin(others, keys)
    others, shared = others[is_new], shared[is_new]
    best = others[np.argsort(-shared, kind="stable")[: expansion.cap]]
    return Candidates(np.union1d(keys, best), len(others) - len(best), frequent)


def candidate_pairs(transaction: Transaction, params: Params) -> tuple[NDArray[np.int64], int]:
    """Return the pairs of contents that share a fingerprint: int64, shape (m, 2), left < right, sorted, distinct.

    Also return how many pairs were left out, counted once for each of their frequent fingerprints.
    """
    expansion, num_skipped = transaction.expansion, 0
    keys, found, more = fingerprints.contents(transaction), np.empty(0, np.uint64), list[NDArray[np.uint64]]()
    for entries in fingerprints.all_entries(transaction):
        groups = _Groups.of(entries.hashes, entries.content_keys, keys)
        num_skipped += int(expansion.num_skipped(groups.sizes)[expansion.is_oversized(groups.sizes)].sum())
        for pairs, _ in groups.pairs(expansion):
            more.append(pairs)
            if sum(map(len, more)) > max(len(found), PART_PAIRS):
                found, more = _few_of_each([found, *more]), []
    found = _few_of_each([found, *more])
    candidates, are_certain = keys[_rows(distinct(found))], runs_of(found)[1] > FEW
    are_certain[~are_certain] = _share_whole(transaction, candidates[~are_certain], params)
    return candidates[are_certain], num_skipped


def _share_whole(transaction: Transaction, pairs: NDArray[np.int64], params: Params) -> NDArray[np.bool_]:
    """Return which pairs share the whole hash of a fingerprint, bool. Reads each of their texts once.

    Args: pairs: int64, shape (m, 2), sorted.
    """
    keys = distinct(pairs)
    asked = _packed(*np.searchsorted(keys, pairs).T)
    shared = [np.empty(0, np.uint64)]
    for entries in fingerprints.all_entries(transaction):
        for found, hashes in _Groups.of(entries.hashes, entries.content_keys, keys).pairs(transaction.expansion):
            is_asked = among(found, asked)
            shared += [_packed(side, hashes[is_asked]) for side in _rows(found[is_asked]).T]
    shared_hashes = distinct(np.concatenate(shared))
    whole, owners = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for some, texts in text_groups(transaction, keys):
        grams = minima(normalise_utf8(texts, params.shingling), params.shingling, params.passages)
        owner = np.repeat(some, grams.sizes)
        is_shared = among(_packed(np.searchsorted(keys, owner), low_halves(grams.hashes)), shared_hashes)
        whole.append(grams.hashes[is_shared])
        owners.append(owner[is_shared])
    groups = _Groups.of(np.concatenate(whole), np.concatenate(owners), keys)
    return among(asked, _few_of_each([asked[:0], *(found for found, _ in groups.pairs(transaction.expansion))]))


class _Groups(Struct, frozen=True):
    """Contents that have the same hash, in one group after another.

    Args:
        hashes: of each content of each group, ascending, shape (n,).
        rows: int64, shape (n,): where the contents are among those that count, ascending in each group.
        sizes: int64, of each group.
    """

    hashes: NDArray[Any]
    rows: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, hashes: NDArray[Any], content_keys: NDArray[np.int64], keys: NDArray[np.int64]) -> _Groups:
        """Return the groups of contents that have hashes, perhaps repeatedly. Args: keys: of those that count."""
        count = among(content_keys, keys)
        hashes, rows = hashes[count], np.searchsorted(keys, content_keys[count])
        order = np.lexsort((rows, hashes))
        hashes, rows = hashes[order], rows[order]
        is_other = are_first(hashes, rows)
        hashes, rows = hashes[is_other], rows[is_other]
        return cls(hashes, rows, runs_of(hashes)[1])

    def pairs(self, expansion: Expansion) -> Iterator[tuple[NDArray[np.uint64], NDArray[Any]]]:
        """Yield the pairs of each group, packed, and their hashes, in parts."""
        ranks = places_within(self.sizes)
        mates = expansion.num_mates(ranks)
        for part in slices_within(mates, PART_PAIRS):
            right = np.arange(len(mates))[part]
            some = mates[right]
            left = np.repeat(right - ranks[right], some) + places_within(some)
            yield _packed(self.rows[left], np.repeat(self.rows[right], some)), self.hashes[left]


def _packed(high: NDArray[Any], low: NDArray[Any]) -> NDArray[np.uint64]:
    """Return one number for each two below 2 ** 32. It is sorted in a tenth of the time."""
    packed: NDArray[np.uint64] = high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)
    return packed


def _rows(pairs: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the two rows of each pair, int64, shape (m, 2)."""
    return np.column_stack([pairs >> np.uint64(32), pairs & np.uint64(2**32 - 1)]).astype(np.int64)


def _few_of_each(parts: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Return the pairs sorted, and each of them up to `FEW` + 1 times: enough to see that there are more than a few."""
    pairs = np.sort(np.concatenate(parts))
    return pairs[places_within(runs_of(pairs)[1]) <= FEW]
