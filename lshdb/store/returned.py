"""Columns that a statement returns as one value: a driver takes longer to make a row than a database to read it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, LargeBinary, String, cast, func
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

__all__ = ["as_text", "integers", "joined"]


def as_text(column: ColumnElement[int]) -> ColumnElement[str]:
    """Return an expression for all values of a column with commas between them; NULL if there are no rows."""
    return func.aggregate_strings(cast(column, String), ",")


def integers(text: str | None) -> NDArray[np.int64]:
    """Return the values of such a text, int64, shape (n,)."""
    return np.fromstring(text or "", np.int64, sep=",")


class joined(FunctionElement[bytes]):  # noqa: N801
    """An expression for all values of a column of bytes, without anything between them; NULL if there are no rows."""

    type = LargeBinary()
    inherit_cache = True


@compiles(joined, "sqlite")
def _of_text(element: joined, compiler: SQLCompiler, **options: Any) -> str:
    # SQLite joins texts only. Its casts change no byte.
    values = compiler.process(element.clauses, **options)
    return f"CAST(group_concat(CAST({values} AS TEXT), '') AS BLOB)"


@compiles(joined, "postgresql")
def _of_bytes(element: joined, compiler: SQLCompiler, **options: Any) -> str:
    return f"string_agg({compiler.process(element.clauses, **options)}, '')"
