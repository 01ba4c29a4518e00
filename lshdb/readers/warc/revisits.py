"""Read revisit records, in which a crawler names an earlier capture instead of storing an unchanged page again.

The profiles ``identical-payload-digest`` and ``server-not-modified`` of all versions of WARC are treated alike. The
record names the capture by ``WARC-Refers-To-Target-URI`` and ``WARC-Refers-To-Date``. Without the address, lshdb takes
that of the record; without the date, the last capture before the record.

Limitation: if a record names the capture only by ``WARC-Refers-To``, a record id, lshdb takes the last capture of the
same address, because the index does not store record ids.
"""

from __future__ import annotations

from typing import Final

from lshdb.model.choices import Captures
from lshdb.model.values import Document
from lshdb.readers.base import ReadOptions, Revisit, SourceFile
from lshdb.readers.warc.capture_ids import AFTER_TIMESTAMPS, capture_id, microseconds
from lshdb.readers.warc.http import media_type, read_head
from lshdb.readers.warc.media import Unwanted, require_text
from lshdb.readers.warc.records import Record

__all__ = ["revisit"]

PROFILES: Final = frozenset({"", "identical-payload-digest", "server-not-modified"})
NOT_MODIFIED: Final = 304
REASON: Final = "revisit of a page that another record holds"


def revisit(source: SourceFile, record: Record, address: str, date: int | None, options: ReadOptions) -> Revisit:
    """Return the capture that a revisit record stands for.

    Raises: Unwanted: it is not a page, or has an unknown profile; Unfit: its HTTP header is damaged.
    """
    profile = record.fields.get("warc-profile", "").rstrip("/").rpartition("/")[2].lower()
    if profile not in PROFILES:
        raise Unwanted(f"revisit with the profile {profile[:60]}")
    is_page = _is_page(record)
    named = record.fields.get("warc-refers-to-target-uri", "").removeprefix("<").removesuffix(">").strip() or address
    named_at = microseconds(record.fields.get("warc-refers-to-date", ""))
    first_id, end_id = _ids(named, named_at, address, date, options.captures)
    doc_id = capture_id(address, date) if options.captures == "all" else address
    capture = Document(doc_id, "", None, source.uri, record.locator, 0, date)
    return Revisit(source.uri, REASON, capture, first_id, end_id, named, named_at, is_page)


def _is_page(record: Record) -> bool:
    """Return whether the record declares itself a page; False if it declares nothing. Raises: Unwanted: not a page."""
    if not record.block.peek(1):
        return False
    status, fields = read_head(record.block)
    if status != NOT_MODIFIED and not 200 <= status <= 299:
        raise Unwanted(f"HTTP status {status}")
    declared = media_type(fields)
    if declared:
        require_text(declared)
    return bool(declared)


def _ids(named: str, named_at: int | None, address: str, date: int | None, captures: Captures) -> tuple[str, str]:
    """Return the first id that the named capture may have, and the one after the last."""
    if captures == "newest":
        return named, _next(named)
    if named_at is None:
        return f"{named}@", capture_id(named, date) if date is not None else f"{named}@{AFTER_TIMESTAMPS}"
    # The named date may lack the fraction of a second that the date of the capture has.
    first, end = capture_id(named, named_at), f"{capture_id(named, named_at)}{AFTER_TIMESTAMPS}"
    own = capture_id(address, date)
    return first, own if first < own < end else end


def _next(doc_id: str) -> str:
    """Return the id after this one. No id contains NUL."""
    return doc_id + "\x01"
