"""The databases that lshdb knows."""

from __future__ import annotations

from typing import Final

from sqlalchemy import URL

from lshdb.errors import UsageError
from lshdb.store.dialect import Dialect
from lshdb.store.postgres import Postgres
from lshdb.store.sqlite import Sqlite

__all__ = ["dialect_for"]

DIALECTS: Final[dict[str, type[Dialect]]] = {dialect.backend: dialect for dialect in (Sqlite, Postgres)}


def dialect_for(url: URL) -> Dialect:
    """The dialect of a URL. Raises: UsageError: lshdb does not know that database."""
    backend = url.get_backend_name()
    if backend not in DIALECTS:
        known = ", ".join(sorted(DIALECTS))
        raise UsageError(reason=f"--db: {backend} is not a database lshdb knows ({known}, or a plain path)")
    return DIALECTS[backend]()
