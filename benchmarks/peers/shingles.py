"""Word 5-shingles as fast as Python cuts them, for peers that do not cut them themselves.

Words are runs of ``\\w`` of the lower-cased text: those of lshdb but for texts that are not in NFKC, and for scripts
without spaces. Their hashes are Python's own, the same in all processes under one PYTHONHASHSEED; the harness sets it.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.protocol import SHINGLE_SIZE

__all__ = ["hashes", "tokens", "words"]

WORD: Final = re.compile(r"\w+")
# Knuth's multiplier for 64 bits: odd, so that no word of a shingle is lost.
MULTIPLIER: Final = np.uint64(6364136223846793005)


def words(text: str) -> list[str]:
    """The words in order."""
    return WORD.findall(text.lower())


def hashes(text: str) -> NDArray[np.uint64]:
    """The hash of each shingle in order, repeats included, uint64, shape (n,).

    A text with fewer words is one shingle of all its words; one without words has none.
    """
    found = words(text)
    hashed = np.fromiter(map(hash, found), np.int64, len(found)).view(np.uint64)
    num_shingles = max(1, len(hashed) - SHINGLE_SIZE + 1) if len(hashed) else 0
    mixed = np.zeros(num_shingles, np.uint64)
    for place in range(min(SHINGLE_SIZE, len(hashed))):
        mixed = mixed * MULTIPLIER + hashed[place : place + num_shingles]
    return mixed


def tokens(text: str) -> list[bytes]:
    """The same as 8 bytes each, for peers that hash bytes themselves."""
    found: list[bytes] = hashes(text).view("V8").tolist()
    return found
