"""Create the tables of a new index, find the revision of an existing one, and upgrade it to the newest.

Alembic is imported only for upgrades, because the import takes an eighth of a second. A new index has the tables that
`lshdb.store.schema` declares; a test checks that the revisions lead to the same.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    create_mock_engine,
    event,
    insert,
    inspect,
    select,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import ExecutableDDLElement

from lshdb.errors import IndexOutdated, IndexTooNew
from lshdb.store import views
from lshdb.store.dialect import Dialect
from lshdb.store.schema import index_params, metadata, run

if TYPE_CHECKING:
    from alembic.config import Config

__all__ = ["REVISIONS", "create", "current", "known", "recorded_to_head", "require_head", "to_head"]

# Not Alembic's default name, because an index may share a Postgres schema with a program that uses the default.
VERSION_TABLE = "lshdb_revision"
_REVISION: Final = Table(
    VERSION_TABLE,
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc"),
)

_FOLDER: Final = files("lshdb.migrations")
# Oldest first. The name of a file in versions/ begins with its revision.
REVISIONS: Final = tuple(
    sorted(found[0] for file in (_FOLDER / "versions").iterdir() if (found := re.match(r"\d{4}", file.name)))
)

_QUESTIONS = ("SELECT", "PRAGMA")


def current(connection: Connection) -> str | None:
    """Return the revision of the index; None if there is no index."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.scalar(select(_REVISION.c.version_num))


def create(connection: Connection, dialect: Dialect) -> None:
    """Create the tables and views of a new index, inside the current transaction of `connection`."""
    dialect.settle(connection)
    tables = _tables(connection.engine.url.drivername)
    dialect.execute_all(connection, [*tables, *views.definitions(connection.dialect.name)])
    connection.execute(insert(_REVISION).values(version_num=REVISIONS[-1]))


@cache
def _tables(driver: str) -> tuple[str, ...]:
    """Return the statements that create the tables. Args: driver: ``sqlite``, or ``postgresql+psycopg``."""
    found: list[str] = []

    def define(statement: ExecutableDDLElement, *_: object) -> None:
        found.append(str(statement.compile(dialect=engine.dialect)))

    # With parameters of this style, no % is doubled.
    engine = create_mock_engine(f"{driver}://", define, paramstyle="named")
    for tables in (metadata, _REVISION.metadata):
        tables.create_all(engine, checkfirst=False)
    return tuple(found)


def known(connection: Connection, found: str | None, url: str) -> str:
    """Return the revision that was found. Raises: IndexTooNew: a newer lshdb created or upgraded the index."""
    if found not in REVISIONS:
        raise IndexTooNew(url=url, current=found or "", version=version("lshdb"), writer=_writer(connection))
    return found


def require_head(connection: Connection, found: str, url: str) -> None:
    """Check that the revision that was found is the newest. Raises: IndexOutdated, IndexTooNew."""
    if known(connection, found, url) != REVISIONS[-1]:
        raise IndexOutdated(url=url, current=found, head=REVISIONS[-1])


def to_head(connection: Connection, dialect: Dialect) -> None:
    """Apply all missing revisions, inside the current transaction of `connection`."""
    from alembic import command

    dialect.settle(connection)
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def recorded_to_head(connection: Connection, dialect: Dialect) -> tuple[str, ...]:
    """Call `to_head`, and return the statements that it executed, without those that only read."""
    statements: list[str] = []

    def record(_connection: object, _cursor: object, statement: str, values: object, *_: object) -> None:
        if not statement.lstrip().startswith(_QUESTIONS):
            statements.append(f"{statement.strip()};" + (f"  -- {values}" if values else ""))

    event.listen(connection, "before_cursor_execute", record)
    to_head(connection, dialect)
    event.remove(connection, "before_cursor_execute", record)
    return tuple(statements)


def _writer(connection: Connection) -> str:
    """Return which lshdb a newer index belongs to, as far as its tables show: an upgrade records no version."""
    columns = ((index_params.c.lshdb_version, index_params.c.params_key), (run.c.lshdb_version, run.c.run_key))
    known: list[str] = []
    for name, last in columns:
        # A newer revision may have other tables.
        with suppress(DBAPIError), connection.begin_nested():
            known += connection.scalars(select(name).order_by(last.desc()).limit(1)).all()
    newer = [name for name in known if _release(name) > _release(version("lshdb"))]
    return f"lshdb {max(newer, key=_release)}" if newer else "a newer lshdb"


def _release(name: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", name)))


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    # The parser of the configuration would interpolate a "%" in a path.
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    return config
