"""Turn the argument of ``--db`` into a database URL, and a URL into a text that is safe to show."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from lshdb.errors import UsageError

__all__ = ["for_libpq", "masked", "parse", "read_only", "reads_only"]

# libpq takes secrets as query parameters too.
_SECRETS = frozenset({"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"})

_SERVICE = (
    "which answers query, dupes, clusters, explain, decisions, stats and runs; for anything else, name the index "
    "itself: postgresql://USER@HOST/NAME or a plain path"
)
_FORMS = "write postgresql://USER@HOST/NAME or a plain path"
# A connection string of libpq: host=... password=...
_KEYWORD = re.compile(r"^\s*(host|hostaddr|port|user|dbname|password|passfile|service|sslmode)\s*=")
# A scheme without "://", or a password before a host.
_SERVER = re.compile(r"^\s*(postgres|postgresql|mysql|mariadb|sqlite)(\+\w+)?:|^postgres(ql)?/+.*@|:[^/@]+@[^/]")


def parse(address: str) -> URL:
    """Parse a SQLAlchemy URL, or a plain path (SQLite).

    Raises: UsageError: the address is invalid, or a path that looks like the URL or the connection string of a server.
        The error does not repeat it, because it may contain a password.
    """
    if not address.strip():
        raise UsageError(reason=f"--db is empty, as an unset variable is; {_FORMS}")
    if address.startswith(("http://", "https://")):
        raise UsageError(reason=f"--db: this is the address of a service, {_SERVICE}")
    if _KEYWORD.search(address) or ("://" not in address and _SERVER.search(address)):
        raise UsageError(reason=f"--db: this looks like a server and its password, but is not a URL; {_FORMS}")
    if "://" not in address:
        return _required(URL.create("sqlite", database=str(Path(address).expanduser())))
    try:
        return _required(make_url(address.replace("postgres://", "postgresql://", 1)))
    except (ArgumentError, ValueError):
        raise UsageError(reason=f"--db: not a database URL; {_FORMS}") from None


def _required(url: URL) -> URL:
    """Return a URL that lshdb can open. Raises: UsageError."""
    if url.get_backend_name() != "sqlite":
        # An @ in a password ends it too early: the rest becomes part of the host or of the name.
        if "@" in f"{url.host}{url.database}":
            raise UsageError(reason="--db: the URL has two @; write the one in the password as %40, and / as %2F")
        # libpq reads the folder of a socket as a host, too, whose slashes are escaped.
        folder = unquote(url.host or "")
        return url.set(host="").update_query_dict({"host": folder}) if folder.startswith("/") else url
    if (url.database or ":memory:") == ":memory:":
        raise UsageError(reason="--db: an index in memory would be lost at once; name a file")
    if wrong := sorted(url.query.items() - {("mode", "ro")}):
        raise UsageError(reason=f"--db: {wrong[0][0]} is not an option of a SQLite index; the only one is ?mode=ro")
    return url


def reads_only(url: URL) -> bool:
    """Return whether the URL asks for an index that is only read."""
    return url.query.get("mode") == "ro"


def read_only(url: URL) -> URL:
    """Return the URL of the same index, for connections whose writes the database refuses."""
    if url.get_backend_name() == "sqlite":
        return url.update_query_dict({"mode": "ro"})
    options = url.query.get("options", "")
    given = options if isinstance(options, str) else " ".join(options)
    return url.update_query_dict({"options": f"{given} -c default_transaction_read_only=on".strip()})


def for_libpq(url: URL) -> str:
    """Return the URL for Postgres's own programs, without secrets: they find the password themselves, or ask for it."""
    harmless = {key: value for key, value in url.query.items() if key not in {*_SECRETS, "schema"}}
    plain = url.set(query=harmless, drivername="postgresql")
    address, mark, options = URL.create(**plain._asdict() | {"password": None}).render_as_string().partition("?")
    # SQLAlchemy leaves a blank in the address, and makes it a + in the options. libpq reads neither.
    return address.replace(" ", "%20") + mark + options.replace("+", "%20")


def masked(url: URL) -> str:
    """Return the URL in a form that is safe to print: a plain path for SQLite, and never a password."""
    if url.get_backend_name() == "sqlite":
        return url.database or "sqlite://"
    shown = {key: "***" if key in _SECRETS else value for key, value in url.query.items()}
    rendered = url.set(query=shown, drivername=url.get_backend_name()).render_as_string(hide_password=True)
    return rendered.replace("=%2A%2A%2A", "=***")
