"""WARC and WET files: one document a page that a crawl was given.

Owns which records are documents, by type, status and media type; their ids, dates and charsets. What is one:

- ``response`` records whose HTTP status is 2xx and whose body is HTML or ``text/*``; other statuses (a site's 404 page
  is the same for every address) and media types are `Skipped`, counted and no error;
- ``conversion`` (WET) and ``resource`` records of the same media types;
- nothing of ``warcinfo``, ``request`` and ``metadata`` records (so a WAT file has no documents); ``revisit`` records
  repeat a page that another record holds, and are `Skipped`, as are types that the standard does not know.

Framing and codings are undone here and not by fastwarc, which loses whatever follows a damaged member and cannot read
a stream that does not seek. It costs little: on 5,800 real records of 7 KB framing runs at 80 MB/s and all of the
reading at 25 MB/s, the rest being extraction; of larger records framing is 500 MB/s.
Limitations: ARC files, the format before WARC, are refused; a page that was cut by the crawler (``WARC-Truncated``) is
read as it is; records that were segmented (``continuation``) give the text of their first segment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import BinaryIO, Final, cast

from resiliparse.parse.encoding import map_encoding_to_html5

from lshdb.model.params import HtmlText
from lshdb.model.values import Document
from lshdb.readers.base import (
    MAX_PAGE_BYTES,
    Deferred,
    Item,
    ReadOptions,
    Rejection,
    Skipped,
    SourceFile,
    Unfit,
    megabytes,
    reason_of,
    too_large,
)
from lshdb.readers.bytes.decoding import decode
from lshdb.readers.bytes.sniffing import SNIFF_BYTES, looks_binary, looks_like_html, looks_like_text
from lshdb.readers.bytes.streams import ByteStream, read_whole
from lshdb.readers.extraction import page_text
from lshdb.readers.html import declared_charset
from lshdb.readers.lines import checked_doc_id
from lshdb.readers.warc.http import media_type, named_charset, read_response
from lshdb.readers.warc.records import ARC_MAGIC, Damage, Fields, Record, records
from lshdb.readers.warc.segments import RECORD_MAGIC

__all__ = ["WarcReader", "microseconds"]

NOTES: Final = frozenset({"warcinfo", "request", "metadata"})
HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
# What resolvers answered, which Heritrix keeps beside the pages.
NO_TEXT_TYPES: Final = frozenset({"text/dns"})
DATE: Final = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?)?)?(Z|[+-]\d\d:?\d\d)?"
)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class WarcReader:
    """Every page of a crawl is one document, named by its address."""

    name = "warc"
    suffixes = (".warc", ".wet", ".wat", ".arc")
    # Compressed record by record: where each begins in the compressed file is what damage is recovered by.
    textual = False

    def recognises(self, head: bytes) -> bool:
        """Whether the head is a WARC's, or an ARC's, which has to be refused by name."""
        return head.startswith((RECORD_MAGIC, ARC_MAGIC))

    def read(self, source: SourceFile, stream: BinaryIO, options: ReadOptions) -> Iterator[Item | Deferred]:
        """A Document, Rejection or Skipped for every record that is none of the crawl's own notes."""
        for record in records(cast(ByteStream, stream)):
            if isinstance(record, Damage):
                yield Rejection(source.uri, record.locator, record.reason)
                continue
            item = _item(source, record, options)
            # What was read of a record is its text only if the record ends where it says.
            damage = record.close()
            if damage is not None:
                yield Rejection(source.uri, record.locator, damage)
            elif item is not None:
                yield item


def microseconds(date: str) -> int | None:
    """A WARC-Date, as microseconds since 1970 UTC; None where it is none.

    Dates may be cut to any precision (WARC 1.1), and stand for their beginning then.
    """
    if (match := DATE.fullmatch(date.strip())) is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups(default="")
    try:
        moment = datetime(
            int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=UTC
        )
    except ValueError:
        return None
    return (moment - EPOCH - _zone(zone)) // timedelta(microseconds=1) + int(fraction[:6].ljust(6, "0"))


def _zone(zone: str) -> timedelta:
    if zone in ("", "Z"):
        return timedelta()
    ahead = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
    return ahead if zone[0] == "+" else -ahead


def _item(source: SourceFile, record: Record, options: ReadOptions) -> Item | Deferred | None:
    """What a record gives, its text yet to be made; None for the crawl's own notes."""
    kind = record.fields.get("warc-type", "").lower()
    if kind == "revisit":
        return Skipped(source.uri, "revisit of a page that another record holds")
    if kind in NOTES:
        return None
    if kind not in ("response", "resource", "conversion"):
        return Skipped(source.uri, f"record type {kind[:40] or 'unknown'}")
    try:
        body, fields = _body(record) if kind == "response" else (record.block, record.fields)
        return _document(source, record, body, fields, options)
    except _Unwanted as error:
        return Skipped(source.uri, str(error))
    except Unfit as error:
        return Rejection(source.uri, record.locator, str(error))
    except OSError as error:
        return Rejection(source.uri, record.locator, reason_of(error))


class _Unwanted(ValueError):
    """Raised for a record that was not meant for lshdb; the message is the reason of its Skipped."""


def _body(record: Record) -> tuple[ByteStream, Fields]:
    """The body of a response and the header that describes it. Raises: Unfit, _Unwanted."""
    is_http = media_type(record.fields) in ("", "application/http") or record.block.peek(5) == b"HTTP/"
    if not is_http:  # What other protocols gave, such as FTP, has no header of its own.
        return record.block, record.fields
    response = read_response(record.block)
    if not 200 <= response.status <= 299:
        raise _Unwanted(f"HTTP status {response.status}")
    return response.body, response.fields


def _document(source: SourceFile, record: Record, body: ByteStream, fields: Fields, options: ReadOptions) -> Deferred:
    """The document of a body, whose bytes are read. Raises: Unfit, _Unwanted, OSError."""
    html = options.html if _is_html(body, fields) else None
    max_bytes = options.max_text if html is None else MAX_PAGE_BYTES
    doc_id = checked_doc_id(record.fields.get("warc-target-uri", "").removeprefix("<").removesuffix(">").strip())
    if (raw := read_whole(body.binary, max_bytes)) is None:
        raise Unfit(too_large(max_bytes) if html is None else f"page larger than {megabytes(max_bytes)}")
    untold = Document(doc_id, "", None, source.uri, record.locator, 0, microseconds(record.fields.get("warc-date", "")))
    return Deferred(source.uri, record.locator, raw, partial(_told, untold, named_charset(fields), html))


def _told(
    untold: Document, charset: str | None, html: HtmlText | None, raw: bytes, _uri: str, _locator: str
) -> Document:
    """The document with the text of its bytes: a page, where `html` says what of it. Raises: Unfit."""
    declared = None if charset is None else map_encoding_to_html5(charset, fallback_utf8=False)
    text, num_replaced = decode(raw, declared, None if html is None else declared_charset(raw), detect=True)
    return replace(untold, text=text if html is None else page_text(text, html), num_replaced=num_replaced)


def _is_html(body: ByteStream, fields: Fields) -> bool:
    """Whether a body is a page rather than text. Raises: _Unwanted: it is neither."""
    declared, head = media_type(fields), body.peek(SNIFF_BYTES)
    is_html = declared in HTML_TYPES or (not declared and looks_like_html(head))
    is_text = declared.startswith("text/") or (not declared and looks_like_text(head))
    if declared in NO_TEXT_TYPES or not (is_html or is_text):
        raise _Unwanted(f"media type {declared[:60] or 'unknown'}")
    if looks_binary(head):
        raise _Unwanted(f"binary, though called {declared[:60]}")
    return is_html
