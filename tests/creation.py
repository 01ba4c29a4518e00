"""Create the tables of a new index quickly, because most tests need one.

The first index of a process is created by the revisions, and their statements are recorded. Further indexes execute
these statements without Alembic: 16 ms of processor time instead of 70 on SQLite, and 95 instead of 245 on Postgres,
which receives them as one message. An index that exists is upgraded by the revisions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, event

from lshdb.store.upgrade import current

__all__ = ["by_revisions", "replayed"]

Recorded = list[tuple[str, object]]

by_revisions = command.upgrade


@contextmanager
def replayed() -> Iterator[None]:
    """Create new indexes from recorded statements."""
    recorded: dict[tuple[str, str], Recorded] = {}

    def upgrade(config: Config, revision: str) -> None:
        connection: Connection = config.attributes["connection"]
        made = connection.dialect.name, revision
        if current(connection) is not None:
            by_revisions(config, revision)
        elif made not in recorded:
            recorded[made] = _record(config, revision, connection)
        else:
            _replay(recorded[made], connection)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(command, "upgrade", upgrade)
        yield


def _record(config: Config, revision: str, connection: Connection) -> Recorded:
    """Run the revisions. Returns: their statements and values, without those that only read."""
    statements: Recorded = []

    def record(_connection: object, _cursor: object, statement: str, values: object, *_: object) -> None:
        if not statement.lstrip().startswith("SELECT"):
            statements.append((statement, values))

    event.listen(connection, "before_cursor_execute", record)
    by_revisions(config, revision)
    event.remove(connection, "before_cursor_execute", record)
    return statements


def _replay(statements: Recorded, connection: Connection) -> None:
    driver = connection.connection.driver_connection
    assert driver is not None
    if connection.dialect.name == "postgresql":
        # Values are sent apart from a statement, so that a message with several statements has none.
        assert not any(values for _, values in statements)
        driver.execute(";".join(statement for statement, _ in statements))
        return
    for statement, values in statements:
        driver.execute(statement, values)
