"""Random texts and ragged arrays for the property tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

# Difficult for normalisers: marks out of order, composing and dropped code points, other scripts, lone surrogates.
TRICKY = (
    " \n\t_-'.,=!\u00a0\u00ad\u200b\u200d\u200c\ufe0f\ufeff\u034f"
    "aAbhHiIjJkKtTwWyY09\u00e9\u00c9\u00df\u1e9e\u0130\u0131\u017f\u212a\u212b\u2126\u00aa\u00bd\u2075\u2026\u2122"
    "\u0300\u0301\u0307\u0308\u030a\u030c\u0323\u0327\u0331\u0338\u0342\u0345\u0344\u0340"
    "\u03b1\u03a3\u03c2\u03c3\u0391\u03aa\u1fb6\u1f88\u03d2\u0427\u0447"
    "\u0627\u0644\u0653\u064b\u0651\u0660\u05d0\u05b8\u05bc\ufb2a\ufefb"
    "\u0915\u094d\u093c\u0958\u093e\u09c7\u09be\u0e33\u0e01\u0e48\u0e50\u0eb3\u1780\u17d2\u1000\u1039"
    "\u4e2d\u6587\uf900\u3042\u30ab\u3099\uff76\uff9e\uff21\uff0c\u3007\u1100\u1161\u11a8\uac00\ud55c\u1112\u3131"
    "\U0001f600\U0001d400\U0002f800\U00020000\U000e0100\ufb01\ufdfa\ud800\udc00"
)

characters = st.one_of(st.sampled_from(TRICKY), st.characters(exclude_categories=[]), st.sampled_from("ab c"))
texts = st.text(characters, max_size=60)
batches = st.lists(texts, max_size=5)

# The kernels take 32 bytes of ASCII together. Here, something else comes just before, at or behind the end of a block.
ascii_runs = st.builds(
    lambda unit, size: (unit * size)[:size],
    st.text(st.characters(max_codepoint=127), min_size=1, max_size=8),
    st.sampled_from([0, 1, 31, 32, 33, 64]),
)
MARKS = "\u0301\u0323\u05b8\u3099\u200d\U0001d165"
mostly_ascii = st.lists(ascii_runs | st.sampled_from(MARKS) | characters, max_size=6).map("".join)

# A few values, for repeats and ties, and all values, for all bits.
hashes = st.one_of(st.integers(0, 5), st.integers(0, 2**64 - 1))
rows = st.lists(st.lists(hashes, max_size=40), max_size=5)


def ragged(lists: Sequence[Sequence[int]]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return lists as one array with offsets."""
    joined = np.array([number for numbers in lists for number in numbers], np.uint64)
    return joined, np.cumsum([0, *map(len, lists)], dtype=np.int64)
