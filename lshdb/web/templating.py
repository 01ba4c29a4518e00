"""Renders the pages. Everything in them is escaped, and what could mislead a reader is spelled out."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any, Final
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

__all__ = ["address_of", "assets", "date_of", "environment"]

# Controls except tab and line end, changes of text direction, and lone surrogates, which no page can hold.
_HIDDEN: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# Characters of an id in a list.
SHORT: Final = 120

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

MEDIA_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def environment() -> Environment:
    """Return the templates with their filters."""
    made = Environment(
        loader=PackageLoader("lshdb.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=_visible,
    )
    made.globals["at"] = address_of
    made.filters |= {
        "number": "{:,}".format,
        "percent": _percent,
        "bytes": _bytes,
        "moment": _moment,
        "date": date_of,
        "short": _short,
    }
    return made


def assets() -> dict[str, tuple[bytes, str]]:
    """Return the files that pages load, by name, with their media types. They are read once."""
    found = [one for one in files("lshdb.web").joinpath("static").iterdir() if one.is_file()]
    return {one.name: (one.read_bytes(), MEDIA_TYPES[f".{one.name.rpartition('.')[2]}"]) for one in found}


def _visible(value: Any) -> Any:
    """Return a text with its hidden characters spelled out; everything else as it is."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", value)


def address_of(path: str, **query: object) -> str:
    """Return an address within the service."""
    given = {name: str(value).encode("utf-8", "replace") for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path


def date_of(moment: int) -> str:
    """Return the day of a time in microseconds since 1970 UTC."""
    try:
        return (EPOCH + timedelta(microseconds=moment)).date().isoformat()
    except OverflowError:
        return "after 9999" if moment > 0 else "before the year 1"


def _percent(share: float) -> str:
    """Return a share, without rounding up to all of it."""
    shown = f"{100 * share:.1f}"
    return "> 99.9 %" if shown == "100.0" and share < 1 else f"{shown} %"


def _bytes(number: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return f"{number} B"


def _moment(moment: str) -> str:
    return datetime.fromisoformat(moment).strftime("%Y-%m-%d %H:%M")


def _short(doc_id: str) -> str:
    return doc_id if len(doc_id) <= SHORT else f"{doc_id[: SHORT // 2]} … {doc_id[-SHORT // 3 :]}"
