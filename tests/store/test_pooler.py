"""A connection pooler between lshdb and Postgres: refused in transaction mode, and no obstacle in session mode."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from lshdb import Document, Index
from lshdb.errors import SessionsPooled

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(shutil.which("pgbouncer") is None, reason="pgbouncer, a Debian package, is not installed"),
]

WORDS = "one two three four five six seven eight nine ten"


@contextmanager
def pooler(server: str, mode: str) -> Iterator[str]:
    """Run pgbouncer in front of a server. Yields: the URL of the same database through it."""
    with psycopg.connect(server) as connection:
        place = connection.info
        name, user, host = place.dbname, place.user, place.host
        target = f"host={host} port={place.port} dbname={name} user={user}"
        target += f" password={place.password}" if place.password else ""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Not in a folder of pytest: pgbouncer refuses to run as root, and another user may not enter those.
    with tempfile.TemporaryDirectory(prefix="lshdb-pgbouncer-") as folder:
        Path(folder).chmod(0o777)
        settings = Path(folder, "pgbouncer.ini")
        settings.write_text(
            f"[databases]\n{name} = {target}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n"
            f"auth_type = any\npool_mode = {mode}\nunix_socket_dir =\nlogfile = {folder}/log\npidfile = {folder}/pid\n"
        )
        # The server's own user may use its socket.
        owner = Path(host).stat().st_uid if os.getuid() == 0 else 0
        by_owner = ["setpriv", f"--reuid={owner}", "--clear-groups"] if owner else []
        with subprocess.Popen([*by_owner, "pgbouncer", "-q", str(settings)]) as process:
            try:
                wait_for(port, process)
                yield f"postgresql://{user}@127.0.0.1:{port}/{name}"
            finally:
                process.terminate()


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert process.poll() is None, "pgbouncer has ended"
            assert time.monotonic() < deadline
            time.sleep(0.02)
        else:
            return


def test_a_pooler_in_transaction_mode_is_refused(postgres_server: str) -> None:
    with pooler(postgres_server, "transaction") as url, pytest.raises(SessionsPooled, match="in transaction mode"):
        Index.create(f"{url}?schema=pooled")


def test_a_pooler_in_session_mode_is_no_obstacle(postgres_server: str) -> None:
    with pooler(postgres_server, "session") as url:
        with Index.create(f"{url}?schema=pooled") as index:
            index.add([Document("a", WORDS), Document("b", f"{WORDS} eleven")])
            assert [(pair.left, pair.right) for pair in index.pairs()] == [("a", "b")]
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute("DROP SCHEMA pooled CASCADE")
