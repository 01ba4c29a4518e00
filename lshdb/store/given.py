"""A few integers as one value of a statement, which the database unfolds into rows: no temporary table to fill.

SQLite unfolds JSON, Postgres an array; both have the text of one statement, whatever the number of integers.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ARRAY, JSON, BigInteger, bindparam, column, func, literal_column, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

__all__ = ["given"]


class _Unfolded(FunctionElement[int]):
    """Rows (place from 0 on, value) of integers that are one value."""

    inherit_cache = True


@compiles(_Unfolded, "sqlite")
def _json(element: _Unfolded, compiler: SQLCompiler, **options: Any) -> str:
    return compiler.process(func.json_each(*element.clauses), **options)


@compiles(_Unfolded, "postgresql")
def _array(element: _Unfolded, compiler: SQLCompiler, **options: Any) -> str:
    unnested = func.unnest(*element.clauses).table_valued("value", with_ordinality="number").render_derived()
    rows = select((unnested.c.number - literal_column("1")).label("key"), unnested.c.value)
    return compiler.process(rows.self_group(), **options)


# Named as the columns of SQLite's json_each; the value of ``:given`` is a list.
given = _Unfolded(bindparam("given", type_=JSON().with_variant(ARRAY(BigInteger), "postgresql"))).table_valued(
    column("key", BigInteger), column("value", BigInteger), name="given"
)
