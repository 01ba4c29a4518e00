"""Write the code-point table that lshdb ships, from the running Python's `unicodedata`.

    python scripts/make_codepoints.py [FILE]

Because lshdb reads this table, and not `unicodedata`'s categories or `str.lower`, an index works the same under every
Python. A table from another Unicode version, or with other rules, needs a new `params.TABLE_VERSION`. Never overwrite a
released table.
"""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lshdb.sketch.kernels.codepoints import (
    CODEPOINT_MASK,
    CONTEXTUAL_SHIFT,
    DROPPED,
    JOIN_SHIFT,
    KIND_SHIFT,
    SEPARATOR,
    SOLO,
    WORD,
)

TABLE = Path(__file__).parent.parent / "lshdb" / "sketch" / "kernels" / "codepoints.npz"
NUM_CODEPOINTS = 0x110000

# Scripts written without spaces between words. Their letters and marks, but not their digits, are solo.
SOLO_RANGES = (
    (0x0E00, 0x0E7F),  # Thai
    (0x0E80, 0x0EFF),  # Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # ideographic iteration mark, closing mark, zero
    (0x3021, 0x3029),  # Hangzhou numerals
    (0x3038, 0x303B),  # Hangzhou numerals, vertical iteration mark
    (0x3040, 0x309F),  # Hiragana
    (0x30A0, 0x30FF),  # Katakana
    (0x31F0, 0x31FF),  # Katakana phonetic extensions
    (0x3400, 0x4DBF),  # Han, extension A
    (0x4E00, 0x9FFF),  # Han
    (0xA9E0, 0xA9FF),  # Myanmar extended B
    (0xAA60, 0xAA7F),  # Myanmar extended A
    (0xF900, 0xFAFF),  # Han, compatibility
    (0x1AFF0, 0x1B16F),  # Kana extended and supplement, small kana
    (0x20000, 0x3FFFD),  # Han, supplementary and tertiary ideographic planes
)
HAN_NUMBERS = frozenset((0x3007, *range(0x3021, 0x302A), *range(0x3038, 0x303B)))

ZERO_WIDTH_SPACE = 0x200B  # its category is format character, but it separates words
GRAPHEME_JOINER = 0x034F
VARIATION_SELECTORS = frozenset((*range(0x180B, 0x180E), 0x180F, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))


def kind(codepoint: int) -> int:
    """Return the class of a code point: separator, word character, solo or dropped."""
    category = unicodedata.category(chr(codepoint))
    if codepoint in VARIATION_SELECTORS or codepoint == GRAPHEME_JOINER:
        return DROPPED
    if category == "Cf":
        return SEPARATOR if codepoint == ZERO_WIDTH_SPACE else DROPPED
    if category[0] in "LM" or codepoint in HAN_NUMBERS:
        return SOLO if any(low <= codepoint <= high for low, high in SOLO_RANGES) else WORD
    return WORD if category[0] == "N" or chr(codepoint) == "_" else SEPARATOR


def lower(character: str) -> str:
    """Return the simple (one to one) lower-case mapping; final sigma becomes sigma.

    Source: Unicode Character Database, UnicodeData.txt, Simple_Lowercase_Mapping. Only U+0130 has a longer full
    mapping, which begins with the simple one.
    """
    return "\u03c3" if character == "\u03c2" else character.lower()[0]


def settled(text: str) -> str:
    """Apply NFKC, drop invisible characters and lower-case, until nothing changes."""
    while True:
        folded = "".join(lower(c) for c in unicodedata.normalize("NFKC", text) if kind(ord(c)) != DROPPED)
        if folded == text:
            return text
        text = folded


def composing_starters() -> frozenset[int]:
    """Return the code points that may compose with the one before them (NFKC_Quick_Check=Maybe).

    Source: Unicode Standard Annex 15, section 9; Hangul vowels and final consonants: Unicode Standard, section 3.12.
    """
    found = {*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)}
    for codepoint in range(NUM_CODEPOINTS):
        parts = unicodedata.decomposition(chr(codepoint)).split()
        if len(parts) == 2 and parts[0][0] != "<" and unicodedata.is_normalized("NFC", chr(codepoint)):
            found.add(int(parts[1], 16))
    return frozenset(found)


def make_table() -> dict[str, NDArray[np.generic]]:
    """Return the columns of the table, each with one entry per code point.

    Returns:
        delta: int32, the folded code point minus the code point.
        kind: uint8, the class.
        join: uint8, the canonical combining class; 255 for a starter that may compose with the code point before it.
        contextual: uint8, 1 if the result depends on more than the code point.
    """
    composing = composing_starters()
    delta = np.zeros(NUM_CODEPOINTS, np.int32)
    kinds, join, contextual = (np.zeros(NUM_CODEPOINTS, np.uint8) for _ in range(3))
    for codepoint in range(NUM_CODEPOINTS):
        character = chr(codepoint)
        kinds[codepoint] = kind(codepoint)
        if kinds[codepoint] == DROPPED:
            continue
        first = unicodedata.normalize("NFKD", character)[0]
        may_compose = ord(first) in composing
        join[codepoint] = unicodedata.combining(first) or 255 * may_compose
        result = settled(character)
        kinds_of_result = {kind(ord(c)) for c in result}
        if join[codepoint] and (may_compose or result != character):
            contextual[codepoint] = 1
        elif kinds_of_result == {SEPARATOR}:
            kinds[codepoint] = SEPARATOR
        elif len(result) == 1:
            delta[codepoint] = ord(result) - codepoint
            kinds[codepoint] = kind(ord(result))
        else:
            contextual[codepoint] = 1
    return {"delta": delta, "kind": kinds, "join": join, "contextual": contextual}


def packed(columns: dict[str, NDArray[np.generic]]) -> dict[str, NDArray[np.generic]]:
    """Return what `lshdb.sketch.kernels.codepoints` reads.

    Returns:
        rows: uint32, shape (R, 256): each distinct block of entries once; for the bits of an entry see there.
        row_of_block: uint8, shape (0x1100,): block b has the code points from 256 b, and the entries of this row.
    """
    delta, kinds, join, contextual = (
        columns[name].astype(np.uint32) for name in ("delta", "kind", "join", "contextual")
    )
    entries = delta & CODEPOINT_MASK | kinds << KIND_SHIFT | contextual << CONTEXTUAL_SHIFT | join << JOIN_SHIFT
    rows, row_of_block = np.unique(entries.reshape(-1, 256), axis=0, return_inverse=True)
    return {"rows": rows, "row_of_block": row_of_block.astype(np.min_scalar_type(len(rows)))}


def main() -> None:
    """Write the table to the named file, by default to the one that the package ships."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else TABLE
    np.savez_compressed(path, **packed(make_table()))
    print(f"{path}: Unicode {unicodedata.unidata_version}, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
