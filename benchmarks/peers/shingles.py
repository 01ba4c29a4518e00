"""Word 5-shingles in Python, for peers that do not shingle texts themselves: as hashes, which is fast, or as strings.

Words are runs of ``\\w`` in the lower-cased text. They equal lshdb's words except in texts that are not NFKC, and in
scripts without spaces. Words are hashed by Python's own hash. The benchmark sets PYTHONHASHSEED, so that the hash is
the same in all processes.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.protocol import SHINGLE_SIZE

__all__ = ["WORD", "hashes", "strings", "tokens", "words"]

WORD: Final = re.compile(r"\w+")
# Knuth's multiplier for 64 bits. It is odd, so that no word of a shingle is lost.
MULTIPLIER: Final = np.uint64(6364136223846793005)


def words(text: str) -> list[str]:
    """Return the words, in order."""
    return WORD.findall(text.lower())


def strings(text: str) -> list[bytes]:
    """Return each shingle in order, repeats included, as its words with spaces; otherwise as `hashes`."""
    found = [word.encode() for word in words(text)]
    if 0 < len(found) < SHINGLE_SIZE:
        return [b" ".join(found)]
    return list(map(b" ".join, zip(*(found[place:] for place in range(SHINGLE_SIZE)), strict=False)))


def hashes(text: str) -> NDArray[np.uint64]:
    """Return the hash of each shingle in order, repeats included, uint64, shape (n,).

    A shorter text is one shingle of all its words. A text without words has none.
    """
    found = words(text)
    hashed = np.fromiter(map(hash, found), np.int64, len(found)).view(np.uint64)
    num_shingles = max(1, len(hashed) - SHINGLE_SIZE + 1) if len(hashed) else 0
    mixed = np.zeros(num_shingles, np.uint64)
    for place in range(min(SHINGLE_SIZE, len(hashed))):
        mixed = mixed * MULTIPLIER + hashed[place : place + num_shingles]
    return mixed


def tokens(text: str) -> list[bytes]:
    """Return the same hashes as 8 bytes each, for peers that hash bytes."""
    found: list[bytes] = hashes(text).view("V8").tolist()
    return found
