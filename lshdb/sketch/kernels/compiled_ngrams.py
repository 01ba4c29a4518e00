"""Compiled kernels that number the N-grams of some texts, and find them in others. Exact: words are compared.

The hash of an N-gram is a polynomial of the hashes of its words. Both depend on a secret, so nobody can prepare texts
whose N-grams collide. The hash of any run of words follows from two values of the polynomial of the whole text, so each
size of N-gram costs one short pass.

All release the GIL. Arrays are contiguous. Constants are typed, and indices are unsigned, for the reasons that
`compiled_texts` gives.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lshdb.sketch.kernels.compilation import inlined, kernel, longest
from lshdb.sketch.kernels.compiled_shingles import keyed_tokens
from lshdb.sketch.kernels.compiled_words import bound_words
from lshdb.sketch.kernels.ngram_values import NgramTable

__all__ = ["fill_filter", "find_ngrams", "number_ngrams"]

ZERO, ONE = np.uint64(0), np.uint64(1)
LOW_6, BITS_6 = np.uint64(63), np.uint64(6)
NONE = -1
FIRST_HITS = 1024


@kernel
def _shift(size: int) -> np.uint64:
    """Return by how many bits to shift a hash to get a number below `size`, a power of two from 2 up."""
    bits = 0
    while 1 << bits < size:
        bits += 1
    return np.uint64(64 - bits)


@kernel
def _sums(tokens: NDArray[np.uint64], base: np.uint64, sums: NDArray[np.uint64]) -> None:
    """Put the polynomial of the first i tokens into sums[i]."""
    sums[0] = ZERO
    for i in range(len(tokens)):
        sums[i + 1] = sums[i] * base + tokens[i]


@kernel
def _power(base: np.uint64, exponent: int) -> np.uint64:
    power = ONE
    for _ in range(exponent):
        power *= base
    return power


@inlined
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
    slots: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Number the N-grams of n normal forms; equal words in a row have equal numbers, from 0 in order of occurrence.

    A text of fewer than `size` words has one N-gram of all its words.

    Args:
        codepoints, offsets, bounds: the normal forms and their words.
        secret: uint64, shape (2,); the second is odd.
        hashes, slots: an empty hash table to fill, as in `NgramTable`; the length is a power of two.

    Returns: `numbers`, `words`, `sizes` and `lone`, as in `NgramTable`.
    """
    numbers = np.full(len(bounds), NONE, np.int32)
    words, sizes = np.empty(len(bounds), np.int64), np.empty(len(bounds), np.int64)
    lone = np.empty(len(bounds), np.bool_)
    tokens = np.empty(longest(offsets) + 1, np.uint64)
    sums = np.empty(len(tokens) + 1, np.uint64)
    shift, mask = _shift(len(hashes)), np.uint64(len(hashes) - 1)
    first_word, count = 0, 0
    for text in range(len(offsets) - 1):
        num_words = int(keyed_tokens(codepoints[offsets[text] : offsets[text + 1]], code_table, secret, tokens))
        _sums(tokens[:num_words], secret[1], sums)
        taken = min(size, num_words)
        leaving = _power(secret[1], taken)
        for i in range(num_words - taken + 1 if num_words else 0):
            value = sums[i + taken] - sums[i] * leaving
            slot = value >> shift
            is_lone = taken < size
            while slots[slot] >= 0:
                known = slots[slot]
                if hashes[slot] == value:
                    word = words[known]
                    if sizes[known] == taken and _are_same(
                        codepoints, bounds, word, codepoints, bounds, first_word + i, taken
                    ):
                        break
                    lone[known] = is_lone = False
                slot = slot + ONE & mask
            if slots[slot] < 0:
                hashes[slot], slots[slot] = value, count
                words[count], sizes[count], lone[count] = first_word + i, taken, is_lone
                count += 1
            numbers[first_word + i] = slots[slot]
        first_word += num_words
    return numbers, words[:count].copy(), sizes[:count].copy(), lone[:count].copy()


@kernel
def _mask(value: np.uint64) -> np.uint64:
    """Return the two bits of a hash in its word of a filter."""
    return ONE << (value & LOW_6) | ONE << (value >> BITS_6 & LOW_6)


@kernel
def fill_filter(hashes: NDArray[np.uint64], filter: NDArray[np.uint64]) -> None:
    """Add hashes to a filter, whose length is a power of two from 2 up."""
    shift = _shift(len(filter))
    for value in hashes:
        filter[value >> shift] |= _mask(value)


@kernel
def _passing(
    sums: NDArray[np.uint64],
    size: int,
    leaving: np.uint64,
    filter: NDArray[np.uint64],
    passing: NDArray[np.uint64],
) -> int:
    """Put the first words of the N-grams that pass a filter into `passing`; return their number.

    There is no branch, so the processor loads many words of the filter at once: 1 ns for each word of the text.
    """
    shift = _shift(len(filter))
    count, length = ZERO, np.uint64(size)
    for i in range(np.uint64(len(sums) - size)):
        value = sums[i + length] - sums[i] * leaving
        mask = _mask(value)
        passing[count] = i
        count += np.uint64(filter[value >> shift] & mask == mask)
    return int(count)


@inlined
def _goes_on(
    ngrams: NgramTable, word: int, size: int, form: NDArray[np.uint32], bounds: NDArray[np.int64], i: int
) -> bool:
    """Return whether the N-gram at `word` equals that at word i of a form; all their words but the last are equal."""
    if word == len(ngrams.numbers) or ngrams.numbers[word] < 0 or ngrams.sizes[ngrams.numbers[word]] != size:
        return False
    last = size - 1
    return _are_same(ngrams.codepoints, ngrams.bounds, word + last, form, bounds, i + last, 1)


@kernel
def _confirm(
    ngrams: NgramTable,
    text: int,
    form: NDArray[np.uint32],
    bounds: NDArray[np.int64],
    sums: NDArray[np.uint64],
    size: int,
    leaving: np.uint64,
    passing: NDArray[np.uint64],
    seen: NDArray[np.int32],
    hits: NDArray[np.int64],
) -> int:
    """Put those of the N-grams that passed a filter and are numbered into `hits`; return how many there are.

    Args: seen: for each lone N-gram, the last text that has it.
    """
    shift, mask = _shift(len(ngrams.hashes)), np.uint64(len(ngrams.hashes) - 1)
    count = 0
    word, next_place = NONE, NONE
    for place in passing:
        i = int(place)
        # In a run that both texts share, each word is compared once, not N times.
        if i == next_place and _goes_on(ngrams, word + 1, size, form, bounds, i):
            word, number = word + 1, int(ngrams.numbers[word + 1])
        else:
            value = sums[i + size] - sums[i] * leaving
            slot = value >> shift
            number = int(ngrams.slots[slot])
            while number >= 0:
                if ngrams.hashes[slot] == value and ngrams.sizes[number] == size:
                    word = int(ngrams.words[number])
                    if (ngrams.lone[number] and seen[number] == text) or _are_same(
                        ngrams.codepoints, ngrams.bounds, word, form, bounds, i, size
                    ):
                        break
                slot = slot + ONE & mask
                number = int(ngrams.slots[slot])
            if number < 0:
                continue
        next_place = i + 1
        if ngrams.lone[number]:
            if seen[number] == text:
                continue
            seen[number] = text
        hits[count, 0], hits[count, 1], hits[count, 2] = text, i, number
        count += 1
    return count


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
    Of a lone N-gram, only the first place in each text is returned.
    """
    hits = np.empty((FIRST_HITS, 3), np.int64)
    seen = np.full(len(ngrams.words), NONE, np.int32)
    tokens = np.empty(longest(offsets) + 1, np.uint64)
    sums = np.empty(len(tokens) + 1, np.uint64)
    passing, bounds = np.empty(len(tokens), np.uint64), np.empty((len(tokens), 2), np.int64)
    count = 0
    for text in range(len(offsets) - 1):
        form = codepoints[offsets[text] : offsets[text + 1]]
        num_words = int(keyed_tokens(form, code_table, secret, tokens))
        _sums(tokens[:num_words], secret[1], sums)
        is_split = False
        for row in range(len(ngrams.distinct_sizes)):
            size = ngrams.distinct_sizes[row]
            if size > num_words:
                continue
            leaving = _power(secret[1], size)
            filter = ngrams.filters[ngrams.filter_offsets[row] : ngrams.filter_offsets[row + 1]]
            num_passing = _passing(sums[: num_words + 1], size, leaving, filter, passing)
            if num_passing == 0:
                continue
            if not is_split:
                bound_words(form, 0, len(form), code_table, bounds)
                is_split = True
            if count + num_passing > len(hits):
                more = np.empty((2 * (count + num_passing), 3), np.int64)
                more[:count] = hits[:count]
                hits = more
            count += _confirm(
                ngrams, text, form, bounds, sums, size, leaving, passing[:num_passing], seen, hits[count:]
            )
    return hits[:count].copy()
