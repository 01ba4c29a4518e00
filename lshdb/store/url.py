"""From what the user writes after ``--db`` to a database URL, and from a URL to what may be shown."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from lshdb.errors import UsageError

__all__ = ["for_libpq", "masked", "parse"]

# libpq takes secrets as query parameters too.
_SECRETS = frozenset({"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"})


def parse(address: str) -> URL:
    """The URL of a SQLAlchemy URL or of a plain path (SQLite).

    Raises: UsageError: the URL cannot be read; its text, which may hold a password, is not repeated.
    """
    if "://" not in address:
        return URL.create("sqlite", database=str(Path(address).expanduser()))
    try:
        return make_url(address.replace("postgres://", "postgresql://", 1))
    except (ArgumentError, ValueError):
        raise UsageError(reason="--db: not a database URL; write postgresql://USER@HOST/NAME or a plain path") from None


def for_libpq(url: URL) -> str:
    """The URL as Postgres's own programs take it, without any secret: they ask for the password, or know it."""
    harmless = {key: value for key, value in url.query.items() if key not in {*_SECRETS, "schema"}}
    plain = url.set(query=harmless, drivername="postgresql")
    return URL.create(**plain._asdict() | {"password": None}).render_as_string()


def masked(url: URL) -> str:
    """The URL as it may be printed: a plain path for SQLite, no password anywhere."""
    if url.get_backend_name() == "sqlite":
        return url.database or "sqlite://"
    shown = {key: "***" if key in _SECRETS else value for key, value in url.query.items()}
    rendered = url.set(query=shown, drivername=url.get_backend_name()).render_as_string(hide_password=True)
    return rendered.replace("=%2A%2A%2A", "=***")
