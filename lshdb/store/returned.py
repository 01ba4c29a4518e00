"""Integers that a statement returns as one text: a driver takes longer to make a row than a database to read it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, String, cast, func

__all__ = ["as_text", "integers"]


def as_text(column: ColumnElement[int]) -> ColumnElement[str]:
    """Return an expression for all values of a column with commas between them; NULL if there are no rows."""
    return func.aggregate_strings(cast(column, String), ",")


def integers(text: str | None) -> NDArray[np.int64]:
    """Return the values of such a text, int64, shape (n,)."""
    return np.fromstring(text or "", np.int64, sep=",")
