"""Hands many integers to one statement as a single value, which the database unfolds into rows.

Questions get their keys this way and not through a temporary table, so a role that may only read, or a hot standby, can
ask all of them. SQLite unfolds JSON, Postgres an array. A statement has the same text for any number of rows.

The value of ``:given`` is a list of integers, or of rows of integers; `Transaction.parts` makes it from an array. Each
row has its place in that list, from 0 on, in the column ``key``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from sqlalchemy import BigInteger, Dialect, TableValuedAlias, bindparam, column, literal_column
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import UserDefinedType

__all__ = ["given", "given_bucket", "given_member", "given_pair"]


BRACES: Final = str.maketrans("[]", "{}")


class _Rows(UserDefinedType[object]):
    """A list of integers, or of rows of integers: JSON, or the text of an array, which is JSON in braces.

    The driver of Postgres would look at every integer; in text, 10,000 rows take it a tenth of the time.
    """

    cache_ok = True
    render_bind_cast = True

    def get_col_spec(self, **_: object) -> str:
        """What Postgres reads the text as."""
        return "BIGINT[]"

    def bind_processor(self, dialect: Dialect) -> Callable[[object], str]:
        """What makes the text."""
        if dialect.name == "postgresql":
            return lambda rows: json.dumps(rows).translate(BRACES)
        return json.dumps


class _Unfolded(FunctionElement[int]):
    """Rows of a list. Its clauses are the list and, where a row has several values, their names."""

    inherit_cache = True


@compiles(_Unfolded, "sqlite")
def _of_json(element: _Unfolded, compiler: SQLCompiler, **options: Any) -> str:
    values, *names = (compiler.process(clause, **options) for clause in element.clauses)
    if not names:
        return f"json_each({values})"
    columns = ", ".join(f"json_extract(value, '$[{place}]') AS {name}" for place, name in enumerate(names))
    return f"(SELECT key, {columns} FROM json_each({values}))"  # noqa: S608


@compiles(_Unfolded, "postgresql")
def _of_array(element: _Unfolded, compiler: SQLCompiler, **options: Any) -> str:
    values, *names = (compiler.process(clause, **options) for clause in element.clauses)
    # A column of a two-dimensional array is a slice of it. The planner counts what unnest gives.
    columns = [f"({values})[:][{place}:{place}]" for place in range(1, len(names) + 1)] or [values]
    unfolded = ", ".join(names or ["value"])
    rows = f"unnest({', '.join(columns)}) WITH ORDINALITY AS unfolded({unfolded}, number)"
    return f"(SELECT number - 1 AS key, {unfolded} FROM {rows})"  # noqa: S608


def _unfolded(*names: str) -> TableValuedAlias:
    values = bindparam("given", type_=_Rows())
    rows = _Unfolded(values, *map(literal_column, names))
    columns = (column(name, BigInteger) for name in ("key", *(names or ("value",))))
    return rows.table_valued(*columns, name="given")


given = _unfolded()
given_pair = _unfolded("left_key", "right_key")
given_bucket = _unfolded("band", "bucket_hash")
given_member = _unfolded("band", "bucket_hash", "content_key")
