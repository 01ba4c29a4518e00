"""Turn the argument of ``--db`` into a database URL, and a URL into a text that is safe to show."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from lshdb.errors import UsageError

__all__ = ["for_libpq", "masked", "parse"]

# libpq takes secrets as query parameters too.
_SECRETS = frozenset({"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"})


def parse(address: str) -> URL:
    """Parse a SQLAlchemy URL, or a plain path (SQLite).

    Raises: UsageError: the URL is invalid. The error does not repeat it, because it may contain a password.
    """
    if "://" not in address:
        return URL.create("sqlite", database=str(Path(address).expanduser()))
    try:
        return make_url(address.replace("postgres://", "postgresql://", 1))
    except (ArgumentError, ValueError):
        raise UsageError(reason="--db: not a database URL; write postgresql://USER@HOST/NAME or a plain path") from None


def for_libpq(url: URL) -> str:
    """Return the URL for Postgres's own programs, without secrets: they find the password themselves, or ask for it."""
    harmless = {key: value for key, value in url.query.items() if key not in {*_SECRETS, "schema"}}
    plain = url.set(query=harmless, drivername="postgresql")
    return URL.create(**plain._asdict() | {"password": None}).render_as_string()


def masked(url: URL) -> str:
    """Return the URL in a form that is safe to print: a plain path for SQLite, and never a password."""
    if url.get_backend_name() == "sqlite":
        return url.database or "sqlite://"
    shown = {key: "***" if key in _SECRETS else value for key, value in url.query.items()}
    rendered = url.set(query=shown, drivername=url.get_backend_name()).render_as_string(hide_password=True)
    return rendered.replace("=%2A%2A%2A", "=***")
