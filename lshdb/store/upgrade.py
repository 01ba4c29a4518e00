"""Where an index's schema stands among the revisions, and bringing it to the newest.

A new index is an upgrade from nothing: there is one way that tables come to be.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, event, select
from sqlalchemy.exc import DBAPIError

from lshdb.errors import IndexOutdated, IndexTooNew
from lshdb.store.schema import index_params, run

__all__ = ["Upgrade", "current", "head", "plan", "recorded_to_head", "require_head", "to_head"]

# Not Alembic's default name: an index may share a Postgres schema with a program that uses that one.
VERSION_TABLE = "lshdb_revision"

_QUESTIONS = ("SELECT", "PRAGMA")


@dataclass(frozen=True, slots=True)
class Upgrade:
    """An upgrade `before` -> `after`.

    Args:
        copy: where the old file was kept; None where none was needed.
        statements: the SQL of a rehearsed one, values as comments.
    """

    before: str
    after: str
    copy: str | None = None
    statements: tuple[str, ...] = ()

    @property
    def is_current(self) -> bool:
        """Whether there is nothing to do."""
        return self.before == self.after


def head() -> str:
    """The newest revision that this lshdb knows."""
    newest = _scripts().get_current_head()
    assert newest is not None, "the package ships its migrations"
    return newest


def current(connection: Connection) -> str | None:
    """The revision of the index; None where there is no index."""
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    return context.get_current_revision()


def plan(connection: Connection, url: str) -> Upgrade:
    """What an upgrade would do. Raises: IndexTooNew: a newer lshdb made this index."""
    before = current(connection) or ""
    if before not in {script.revision for script in _scripts().walk_revisions()}:
        raise IndexTooNew(url=url, current=before, version=version("lshdb"), writer=_writer(connection))
    return Upgrade(before, head())


def require_head(connection: Connection, url: str) -> None:
    """Raises: IndexOutdated, IndexTooNew: the index is not at the newest revision."""
    found = plan(connection, url)
    if not found.is_current:
        raise IndexOutdated(url=url, current=found.before, head=found.after)


def to_head(connection: Connection) -> None:
    """Applies every revision that is missing, inside the transaction that `connection` is in."""
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def recorded_to_head(connection: Connection) -> tuple[str, ...]:
    """`to_head`, and the statements that it executed, but for those that only ask."""
    statements: list[str] = []

    def record(_connection: object, _cursor: object, statement: str, values: object, *_: object) -> None:
        if not statement.lstrip().startswith(_QUESTIONS):
            statements.append(f"{statement.strip()};" + (f"  -- {values}" if values else ""))

    event.listen(connection, "before_cursor_execute", record)
    to_head(connection)
    event.remove(connection, "before_cursor_execute", record)
    return tuple(statements)


def _writer(connection: Connection) -> str:
    """The lshdb that a newer index is of, as far as its tables tell: an upgrade leaves no trace of who did it."""
    columns = ((index_params.c.lshdb_version, index_params.c.params_key), (run.c.lshdb_version, run.c.run_key))
    known: list[str] = []
    for column, last in columns:
        # A newer revision may have other tables.
        with suppress(DBAPIError), connection.begin_nested():
            known += connection.scalars(select(column).order_by(last.desc()).limit(1)).all()
    newer = [name for name in known if _release(name) > _release(version("lshdb"))]
    return f"lshdb {max(newer, key=_release)}" if newer else "a newer lshdb"


def _release(name: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", name)))


def _folder() -> str:
    """Where the revisions are."""
    return str(files("lshdb.migrations"))


def _config() -> Config:
    config = Config()
    # A "%" in a path would be read as an interpolation.
    config.set_main_option("script_location", _folder().replace("%", "%%"))
    return config


@cache
def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())
