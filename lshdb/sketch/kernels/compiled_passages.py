"""The compiled kernel of winnowing; `reference` has the same function. It releases the GIL."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lshdb.sketch.kernels.compilation import kernel

__all__ = ["winnow"]


@kernel
def winnow(
    hashes: NDArray[np.uint64], offsets: NDArray[np.int64], window: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the least hash of each window of n texts, without its repeats in consecutive windows.

    A text with fewer hashes than a window has none.

    Args: hashes: in reading order; window: hashes in a window, at least 1.
    Returns: hashes uint64, shape (S,); offsets int64, shape (n + 1,).
    """
    chosen = np.empty(len(hashes), np.uint64)
    ends = np.zeros(len(offsets), np.int64)
    count = 0
    for text in range(len(offsets) - 1):
        start, stop = offsets[text], offsets[text + 1]
        least = start - 1
        for last in range(start + window - 1, stop):
            if least <= last - window:
                # The least hash has left the window. This happens once in half a window, so each hash is read twice.
                least = last - window + 1
                for place in range(least + 1, last + 1):
                    if hashes[place] <= hashes[least]:
                        least = place
            elif hashes[last] <= hashes[least]:
                least = last
            else:
                continue
            if count == ends[text] or chosen[count - 1] != hashes[least]:
                chosen[count] = hashes[least]
                count += 1
        ends[text + 1] = count
    return chosen[:count], ends
