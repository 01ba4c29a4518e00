"""The kernels that find the words of a text in plain Python.

Limitation: slow.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lshdb.sketch.kernels import codepoints as entries
from lshdb.sketch.kernels.reference_shingles import kind_of, offsets_of

__all__ = ["place_words", "split_words"]

Places = tuple[NDArray[np.int64], NDArray[np.int64]]


def split_words(codepoints: NDArray[np.uint32], offsets: NDArray[np.int64], table: NDArray[np.uint32]) -> Places:
    """Return the words of n normal forms: code points [start, stop), int64, shape (W, 2); offsets, shape (n + 1,)."""
    rows = []
    for start, stop in pairwise(offsets.tolist()):
        located = ((chr(codepoints[i]), i, i + 1) for i in range(start, stop))
        rows.append(_words(located, table))
    return _ragged(rows)


def place_words(
    utf8: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    table: NDArray[np.uint32],
    spans: NDArray[np.int64],
    settled: NDArray[np.uint8],
    settled_offsets: NDArray[np.int64],
) -> Places:
    """Return where the words of n texts are in the texts: int64, shape (W, 2), and offsets int64, shape (n + 1,)."""
    content = utf8.tobytes()
    replacements = [settled.tobytes()[start:stop] for start, stop in pairwise(settled_offsets.tolist())]
    rows = []
    for start, stop in pairwise(offsets.tolist()):
        located, at = list[tuple[str, int, int]](), start
        for (first, last), replacement in zip(spans.tolist(), replacements, strict=True):
            if start <= first < stop:
                located += _characters(content[at:first], at)
                located += [(character, first, last) for character, _, _ in _characters(replacement, 0)]
                at = last
        located += _characters(content[at:stop], at)
        rows.append([[first - start, last - start] for first, last in _words(iter(located), table)])
    return _ragged(rows)


def _characters(utf8: bytes, start: int) -> Iterator[tuple[str, int, int]]:
    """Yield each character with the bytes [start, stop) that it takes."""
    for character in utf8.decode("utf-8", "surrogatepass"):
        stop = start + len(character.encode("utf-8", "surrogatepass"))
        yield character, start, stop
        start = stop


def _words(located: Iterator[tuple[str, int, int]], table: NDArray[np.uint32]) -> list[list[int]]:
    """Return [start, stop] of the words of located characters."""
    words: list[list[int]] = []
    is_open = False
    for character, start, stop in located:
        kind = kind_of(character, table)
        if kind == entries.DROPPED:
            continue
        if is_open and kind == entries.WORD:
            words[-1][1] = stop
        elif kind != entries.SEPARATOR:
            words.append([start, stop])
        is_open = kind == entries.WORD
    return words


def _ragged(rows: list[list[list[int]]]) -> Places:
    places = np.array([word for words in rows for word in words], np.int64).reshape(-1, 2)
    return places, offsets_of([len(words) for words in rows])
