"""The inner loops, on arrays only: the compiled ones (Numba) run, `reference` (NumPy, Python) is what they must equal.

Importing this package imports neither; Numba (0.2 s, 65 MB) is loaded when the first kernel is asked for.
Call kernels as attributes, ``kernels.fold(...)``: a ``from`` import would load Numba at import time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lshdb.kernels.compiled_sets import (
        band_hashes,
        first_occurrences,
        fss1_minima,
        intersections,
        number_occurrences,
        universal_minima,
    )
    from lshdb.kernels.compiled_texts import contextual_spans, fold, shingle_chars, shingle_lines, shingle_words

__all__ = [
    "band_hashes",
    "contextual_spans",
    "first_occurrences",
    "fold",
    "fss1_minima",
    "intersections",
    "number_occurrences",
    "shingle_chars",
    "shingle_lines",
    "shingle_words",
    "universal_minima",
]

_OF_TEXTS: Final = frozenset(("contextual_spans", "fold", "shingle_chars", "shingle_lines", "shingle_words"))


def __getattr__(name: str) -> object:
    """The compiled kernel ``name``. Source: PEP 562. Raises: AttributeError: there is no such kernel."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    kernel = getattr(import_module(f"{__name__}.compiled_{'texts' if name in _OF_TEXTS else 'sets'}"), name)
    globals()[name] = kernel  # the next call does not come here
    return kernel
