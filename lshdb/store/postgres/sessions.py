"""Server sessions: check that each connection has a separate one that is alive, and find the one that holds a lock.

The search path and the lock for linking belong to a session. A connection pooler in transaction mode may run each
transaction in a different session, so a lock could outlive the process that took it and block all others.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import psycopg
from sqlalchemy import Connection, Engine, event, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

from lshdb.errors import SessionsPooled

__all__ = ["configure", "driver_of", "holder", "keep_alive", "require_own"]

# Another client of the pool may take the session between the two queries.
TRIES: Final = 5
# A session that was used so recently is asked nothing, which would take a tenth of a question.
FRESH_SECONDS: Final = 1.0
_USED: Final = "lshdb_used"

# A role may not see the address and the start of another role's session.
_HOLDER: Final = text("""
    SELECT format('process %s%s%s', pid, ' on ' || coalesce(client_hostname, host(client_addr)),
                  to_char(backend_start AT TIME ZONE 'UTC', '", connected since "YYYY-MM-DD HH24:MI:SS UTC'))
    FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND granted AND datname = current_database()
    AND classid = :space AND objid = CAST(:key AS bigint) & 4294967295""")


def driver_of(connection: Connection) -> psycopg.Connection[Any]:
    """Return the driver's connection."""
    own: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
    return own


def require_own(driver: psycopg.Connection[Any], connect: Callable[[], psycopg.Connection[Any]], url: str) -> None:
    """Check that a new connection does not share its session.

    Args:
        driver: in autocommit mode.
        connect: opens another connection to the same address, in autocommit mode.

    Raises: SessionsPooled: it shares its sessions with other connections.
    """
    # Poolers invent the process id that a client receives at the start.
    if driver.info.backend_pid == _session(driver):
        return
    with connect() as other:
        for _ in range(TRIES):
            if _session(driver) == _session(other):
                raise SessionsPooled(url=url)


def configure(driver: psycopg.Connection[Any]) -> None:
    """Let a new session plan each statement once, and send every digit of a number in text.

    Otherwise the server makes another plan for each list that a statement receives, which takes as long as a question's
    statements themselves. The plan without the list looks each of its rows up, as it should. And with the role's own
    extra_float_digits, a question would take the parameters of the index for others.
    """
    driver.execute(
        "SELECT set_config('plan_cache_mode', 'force_generic_plan', false),"
        " set_config('extra_float_digits', '1', false)"
    )


def keep_alive(engine: Engine) -> None:
    """Replace a pooled session that the server has ended, for instance because it was restarted."""

    def put_back(_driver: psycopg.Connection[Any] | None, entry: ConnectionPoolEntry) -> None:
        entry.info[_USED] = time.monotonic()

    def require_alive(driver: DBAPIConnection, entry: ConnectionPoolEntry, _proxy: object) -> None:
        used = entry.info.get(_USED)
        if used is None or (time.monotonic() - used < FRESH_SECONDS and not _has_news(driver)):
            return
        try:
            engine.dialect.do_ping(driver)
        except psycopg.Error:
            # The other sessions have probably ended, too. The pool makes new ones.
            raise InvalidatePoolError from None

    event.listen(engine, "checkin", put_back)
    event.listen(engine, "checkout", require_alive)


def _has_news(driver: DBAPIConnection) -> bool:
    """Return whether the server has sent something unasked, or has closed the connection."""
    sockets = select.poll()
    with suppress(psycopg.OperationalError):  # We have closed it ourselves.
        sockets.register(driver.fileno(), select.POLLIN)
        return bool(sockets.poll(0))
    return True


def holder(connection: Connection, space: int, key: int) -> str:
    """Return a description of the holder of an advisory lock."""
    return str(connection.scalar(_HOLDER, {"space": space, "key": key}) or "a process that has just ended")


def _session(driver: psycopg.Connection[Any]) -> int:
    """Return the server process id of the session that runs a new transaction. Args: driver: in autocommit mode."""
    row = driver.execute("SELECT pg_backend_pid()").fetchone()
    assert row is not None
    return int(row[0])
