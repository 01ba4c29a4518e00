"""The compiled kernel that compares signatures with each other by brute force; it equals its namesake in `reference`.

Releases the GIL. Arrays are contiguous.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lshdb.sketch.kernels.compilation import kernel

__all__ = ["agreements"]


@kernel
def agreements(left: NDArray[np.uint32], right: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The number of equal minima of every signature with every other, uint32, shape (len(left), len(right))."""
    equal = np.empty((len(left), len(right)), np.uint32)
    num_perm = left.shape[1]
    for i in range(len(left)):
        for j in range(len(right)):
            # As wide as the minima: the loop becomes one of vectors.
            count = np.uint32(0)
            for k in range(num_perm):
                count += np.uint32(left[i, k] == right[j, k])
            equal[i, j] = count
    return equal
