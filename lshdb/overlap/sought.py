"""The texts that are searched for, as numbered N-grams.

Limitation: they are held in memory, with about 200 bytes for each of their words.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lshdb.overlap.probing import Probe
from lshdb.sketch import kernels
from lshdb.sketch.kernels import codepoints
from lshdb.sketch.kernels.ngram_values import NgramTable
from lshdb.sketch.shingling import secret_of
from lshdb.sketch.words import Words, words

__all__ = ["Sought"]

# A table that is at most half full, and a filter of 16 bits or more for each N-gram, which lets one in 16 others pass.
SLOTS_A_WORD = 2
WORDS_OF_64_BITS = 4
LEAST_SLOTS = 16
# Words of a sieve, 4 kB, which have 15 bits of a hash.
SIEVE_WORDS = 512
SIEVE_SHIFT = 64 - 15


@dataclass(frozen=True)
class Sought:
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
        filtering = np.zeros(_power_of_two(len(found.bounds) // WORDS_OF_64_BITS), np.uint64)
        table = codepoints.table()
        numbers, offsets, firsts, sizes = kernels.number_ngrams(
            found.forms.codepoints, found.forms.offsets, found.bounds, size, table, secret, hashes, slots, filtering
        )
        distinct_sizes = np.unique(sizes)[::-1].copy()
        held = slots >= 0
        sieves = _sieves(hashes[held], sizes[slots[held]], distinct_sizes)
        ngrams = NgramTable(
            found.forms.codepoints, found.bounds, firsts, sizes, distinct_sizes, hashes, slots, filtering, sieves
        )
        return cls(texts, size, found, numbers, offsets, Probe(ngrams, secret))

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


def _power_of_two(least: int) -> int:
    return 1 << max(least, LEAST_SLOTS).bit_length()


def _sieves(
    hashes: NDArray[np.uint64], sizes: NDArray[np.int64], distinct_sizes: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return the sieve of each size. Args: hashes, sizes: of the N-grams; distinct_sizes: descending."""
    sieves = np.zeros((len(distinct_sizes), SIEVE_WORDS), np.uint64)
    bits = hashes >> np.uint64(SIEVE_SHIFT)
    words = (bits >> np.uint64(6)).astype(np.int64)
    rows = np.searchsorted(-distinct_sizes, -sizes)
    np.bitwise_or.at(sieves, (rows, words), np.uint64(1) << (bits & np.uint64(63)))
    return sieves
