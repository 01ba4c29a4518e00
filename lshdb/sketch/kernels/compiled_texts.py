"""Compiled kernels from texts to normal forms; `reference` has the same functions.

All release the GIL. Arrays are contiguous. Two rules of Numba shape the code. It turns an int64 combined with a uint64
into a float64, so every constant is typed. It checks whether a signed index is negative, which costs a third of the
speed, so indices are uint64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lshdb.sketch.kernels import codepoints as entries
from lshdb.sketch.kernels.compilation import kernel
from lshdb.sketch.kernels.constants import LONGEST_CLUSTER

__all__ = ["contextual_spans", "decoded", "fold"]

NO_JOIN = np.uint32(0)
LONGEST = np.uint64(LONGEST_CLUSTER)

CODEPOINT_MASK = np.uint32(entries.CODEPOINT_MASK)
KIND_MASK = np.uint32(3 << entries.KIND_SHIFT)
SPACE = np.uint32(entries.SPACE)
DROPPED = np.uint32(entries.DROPPED << entries.KIND_SHIFT)
CONTEXTUAL = np.uint32(1 << entries.CONTEXTUAL_SHIFT)
JOIN_SHIFT = np.uint32(entries.JOIN_SHIFT)

# Bytes that are folded together if all are ASCII, as most are in most texts.
BLOCK = np.uint64(32)

LOWER_A, LOWER_Z, DIGIT_0, DIGIT_9, UNDERSCORE, BLANK = (np.uint8(ord(one)) for one in "az09_ ")
CASE_BIT = np.uint8(0x20)

ZERO, ONE, TWO, THREE, FOUR = (np.uint64(number) for number in range(5))
LOW_3, LOW_4, LOW_5, LOW_6 = (np.uint32(2**bits - 1) for bits in (3, 4, 5, 6))
BITS_6, BITS_12, BITS_18 = np.uint32(6), np.uint32(12), np.uint32(18)


@kernel
def _decode(utf8: NDArray[np.uint8], i: np.uint64) -> tuple[np.uint32, np.uint64]:
    """Return the non-ASCII code point at byte i, and where the next one begins. Source: RFC 3629."""
    lead = np.uint32(utf8[i])
    second = np.uint32(utf8[i + ONE]) & LOW_6
    if lead < 0xE0:
        return (lead & LOW_5) << BITS_6 | second, i + TWO
    third = np.uint32(utf8[i + TWO]) & LOW_6
    if lead < 0xF0:
        return (lead & LOW_4) << BITS_12 | second << BITS_6 | third, i + THREE
    fourth = np.uint32(utf8[i + THREE]) & LOW_6
    return (lead & LOW_3) << BITS_18 | second << BITS_12 | third << BITS_6 | fourth, i + FOUR


@kernel
def decoded(utf8: NDArray[np.uint8], i: np.uint64) -> tuple[np.uint32, np.uint64]:
    """Return the code point at byte i, and where the next one begins."""
    if utf8[i] < 0x80:
        return np.uint32(utf8[i]), i + ONE
    return _decode(utf8, i)


@kernel
def _is_ascii(utf8: NDArray[np.uint8], i: np.uint64) -> bool:
    """Return whether the BLOCK bytes from i on are ASCII. The loop vectorises."""
    bits = np.uint8(0)
    for k in range(BLOCK):
        bits |= utf8[i + k]
    return bool(bits < 0x80)


@kernel
def _cluster_end(utf8: NDArray[np.uint8], i: np.uint64, stop: np.uint64, table: NDArray[np.uint32]) -> np.uint64:
    """Return the first byte from i to `stop` at which a code point does not join the one before it."""
    while i < stop and utf8[i] >= 0x80:
        codepoint, after = _decode(utf8, i)
        entry = table[codepoint]
        if entry >> JOIN_SHIFT == NO_JOIN and entry & KIND_MASK != DROPPED:
            break
        i = after
    return i


@kernel
def _find_spans(
    utf8: NDArray[np.uint8],
    i: np.uint64,
    stop: np.uint64,
    table: NDArray[np.uint32],
    spans: NDArray[np.int64],
    count: np.uint64,
) -> np.uint64:
    """Put the spans in bytes [i, stop) into `spans` from row `count` on; return the new count."""
    start, last_join = i, NO_JOIN
    while i < stop:
        block = min(i + BLOCK, stop)
        if block - i == BLOCK and _is_ascii(utf8, i):
            start, last_join = block - ONE, NO_JOIN
            i = block
        while i < block:
            if utf8[i] < 0x80:
                start, last_join = i, NO_JOIN
                i += ONE
                continue
            codepoint, after = _decode(utf8, i)
            entry = table[codepoint]
            join, dropped = entry >> JOIN_SHIFT, entry & KIND_MASK == DROPPED
            if (join == NO_JOIN and not dropped) or i - start >= LONGEST:
                start, last_join = i, NO_JOIN
            if entry & CONTEXTUAL != 0 or (join != NO_JOIN and join < last_join):
                i = _cluster_end(utf8, after, min(stop, start + LONGEST), table)
                spans[count, 0], spans[count, 1] = start, i
                count += ONE
                start, last_join = i, NO_JOIN
            else:
                last_join = last_join if dropped else join
                i = after
    return count


@kernel
def contextual_spans(
    utf8: NDArray[np.uint8], offsets: NDArray[np.int64], table: NDArray[np.uint32]
) -> NDArray[np.int64]:
    """Return the spans that cannot be folded one code point at a time: bytes [start, stop), int64, shape (m, 2).

    A cluster is a code point with those after it that join it. NFKC never looks beyond a cluster, and it looks beyond
    single code points only if one is contextual or out of canonical order. A cluster longer than LONGEST_CLUSTER bytes
    is split there.

    Args: utf8, offsets: n texts; table: the code-point table.
    Source: Unicode Standard Annex 15, section 9 (quick check) and section 8 (stable code points).
    """
    spans = np.empty((len(utf8) // 2 + 1, 2), np.int64)  # a span has at least one code point of at least two bytes
    count = ZERO
    for text in range(len(offsets) - 1):
        count = _find_spans(utf8, np.uint64(offsets[text]), np.uint64(offsets[text + 1]), table, spans, count)
    return spans[:count].copy()


@kernel
def _advance(last: np.uint32, codepoint: np.uint32) -> np.uint64:
    """Return 0 if two folded code points are spaces, so that the next one overwrites the second; 1 otherwise.

    No branch, because word ends are unpredictable. No folded code point is 0.
    """
    return np.uint64(last | codepoint != SPACE)


@kernel
def _fold_ascii(byte: np.uint8) -> np.uint8:
    """Return what the table makes of an ASCII byte. Computing it vectorises; 32 lookups take twice as long."""
    lower = byte | CASE_BIT
    is_letter = (lower >= LOWER_A) & (lower <= LOWER_Z)
    is_other = ((byte >= DIGIT_0) & (byte <= DIGIT_9)) | (byte == UNDERSCORE)
    return lower if is_letter else byte if is_other else BLANK


@kernel
def _fold_run(
    utf8: NDArray[np.uint8],
    i: np.uint64,
    stop: np.uint64,
    table: NDArray[np.uint32],
    spaced: bool,
    codepoints: NDArray[np.uint32],
    end: np.uint64,
    last: np.uint32,
) -> tuple[np.uint64, np.uint32]:
    """Fold bytes [i, stop) into `codepoints` from `end` on; return the new end, and the last code point.

    Args: spaced: whether to keep every separator; last: the code point before.
    """
    while i < stop:
        block = min(i + BLOCK, stop)
        if block - i == BLOCK and _is_ascii(utf8, i):
            if spaced:
                # No byte depends on another, so the loop vectorises.
                for k in range(BLOCK):
                    codepoints[end + k] = _fold_ascii(utf8[i + k])
                end += BLOCK
            else:
                for k in range(BLOCK):
                    codepoint = table[utf8[i + k]] & CODEPOINT_MASK
                    codepoints[end] = codepoint
                    end += _advance(last, codepoint)
                    last = codepoint
            i = block
        while i < block:
            codepoint, i = decoded(utf8, i)
            entry = table[codepoint]
            if entry & KIND_MASK == DROPPED:
                continue
            codepoint = entry & CODEPOINT_MASK
            codepoints[end] = codepoint
            end += ONE if spaced else _advance(last, codepoint)
            last = codepoint
    return end, last


@kernel
def fold(
    utf8: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    table: NDArray[np.uint32],
    spans: NDArray[np.int64],
    settled: NDArray[np.uint8],
    settled_offsets: NDArray[np.int64],
    spaced: bool,
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the normal forms of n texts: code points uint32, shape (C,), and offsets int64, shape (n + 1,).

    Args:
        utf8, offsets: the texts.
        spans: bytes to replace, in order; settled, settled_offsets: the replacements.
        spaced: whether to keep every separator, as a space.
    """
    codepoints = np.empty(len(utf8) + len(settled) + 1, np.uint32)
    ends = np.zeros(len(offsets), np.int64)
    end, span = ZERO, 0
    for text in range(len(offsets) - 1):
        i, stop = np.uint64(offsets[text]), np.uint64(offsets[text + 1])
        start, last = end, SPACE
        while span < len(spans) and np.uint64(spans[span, 0]) < stop:
            cut = np.uint64(spans[span, 0])
            end, last = _fold_run(utf8, i, cut, table, spaced, codepoints, end, last)
            first, after = np.uint64(settled_offsets[span]), np.uint64(settled_offsets[span + 1])
            end, last = _fold_run(settled, first, after, table, spaced, codepoints, end, last)
            i = np.uint64(spans[span, 1])
            span += 1
        end, last = _fold_run(utf8, i, stop, table, spaced, codepoints, end, last)
        if end > start and last == SPACE and not spaced:
            end -= ONE
        ends[text + 1] = end
    return codepoints[:end], ends
