"""The code-point table: what each Unicode code point becomes in a normal form.

``scripts/make_codepoints.py`` makes the shipped file, whose entries hold the folded code point minus the code point
(mod 2**21), and 0 for a separator. So most blocks of 256 code points are equal, and stored once.

An entry is a uint32:

| bits | meaning |
|---|---|
| 0-20 | the folded code point |
| 21-22 | its class |
| 23 | 1 if the result depends on the context |
| 24-31 | how it joins the previous code point: the canonical combining class, or 255 for a starter that may compose |
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CODEPOINT_MASK",
    "CONTEXTUAL_SHIFT",
    "DROPPED",
    "JOIN_SHIFT",
    "KIND_SHIFT",
    "SEPARATOR",
    "SOLO",
    "SPACE",
    "WORD",
    "table",
]

SEPARATOR: Final = 0  # separates tokens; becomes a space
WORD: Final = 1  # letters, numbers, combining marks, underscore
SOLO: Final = 2  # forms a token alone: Han, kana, Thai, Lao, Khmer, Myanmar
DROPPED: Final = 3  # soft hyphen, joiners, variation selectors, byte order mark

SPACE: Final = 0x20  # what separators become

CODEPOINT_MASK: Final = 0x1FFFFF
KIND_SHIFT: Final = 21
CONTEXTUAL_SHIFT: Final = 23
JOIN_SHIFT: Final = 24


@cache
def table() -> NDArray[np.uint32]:
    """Return the table: uint32, shape (0x110000,). The file is read once, at the first call."""
    with (files("lshdb.sketch.kernels") / "codepoints.npz").open("rb") as file, np.load(file) as shipped:
        entries: NDArray[np.uint32] = shipped["rows"][shipped["row_of_block"]].ravel()
    mask = np.uint32(CODEPOINT_MASK)
    folded: NDArray[np.uint32] = np.arange(len(entries), dtype=np.uint32)
    folded += entries
    folded &= mask
    folded[entries >> np.uint32(KIND_SHIFT) & np.uint32(3) == SEPARATOR] = SPACE
    folded |= entries & ~mask
    return folded
