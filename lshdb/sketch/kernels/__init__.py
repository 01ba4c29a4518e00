"""The inner loops, on arrays only: the compiled ones (Numba) run, `reference` (NumPy, Python) is what they must equal.

Importing this package imports neither; Numba (0.2 s, 65 MB) is loaded when the first kernel is asked for.
Call kernels as attributes, ``kernels.fold(...)``: a ``from`` import would load Numba at import time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lshdb.sketch.kernels.compiled_graphs import settle, unite
    from lshdb.sketch.kernels.compiled_sets import (
        band_hashes,
        first_occurrences,
        fss1_minima,
        intersections,
        number_occurrences,
        universal_minima,
    )
    from lshdb.sketch.kernels.compiled_signatures import agreements
    from lshdb.sketch.kernels.compiled_texts import contextual_spans, fold, shingle_chars, shingle_lines, shingle_words

__all__ = [
    "agreements",
    "band_hashes",
    "contextual_spans",
    "first_occurrences",
    "fold",
    "fss1_minima",
    "intersections",
    "number_occurrences",
    "settle",
    "shingle_chars",
    "shingle_lines",
    "shingle_words",
    "unite",
    "universal_minima",
]

_HOMES: Final = {
    **dict.fromkeys(("contextual_spans", "fold", "shingle_chars", "shingle_lines", "shingle_words"), "compiled_texts"),
    **dict.fromkeys(("settle", "unite"), "compiled_graphs"),
    "agreements": "compiled_signatures",
}


def __getattr__(name: str) -> object:
    """The compiled kernel ``name``. Source: PEP 562. Raises: AttributeError: there is no such kernel."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    kernel = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'compiled_sets')}"), name)
    globals()[name] = kernel  # the next call does not come here
    return kernel
