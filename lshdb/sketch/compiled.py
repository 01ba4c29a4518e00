"""Compiles the kernels before worker processes start, so that they are compiled once, and announced."""

from __future__ import annotations

from importlib import import_module

from lshdb.sketch import kernels

__all__ = ["compile_ahead"]


def compile_ahead() -> None:
    """Compile the kernels that sketch texts, unless they are cached already, or cannot be."""
    # Imports Numba, so not at import time.
    from lshdb.sketch.kernels.compilation import is_worth_compiling

    if is_worth_compiling(kernels.fold):
        import_module("lshdb.sketch.loaded")
