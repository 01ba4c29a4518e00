"""How kernels are compiled, and the two that all the others call.

Owns the fall-back where no cache folder can be written. Limitation: Numba recompiles a kernel whose own file
changed; after a change here or in `constants`, delete ``__pycache__`` (an installed package has all files new).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lshdb.sketch.kernels.constants import MIX_1, MIX_2

__all__ = ["kernel", "longest", "mix"]

Kernel = TypeVar("Kernel", bound=Callable[..., object])

R33 = np.uint64(33)


def kernel(function: Kernel) -> Kernel:
    """The compiled function; kept on disk where some cache folder can be written, else compiled once per process."""
    try:
        return cast(Kernel, njit(cache=True, nogil=True)(function))
    except RuntimeError:  # "cannot cache function ...: no locator available"
        return cast(Kernel, njit(nogil=True)(function))


@kernel
def mix(x: np.uint64) -> np.uint64:
    """A bijection that spreads every bit over all. Source: Appleby, MurmurHash3, fmix64."""
    x ^= x >> R33
    x *= MIX_1
    x ^= x >> R33
    x *= MIX_2
    x ^= x >> R33
    return x


@kernel
def longest(offsets: NDArray[np.int64]) -> int:
    """The size of the largest of ragged rows."""
    size = 0
    for i in range(len(offsets) - 1):
        size = max(size, offsets[i + 1] - offsets[i])
    return size
