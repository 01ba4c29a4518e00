"""The databases that lshdb supports."""

from __future__ import annotations

from sqlalchemy import URL

from lshdb.errors import UsageError
from lshdb.store.dialect import Dialect

__all__ = ["dialect_for"]


def dialect_for(url: URL) -> Dialect:
    """Return the dialect of a URL. Raises: UsageError: lshdb does not support that database."""
    # Imported on demand: importing the Postgres driver takes as long as a small query.
    match backend := url.get_backend_name():
        case "sqlite":
            from lshdb.store.sqlite.dialect import Sqlite

            return Sqlite(url)
        case "postgresql":
            from lshdb.store.postgres.dialect import Postgres

            return Postgres(url)
    reason = f"--db: {backend} is not a database lshdb knows (postgresql, sqlite, or a plain path)"
    raise UsageError(reason=reason)
