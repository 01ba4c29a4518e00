"""The texts that are searched for, as numbered N-grams.

Limitation: they are held in memory, with about 200 bytes for each of their words.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.model.arrays import row_offsets
from lshdb.overlap.probing import Probe
from lshdb.sketch import kernels
from lshdb.sketch.kernels import codepoints
from lshdb.sketch.kernels.ngram_values import NgramTable
from lshdb.sketch.shingling import secret_of
from lshdb.sketch.words import Words, words

__all__ = ["Sought"]

# A table that is at most half full, and filters of 16 bits or more for each N-gram, which let 1 % of others pass.
SLOTS_A_WORD = 2
NGRAMS_A_FILTER_WORD = 4
LEAST_SLOTS = 16


class Sought(Struct, frozen=True, dict=True):
    """The words of n texts, and their N-grams.

    Args:
        texts: the texts in UTF-8.
        size: N.
        words: their words.
        numbers: the number of each N-gram in reading order, int32, shape (P,); equal N-grams have equal numbers.
        offsets: int64, shape (n + 1,): text i has numbers[offsets[i]:offsets[i + 1]].
        probe: finds these N-grams in other texts.
    """

    texts: Sequence[bytes]
    size: int
    words: Words
    numbers: NDArray[np.int32]
    offsets: NDArray[np.int64]
    probe: Probe

    @classmethod
    def of(cls, texts: Sequence[bytes], size: int) -> Sought:
        """Return the N-grams of texts. A text of fewer than N words is a single one of all its words."""
        # A seed of its own: nobody can prepare texts whose N-grams collide.
        secret = secret_of(secrets.randbits(63))
        found = words(texts, seed=1)
        hashes = np.zeros(_power_of_two(SLOTS_A_WORD * len(found.bounds)), np.uint64)
        slots = np.full(len(hashes), -1, np.int32)
        numbered = kernels.number_ngrams(
            found.forms.codepoints, found.forms.offsets, found.bounds, size, codepoints.table(), secret, hashes, slots
        )
        numbers, _, sizes, _ = numbered
        filters = _filters(hashes[slots >= 0], sizes[slots[slots >= 0]])
        ngrams = NgramTable(found.forms.codepoints, found.bounds, *numbered, hashes, slots, *filters)
        begins = numbers >= 0
        offsets = row_offsets(begins.astype(np.int64))[found.offsets]
        return cls(texts, size, found, numbers[begins], offsets, Probe(ngrams, secret))

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def num_ngrams(self) -> int:
        """The number of different N-grams."""
        return len(self.probe.ngrams.words)

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """The text of each N-gram in reading order, int64, shape (P,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def numbers_of(self, text: int) -> NDArray[np.int32]:
        """Return the numbers of a text's N-grams, in reading order."""
        return self.numbers[self.offsets[text] : self.offsets[text + 1]]

    def num_words(self, text: int) -> int:
        """Return the number of words of a text."""
        return int(self.words.offsets[text + 1] - self.words.offsets[text])

    def places_of(self, text: int) -> NDArray[np.int64]:
        """Return the bytes [start, stop) of a text's words, int64, shape (W, 2)."""
        return self.words.places[self.words.offsets[text] : self.words.offsets[text + 1]]

    def passage(self, text: int, first_word: int, end_word: int) -> bytes:
        """Return words [first_word, end_word) of a text, as it writes them."""
        places = self.places_of(text)
        return self.texts[text][places[first_word, 0] : places[end_word - 1, 1]]


def _power_of_two(least: int) -> int:
    return 1 << max(least, LEAST_SLOTS).bit_length()


def _filters(
    hashes: NDArray[np.uint64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int64]]:
    """Return the distinct sizes of N-grams, descending, and the filter of each, ragged, with its offsets."""
    distinct_sizes = np.unique(sizes)[::-1].copy()
    filters = []
    for size in distinct_sizes.tolist():
        chosen = hashes[sizes == size]
        filters.append(np.zeros(_power_of_two(len(chosen) // NGRAMS_A_FILTER_WORD), np.uint64))
        kernels.fill_filter(chosen, filters[-1])
    offsets = row_offsets(np.fromiter(map(len, filters), np.int64, len(filters)))
    return distinct_sizes, np.concatenate([np.empty(0, np.uint64), *filters]), offsets
