"""Where an index's schema stands among the revisions, and bringing it to the newest.

A new index is an upgrade from nothing: there is one way that tables come to be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from importlib.resources import files

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from lshdb.errors import IndexOutdated, IndexTooNew

__all__ = ["Upgrade", "current", "head", "plan", "require_head", "to_head"]

# Not Alembic's default name: an index may share a Postgres schema with a program that uses that one.
VERSION_TABLE = "lshdb_revision"


@dataclass(frozen=True, slots=True)
class Upgrade:
    """An upgrade `before` -> `after`; `copy` is where the old file was kept, None where none was needed."""

    before: str
    after: str
    copy: str | None = None

    @property
    def is_current(self) -> bool:
        """Whether there is nothing to do."""
        return self.before == self.after

    def with_copy(self, copy: str | None) -> Upgrade:
        """The same upgrade, with the place of the copy."""
        return replace(self, copy=copy)


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
        raise IndexTooNew(url=url, current=before, version=version("lshdb"))
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
