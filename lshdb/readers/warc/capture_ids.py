"""The dates of records, and the ids of captures.

A capture is a page at a moment. Its id is ``ADDRESS@TIMESTAMP``, where the timestamp is that of CDX files and of the
Wayback Machine: 14 digits, UTC. A date with a fraction of a second has 6 more digits, so that no two dates share an id.
The timestamp comes last, so that ids sort by address and then by date: all captures of an address, and those before
a date, are one range of ids.

Limitation: an address that itself ends with ``@`` and 14 digits looks like a capture.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

__all__ = ["AFTER_TIMESTAMPS", "capture_id", "iso", "microseconds", "split", "timestamp"]

DATE: Final = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?)?)?(Z|[+-]\d\d:?\d\d)?"
)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
CAPTURE_ID: Final = re.compile(r"(.*)@([0-9]{14}(?:[0-9]{6})?)", re.DOTALL)

# Sorts after every timestamp, as ":" follows "9".
AFTER_TIMESTAMPS: Final = ":"


def microseconds(date: str) -> int | None:
    """Return a WARC-Date as microseconds since 1970 UTC; None if it is invalid.

    WARC 1.1 allows dates of any precision. A shorter one means its beginning.
    """
    if (match := DATE.fullmatch(date.strip())) is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups(default="")
    try:
        moment = datetime(
            int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=UTC
        )
        moment -= _zone(zone)
    except (ValueError, OverflowError):
        return None
    return (moment - EPOCH) // timedelta(microseconds=1) + int(fraction[:6].ljust(6, "0"))


def timestamp(date: int) -> str:
    """Return the timestamp of a date in microseconds since 1970 UTC: 14 digits, or 20 with a fraction of a second."""
    moment = EPOCH + timedelta(microseconds=date)
    fraction = f"{moment.microsecond:06}" if moment.microsecond else ""
    # Not %Y, which does not pad years before 1000 on Linux.
    return f"{moment.year:04}{moment:%m%d%H%M%S}{fraction}"


def iso(date: int) -> str:
    """Return a date in microseconds since 1970 UTC as ``2026-01-02T03:04:05Z``."""
    return (EPOCH + timedelta(microseconds=date)).isoformat().replace("+00:00", "Z")


def capture_id(address: str, date: int | None) -> str:
    """Return the id of a capture. Without a date, it is the address."""
    return address if date is None else f"{address}@{timestamp(date)}"


def split(doc_id: str) -> tuple[str, str]:
    """Return the address and the timestamp of a capture. The timestamp is empty if the id has none."""
    match = CAPTURE_ID.fullmatch(doc_id)
    return (doc_id, "") if match is None else (match[1], match[2])


def _zone(zone: str) -> timedelta:
    if zone in ("", "Z"):
        return timedelta()
    ahead = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
    return ahead if zone[0] == "+" else -ahead
