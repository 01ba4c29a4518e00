"""Compiled kernels over shingle sets and signatures; `reference` has the same functions.

All release the GIL. Arrays are contiguous. Every constant is typed, because Numba turns an int64 combined with a
uint64 into a float64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lshdb.sketch.kernels.compilation import kernel, longest, mix
from lshdb.sketch.kernels.constants import EMPTY_MINIMUM, EMPTY_SLOT, GOLDEN

__all__ = [
    "agreements",
    "band_hashes",
    "equal_minima",
    "fss1_minima",
    "number_occurrences",
    "universal_minima",
]

R32 = np.uint64(32)
ZERO = np.uint64(0)
ONE = np.uint64(1)


@kernel
def number_occurrences(hashes: NDArray[np.uint64], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the hashes, with the i-th repeat (i from 1) of a hash in a text replaced by a hash of both."""
    numbered = np.empty_like(hashes)
    size = 16
    while size < 2 * longest(offsets):
        size *= 2
    keys, counts = np.empty(size, np.uint64), np.zeros(size, np.uint64)
    for text in range(len(offsets) - 1):
        start, stop = offsets[text], offsets[text + 1]
        used = 16
        while used < 2 * (stop - start):
            used *= 2
        counts[:used] = ZERO
        for i in range(start, stop):
            slot = np.int64(hashes[i] & np.uint64(used - 1))
            while counts[slot] != ZERO and keys[slot] != hashes[i]:
                slot = (slot + 1) & (used - 1)
            repeat = counts[slot]
            keys[slot] = hashes[i]
            counts[slot] = repeat + ONE
            numbered[i] = hashes[i] if repeat == ZERO else mix(hashes[i] + repeat * GOLDEN)
    return numbered


@kernel
def _first_round(hashes: NDArray[np.uint64], seed: np.uint64, values: NDArray[np.uint64]) -> None:
    """Put the least hash of each slot into `values`; free of branches, since most documents need only this round."""
    slots = np.uint64(len(values))
    values[:] = EMPTY_SLOT
    for x in hashes:
        value = mix(x + seed)
        slot = ((value >> R32) * slots) >> R32
        values[slot] = min(values[slot], value)


@kernel
def _fss1_fill(
    hashes: NDArray[np.uint64], seeds: NDArray[np.uint64], values: NDArray[np.uint64], rounds: NDArray[np.int64]
) -> None:
    """Put the least hash of each slot into `values`, and the round it comes from into `rounds`."""
    num_perm = len(values)
    slots, unset = np.uint64(num_perm), 2 * num_perm
    _first_round(hashes, seeds[0], values)
    empty = 0
    for i in range(num_perm):
        rounds[i] = 0
        if values[i] == EMPTY_SLOT:
            rounds[i] = unset
            empty += 1
    for number in range(1, num_perm):
        if empty == 0:
            return
        for x in hashes:
            value = mix(x + seeds[number])
            slot = ((value >> R32) * slots) >> R32
            if rounds[slot] >= number and value < values[slot]:
                if rounds[slot] == unset:
                    empty -= 1
                rounds[slot] = number
                values[slot] = value
    for i in range(num_perm):
        if rounds[i] == unset:
            rounds[i] = num_perm + i
            for x in hashes:
                values[i] = min(values[i], mix(x + seeds[num_perm + i]))


@kernel
def fss1_minima(
    hashes: NDArray[np.uint64], offsets: NDArray[np.int64], seeds: NDArray[np.uint64], num_perm: int
) -> NDArray[np.uint32]:
    """Return Fast Similarity Sketches: uint32, shape (n, num_perm). Args: seeds: uint64, shape (2 * num_perm,)."""
    minima = np.full((len(offsets) - 1, num_perm), EMPTY_MINIMUM, np.uint32)
    values, rounds = np.empty(num_perm, np.uint64), np.empty(num_perm, np.int64)
    for i in range(len(minima)):
        if offsets[i] == offsets[i + 1]:
            continue
        _fss1_fill(hashes[offsets[i] : offsets[i + 1]], seeds, values, rounds)
        for slot in range(num_perm):
            minima[i, slot] = np.uint32(mix(values[slot] ^ seeds[rounds[slot]]) >> R32)
    return minima


@kernel
def universal_minima(
    hashes: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    multipliers: NDArray[np.uint64],
    addends: NDArray[np.uint64],
) -> NDArray[np.uint32]:
    """Return MinHash signatures by num_perm hashes a*x+b mod 2**64: uint32, shape (n, num_perm)."""
    num_perm = len(multipliers)
    minima = np.full((len(offsets) - 1, num_perm), EMPTY_MINIMUM, np.uint32)
    least = np.empty(num_perm, np.uint64)
    for i in range(len(minima)):
        if offsets[i] == offsets[i + 1]:
            continue
        least[:] = EMPTY_SLOT
        x, stop = offsets[i], offsets[i + 1]
        # Four hashes at a time, with the permutations in the inner loop: it vectorises and reads `least` once for four.
        while x + 4 <= stop:
            x0, x1, x2, x3 = hashes[x], hashes[x + 1], hashes[x + 2], hashes[x + 3]
            for k in range(num_perm):
                a, b = multipliers[k], addends[k]
                low, high = min(a * x0 + b, a * x1 + b), min(a * x2 + b, a * x3 + b)
                least[k] = min(least[k], min(low, high))
            x += 4
        for j in range(x, stop):
            x0 = hashes[j]
            for k in range(num_perm):
                least[k] = min(least[k], multipliers[k] * x0 + addends[k])
        for k in range(num_perm):
            minima[i, k] = np.uint32(mix(least[k]) >> R32)
    return minima


@kernel
def band_hashes(minima: NDArray[np.uint32], bands: int, rows: int) -> NDArray[np.uint64]:
    """Return the bucket hash of each band of each signature: uint64, shape (n, bands)."""
    keys = np.empty((len(minima), bands), np.uint64)
    for i in range(len(minima)):
        for band in range(bands):
            key = mix(np.uint64(band) + GOLDEN)
            for row in range(band * rows, band * rows + rows):
                key = mix((key ^ np.uint64(minima[i, row])) + GOLDEN)
            keys[i, band] = key
    return keys


@kernel
def equal_minima(left: NDArray[np.uint32], right: NDArray[np.uint32], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many minima signatures ``left[pairs[i, 0]]`` and ``right[pairs[i, 1]]`` share: int64, shape (m,)."""
    equal = np.zeros(len(pairs), np.int64)
    for i in range(len(pairs)):
        one, other = left[pairs[i, 0]], right[pairs[i, 1]]
        count = np.uint32(0)
        for k in range(len(one)):
            count += np.uint32(one[k] == other[k])
        equal[i] = count
    return equal


@kernel
def agreements(
    minima: NDArray[np.uint32], others: NDArray[np.uint32], least: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the equal minima of all signatures with all others. Few pairs have any, and only those take time.

    Args:
        minima, others: uint32, shapes (n, num_perm) and (m, num_perm).
        least: 1 or more.

    Returns:
        counts: int64, shape (num_perm + 1,). How many of the n * m pairs have each number of equal minima.
        found: int64, shape (f, 3). The pairs with `least` or more: number of the signature, of the other, equal minima.
    """
    num_perm, size = minima.shape[1], 16
    while size < 2 * len(minima):
        size *= 2
    # For each column a hash table: the last signature in each slot, and before each signature, the next one there.
    heads, earlier = np.full((num_perm, size), -1, np.int32), np.empty(minima.shape, np.int32)
    for i in range(len(minima)):
        for k in range(num_perm):
            slot = _slot(minima[i, k], size)
            earlier[i, k] = heads[k, slot]
            heads[k, slot] = i
    counts = np.zeros(num_perm + 1, np.int64)
    found, num_found = np.empty((1024, 3), np.int64), 0
    equal, met = np.zeros(len(minima), np.int32), np.empty(len(minima), np.int32)
    for other in range(len(others)):
        num_met = 0
        for k in range(num_perm):
            i = heads[k, _slot(others[other, k], size)]
            while i >= 0:
                if minima[i, k] == others[other, k]:
                    if equal[i] == 0:
                        met[num_met] = i
                        num_met += 1
                    equal[i] += 1
                i = earlier[i, k]
        counts[0] += len(minima) - num_met
        for i in met[:num_met]:
            counts[equal[i]] += 1
            if equal[i] >= least:
                if num_found == len(found):
                    found = np.concatenate((found, np.empty_like(found)))
                found[num_found, 0], found[num_found, 1], found[num_found, 2] = i, other, equal[i]
                num_found += 1
            equal[i] = 0
    return counts, found[:num_found]


@kernel
def _slot(minimum: np.uint32, size: int) -> np.int64:
    return np.int64((np.uint64(minimum) * GOLDEN >> R32) & np.uint64(size - 1))
