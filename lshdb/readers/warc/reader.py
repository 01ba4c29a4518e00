"""Read WARC and WET files: one document per page of a crawl.

Decides which records are documents, and their dates and charsets. The id of a document is its address, or with
``captures="all"`` its address and date.

- ``response`` records with an HTTP status of 2xx and a body that is HTML or ``text/*`` are documents. Other statuses (a
  site's 404 page is the same at every address) and media types are `Skipped`, which is not an error.
- ``conversion`` (WET) and ``resource`` records of the same media types are documents.
- ``warcinfo``, ``request`` and ``metadata`` records are ignored, so a WAT file has no documents.
- ``revisit`` records repeat a page of another record. They are `Skipped`, like types that the standard does not define.

lshdb reads records and decodes bodies itself, because fastwarc loses everything after a damaged member and cannot read
a stream without seeking. On 5,800 real records of 7 KB, finding the records runs at 80 MB/s and the whole reader,
which mostly extracts text, at 25 MB/s. With larger records, finding them runs at 500 MB/s.

Limitations: ARC files, the predecessor of WARC, are refused. Of a page that the crawler truncated (``WARC-Truncated``),
the stored part is read. Only the first segment of a segmented record (``continuation``) is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
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
from lshdb.readers.warc.capture_ids import capture_id, microseconds
from lshdb.readers.warc.http import media_type, named_charset, read_response
from lshdb.readers.warc.records import ARC_MAGIC, Damage, Fields, Record, records
from lshdb.readers.warc.segments import RECORD_MAGIC

__all__ = ["WarcReader"]

NOTES: Final = frozenset({"warcinfo", "request", "metadata"})
HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
# DNS answers, which Heritrix stores with the pages.
NO_TEXT_TYPES: Final = frozenset({"text/dns"})


class WarcReader:
    """Reads every page of a crawl as one document, named by its address."""

    name = "warc"
    suffixes = (".warc", ".wet", ".wat", ".arc")
    # Members are compressed record by record, and damaged files are recovered at the start of a member in the
    # compressed file. So the reader needs the compressed bytes.
    textual = False

    def recognises(self, head: bytes) -> bool:
        """Return whether the head is that of a WARC, or of an ARC, which is refused by name."""
        return head.startswith((RECORD_MAGIC, ARC_MAGIC))

    def read(self, source: SourceFile, stream: BinaryIO, options: ReadOptions) -> Iterator[Item | Deferred]:
        """Yield a Document, Rejection or Skipped for every record, except the crawler's own notes."""
        for record in records(cast(ByteStream, stream)):
            if isinstance(record, Damage):
                yield Rejection(source.uri, record.locator, record.reason)
                continue
            item = _item(source, record, options)
            # The bytes of a record are its text only if the record ends where its header says.
            damage = record.close()
            if damage is not None:
                yield Rejection(source.uri, record.locator, damage)
            elif item is not None:
                yield item


def _item(source: SourceFile, record: Record, options: ReadOptions) -> Item | Deferred | None:
    """Return the item of a record, without its text; None for the crawler's own notes."""
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
    """Raised for a record that is not meant for lshdb. The message becomes the reason of its Skipped."""


def _body(record: Record) -> tuple[ByteStream, Fields]:
    """Return the body of a response and the header that describes it. Raises: Unfit, _Unwanted."""
    is_http = media_type(record.fields) in ("", "application/http") or record.block.peek(5) == b"HTTP/"
    if not is_http:  # Responses of other protocols, such as FTP, have no header.
        return record.block, record.fields
    response = read_response(record.block)
    if not 200 <= response.status <= 299:
        raise _Unwanted(f"HTTP status {response.status}")
    return response.body, response.fields


def _document(source: SourceFile, record: Record, body: ByteStream, fields: Fields, options: ReadOptions) -> Deferred:
    """Return the document of a body, whose bytes are read here. Raises: Unfit, _Unwanted, OSError."""
    html = options.html if _is_html(body, fields) else None
    max_bytes = options.max_text if html is None else MAX_PAGE_BYTES
    address = checked_doc_id(record.fields.get("warc-target-uri", "").removeprefix("<").removesuffix(">").strip())
    date = microseconds(record.fields.get("warc-date", ""))
    doc_id = capture_id(address, date) if options.captures == "all" else address
    if (raw := read_whole(body.binary, max_bytes)) is None:
        raise Unfit(too_large(max_bytes) if html is None else f"page larger than {megabytes(max_bytes)}")
    bare = Document(doc_id, "", None, source.uri, record.locator, 0, date)
    return Deferred(source.uri, record.locator, raw, partial(_with_text, bare, named_charset(fields), html))


def _with_text(
    bare: Document, charset: str | None, html: HtmlText | None, raw: bytes, _uri: str, _locator: str
) -> Document:
    """Return the document with the text of its bytes. Args: html: which text of a page; None for plain text. Raises:
    Unfit.
    """
    declared = None if charset is None else map_encoding_to_html5(charset, fallback_utf8=False)
    text, num_replaced = decode(raw, declared, None if html is None else declared_charset(raw), detect=True)
    return replace(bare, text=text if html is None else page_text(text, html), num_replaced=num_replaced)


def _is_html(body: ByteStream, fields: Fields) -> bool:
    """Return whether a body is a page rather than plain text. Raises: _Unwanted: it is neither."""
    declared, head = media_type(fields), body.peek(SNIFF_BYTES)
    is_html = declared in HTML_TYPES or (not declared and looks_like_html(head))
    is_text = declared.startswith("text/") or (not declared and looks_like_text(head))
    if declared in NO_TEXT_TYPES or not (is_html or is_text):
        raise _Unwanted(f"media type {declared[:60] or 'unknown'}")
    if looks_binary(head):
        raise _Unwanted(f"binary, although declared as {declared[:60]}")
    return is_html
