"""How kernels are compiled, and the two kernels that the others call.

Owns the fallback for a read-only cache folder, and the announcement of a compilation.

Limitation: Numba recompiles a kernel only when its own file changes. After a change here or in `constants`, delete
``__pycache__``. (Installing a package replaces all its files, so users need not do this.)
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit
from numba.core import event
from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys
from numpy.typing import NDArray

from lshdb.sketch.kernels.announcement import announce
from lshdb.sketch.kernels.constants import MIX_1, MIX_2

__all__ = ["inlined", "is_worth_compiling", "kernel", "longest", "mix"]

Kernel = TypeVar("Kernel", bound=Callable[..., object])

R33 = np.uint64(33)


class _Cache(FunctionCache):
    """Loads kernels without importing what only a compilation needs, which would take 0.1 s."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kernel for a signature, or None if it is not cached: a compilation imports what it needs."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]


def kernel(function: Kernel) -> Kernel:
    """Compile a function. The result is cached on disk; without a writable folder, each process compiles it again."""
    compiled: Any = njit(nogil=True)(function)
    with suppress(RuntimeError):  # "cannot cache function ...: no locator available"
        compiled._cache = _Cache(function)  # type: ignore[no-untyped-call]
    return cast(Kernel, compiled)


def inlined(function: Kernel) -> Kernel:
    """Compile a function into the kernels that call it. A call that passes ten arrays costs 50 ns."""
    return cast(Kernel, njit(nogil=True, inline="always")(function))


class _Compilations(event.Listener):
    """Announces the compilation of a kernel of ours. Loading one from the cache is no compilation."""

    def on_start(self, event: Any) -> None:
        compiled = event.data["dispatcher"]
        if compiled.py_func.__module__.startswith("lshdb."):
            announce(is_cached=compiled.stats.cache_path is not None)

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Compilations())  # type: ignore[no-untyped-call]


def is_worth_compiling(compiled: Any) -> bool:
    """Return whether compiling a kernel now spares other processes this: it can be cached, and is not."""
    folder = compiled.stats.cache_path
    return folder is not None and not any(Path(folder).glob(f"*{compiled.py_func.__name__}-*.nbi"))


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
