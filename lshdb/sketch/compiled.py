"""Compiles the kernels before worker processes start, so that they are compiled once, and announced."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from lshdb.sketch import kernels

__all__ = ["compile_ahead"]


def compile_ahead() -> None:
    """Compile the kernels that sketch texts, unless they are cached already, or cannot be."""
    # In the usual place, a look at the folder spares the 0.1 s in which Numba is imported to ask it for the place.
    if any(Path(kernels.__file__).parent.glob("__pycache__/*.fold-*.nbi")):
        return
    from lshdb.sketch.kernels.compilation import is_worth_compiling

    if is_worth_compiling(kernels.compiled("fold")):
        import_module("lshdb.sketch.loaded")
