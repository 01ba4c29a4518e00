"""Compiled kernels that intersect the shingle sets of families of similar texts; `reference` has the same functions.

Each distinct hash of a family gets a number. A text is then a row of bits, and two texts share as many hashes as the
AND of their rows has bits. Where rows would be long and nearly empty, the numbers of one text are marked in a table
and those of the others are looked up there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lshdb.sketch.kernels.compilation import kernel

__all__ = ["shared_in_families"]

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
def _count(x: np.uint64) -> np.uint64:
    """Return the number of bits that are set. Source: Warren, Hacker's Delight; LLVM makes one instruction of it."""
    x = x - ((x >> ONE) & PAIRS)
    x = (x & FOURS) + ((x >> np.uint64(2)) & FOURS)
    x = (x + (x >> np.uint64(4))) & BYTES
    return (x * SUM) >> np.uint64(56)


@kernel
def _slot_of(
    x: np.uint64, slots: NDArray[np.int32], hash_of: NDArray[np.uint64], shift: np.uint64, multiplier: np.uint64
) -> np.int64:
    """Return the slot that has the number of a hash, or the empty slot, -1, for it."""
    mask = np.int64((ONE << (np.uint64(64) - shift)) - ONE)
    slot = np.int64((x * multiplier) >> shift)
    while slots[slot] >= 0 and hash_of[slots[slot]] != x:
        slot = (slot + 1) & mask
    return slot


@kernel
def _number(
    hashes: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    texts: NDArray[np.int64],
    multiplier: np.uint64,
    numbers: NDArray[np.int32],
    starts: NDArray[np.int64],
    slots: NDArray[np.int32],
    hash_of: NDArray[np.uint64],
    last_in: NDArray[np.int32],
) -> int:
    """Number the hashes of some texts from 0, and return how many there are.

    Text i then has ``numbers[starts[i]:starts[i + 1]]``, without repeats. `slots`, `hash_of` and `last_in` have room
    for all hashes; getting new memory for each family would double the time.
    """
    known, end, following, size, shift = 0, 0, np.int64(0), np.int64(0), np.uint64(0)
    for place in range(len(texts)):
        begin, after = offsets[texts[place]], offsets[texts[place] + 1]
        if 2 * (known + after - begin) > size:
            shift = max(_shift_of(2 * (known + after - begin)), _shift_of(len(slots) // 2))
            size = np.int64(ONE << (np.uint64(64) - shift))
            slots[:size] = -1
            for old in range(known):
                slots[_slot_of(hash_of[old], slots, hash_of, shift, multiplier)] = old
        for i in range(begin, after):
            number = following
            # Versions of a text have most of their words in the same order.
            if following >= known or hash_of[following] != hashes[i]:
                slot = _slot_of(hashes[i], slots, hash_of, shift, multiplier)
                number = np.int64(slots[slot])
                if number < 0:
                    number = np.int64(known)
                    slots[slot], hash_of[number], last_in[number] = number, hashes[i], -1
                    known += 1
            if last_in[number] != place:
                last_in[number] = place
                numbers[end] = number
                end += 1
            following = number + 1
        starts[place + 1] = end
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
def _most(offsets: NDArray[np.int64], texts: NDArray[np.int64], families: NDArray[np.int64]) -> int:
    """Return how many hashes the family with the most of them has, repeats included."""
    most = 0
    for family in range(len(families) - 1):
        count = 0
        for text in texts[families[family] : families[family + 1]]:
            count += offsets[text + 1] - offsets[text]
        most = max(most, count)
    return most


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
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many distinct hashes the texts of each pair share, int64, shape (m,), and how many each text has.

    The second array is int64, shape (n,), and 0 for the texts of families without pairs.

    Args:
        texts: int64; family i has ``texts[families[i]:families[i + 1]]``.
        pairs: int64, shape (2, m): places in `texts`. Those of family i are ``pair_families[i]:pair_families[i + 1]``.
        multiplier: odd, and unknown to whoever wrote the texts, who could fill one slot of a table otherwise.
        matrix_words: the size of the rows that are in memory at a time; longer rows are made in several parts.
        lookup_words: how many words of two rows take as long as looking up one number in a table.
    """
    shared, sizes = np.zeros(pairs.shape[1], np.int64), np.zeros(len(offsets) - 1, np.int64)
    most = _most(offsets, texts, families)
    numbers, last_in = np.empty(most, np.int32), np.empty(most, np.int32)
    hash_of, slots = np.empty(most, np.uint64), np.empty(np.int64(ONE << (np.uint64(64) - _shift_of(most))), np.int32)
    for family in range(len(families) - 1):
        begin, end = pair_families[family], pair_families[family + 1]
        if begin == end:
            continue
        members = texts[families[family] : families[family + 1]]
        starts = np.zeros(len(members) + 1, np.int64)
        known = _number(hashes, offsets, members, multiplier, numbers, starts, slots, hash_of, last_in)
        for place in range(len(members)):
            sizes[members[place]] = starts[place + 1] - starts[place]
        left, right = pairs[0, begin:end] - families[family], pairs[1, begin:end] - families[family]
        lookups = 0
        for pair in range(end - begin):
            lookups += starts[left[pair] + 1] - starts[left[pair]]
        words = (known + 63) // 64
        if (end - begin + len(members)) * words < lookup_words * lookups:
            _count_in_rows(numbers, starts, known, left, right, shared[begin:end], matrix_words)
        else:
            _count_in_table(numbers, starts, known, left, right, shared[begin:end])
    return shared, sizes
