"""The global options, which are accepted before and after the verb."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import parse_qsl, quote, urlencode

import typer

from lshdb.errors import UsageError

__all__ = ["ADDRESS_VARIABLE", "ProgressForm", "Settings", "in_schema", "is_service", "settings_of"]

ADDRESS_VARIABLE: Final = "LSHDB_URL"
DEFAULT_ADDRESS: Final = "lshdb.db"

# A password may contain a question mark.
_PLACE_AND_QUERY: Final = r"([^:]*://(?:[^@/]*@)?[^?]*)(?:\?(.*))?"

ProgressForm = Literal["auto", "plain", "json", "none"]


def _everywhere(*names: str, help: str, **settings: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel="Before or after the verb", show_default=False, **settings)


@dataclass(frozen=True, slots=True)
class Settings:
    """The global options; None or False where one was not given."""

    address: Annotated[
        str | None,
        _everywhere(
            "--db",
            metavar="URL|PATH",
            help=f"The index: a database URL, a SQLite file, or for questions the address of a service. Default: "
            f"${ADDRESS_VARIABLE}, or {DEFAULT_ADDRESS}.",
        ),
    ] = None
    schema: Annotated[
        str | None,
        _everywhere(
            "--schema",
            metavar="NAME",
            help="The Postgres schema of the index. Default: lshdb, or ?schema= in the URL.",
        ),
    ] = None
    quiet: Annotated[
        bool, _everywhere("--quiet", "-q", help="Print only errors, and warnings about lost or displaced data.")
    ] = False
    progress: Annotated[
        ProgressForm | None,
        _everywhere(
            "--progress",
            help="How to show progress. Default: auto, a live line on a terminal, otherwise a line a minute.",
        ),
    ] = None
    log_file: Annotated[
        Path | None,
        _everywhere("--log-file", metavar="FILE", help="Append progress, rejections, warnings and errors to a file."),
    ] = None

    @property
    def db(self) -> str:
        """The URL or path of the index. Raises: UsageError: it is empty, or has a schema in SQLite."""
        if self.address is not None and not self.address.strip():
            raise UsageError(reason="--db is empty. Is a variable of your shell not set?")
        address = self.address or os.environ.get(ADDRESS_VARIABLE) or DEFAULT_ADDRESS
        return address if self.schema is None else in_schema(address, self.schema)

    def over(self, others: Settings) -> Settings:
        """Return these settings, with those of `others` for options that were not given here."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(others, **{name: value for name, value in values.items() if value not in (None, False)})


def is_service(address: str) -> bool:
    """Return whether an address is that of `lshdb serve`, and not of an index."""
    return address.startswith(("http://", "https://"))


def in_schema(address: str, schema: str) -> str:
    """Return a database URL with ``?schema=``, which replaces one that it already has.

    Raises: UsageError: the index is in SQLite, or behind a service.
    """
    if is_service(address):
        raise UsageError(reason=f"--schema {schema}: a service has its index already")
    if "://" not in address or address.startswith("sqlite"):
        raise UsageError(reason=f"--schema {schema}: a SQLite index has no schema; name a Postgres database with --db")
    match = re.fullmatch(_PLACE_AND_QUERY, address)
    assert match is not None
    place, query = match.groups()
    options = [(name, value) for name, value in parse_qsl(query or "") if name != "schema"]
    return f"{place}?{urlencode([*options, ('schema', schema)], quote_via=quote)}"


def settings_of(context: typer.Context) -> Settings:
    """Return the global options of a call."""
    found = context.obj
    assert isinstance(found, Settings)
    return found
