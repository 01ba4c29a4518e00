"""Server sessions: check that each connection has a separate one, and find the one that holds a lock.

The search path and the lock for linking belong to a session. A connection pooler in transaction mode may run each
transaction in a different session, so a lock could outlive the process that took it and block all others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import psycopg
from sqlalchemy import Connection, text

from lshdb.errors import SessionsPooled

__all__ = ["holder", "require_own"]

# Another client of the pool may take the session between the two queries.
TRIES: Final = 5

_HOLDER: Final = text("""
    SELECT format('process %s%s, connected since %s', pid, ' on ' || coalesce(client_hostname, host(client_addr)),
                  to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS UTC'))
    FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND granted AND classid = :space AND objid = CAST(:key AS bigint) & 4294967295""")


def require_own(driver: psycopg.Connection[Any], connect: Callable[[], psycopg.Connection[Any]], url: str) -> None:
    """Check that a new connection does not share its session.

    Args: connect: opens another connection to the same address.
    Raises: SessionsPooled: it shares its sessions with other connections.
    """
    # Poolers invent the process id that a client receives at the start.
    if driver.info.backend_pid == _session(driver):
        return
    with connect() as other:
        for _ in range(TRIES):
            if _session(driver) == _session(other):
                raise SessionsPooled(url=url)


def holder(connection: Connection, space: int, key: int) -> str:
    """Return a description of the holder of an advisory lock."""
    return str(connection.scalar(_HOLDER, {"space": space, "key": key}) or "a process that has just ended")


def _session(driver: psycopg.Connection[Any]) -> int:
    """Return the server process id of the session that runs a new transaction."""
    row = driver.execute("SELECT pg_backend_pid()").fetchone()
    driver.rollback()
    assert row is not None
    return int(row[0])
