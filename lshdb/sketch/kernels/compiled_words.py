"""Compiled kernels that find where the words of a text are; `reference_words` has the same functions.

All release the GIL. Arrays are contiguous. Constants are typed for the reason that `compiled_texts` gives.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lshdb.sketch.kernels import codepoints as entries
from lshdb.sketch.kernels.compilation import kernel
from lshdb.sketch.kernels.compiled_texts import decoded

__all__ = ["bound_words", "place_words", "split_words"]

SPACE = np.uint32(entries.SPACE)
FIRST_SOLO = np.uint32(0x0E00)  # Thai; no code point below it is solo, so none needs a lookup
KIND_MASK = np.uint32(3 << entries.KIND_SHIFT)
SEPARATOR = np.uint32(entries.SEPARATOR << entries.KIND_SHIFT)
SOLO = np.uint32(entries.SOLO << entries.KIND_SHIFT)
DROPPED = np.uint32(entries.DROPPED << entries.KIND_SHIFT)


@kernel
def bound_words(
    codepoints: NDArray[np.uint32], start: int, stop: int, table: NDArray[np.uint32], words: NDArray[np.int64]
) -> int:
    """Put the words of the normal form at code points [start, stop) into `words`, as `split_words` does.

    Returns: their number.
    """
    count = 0
    for i in range(start, stop):
        codepoint = codepoints[i]
        is_solo = codepoint >= FIRST_SOLO and table[codepoint] & KIND_MASK == SOLO
        if not is_solo and codepoint != SPACE:
            continue
        if i > start:
            words[count, 0], words[count, 1] = start, i
            count += 1
        if is_solo:
            words[count, 0], words[count, 1] = i, i + 1
            count += 1
        start = i + 1
    if stop > start:
        words[count, 0], words[count, 1] = start, stop
        count += 1
    return count


@kernel
def split_words(
    codepoints: NDArray[np.uint32], offsets: NDArray[np.int64], table: NDArray[np.uint32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the words of n normal forms: code points [start, stop), int64, shape (W, 2); offsets, shape (n + 1,).

    They are the words that `shingle_words` and `keyed_words` hash.
    """
    words = np.empty((len(codepoints), 2), np.int64)
    ends = np.zeros(len(offsets), np.int64)
    for text in range(len(offsets) - 1):
        count = bound_words(codepoints, offsets[text], offsets[text + 1], table, words[ends[text] :])
        ends[text + 1] = ends[text] + count
    return words[: ends[-1]].copy(), ends


@kernel
def _put(
    entry: np.uint32, first: np.int64, last: np.int64, places: NDArray[np.int64], count: int, is_open: bool
) -> tuple[int, bool]:
    """Put the code point of bytes [first, last) into `places`; return the number of words, and if the last is open."""
    kind = entry & KIND_MASK
    if kind == DROPPED:
        return count, is_open
    if kind == SEPARATOR:
        return count, False
    if kind == SOLO or not is_open:
        places[count, 0] = first
        count += 1
    places[count - 1, 1] = last
    return count, kind != SOLO


@kernel
def _put_run(
    utf8: NDArray[np.uint8],
    start: int,
    stop: int,
    table: NDArray[np.uint32],
    origin: NDArray[np.int64],
    places: NDArray[np.int64],
    count: int,
    is_open: bool,
) -> tuple[int, bool]:
    """Put the code points of bytes [start, stop) into `places`, as `_put` does.

    Args: origin: where they come from: bytes [first, last), int64, shape (2,); empty if from their own place.
    """
    i = np.uint64(start)
    while i < np.uint64(stop):
        codepoint, after = decoded(utf8, i)
        first, last = np.int64(i), np.int64(after)
        if len(origin):
            first, last = origin[0], origin[1]
        count, is_open = _put(table[codepoint], first, last, places, count, is_open)
        i = after
    return count, is_open


@kernel
def place_words(
    utf8: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    table: NDArray[np.uint32],
    spans: NDArray[np.int64],
    settled: NDArray[np.uint8],
    settled_offsets: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the words of n texts are in the texts: int64, shape (W, 2), and offsets int64, shape (n + 1,).

    A word lies in bytes [start, stop) of its own text. Words that come from one ligature, such as the four of U+337F,
    all have the place of the ligature.

    Args: as of `fold`, whose normal forms have these words.
    """
    places = np.empty((len(utf8) + len(settled), 2), np.int64)
    ends = np.zeros(len(offsets), np.int64)
    own = np.empty(0, np.int64)
    count, span = 0, 0
    for text in range(len(offsets) - 1):
        i, stop, is_open, begun = offsets[text], offsets[text + 1], False, count
        while span < len(spans) and spans[span, 0] < stop:
            count, is_open = _put_run(utf8, i, spans[span, 0], table, own, places, count, is_open)
            first, last = settled_offsets[span], settled_offsets[span + 1]
            count, is_open = _put_run(settled, first, last, table, spans[span], places, count, is_open)
            i = spans[span, 1]
            span += 1
        count, is_open = _put_run(utf8, i, stop, table, own, places, count, is_open)
        for word in range(begun, count):
            places[word, 0] -= offsets[text]
            places[word, 1] -= offsets[text]
        ends[text + 1] = count
    return places[:count].copy(), ends
