"""The kernels from normal forms to shingles in plain Python, and what the other reference kernels share with them.

Limitation: slow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lshdb.sketch.kernels import codepoints as entries
from lshdb.sketch.kernels.constants import MIX_1, MIX_2, SHINGLE_BASE, TOKEN_BASE

__all__ = [
    "LOW_64",
    "Ragged",
    "keyed_chars",
    "keyed_lines",
    "keyed_words",
    "kind_of",
    "mix",
    "offsets_of",
    "ragged",
    "shingle_chars",
    "shingle_lines",
    "shingle_words",
]

Ragged = tuple[NDArray[np.uint64], NDArray[np.int64]]

LOW_64 = 2**64 - 1


def mix(x: int) -> int:
    """Return a bijection of x in which every bit of x affects every bit. Source: Appleby, MurmurHash3, fmix64."""
    for multiplier in (MIX_1, MIX_2):
        x = ((x ^ x >> 33) * int(multiplier)) & LOW_64
    return x ^ x >> 33


def kind_of(character: str, table: NDArray[np.uint32]) -> int:
    """Return the class of a code point."""
    return int(table[ord(character)]) >> entries.KIND_SHIFT & 3


def offsets_of(lengths: Sequence[int]) -> NDArray[np.int64]:
    """Return where rows of these lengths begin and end: int64, shape (n + 1,)."""
    return np.cumsum([0, *lengths], dtype=np.int64)


def ragged(rows: list[list[int]]) -> Ragged:
    """Return rows of hashes as one array, and their offsets."""
    return np.array([number for row in rows for number in row], np.uint64), offsets_of([len(row) for row in rows])


def shingle_words(
    codepoints: NDArray[np.uint32], offsets: NDArray[np.int64], size: int, table: NDArray[np.uint32]
) -> Ragged:
    """Return the hashes of the word k-grams of n normal forms: uint64, shape (S,); and offsets: int64, (n + 1,)."""
    return ragged([_kgrams(_words(text, table), size) for text in _rows(codepoints, offsets)])


def shingle_chars(codepoints: NDArray[np.uint32], offsets: NDArray[np.int64], size: int) -> Ragged:
    """Return the hashes of the code-point k-grams of n normal forms, in the form of `shingle_words`."""
    return ragged([_kgrams([[codepoint] for codepoint in text], size) for text in _rows(codepoints, offsets)])


def shingle_lines(codepoints: NDArray[np.uint32], offsets: NDArray[np.int64]) -> Ragged:
    """Return the hashes of the non-empty lines of n texts, one feature per line, in the form of `shingle_words`.

    A line of NUL characters counts as empty, because its state is 0.
    """
    return ragged([_kgrams(_open(_split(text, 0x0A)), 1) for text in _rows(codepoints, offsets)])


def keyed_words(
    codepoints: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    size: int,
    table: NDArray[np.uint32],
    secret: NDArray[np.uint64],
) -> Ragged:
    """Return what `shingle_words` returns, under a secret. Args: secret: uint64, shape (2,); the second is odd."""
    rows = (_open(_words(text, table), secret) for text in _rows(codepoints, offsets))
    return ragged([_kgrams(tokens, size, secret) for tokens in rows])


def keyed_chars(
    codepoints: NDArray[np.uint32], offsets: NDArray[np.int64], size: int, secret: NDArray[np.uint64]
) -> Ragged:
    """Return what `shingle_chars` returns, under a secret."""
    return ragged([_kgrams([[codepoint] for codepoint in text], size, secret) for text in _rows(codepoints, offsets)])


def keyed_lines(codepoints: NDArray[np.uint32], offsets: NDArray[np.int64], secret: NDArray[np.uint64]) -> Ragged:
    """Return what `shingle_lines` returns, under a secret."""
    return ragged([_kgrams(_open(_split(text, 0x0A), secret), 1, secret) for text in _rows(codepoints, offsets)])


def _rows(codepoints: NDArray[np.uint32], offsets: NDArray[np.int64]) -> Iterator[list[int]]:
    for start, stop in pairwise(offsets.tolist()):
        yield codepoints[start:stop].tolist()


def _words(text: list[int], table: NDArray[np.uint32]) -> list[list[int]]:
    spaced: list[int] = []
    for codepoint in text:
        solo = kind_of(chr(codepoint), table) == entries.SOLO
        spaced += [-1, codepoint, -1] if solo else [-1] if codepoint == entries.SPACE else [codepoint]
    return _split(spaced, -1)


def _split(codepoints: list[int], separator: int) -> list[list[int]]:
    tokens: list[list[int]] = [[]]
    for codepoint in codepoints:
        if codepoint == separator:
            tokens.append([])
        else:
            tokens[-1].append(codepoint)
    return [token for token in tokens if token]


def _open(tokens: list[list[int]], secret: NDArray[np.uint64] | None = None) -> list[list[int]]:
    """Return the tokens whose state is not 0, by which the kernels know that a token is open."""
    return [token for token in tokens if _state(token, secret) != 0]


def _kgrams(tokens: list[list[int]], size: int, secret: NDArray[np.uint64] | None = None) -> list[int]:
    states = [_state(token, secret) for token in tokens]
    hashes = [mix(state) if secret is None else _spread(state) for state in states]
    last = max(len(hashes) - size + 1, min(1, len(hashes)))
    return [mix(_polynomial(hashes[i : i + size], int(SHINGLE_BASE))) for i in range(last)]


def _state(token: list[int], secret: NDArray[np.uint64] | None) -> int:
    """Return the state after a token: the value of a polynomial, or what a secret makes of its code points."""
    if secret is None:
        return _polynomial([*token, 0], int(TOKEN_BASE))
    (start, factor), total = secret.tolist(), 0
    for codepoint in token:
        total = (total + codepoint + start) & LOW_64
        total = ((total << 32 | total >> 32) * factor) & LOW_64
    return total


def _spread(state: int) -> int:
    spread = ((state ^ state >> 32) * int(MIX_1)) & LOW_64
    return spread ^ spread >> 29


def _polynomial(coefficients: list[int], base: int) -> int:
    """Return the value mod 2**64 of the polynomial with these coefficients, highest degree first."""
    total = 0
    for coefficient in coefficients:
        total = (total * base + coefficient) & LOW_64
    return total
