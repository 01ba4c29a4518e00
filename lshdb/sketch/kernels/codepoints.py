"""The code-point table: what each Unicode code point becomes in a normal form.

Owns how the shipped file is packed for the kernels; ``scripts/make_codepoints.py`` owns its content.

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
    "WORD",
    "table",
]

SEPARATOR: Final = 0  # separates tokens; becomes a space
WORD: Final = 1  # letters, numbers, combining marks, underscore
SOLO: Final = 2  # forms a token alone: Han, kana, Thai, Lao, Khmer, Myanmar
DROPPED: Final = 3  # soft hyphen, joiners, variation selectors, byte order mark

CODEPOINT_MASK: Final = 0x1FFFFF
KIND_SHIFT: Final = 21
CONTEXTUAL_SHIFT: Final = 23
JOIN_SHIFT: Final = 24


@cache
def table() -> NDArray[np.uint32]:
    """Return the table: uint32, shape (0x110000,). The file is read once, at the first call."""
    with (files("lshdb.sketch.kernels") / "codepoints.npz").open("rb") as file, np.load(file) as columns:
        folded: NDArray[np.uint32] = np.arange(0x110000, dtype=np.uint32) + columns["delta"].astype(np.uint32)
        folded[columns["kind"] == SEPARATOR] = 0x20
        folded |= columns["kind"].astype(np.uint32) << np.uint32(KIND_SHIFT)
        folded |= columns["contextual"].astype(np.uint32) << np.uint32(CONTEXTUAL_SHIFT)
        folded |= columns["join"].astype(np.uint32) << np.uint32(JOIN_SHIFT)
    return folded
