"""The inner loops: free functions over arrays.

The compiled kernels (Numba) do the work. `reference` holds the same functions in plain Python and NumPy, and the tests
check that both return the same.

Importing this package does not import Numba (0.2 s, 65 MB); the first use of a kernel does. So call kernels as
attributes, ``kernels.fold(...)``: a ``from`` import would load Numba at import time. A short command can also let the
reference do what takes less time than loading the kernels; see `begin_with_reference`.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from lshdb.sketch.kernels.compiled_families import shared_in_families
    from lshdb.sketch.kernels.compiled_graphs import settle, unite
    from lshdb.sketch.kernels.compiled_ngrams import fill_filter, find_ngrams, number_ngrams
    from lshdb.sketch.kernels.compiled_passages import winnow
    from lshdb.sketch.kernels.compiled_runs import follow_runs, link_runs, settle_runs, tally
    from lshdb.sketch.kernels.compiled_sets import (
        agreements,
        band_hashes,
        equal_minima,
        fss1_minima,
        number_occurrences,
        universal_minima,
    )
    from lshdb.sketch.kernels.compiled_shingles import (
        keyed_chars,
        keyed_lines,
        keyed_words,
        shingle_chars,
        shingle_lines,
        shingle_words,
    )
    from lshdb.sketch.kernels.compiled_texts import contextual_spans, fold
    from lshdb.sketch.kernels.compiled_words import place_words, split_words

__all__ = [
    "agreements",
    "band_hashes",
    "contextual_spans",
    "equal_minima",
    "fill_filter",
    "find_ngrams",
    "fold",
    "follow_runs",
    "fss1_minima",
    "keyed_chars",
    "keyed_lines",
    "keyed_words",
    "link_runs",
    "number_ngrams",
    "number_occurrences",
    "place_words",
    "settle",
    "settle_runs",
    "shared_in_families",
    "shingle_chars",
    "shingle_lines",
    "shingle_words",
    "split_words",
    "tally",
    "unite",
    "universal_minima",
    "winnow",
]

_HOMES: Final = {
    **dict.fromkeys(("contextual_spans", "fold"), "compiled_texts"),
    **dict.fromkeys(("keyed_chars", "keyed_lines", "keyed_words"), "compiled_shingles"),
    **dict.fromkeys(("shingle_chars", "shingle_lines", "shingle_words"), "compiled_shingles"),
    **dict.fromkeys(("fill_filter", "find_ngrams", "number_ngrams"), "compiled_ngrams"),
    **dict.fromkeys(("follow_runs", "link_runs", "settle_runs", "tally"), "compiled_runs"),
    **dict.fromkeys(("place_words", "split_words"), "compiled_words"),
    **dict.fromkeys(("settle", "unite"), "compiled_graphs"),
    "shared_in_families": "compiled_families",
    "winnow": "compiled_passages",
}

# Of first arguments, which are texts, code points and hashes. A text of n bytes takes about 9 n of them, and 5.5 us a
# byte: at most 60 ms before the kernels are loaded after all.
SMALL_BYTES: Final = 100_000

# How many bytes the reference may still take.
_num_left = 0


def begin_with_reference(num_bytes: int = SMALL_BYTES) -> None:
    """Let the reference do the first calls of this process, until it was given this many bytes.

    This is for commands that may be over by then, and for their worker processes. A program that continues should load
    the kernels at once.
    """
    global _num_left
    _num_left = num_bytes


def compiled(name: str) -> Any:
    """Return a compiled kernel."""
    kernel = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'compiled_sets')}"), name)
    globals()[name] = kernel  # Python calls `__getattr__` only for names that are not here yet.
    return kernel


def _begun(name: str, *given: Any) -> Any:
    """Call the reference while little was given to it; a kernel without a reference, or later, is called itself."""
    global _num_left
    _num_left -= given[0].nbytes
    function = getattr(import_module(f"{__name__}.reference"), name, None) if _num_left > 0 else None
    return (function or compiled(name))(*given)


def __getattr__(name: str) -> object:
    """Return a kernel. Source: PEP 562. Raises: AttributeError: there is no such kernel."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return compiled(name) if _num_left <= 0 else partial(_begun, name)
