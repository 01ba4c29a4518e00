"""Compute the similarity of pairs of stored contents: estimates from signatures, exact values from texts.

Memory is bounded for any number of pairs. Pairs are passed in sorted order, so that neighbours share contents. Each
content of a group is read, normalised and shingled once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.linking.components import Rows
from lshdb.linking.jaccard import groups, jaccard, min_agreement
from lshdb.linking.spool import Spool
from lshdb.model.arrays import distinct, row_offsets
from lshdb.model.batches import in_batches
from lshdb.model.params import Params
from lshdb.model.values import CandidatePairs, ShingleSets, Signatures, VerifiedPairs
from lshdb.sketch import kernels
from lshdb.sketch.sketch import shingle_sets_utf8
from lshdb.sketch.texts import unpack_utf8
from lshdb.store.tables import graph
from lshdb.store.transaction import Snapshot, Transaction

__all__ = ["Contents", "ShingledTexts", "compare", "contents_of", "encoded_texts", "promising", "text_groups"]

# Bytes of the texts of a group. The words and N-grams of a text take 50 bytes for each of its bytes.
GROUP_BYTES: Final = 4_000_000

# Shingles of a text that is kept without its repeats, if a sample, one in 64, has each of them at least 8 times.
LONG_SHINGLES: Final = 1 << 16
SAMPLED_BELOW: Final = np.uint64(1 << 58)
REPEATED: Final = 8
# 32 MB of hashes.
KEPT_SHINGLES: Final = 1 << 22


class Contents:
    """Contents with their sizes and signatures.

    Args:
        keys: int64, shape (n,), ascending.
        num_shingles: int64, shape (n,).
        signatures: shape (n, num_perm).
    """

    def __init__(self, keys: NDArray[np.int64], num_shingles: NDArray[np.int64], signatures: Signatures) -> None:
        self.keys = keys
        self.num_shingles = num_shingles
        self.signatures = signatures
        self._rows = Rows(keys)

    def rows(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each content key, in the shape of the argument; -1 if the content does not exist."""
        return self._rows.of(keys)


def contents_of(snapshot: Snapshot, keys: NDArray[np.int64], params: Params) -> Contents:
    """Return those of the contents that still exist."""
    stored = graph.signatures(snapshot, distinct(keys))
    return Contents(stored.keys, stored.num_shingles, Signatures.read(stored.signatures, params.permutations))


def promising(contents: Contents, candidates: CandidatePairs, params: Params) -> VerifiedPairs:
    """Return the candidates whose estimate does not rule out the floor, with that estimate.

    A pair at or above the floor is lost with a probability of at most 1 in 100,000; see `min_agreement`. Pairs of
    deleted contents are left out.
    """
    rows = contents.rows(candidates.keys)
    exist = (rows >= 0).all(axis=1)
    minima = contents.signatures.minima
    equal = kernels.equal_minima(minima, minima, rows[exist])
    kept = equal >= min_agreement(params.num_perm, params.floor)
    return VerifiedPairs.estimated(candidates.keys[exist][kept], equal[kept] / params.num_perm)


def compare(
    transaction: Transaction, contents: Contents, pairs: VerifiedPairs, params: Params, spool: Spool | None = None
) -> VerifiedPairs:
    """Return the pairs with their exact similarity if both texts are known, otherwise unchanged.

    Args: spool: the texts; None takes those that the index keeps.
    """
    similarity, exact = pairs.similarity.copy(), pairs.exact.copy()
    rows, size = contents.rows(pairs.keys), len(contents.keys)
    texts = ShingledTexts(transaction, params, spool)
    for chosen in groups(contents.num_shingles, rows):
        group = rows[chosen]
        # With a place at the end for contents that do not exist, whose row is -1.
        asked, places = np.zeros(size + 1, dtype=np.bool_), np.full(size + 1, -1)
        asked[group] = True
        keys, sets = texts.sets(contents.keys[asked[:-1]])
        places[contents.rows(keys)] = np.arange(len(keys))
        sides = places[group]
        known = (sides >= 0).all(axis=1)
        similarity[chosen[known]] = jaccard(sets, *sides[known].T)
        exact[chosen[known]] = True
    return VerifiedPairs(pairs.keys, similarity, exact)


class ShingledTexts:
    """Reads and shingles texts, those that repeat themselves only once.

    A text of ten megabytes that repeats a page takes a few kilobytes of a crawl, and a page of memory. Each time it is
    shingled takes as long as for any other text of ten megabytes.
    """

    def __init__(self, transaction: Transaction, params: Params, spool: Spool | None = None) -> None:
        self._transaction = transaction
        self._params = params
        self._spool = spool
        self._kept: dict[int, NDArray[np.uint64]] = {}
        self._num_kept = 0

    def sets(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], ShingleSets]:
        """Return the contents whose text is known, ascending, and their shingles, perhaps without repeats.

        Args: keys: int64, ascending.
        """
        again = keys[np.isin(keys, list(self._kept))]
        found, encoded = encoded_texts(self._transaction, np.setdiff1d(keys, again, assume_unique=True), self._spool)
        sets = shingle_sets_utf8(encoded, self._params)
        for row in np.flatnonzero(sets.sizes >= LONG_SHINGLES).tolist():
            self._keep(int(found[row]), sets.hashes[sets.offsets[row] : sets.offsets[row + 1]])
        if not len(again):
            return found, sets
        spans = zip(found.tolist(), sets.offsets[:-1].tolist(), sets.offsets[1:].tolist(), strict=True)
        hashes = {key: sets.hashes[begin:end] for key, begin, end in spans}
        hashes |= {key: self._kept[key] for key in again.tolist()}
        found = np.asarray(sorted(hashes))
        ordered = [hashes[key] for key in found.tolist()]
        return found, ShingleSets(np.concatenate(ordered), row_offsets(np.asarray([len(some) for some in ordered])))

    def _keep(self, key: int, hashes: NDArray[np.uint64]) -> None:
        """Keep the shingles of a text if it repeats itself."""
        sample = hashes[hashes < SAMPLED_BELOW]
        if len(sample) >= REPEATED * len(distinct(sample)) and self._num_kept < KEPT_SHINGLES:
            self._kept[key] = distinct(hashes)
            self._num_kept += len(self._kept[key])


def encoded_texts(
    snapshot: Snapshot, keys: NDArray[np.int64], spool: Spool | None = None
) -> tuple[NDArray[np.int64], list[bytes]]:
    """Return the contents whose text is known, ascending, and these texts as `texts.encode` made them."""
    found, encoded = [], []
    for key, frame in graph.texts(snapshot, keys) if spool is None else spool.texts(keys):
        found.append(key)
        encoded.append(unpack_utf8(frame))
    return np.asarray(found, dtype=np.int64), encoded


def text_groups(
    snapshot: Snapshot,
    keys: NDArray[np.int64],
    group_bytes: int = GROUP_BYTES,
    unpack: Callable[[bytes], bytes | None] = unpack_utf8,
) -> Generator[tuple[NDArray[np.int64], list[bytes]]]:
    """Yield what `encoded_texts` returns, in groups of at least `group_bytes` of text; the last may have less.

    Args: unpack: returns the text of a frame; None leaves the content out.
    """
    unpacked = ((key, unpack(frame)) for key, frame in graph.texts(snapshot, keys))
    texts = ((key, text) for key, text in unpacked if text is not None)
    for some in in_batches(texts, lambda one: len(one[1]), group_bytes):
        yield np.asarray([key for key, _ in some], dtype=np.int64), [text for _, text in some]
