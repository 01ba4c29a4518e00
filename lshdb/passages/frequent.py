"""The passages that many texts share, as the N-grams of words that these consist of.

A run of N words in many texts has its fingerprint in all of them. One pass over the fingerprints therefore finds the
few N-grams that can be frequent. One pass over the texts that have these then counts the N-grams themselves, exactly.

Limitation: an N-gram is its 64-bit hash. If there are many candidates, the texts are read several times, to count a
part of the N-grams each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.linking.comparison import GROUP_BYTES, text_groups
from lshdb.model.arrays import are_first, distinct, places_within
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.sketch.shingling import shingle
from lshdb.sketch.winnowing import gram_shingling
from lshdb.sketch.words import Words, ngrams, words
from lshdb.store.tables import fingerprints
from lshdb.store.tables.entries import Entries
from lshdb.store.transaction import Transaction

__all__ = ["Windows", "frequent_ngrams", "windows_of"]

# N-grams that are counted in one pass: 16 bytes each, and as much again while they are sorted.
COUNTED_NGRAMS: Final = 20_000_000
# Counts that are held before those of equal N-grams are added up.
HELD_COUNTS: Final = 5_000_000


class Windows(Struct, frozen=True):
    """The runs of N words of texts, in reading order: window i of a text begins with its word i.

    Args:
        hashes: uint64, shape (W,); of the words.
        fingerprints: uint32, shape (W,); the one by which each window is found.
        texts: int64, shape (W,); the number of its text. A text of fewer than N words has no windows.
    """

    hashes: NDArray[np.uint64]
    fingerprints: NDArray[np.uint32]
    texts: NDArray[np.int64]


def windows_of(found: Words, params: Params) -> Windows:
    """Return the windows of texts. Args: params: of an index with passages, which say what N is."""
    shingling = gram_shingling(params.shingling, params.passages)
    grams = shingle(found.forms, shingling)
    runs = ngrams(found.forms, params.passages, params.seed)
    counts = np.maximum(0, np.diff(found.offsets) - params.passages + 1)
    texts = np.repeat(np.arange(len(found)), counts)
    nth = places_within(counts)
    first = grams.offsets[texts] + nth
    least = grams.hashes[first]
    for place in range(1, params.passages - shingling.size + 1):
        least = np.minimum(least, grams.hashes[first + place])
    return Windows(runs.hashes[runs.offsets[texts] + nth], least.astype(np.uint32), texts)


def frequent_ngrams(
    transaction: Transaction,
    params: Params,
    contents: NDArray[np.int64],
    min_texts: int,
    progress: Progress,
    *,
    held_bytes: int = GROUP_BYTES,
) -> NDArray[np.uint64]:
    """Return the hashes of the N-grams that at least `min_texts` of these contents have: uint64, ascending.

    Args:
        contents: int64, ascending.
        held_bytes: bytes of text whose N-grams are held at a time.
    """
    candidates = _Candidates.among(transaction, contents, min_texts)
    # A fingerprint belongs to the windows around its place.
    num_ngrams = candidates.num_entries * (params.passages - gram_shingling(params.shingling, params.passages).size + 1)
    num_passes = num_ngrams // COUNTED_NGRAMS + 1
    found = [np.empty(0, np.uint64)]
    for turn in range(num_passes):
        counts = _Counts()
        for share, windows in _windows(transaction, params, candidates, held_bytes):
            mine = windows.hashes % np.uint64(num_passes) == turn
            counts.add(windows.hashes[mine], windows.texts[mine])
            progress.advanced("count", (turn + share) / num_passes)
        found.append(counts.at_least(min_texts))
    return np.sort(np.concatenate(found))


class _Candidates(Struct, frozen=True):
    """Fingerprints of many contents, ascending; the contents that have them, ascending; and how often they do."""

    fingerprints: NDArray[np.uint32]
    contents: NDArray[np.int64]
    num_entries: int

    @classmethod
    def among(cls, transaction: Transaction, contents: NDArray[np.int64], min_texts: int) -> _Candidates:
        hashes, holders, num_entries = [np.empty(0, np.uint32)], np.empty(0, np.int64), 0
        for entries in fingerprints.all_entries(transaction):
            found = _frequent(entries, contents, min_texts)
            hashes.append(distinct(found.hashes))
            holders = np.union1d(holders, found.content_keys)
            num_entries += len(found)
        return cls(np.concatenate(hashes), holders, num_entries)


def _frequent(entries: Entries, contents: NDArray[np.int64], min_texts: int) -> Entries:
    """Return the entries of fingerprints that at least `min_texts` of these contents have."""
    mine = entries.chosen(np.isin(entries.content_keys, contents))
    _, which, counts = np.unique(mine.hashes, return_inverse=True, return_counts=True)
    return mine.chosen(counts[which] >= min_texts)


def _windows(
    transaction: Transaction, params: Params, candidates: _Candidates, held_bytes: int
) -> Iterator[tuple[float, Windows]]:
    """Yield the windows of texts that have candidate fingerprints, and the share of the texts that is read."""
    num_read = 0
    for keys, texts in text_groups(transaction, candidates.contents, held_bytes):
        found = windows_of(words(texts, params.seed), params)
        mine = np.isin(found.fingerprints, candidates.fingerprints)
        num_read += len(keys)
        share = num_read / len(candidates.contents)
        yield share, Windows(found.hashes[mine], found.fingerprints[mine], found.texts[mine])


class _Counts:
    """How many texts have each N-gram."""

    def __init__(self) -> None:
        self._hashes = [np.empty(0, np.uint64)]
        self._counts = [np.empty(0, np.int64)]
        self._num_held = 0

    def add(self, hashes: NDArray[np.uint64], texts: NDArray[np.int64]) -> None:
        """Count the N-grams of some texts, each of which is passed once. An N-gram counts once for each text."""
        order = np.lexsort((texts, hashes))
        hashes, texts = hashes[order], texts[order]
        is_first = are_first(hashes, texts)
        self._hashes.append(hashes[is_first])
        self._counts.append(np.ones(int(is_first.sum()), np.int64))
        self._num_held += len(self._hashes[-1])
        if self._num_held >= HELD_COUNTS:
            self._merge()

    def at_least(self, count: int) -> NDArray[np.uint64]:
        """Return the N-grams that at least `count` texts have, ascending."""
        self._merge()
        return self._hashes[0][self._counts[0] >= count]

    def _merge(self) -> None:
        hashes, counts = np.concatenate(self._hashes), np.concatenate(self._counts)
        order = np.argsort(hashes)
        hashes = hashes[order]
        first = np.flatnonzero(are_first(hashes))
        self._counts = [np.add.reduceat(counts[order], first) if len(first) else counts]
        self._hashes = [hashes[first]]
        self._num_held = 0
