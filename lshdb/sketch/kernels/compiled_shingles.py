"""Compiled kernels from normal forms to shingles; `reference_shingles` has the same functions.

A kernel named ``shingle_`` computes the hash of the table version ``unicode14-1``: polynomials with public bases, for
which anybody can make different words with the same hash. A kernel named ``keyed_`` computes that of ``unicode14-2``:
each code point goes through a rotation and a multiplication that depend on a secret. Both then roll the hashes of
tokens into those of k-grams.

All release the GIL. Arrays are contiguous. Constants are typed, and indices are unsigned, for the reasons that
`compiled_texts` gives.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lshdb.sketch.kernels import codepoints as entries
from lshdb.sketch.kernels.compilation import kernel, longest, mix
from lshdb.sketch.kernels.constants import MIX_1, SHINGLE_BASE, TOKEN_BASE

__all__ = [
    "keyed_chars",
    "keyed_lines",
    "keyed_tokens",
    "keyed_words",
    "shingle_chars",
    "shingle_lines",
    "shingle_words",
]

SPACE = np.uint32(entries.SPACE)
LINE_FEED = np.uint32(0x0A)
FIRST_SOLO = np.uint32(0x0E00)  # Thai; no code point below it is solo, so none needs a lookup
KIND_MASK = np.uint32(3 << entries.KIND_SHIFT)
SOLO = np.uint32(entries.SOLO << entries.KIND_SHIFT)

# Code points. In a shorter text, one loop costs less than the search for the middle.
SHORTEST_CUT = 96

ZERO, ONE = np.uint64(0), np.uint64(1)
R29, R32 = np.uint64(29), np.uint64(32)


@kernel
def _words(codepoints: NDArray[np.uint32], table: NDArray[np.uint32], tokens: NDArray[np.uint64]) -> np.uint64:
    """Put the unmixed hashes of the words of one normal form into `tokens`; return their number."""
    count, total = ZERO, ZERO
    for codepoint in codepoints:
        if codepoint >= FIRST_SOLO and table[codepoint] & KIND_MASK == SOLO:
            tokens[count] = total
            count += np.uint64(total != ZERO)
            tokens[count] = np.uint64(codepoint) * TOKEN_BASE
            count += ONE
            total = ZERO
            continue
        separator = codepoint == SPACE
        tokens[count] = total
        count += np.uint64(separator) & np.uint64(total != ZERO)
        # Choosing the factor, not the product, need not wait for the sum: 730 instead of 410 MB/s.
        total = (total + np.uint64(codepoint)) * (ZERO if separator else TOKEN_BASE)
    tokens[count] = total
    return count + np.uint64(total != ZERO)


@kernel
def _lines(codepoints: NDArray[np.uint32], tokens: NDArray[np.uint64]) -> np.uint64:
    """Put the unmixed hashes of the non-empty lines of one text into `tokens`; return their number."""
    count, total = ZERO, ZERO
    for codepoint in codepoints:
        separator = codepoint == LINE_FEED
        tokens[count] = total
        count += np.uint64(separator) & np.uint64(total != ZERO)
        total = (total + np.uint64(codepoint)) * (ZERO if separator else TOKEN_BASE)
    tokens[count] = total
    return count + np.uint64(total != ZERO)


@kernel
def _mix_all(tokens: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the tokens in place."""
    for i in range(len(tokens)):
        tokens[i] = mix(tokens[i])
    return tokens


@kernel
def _roll(tokens: NDArray[np.uint64], size: int, hashes: NDArray[np.uint64]) -> int:
    """Put the hashes of the k-grams of one text's tokens into `hashes`; return their number."""
    if len(tokens) == 0:
        return 0
    total, leaving = ZERO, ONE
    for token in tokens[:size]:
        total = total * SHINGLE_BASE + token
        leaving *= SHINGLE_BASE
    hashes[0] = total
    for i in range(len(tokens) - size):
        total = total * SHINGLE_BASE + (tokens[i + size] - tokens[i] * leaving)
        hashes[i + 1] = total
    count = max(1, len(tokens) - size + 1)
    # A separate loop, because it vectorises.
    for i in range(count):
        hashes[i] = mix(hashes[i])
    return count


@kernel
def shingle_words(
    codepoints: NDArray[np.uint32], offsets: NDArray[np.int64], size: int, table: NDArray[np.uint32]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the hashes of the word k-grams of n normal forms: uint64, shape (S,); and offsets: int64, shape (n + 1,).

    Args: codepoints, offsets: the normal forms; size: k; table: the code-point table.
    """
    hashes = np.empty(len(codepoints), np.uint64)
    tokens = np.empty(longest(offsets) + 1, np.uint64)
    ends = np.zeros(len(offsets), np.int64)
    for text in range(len(offsets) - 1):
        count = _words(codepoints[offsets[text] : offsets[text + 1]], table, tokens)
        ends[text + 1] = ends[text] + _roll(_mix_all(tokens[:count]), size, hashes[ends[text] :])
    return hashes[: ends[-1]], ends


@kernel
def shingle_chars(
    codepoints: NDArray[np.uint32], offsets: NDArray[np.int64], size: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the hashes of the code-point k-grams of n normal forms, in the form of `shingle_words`."""
    hashes = np.empty(len(codepoints), np.uint64)
    tokens = np.empty(longest(offsets), np.uint64)
    ends = np.zeros(len(offsets), np.int64)
    for text in range(len(offsets) - 1):
        start, count = offsets[text], offsets[text + 1] - offsets[text]
        for i in range(count):
            tokens[i] = np.uint64(codepoints[start + i]) * TOKEN_BASE
        ends[text + 1] = ends[text] + _roll(_mix_all(tokens[:count]), size, hashes[ends[text] :])
    return hashes[: ends[-1]], ends


@kernel
def shingle_lines(
    codepoints: NDArray[np.uint32], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the hashes of the non-empty lines of n texts, one feature per line, in the form of `shingle_words`."""
    hashes = np.empty(len(codepoints), np.uint64)
    tokens = np.empty(longest(offsets) + 1, np.uint64)
    ends = np.zeros(len(offsets), np.int64)
    for text in range(len(offsets) - 1):
        count = _lines(codepoints[offsets[text] : offsets[text + 1]], tokens)
        ends[text + 1] = ends[text] + _roll(_mix_all(tokens[:count]), 1, hashes[ends[text] :])
    return hashes[: ends[-1]], ends


@kernel
def _step(total: np.uint64, codepoint: np.uint32, start: np.uint64, factor: np.uint64) -> np.uint64:
    """Return the state after one more code point; 0 if the factor is 0.

    A bijection of the state, so that different words can collide only where they differ. The rotation makes it
    nonlinear: a polynomial mod 2**64 has collisions for every base.
    """
    total += np.uint64(codepoint) + start
    return (total << R32 | total >> R32) * factor


@kernel
def _spread(token: np.uint64) -> np.uint64:
    """Spread the bits of the last code point of a token over all bits."""
    x = (token ^ token >> R32) * MIX_1
    return x ^ x >> R29


@kernel
def _spread_open(tokens: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread the bits of each token in place, and return them without those whose state is 0: mostly empty ones."""
    count = ZERO
    for i in range(np.uint64(len(tokens))):
        token = _spread(tokens[i])
        tokens[count] = token
        count += np.uint64(token != ZERO)
    return tokens[:count]


@kernel
def _keyed_run(
    codepoints: NDArray[np.uint32],
    table: NDArray[np.uint32],
    secret: NDArray[np.uint64],
    total: np.uint64,
    tokens: NDArray[np.uint64],
) -> np.uint64:
    """Put the states after the words of a normal form, or of its rest, into `tokens`; return their number.

    Two separators in sequence have an empty word between them, whose state is 0. To leave these out afterwards takes
    less time than to compare every state with 0: 820 instead of 700 MB/s.

    Args:
        total: the state in which the first word begins.
        tokens: with room for one more than there are code points.
    """
    start, factor = secret[0], secret[1]
    count = ZERO
    for codepoint in codepoints:
        tokens[count] = total
        if codepoint >= FIRST_SOLO and table[codepoint] & KIND_MASK == SOLO:
            count += np.uint64(total != ZERO)
            tokens[count] = _step(ZERO, codepoint, start, factor)
            count += ONE
            total = ZERO
        else:
            separator = codepoint == SPACE
            count += np.uint64(separator)
            total = _step(total, codepoint, start, ZERO if separator else factor)
    tokens[count] = total
    return count + ONE


@kernel
def _cut(codepoints: NDArray[np.uint32]) -> np.uint64:
    """Return where the second half of a normal form begins: after the first space from the middle on."""
    size = np.uint64(len(codepoints))
    for i in range(size // np.uint64(2), size):
        if codepoints[i] == SPACE:
            return i + ONE
    return size


@kernel
def _keyed_halves(
    codepoints: NDArray[np.uint32], table: NDArray[np.uint32], secret: NDArray[np.uint64], tokens: NDArray[np.uint64]
) -> np.uint64:
    """Return what `_keyed_run` returns, by both halves in one loop: neither waits for the other's multiplications.

    Args: tokens: with room for two more than there are code points.
    """
    # Written out for each half: a function that takes the arrays, inlined or not, makes this ten times slower.
    start, factor = secret[0], secret[1]
    size, cut = np.uint64(len(codepoints)), _cut(codepoints)
    count, total, last, rest = ZERO, ZERO, cut + ONE, ZERO
    for i in range(size - cut):
        codepoint = codepoints[i]
        tokens[count] = total
        if codepoint >= FIRST_SOLO and table[codepoint] & KIND_MASK == SOLO:
            count += np.uint64(total != ZERO)
            tokens[count] = _step(ZERO, codepoint, start, factor)
            count += ONE
            total = ZERO
        else:
            separator = codepoint == SPACE
            count += np.uint64(separator)
            total = _step(total, codepoint, start, ZERO if separator else factor)
        codepoint = codepoints[cut + i]
        tokens[last] = rest
        if codepoint >= FIRST_SOLO and table[codepoint] & KIND_MASK == SOLO:
            last += np.uint64(rest != ZERO)
            tokens[last] = _step(ZERO, codepoint, start, factor)
            last += ONE
            rest = ZERO
        else:
            separator = codepoint == SPACE
            last += np.uint64(separator)
            rest = _step(rest, codepoint, start, ZERO if separator else factor)
    tokens[last] = rest
    count += _keyed_run(codepoints[size - cut : cut], table, secret, total, tokens[count:])
    for i in range(cut + ONE, last + ONE):
        tokens[count] = tokens[i]
        count += ONE
    return count


@kernel
def _keyed_lines(codepoints: NDArray[np.uint32], secret: NDArray[np.uint64], tokens: NDArray[np.uint64]) -> np.uint64:
    """Put the states after the lines of one text into `tokens`, 0 for an empty one; return their number."""
    start, factor = secret[0], secret[1]
    count, total = ZERO, ZERO
    for codepoint in codepoints:
        separator = codepoint == LINE_FEED
        tokens[count] = total
        count += np.uint64(separator)
        total = _step(total, codepoint, start, ZERO if separator else factor)
    tokens[count] = total
    return count + ONE


@kernel
def keyed_tokens(
    codepoints: NDArray[np.uint32], table: NDArray[np.uint32], secret: NDArray[np.uint64], tokens: NDArray[np.uint64]
) -> int:
    """Put the hashes of the words of one normal form into `tokens`; return their number."""
    return len(_spread_open(tokens[: _keyed_run(codepoints, table, secret, ZERO, tokens)]))


@kernel
def keyed_words(
    codepoints: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    size: int,
    table: NDArray[np.uint32],
    secret: NDArray[np.uint64],
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return what `shingle_words` returns, under a secret. Args: secret: uint64, shape (2,); the second is odd."""
    hashes = np.empty(len(codepoints), np.uint64)
    tokens = np.empty(longest(offsets) + 2, np.uint64)
    ends = np.zeros(len(offsets), np.int64)
    for text in range(len(offsets) - 1):
        start, stop = offsets[text], offsets[text + 1]
        if stop - start < SHORTEST_CUT:
            count = _keyed_run(codepoints[start:stop], table, secret, ZERO, tokens)
        else:
            count = _keyed_halves(codepoints[start:stop], table, secret, tokens)
        ends[text + 1] = ends[text] + _roll(_spread_open(tokens[:count]), size, hashes[ends[text] :])
    return hashes[: ends[-1]], ends


@kernel
def keyed_chars(
    codepoints: NDArray[np.uint32], offsets: NDArray[np.int64], size: int, secret: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return what `shingle_chars` returns, under a secret."""
    hashes = np.empty(len(codepoints), np.uint64)
    tokens = np.empty(longest(offsets), np.uint64)
    ends = np.zeros(len(offsets), np.int64)
    for text in range(len(offsets) - 1):
        start, count = offsets[text], offsets[text + 1] - offsets[text]
        for i in range(count):
            tokens[i] = _spread(_step(ZERO, codepoints[start + i], secret[0], secret[1]))
        ends[text + 1] = ends[text] + _roll(tokens[:count], size, hashes[ends[text] :])
    return hashes[: ends[-1]], ends


@kernel
def keyed_lines(
    codepoints: NDArray[np.uint32], offsets: NDArray[np.int64], secret: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return what `shingle_lines` returns, under a secret."""
    hashes = np.empty(len(codepoints), np.uint64)
    tokens = np.empty(longest(offsets) + 1, np.uint64)
    ends = np.zeros(len(offsets), np.int64)
    for text in range(len(offsets) - 1):
        count = _keyed_lines(codepoints[offsets[text] : offsets[text + 1]], secret, tokens)
        ends[text + 1] = ends[text] + _roll(_spread_open(tokens[:count]), 1, hashes[ends[text] :])
    return hashes[: ends[-1]], ends
