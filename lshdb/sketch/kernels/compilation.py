"""How kernels are compiled, and the two kernels that the others call.

Owns the fallback for a read-only cache folder.

Limitation: Numba recompiles a kernel only when its own file changes. After a change here or in `constants`, delete
``__pycache__``. (Installing a package replaces all its files, so users need not do this.)
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
    """Compile a function. The result is cached on disk; without a writable folder, each process compiles it again."""
    try:
        return cast(Kernel, njit(cache=True, nogil=True)(function))
    except RuntimeError:  # "cannot cache function ...: no locator available"
        return cast(Kernel, njit(nogil=True)(function))


@kernel
def mix(x: np.uint64) -> np.uint64:
    """Return a bijection of x in which every bit of x affects every bit. Source: Appleby, MurmurHash3, fmix64."""
    x ^= x >> R33
    x *= MIX_1
    x ^= x >> R33
    x *= MIX_2
    x ^= x >> R33
    return x


@kernel
def longest(offsets: NDArray[np.int64]) -> int:
    """Return the size of the longest of ragged rows."""
    size = 0
    for i in range(len(offsets) - 1):
        size = max(size, offsets[i + 1] - offsets[i])
    return size
