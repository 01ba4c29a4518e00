"""The Postgres schema that an index lives in: `lshdb`, or the one that the URL names by ``?schema=``.

If the URL's options set a search_path, as in earlier releases, the index is in the first schema of that path. An index
that an earlier release created elsewhere in the role's search_path is found there, and its upgrade moves it.
"""

from __future__ import annotations

from typing import Any, Final

import psycopg
from psycopg import sql
from sqlalchemy import URL, Connection, text

__all__ = ["enter", "hidden", "named_by", "settle"]

DEFAULT: Final = "lshdb"
# Revisions whose tables may be anywhere in the search_path.
ANYWHERE: Final = ("0001", "0002")
TABLES: Final = (
    "band_bucket", "content", "content_text", "document", "index_params", "key_counter", "lshdb_revision",
    "measurement", "pair", "rebanding", "rejected", "run", "skipped_bucket", "source", "unlinked",
)  # fmt: skip

_IS_ELSEWHERE: Final = """
    SELECT NOT bool_or(nspname = %s) AND bool_or(pg_table_is_visible(c.oid))
    FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE relname = 'lshdb_revision'"""
_PLACE: Final = text("SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = to_regclass('lshdb_revision')")
_EXISTS: Final = text("SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = :schema)")

# Without USAGE on a schema, its tables are not found in the search_path, as if they did not exist.
_HIDDEN: Final = text("""
    SELECT nspname FROM pg_namespace
    WHERE nspname = trim(both '" ' from split_part(current_setting('search_path'), ',', 1))
    AND NOT has_schema_privilege(oid, 'USAGE')""")


def named_by(url: URL) -> str | None:
    """Return the schema that a URL names; None if its options set a search_path."""
    if schema := url.query.get("schema"):
        return str(schema)
    return None if "search_path" in str(url.query.get("options", "")) else DEFAULT


def enter(driver: psycopg.Connection[Any], schema: str) -> None:
    """Let a new session see only this schema, or the one with an index of an earlier revision."""
    if not _has_earlier_index(driver, schema):
        driver.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(schema)))


def hidden(connection: Connection) -> str | None:
    """Return the schema of the session if its role may not see what is in it."""
    found: str | None = connection.scalar(_HIDDEN)
    return found


def settle(connection: Connection, schema: str) -> None:
    """Create the schema if it is missing, and move an index of an earlier revision there."""
    before = connection.scalar(_PLACE)
    if not connection.scalar(_EXISTS, {"schema": schema}):
        _execute(connection, sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    if before is None:
        return
    for name in TABLES:
        place = sql.SQL(before) + sql.SQL(".") + sql.Identifier(name)
        statement = sql.SQL("ALTER TABLE IF EXISTS {} SET SCHEMA {}").format(place, sql.Identifier(schema))
        _execute(connection, statement)
    _execute(connection, sql.SQL("SET search_path TO {}").format(sql.Identifier(schema)))


def _has_earlier_index(driver: psycopg.Connection[Any], schema: str) -> bool:
    ((is_elsewhere,),) = driver.execute(_IS_ELSEWHERE, [schema]).fetchall()
    if not is_elsewhere:
        return False
    found = driver.execute("SELECT version_num FROM lshdb_revision").fetchall()
    return bool(found) and found[0][0] in ANYWHERE


def _execute(connection: Connection, statement: sql.Composed) -> None:
    # Otherwise the driver takes a % in a name for a placeholder.
    connection.exec_driver_sql(statement.as_string(None), execution_options={"no_parameters": True})
