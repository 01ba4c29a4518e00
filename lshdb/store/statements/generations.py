"""The condition that every lookup of a bucket has: the row is in one of the generations."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, FromClause, type_coerce
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import Boolean

from lshdb.store.schema import band_bucket

__all__ = ["in_use"]

_NUMBERS: Final = "SELECT generation FROM bucket_generation"


class _InUse(FunctionElement[bool]):
    """Whether its one clause is the number of a generation."""

    inherit_cache = True


def in_use(rows: FromClause = band_bucket) -> ColumnElement[bool]:
    """Return the condition that a row of `band_bucket` is in one of the generations.

    It lets a lookup start with the generation, which leads the primary key. Args: rows: an alias of the table.
    """
    return type_coerce(_InUse(rows.c.generation), Boolean)


@compiles(_InUse, "sqlite")
def _among_rows(element: _InUse, compiler: SQLCompiler, **options: Any) -> str:
    return f"({compiler.process(element.clauses, **options)} IN ({_NUMBERS}))"


@compiles(_InUse, "postgresql")
def _among_values(element: _InUse, compiler: SQLCompiler, **options: Any) -> str:
    # Postgres expects 10 values in an array, but 2,040 rows in a small table without statistics. With that many lookups
    # ahead, it would scan all buckets instead.
    return f"({compiler.process(element.clauses, **options)} = ANY (ARRAY({_NUMBERS})))"
