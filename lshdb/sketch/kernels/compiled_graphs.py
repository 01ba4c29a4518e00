"""The compiled kernels over pairs of rows; each equals its namesake in `reference`.

A forest is an array of parents: row i belongs to the component of ``parents[i]``, which is never greater than i, and
a row that is its own parent stands for its component. Limitation: rows are not checked against the forest's size.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lshdb.sketch.kernels.compilation import kernel

__all__ = ["settle", "unite"]


@kernel
def unite(parents: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64]) -> None:
    """Joins, in place, the components of rows left[i] and right[i]; settled, it is `reference.unite`.

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
    """Makes, in place, every row the child of the least row of its component."""
    for i in range(len(parents)):
        # A parent is less than its child, so it is settled already.
        parents[i] = parents[parents[i]]
