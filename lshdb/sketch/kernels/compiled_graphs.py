"""Compiled kernels that join rows into components; `reference` has the same functions.

A forest is an array of parents. Row i is in the component of row ``parents[i]``, which is never greater than i. A row
that is its own parent is the root of its component.

Limitation: row numbers are not checked against the size of the forest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lshdb.sketch.kernels.compilation import kernel

__all__ = ["settle", "unite"]


@kernel
def unite(parents: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64]) -> None:
    """Join, in place, the components of rows left[i] and right[i].

    The forest equals that of `reference.unite` once `settle` has run.

    Source: Tarjan, van Leeuwen 1984, Worst-case analysis of set union algorithms: path halving, linking by index.
    """
    for i in range(len(left)):
        one, other = left[i], right[i]
        while parents[one] != one:
            parents[one] = parents[parents[one]]
            one = parents[one]
        while parents[other] != other:
            parents[other] = parents[parents[other]]
            other = parents[other]
        if one < other:
            parents[other] = one
        else:
            parents[one] = other


@kernel
def settle(parents: NDArray[np.int64]) -> None:
    """Make every row the child of the least row of its component, in place."""
    for i in range(len(parents)):
        # A parent comes before its child, so it is already settled.
        parents[i] = parents[parents[i]]
