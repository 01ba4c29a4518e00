"""The database's clock. Several machines may write to one index, and their own clocks may differ."""

from __future__ import annotations

from typing import Any

from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from lshdb.store.schema import Moment

__all__ = ["now"]


class now(FunctionElement[str]):  # noqa: N801 -- it is written as a function of SQL
    """The current time, with milliseconds."""

    type = Moment()
    inherit_cache = True


@compiles(now, "sqlite")
def _text(_element: now, _compiler: SQLCompiler, **_options: Any) -> str:
    return "strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')"


@compiles(now, "postgresql")
def _timestamp(_element: now, _compiler: SQLCompiler, **_options: Any) -> str:
    return "date_trunc('milliseconds', clock_timestamp())"
