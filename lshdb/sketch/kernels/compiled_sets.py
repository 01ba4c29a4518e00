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
def agreements(left: NDArray[np.uint32], right: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return how many minima each left and each right signature share: uint32, shape (len(left), len(right))."""
    equal = np.empty((len(left), len(right)), np.uint32)
    num_perm = left.shape[1]
    for i in range(len(left)):
        for j in range(len(right)):
            # The counter has the width of the minima, so that the loop vectorises.
            count = np.uint32(0)
            for k in range(num_perm):
                count += np.uint32(left[i, k] == right[j, k])
            equal[i, j] = count
    return equal
