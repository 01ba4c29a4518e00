"""Passes many integers or names to a statement as a single value, which the database unfolds into rows.

Statements receive their keys this way instead of through a temporary table, so queries also work on a hot standby and
for a read-only role. SQLite unfolds JSON, Postgres an array, or JSON if it holds names. The text of a statement is the
same for any number of rows.

The value of ``:given`` is a list of integers, of rows of integers, or of names. `Transaction.parts` creates it. The
column ``key`` is the position of a row in that list, starting at 0.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Dialect,
    String,
    TableValuedAlias,
    bindparam,
    column,
    literal_column,
    select,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import UserDefinedType

__all__ = ["BRACES", "given", "given_bucket", "given_member", "given_pair", "given_place", "has_given", "is_given"]


BRACES: Final = str.maketrans("[]", "{}")


class _Rows(UserDefinedType[object]):
    """A list of integers or of rows of integers, as JSON for SQLite and as the text of an array for Postgres.

    The Postgres driver would convert every integer. Passed as text, 10,000 rows take a tenth of the time.
    """

    cache_ok = True
    render_bind_cast = True

    def get_col_spec(self, **_: object) -> str:
        """Return the type to which Postgres casts the text."""
        return "BIGINT[]"

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], str]:
        """Return the function that creates the text. In an array's text, braces replace the brackets of JSON."""
        if dialect.name == "postgresql":
            return lambda rows: json.dumps(rows).translate(BRACES)
        return json.dumps


class _Names(UserDefinedType[object]):
    """A list of names, as JSON: the text of an array has other escapes.

    Limitation: no name may contain a NUL character, at which SQLite would end it.
    """

    cache_ok = True
    render_bind_cast = True

    def get_col_spec(self, **_: object) -> str:
        """Return the type to which Postgres casts the text."""
        return "JSON"

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], str]:
        """Return the function that creates the text, without escapes that some encodings of a database do not have."""
        return partial(json.dumps, ensure_ascii=False)


class _Unfolded(FunctionElement[object]):
    """The rows of a list. Its clauses are the list and, if a row has several values, their names."""

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
    if isinstance(next(iter(element.clauses)).type, _Names):
        # The planner then expects 10 rows and looks each up. It would expect 100 of JSON, and scan a small table.
        values = f"ARRAY(SELECT json_array_elements_text({values}))"
    # A column of a two-dimensional array is a slice of it. With unnest, the planner knows the number of rows.
    columns = [f"({values})[:][{place}:{place}]" for place in range(1, len(names) + 1)] or [values]
    unfolded = ", ".join(names or ["value"])
    rows = f"unnest({', '.join(columns)}) WITH ORDINALITY AS unfolded({unfolded}, number)"
    return f"(SELECT number - 1 AS key, {unfolded} FROM {rows})"  # noqa: S608


def _unfolded(*names: str, bound: str = "given") -> TableValuedAlias:
    rows = _Unfolded(bindparam(bound, type_=_Rows()), *map(literal_column, names))
    columns = (column(name, BigInteger) for name in ("key", *(names or ("value",))))
    return rows.table_valued(*columns, name=bound)


def is_given(name: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that ``:given`` lists a name. Not a join, which SQLite may begin with the whole table."""
    names = _Unfolded(bindparam("given", type_=_Names())).table_valued(column("value", String), name="given")
    return name.in_(select(names.c.value))


def has_given(key: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return the condition that ``:given`` lists a key. The databases look each of them up."""
    return key.in_(select(given.c.value))


given = _unfolded()
given_pair = _unfolded("left_key", "right_key")
given_bucket = _unfolded("band", "bucket_hash")
given_member = _unfolded("band", "bucket_hash", "content_key")
# The value of ``:places``, beside which there may be another list.
given_place = _unfolded("generation", "band", "bucket_hash", bound="places")
