"""Compiled kernels that number the N-grams of some texts, and find them in others. Exact: words are compared.

The hash of an N-gram is a polynomial of the hashes of its words, which depend on a secret. Its value for any run of
words follows from two values of the polynomial of the whole text, so N-grams of several sizes cost one pass.

All release the GIL. Arrays are contiguous. Constants are typed for the reason that `compiled_texts` gives.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lshdb.sketch.kernels.compilation import kernel, longest
from lshdb.sketch.kernels.compiled_shingles import keyed_tokens
from lshdb.sketch.kernels.compiled_words import split_words
from lshdb.sketch.kernels.constants import SHINGLE_BASE
from lshdb.sketch.kernels.ngram_values import NgramTable

__all__ = ["find_ngrams", "number_ngrams"]

ZERO, ONE = np.uint64(0), np.uint64(1)
LOW_6, BITS_6 = np.uint64(63), np.uint64(6)
FIRST_HITS = 1024


@kernel
def _bits(size: int) -> np.uint64:
    """Return how many bits the numbers below `size` have; `size` is a power of two."""
    bits = 0
    while 1 << bits < size:
        bits += 1
    return np.uint64(bits)


@kernel
def _sums(tokens: NDArray[np.uint64], sums: NDArray[np.uint64]) -> None:
    """Put the polynomial of the first i tokens into sums[i]."""
    sums[0] = ZERO
    for i in range(len(tokens)):
        sums[i + 1] = sums[i] * SHINGLE_BASE + tokens[i]


@kernel
def _power(size: int) -> np.uint64:
    """Return the base to the power of `size`."""
    power = ONE
    for _ in range(size):
        power *= SHINGLE_BASE
    return power


@kernel
def _are_same(
    ours: NDArray[np.uint32],
    our_bounds: NDArray[np.int64],
    i: int,
    theirs: NDArray[np.uint32],
    their_bounds: NDArray[np.int64],
    j: int,
    size: int,
) -> bool:
    """Return whether `size` words of one text, from word i on, equal those of another from word j on."""
    for word in range(size):
        start, other = our_bounds[i + word, 0], their_bounds[j + word, 0]
        length = our_bounds[i + word, 1] - start
        if their_bounds[j + word, 1] - other != length:
            return False
        for k in range(length):
            if ours[start + k] != theirs[other + k]:
                return False
    return True


@kernel
def number_ngrams(
    codepoints: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    bounds: NDArray[np.int64],
    size: int,
    code_table: NDArray[np.uint32],
    secret: NDArray[np.uint64],
    hashes: NDArray[np.uint64],
    numbers: NDArray[np.int32],
    filter: NDArray[np.uint64],
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Number the N-grams of n normal forms; equal words in a row have equal numbers, from 0 in order of occurrence.

    A text of fewer than `size` words has one N-gram of all its words.

    Args:
        codepoints, offsets, bounds: the normal forms and their words.
        hashes, numbers, filter: an empty `NgramTable` to fill; the lengths are powers of two.

    Returns: the numbers in reading order, int32, and their offsets, int64, shape (n + 1,); the first word and the
        size of each N-gram, int64.
    """
    found = np.empty(len(bounds), np.int32)
    ends = np.zeros(len(offsets), np.int64)
    words, sizes = np.empty(len(bounds), np.int64), np.empty(len(bounds), np.int64)
    tokens = np.empty(longest(offsets) + 1, np.uint64)
    sums = np.empty(len(tokens) + 1, np.uint64)
    slot_shift, mask = np.uint64(64) - _bits(len(hashes)), np.uint64(len(hashes) - 1)
    filter_shift = np.uint64(64 - 6) - _bits(len(filter))
    first_word, total, count = 0, 0, 0
    for text in range(len(offsets) - 1):
        num_words = int(keyed_tokens(codepoints[offsets[text] : offsets[text + 1]], code_table, secret, tokens))
        _sums(tokens[:num_words], sums)
        taken = min(size, num_words)
        leaving = _power(taken)
        for i in range(num_words - taken + 1 if num_words else 0):
            value = sums[i + taken] - sums[i] * leaving
            slot = value >> slot_shift
            number = -1
            while numbers[slot] >= 0:
                known = numbers[slot]
                if (
                    hashes[slot] == value
                    and sizes[known] == taken
                    and _are_same(codepoints, bounds, words[known], codepoints, bounds, first_word + i, taken)
                ):
                    number = known
                    break
                slot = slot + ONE & mask
            if number < 0:
                number = count
                hashes[slot], numbers[slot] = value, number
                words[number], sizes[number] = first_word + i, taken
                bit = value >> filter_shift
                filter[bit >> BITS_6] |= ONE << (bit & LOW_6)
                count += 1
            found[total] = number
            total += 1
        first_word += num_words
        ends[text + 1] = total
    return found[:total].copy(), ends, words[:count].copy(), sizes[:count].copy()


@kernel
def find_ngrams(
    codepoints: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    code_table: NDArray[np.uint32],
    secret: NDArray[np.uint64],
    ngrams: NgramTable,
) -> NDArray[np.int64]:
    """Return where n normal forms hold numbered N-grams: (text, word, number), int64, shape (m, 3).

    The rows are sorted by text, then by size, the largest first, then by word. Words are counted from 0 in each text.
    """
    hits = np.empty((FIRST_HITS, 3), np.int64)
    count = 0
    tokens = np.empty(longest(offsets) + 1, np.uint64)
    sums = np.empty(len(tokens) + 1, np.uint64)
    slot_shift, mask = np.uint64(64) - _bits(len(ngrams.hashes)), np.uint64(len(ngrams.hashes) - 1)
    filter_shift = np.uint64(64 - 6) - _bits(len(ngrams.filter))
    sieve_shift = np.uint64(64 - 6) - _bits(ngrams.sieves.shape[1])
    one_text = np.zeros(2, np.int64)
    for text in range(len(offsets) - 1):
        form = codepoints[offsets[text] : offsets[text + 1]]
        num_words = int(keyed_tokens(form, code_table, secret, tokens))
        _sums(tokens[:num_words], sums)
        bounds = ngrams.bounds[:0]
        is_split = False
        for row in range(len(ngrams.distinct_sizes)):
            size, sieve = ngrams.distinct_sizes[row], ngrams.sieves[row]
            leaving = _power(size)
            for i in range(num_words - size + 1):
                value = sums[i + size] - sums[i] * leaving
                bit = value >> sieve_shift
                if sieve[bit >> BITS_6] >> (bit & LOW_6) & ONE == ZERO:
                    continue
                bit = value >> filter_shift
                if ngrams.filter[bit >> BITS_6] >> (bit & LOW_6) & ONE == ZERO:
                    continue
                slot = value >> slot_shift
                while ngrams.numbers[slot] >= 0:
                    number = ngrams.numbers[slot]
                    if ngrams.hashes[slot] == value and ngrams.sizes[number] == size:
                        if not is_split:
                            one_text[1] = len(form)
                            bounds, _ = split_words(form, one_text, code_table)
                            is_split = True
                        if _are_same(ngrams.codepoints, ngrams.bounds, ngrams.words[number], form, bounds, i, size):
                            if count == len(hits):
                                more = np.empty((2 * count, 3), np.int64)
                                more[:count] = hits
                                hits = more
                            hits[count, 0], hits[count, 1], hits[count, 2] = text, i, number
                            count += 1
                            break
                    slot = slot + ONE & mask
    return hits[:count].copy()
