"""Compiles the kernels before worker processes start, so that they are compiled once, and announced."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from lshdb.sketch import kernels

__all__ = ["are_compiled", "compile_ahead"]


def are_compiled() -> bool:
    """Return whether the kernels are cached in the usual place. Asking Numba for the place would take 0.1 s."""
    return any(Path(kernels.__file__).parent.glob("__pycache__/*.fold-*.nbi"))


def compile_ahead() -> None:
    """Compile the kernels that sketch texts, unless they are cached already, or cannot be."""
    if are_compiled():
        return
    from lshdb.sketch.kernels.compilation import is_worth_compiling

    if is_worth_compiling(kernels.compiled("fold")):
        import_module("lshdb.sketch.loaded")
