"""Columns that a statement returns as one value: a driver takes longer to make a row than a database to read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Dialect, Integer, String, cast, func
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import UserDefinedType

__all__ = ["NotIntegers", "as_text", "contains", "integers", "joined", "rows_of_integers"]


class NotIntegers(Exception):
    """A column of integers has another value. SQLite stores any value in any column, so damage can do that."""

    def __str__(self) -> str:
        return "a column of integers has another value"


def as_text(column: ColumnElement[int]) -> ColumnElement[str]:
    """Return an expression for all values of a column with commas between them; NULL if there are no rows."""
    return func.aggregate_strings(cast(column, String), ",")


def integers(text: str | None) -> NDArray[np.int64]:
    """Return the values of such a text, int64, shape (n,). Raises: NotIntegers."""
    try:
        return np.fromstring(text or "", np.int64, sep=",")
    except ValueError:
        raise NotIntegers from None


def rows_of_integers(rows: Sequence[Sequence[int]], width: int) -> NDArray[np.int64]:
    """Return rows of integers as an array, int64, shape (n, width). Raises: NotIntegers."""
    try:
        return np.fromiter(chain.from_iterable(rows), np.int64, width * len(rows)).reshape(-1, width)
    except (TypeError, ValueError, OverflowError):
        raise NotIntegers from None


def joined(column: ColumnElement[bytes]) -> ColumnElement[bytes]:
    """Return an expression for all values of a column, concatenated; NULL if there are no rows."""
    return _Joined(column)


def _joins_digits() -> bool:
    # Older versions end a text that they have joined at its first NUL character, so they join hexadecimal digits.
    from sqlite3 import sqlite_version_info

    return sqlite_version_info < (3, 37)


class _Bytes(UserDefinedType[bytes]):
    """Bytes, which an old SQLite returns as hexadecimal digits."""

    cache_ok = True

    def result_processor(self, dialect: Dialect, _coltype: object) -> Callable[[str | None], bytes | None] | None:
        """Return the function that turns digits into bytes, or None if the driver returns bytes."""
        if dialect.name != "sqlite" or not _joins_digits():
            return None
        return lambda digits: None if digits is None else bytes.fromhex(digits)


class _Joined(FunctionElement[bytes]):
    type = _Bytes()
    inherit_cache = True


@compiles(_Joined, "sqlite")
def _of_text(element: _Joined, compiler: SQLCompiler, **options: Any) -> str:
    values = compiler.process(element.clauses, **options)
    if _joins_digits():
        return f"group_concat(hex({values}), '')"
    # SQLite joins texts only. Its casts change no byte.
    return f"CAST(group_concat(CAST({values} AS TEXT), '') AS BLOB)"


@compiles(_Joined, "postgresql")
def _of_bytes(element: _Joined, compiler: SQLCompiler, **options: Any) -> str:
    return f"string_agg({compiler.process(element.clauses, **options)}, '')"


def contains(column: ColumnElement[bytes], part: ColumnElement[bytes]) -> ColumnElement[bool]:
    """Return the condition that the bytes of a column contain others."""
    return _Place(column, part) > 0


class _Place(FunctionElement[int]):
    type = Integer()
    inherit_cache = True


@compiles(_Place, "sqlite")
def _of_instr(element: _Place, compiler: SQLCompiler, **options: Any) -> str:
    return f"instr({compiler.process(element.clauses, **options)})"


@compiles(_Place, "postgresql")
def _of_position(element: _Place, compiler: SQLCompiler, **options: Any) -> str:
    column, part = (compiler.process(clause, **options) for clause in element.clauses)
    return f"position({part} IN {column})"
