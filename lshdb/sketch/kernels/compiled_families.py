"""Compiled kernels that intersect the shingle sets of families of similar texts; `reference` has the same functions.

Each distinct hash of a family gets a number. A text is then a row of bits, and two texts share as many hashes as the
AND of their rows has bits. Where rows would be long and nearly empty, the numbers of one text are marked in a table
and those of the others are looked up there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lshdb.sketch.kernels.compilation import kernel, longest

__all__ = ["distinct_hashes", "shared_in_families"]

ONE = np.uint64(1)
LOW_BITS = np.uint64(63)
PAIRS = np.uint64(0x5555555555555555)
FOURS = np.uint64(0x3333333333333333)
BYTES = np.uint64(0x0F0F0F0F0F0F0F0F)
SUM = np.uint64(0x0101010101010101)


@kernel
def _shift_of(count: int) -> np.uint64:
    """Return the shift that leaves of a product the bits of a slot in a table for `count` hashes, at most half full."""
    shift = np.uint64(60)
    while (ONE << (np.uint64(64) - shift)) < np.uint64(2 * count):
        shift -= ONE
    return shift


@kernel
def distinct_hashes(
    hashes: NDArray[np.uint64], offsets: NDArray[np.int64], multiplier: np.uint64
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the hashes of each text in the order of their first occurrence, without repeats, and their offsets.

    Args: multiplier: odd, and unknown to whoever wrote the texts, who could fill one slot otherwise.
    """
    unique = np.empty_like(hashes)
    ends = np.zeros_like(offsets)
    size = np.int64(ONE << (np.uint64(64) - _shift_of(longest(offsets))))
    keys, owners = np.empty(size, np.uint64), np.full(size, -1, np.int32)
    end = 0
    for text in range(len(offsets) - 1):
        shift = _shift_of(offsets[text + 1] - offsets[text])
        mask = np.int64((ONE << (np.uint64(64) - shift)) - ONE)
        for i in range(offsets[text], offsets[text + 1]):
            slot = np.int64((hashes[i] * multiplier) >> shift)
            while owners[slot] == text and keys[slot] != hashes[i]:
                slot = (slot + 1) & mask
            if owners[slot] != text:
                owners[slot] = text
                keys[slot] = hashes[i]
                unique[end] = hashes[i]
                end += 1
        ends[text + 1] = end
    return unique[:end], ends


@kernel
def _count(x: np.uint64) -> np.uint64:
    """Return the number of bits that are set. Source: Warren, Hacker's Delight; LLVM makes one instruction of it."""
    x = x - ((x >> ONE) & PAIRS)
    x = (x & FOURS) + ((x >> np.uint64(2)) & FOURS)
    x = (x + (x >> np.uint64(4))) & BYTES
    return (x * SUM) >> np.uint64(56)


@kernel
def _number(
    hashes: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    texts: NDArray[np.int64],
    multiplier: np.uint64,
    numbers: NDArray[np.int32],
) -> int:
    """Number the hashes of some texts from 0, put the numbers into `numbers` text by text, and return how many."""
    known, end = 0, 0
    shift = _shift_of(1)
    size = np.int64(ONE << (np.uint64(64) - shift))
    keys, values = np.empty(size, np.uint64), np.full(size, -1, np.int32)
    for text in texts:
        count = known + offsets[text + 1] - offsets[text]
        if 2 * count > size:
            shift = _shift_of(2 * count)
            size = np.int64(ONE << (np.uint64(64) - shift))
            before, its_values = keys, values
            keys, values = np.empty(size, np.uint64), np.full(size, -1, np.int32)
            for old in range(len(before)):
                if its_values[old] >= 0:
                    slot = np.int64((before[old] * multiplier) >> shift)
                    while values[slot] >= 0:
                        slot = (slot + 1) & (size - 1)
                    keys[slot], values[slot] = before[old], its_values[old]
        for i in range(offsets[text], offsets[text + 1]):
            slot = np.int64((hashes[i] * multiplier) >> shift)
            while values[slot] >= 0 and keys[slot] != hashes[i]:
                slot = (slot + 1) & (size - 1)
            if values[slot] < 0:
                keys[slot], values[slot] = hashes[i], known
                known += 1
            numbers[end] = values[slot]
            end += 1
    return known


@kernel
def _count_in_rows(
    numbers: NDArray[np.int32],
    starts: NDArray[np.int64],
    known: int,
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    shared: NDArray[np.int64],
    matrix_words: int,
) -> None:
    """Add to `shared` how many numbers texts left[i] and right[i] share, from rows of bits."""
    num_texts = len(starts) - 1
    width = max(1, min((known + 63) // 64, matrix_words // num_texts))
    bits = np.empty((num_texts, width), np.uint64)
    for first in range(0, known, 64 * width):
        bits[:] = 0
        for text in range(num_texts):
            for i in range(starts[text], starts[text + 1]):
                number = np.int64(numbers[i]) - first
                if 0 <= number < 64 * width:
                    bits[text, number >> 6] |= ONE << (np.uint64(number) & LOW_BITS)
        for pair in range(len(left)):
            one, other, count = bits[left[pair]], bits[right[pair]], np.uint64(0)
            for word in range(width):
                count += _count(one[word] & other[word])
            shared[pair] += np.int64(count)


@kernel
def _count_in_table(
    numbers: NDArray[np.int32],
    starts: NDArray[np.int64],
    known: int,
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    shared: NDArray[np.int64],
) -> None:
    """Add to `shared` how many numbers texts left[i] and right[i] share, from a table of the numbers of right[i]."""
    marks = np.full(known, -1, np.int64)
    for pair in range(len(left)):
        text = right[pair]
        if pair == 0 or right[pair - 1] != text:
            for i in range(starts[text], starts[text + 1]):
                marks[numbers[i]] = text
        count = 0
        for i in range(starts[left[pair]], starts[left[pair] + 1]):
            count += marks[numbers[i]] == text
        shared[pair] += count


@kernel
def shared_in_families(
    hashes: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    texts: NDArray[np.int64],
    families: NDArray[np.int64],
    pairs: NDArray[np.int64],
    pair_families: NDArray[np.int64],
    multiplier: np.uint64,
    matrix_words: int,
    lookup_words: int,
) -> NDArray[np.int64]:
    """Return how many hashes the texts of each pair share, int64, shape (m,).

    Args:
        hashes, offsets: without repeats in a text.
        texts: int64; family i has ``texts[families[i]:families[i + 1]]``.
        pairs: int64, shape (2, m): places in `texts`. Those of family i are ``pair_families[i]:pair_families[i + 1]``.
        multiplier: as of `distinct_hashes`.
        matrix_words: the size of the rows that are in memory at a time; longer rows are made in several parts.
        lookup_words: how many words of two rows take as long as looking up one number in a table.
    """
    shared = np.zeros(pairs.shape[1], np.int64)
    for family in range(len(families) - 1):
        begin, end = pair_families[family], pair_families[family + 1]
        if begin == end:
            continue
        members = texts[families[family] : families[family + 1]]
        starts = np.zeros(len(members) + 1, np.int64)
        for place in range(len(members)):
            starts[place + 1] = starts[place] + offsets[members[place] + 1] - offsets[members[place]]
        numbers = np.empty(starts[-1], np.int32)
        known = _number(hashes, offsets, members, multiplier, numbers)
        left, right = pairs[0, begin:end] - families[family], pairs[1, begin:end] - families[family]
        lookups = 0
        for pair in range(end - begin):
            lookups += starts[left[pair] + 1] - starts[left[pair]]
        words = (known + 63) // 64
        if (end - begin + len(members)) * words < lookup_words * lookups:
            _count_in_rows(numbers, starts, known, left, right, shared[begin:end], matrix_words)
        else:
            _count_in_table(numbers, starts, known, left, right, shared[begin:end])
    return shared
