"""Read WARC, WET and ARC files: one document per page of a crawl.

Decides which records are documents, and their dates and charsets. The id of a document is its address, or with
``captures="all"`` its address and date.

- ``response`` records with an HTTP status of 2xx and a body that is HTML or ``text/*`` are documents. Other statuses (a
  site's 404 page is the same at every address) and media types are `Skipped`, which is not an error.
- ``conversion`` (WET) and ``resource`` records of the same media types are documents.
- ``warcinfo``, ``request`` and ``metadata`` records are ignored, so a WAT file has no documents.
- ``revisit`` records name a page that another record holds. They are `Revisit` items, which the index resolves.
- Records of other types are `Skipped`.

lshdb reads records and decodes bodies itself, because fastwarc loses everything after a damaged member and cannot read
a stream without seeking. On 5,800 real records of 7 KB, finding the records runs at 80 MB/s and the whole reader,
which mostly extracts text, at 25 MB/s. With larger records, finding them runs at 500 MB/s.

Limitations: of a page that the crawler truncated (``WARC-Truncated``), the stored part is read. Only the first segment
of a segmented record (``continuation``) is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import BinaryIO, Final, cast

from msgspec.structs import replace
from resiliparse.parse.encoding import map_encoding_to_html5

from lshdb.errors import reason_of
from lshdb.model.params import HtmlText
from lshdb.model.values import Document
from lshdb.readers.base import (
    MAX_PAGE_BYTES,
    Damaged,
    Deferred,
    Item,
    ReadOptions,
    Rejection,
    Skipped,
    SourceFile,
    Unfit,
    megabytes,
    too_large,
)
from lshdb.readers.bytes.decoding import decode
from lshdb.readers.bytes.streams import ByteStream, read_whole
from lshdb.readers.extraction import page_text
from lshdb.readers.html import declared_charset
from lshdb.readers.lines import checked_doc_id
from lshdb.readers.warc.arc import FILE_SCHEME
from lshdb.readers.warc.capture_ids import capture_id, microseconds
from lshdb.readers.warc.http import media_type, named_charset, read_response
from lshdb.readers.warc.media import Unwanted, is_html
from lshdb.readers.warc.records import Damage, Record, records
from lshdb.readers.warc.revisits import revisit
from lshdb.readers.warc.syntax import RECORD_MAGIC, Fields

__all__ = ["WarcReader"]

NOTES: Final = frozenset({"warcinfo", "request", "metadata"})


class WarcReader:
    """Reads every page of a crawl as one document, named by its address."""

    name = "warc"
    suffixes = (".warc", ".wet", ".wat", ".arc")
    # Members are compressed record by record, and damaged files are recovered at the start of a member in the
    # compressed file. So the reader needs the compressed bytes.
    textual = False
    holds_records = True

    def recognises(self, head: bytes) -> bool:
        """Return whether the head is that of a WARC or ARC."""
        return head.startswith((RECORD_MAGIC, FILE_SCHEME))

    def read(self, source: SourceFile, stream: BinaryIO, options: ReadOptions) -> Iterator[Item | Deferred]:
        """Yield a Document, Rejection or Skipped for every record, except the crawler's own notes."""
        for record in records(cast(ByteStream, stream)):
            if isinstance(record, Damage):
                yield Damaged(source.uri, record.locator, record.reason)
                continue
            item = _item(source, record, options)
            # The bytes of a record are its text only if the record ends where its header says.
            damage = record.close()
            if damage is not None:
                yield Damaged(source.uri, record.locator, damage)
            elif item is not None:
                yield item


def _item(source: SourceFile, record: Record, options: ReadOptions) -> Item | Deferred | None:
    """Return the item of a record, without its text; None for the crawler's own notes."""
    kind = record.fields.get("warc-type", "").lower()
    if kind in NOTES:
        return None
    if kind not in ("response", "resource", "conversion", "revisit"):
        return Skipped(source.uri, f"record type {kind[:40] or 'unknown'}")
    try:
        address = checked_doc_id(record.fields.get("warc-target-uri", "").removeprefix("<").removesuffix(">").strip())
        date = microseconds(record.fields.get("warc-date", ""))
        if kind == "revisit":
            return revisit(source, record, address, date, options)
        bare = Document(
            doc_id=capture_id(address, date) if options.captures == "all" else address,
            source=source.uri,
            locator=record.locator,
            dated_at=date,
        )
        body, fields = _body(record) if kind == "response" else (record.block, record.fields)
        return _document(bare, body, fields, options)
    except Unwanted as error:
        return Skipped(source.uri, str(error))
    except Unfit as error:
        return Rejection(source.uri, record.locator, str(error))
    except OSError as error:
        return Rejection(source.uri, record.locator, reason_of(error))


def _body(record: Record) -> tuple[ByteStream, Fields]:
    """Return the body of a response and the header that describes it. Raises: Unfit, Unwanted."""
    is_http = media_type(record.fields) in ("", "application/http") or record.block.peek(5) == b"HTTP/"
    if not is_http:  # Responses of other protocols, such as FTP, have no header.
        return record.block, record.fields
    response = read_response(record.block)
    if not 200 <= response.status <= 299:
        raise Unwanted(f"HTTP status {response.status}")
    return response.body, response.fields


def _document(bare: Document, body: ByteStream, fields: Fields, options: ReadOptions) -> Deferred:
    """Return the document of a body, whose bytes are read here. Raises: Unfit, Unwanted, OSError."""
    html = options.html if is_html(body, fields) else None
    max_bytes = options.max_text if html is None else MAX_PAGE_BYTES
    if (raw := read_whole(body.binary, max_bytes)) is None:
        raise Unfit(too_large(max_bytes) if html is None else f"page larger than {megabytes(max_bytes)}")
    return Deferred(bare.source or "", bare.locator, raw, partial(_with_text, bare, named_charset(fields), html))


def _with_text(
    bare: Document, charset: str | None, html: HtmlText | None, raw: bytes, _uri: str, _locator: str
) -> Document:
    """Return the document with the text of its bytes. Args: html: which text of a page; None for plain text. Raises:
    Unfit.
    """
    declared = None if charset is None else map_encoding_to_html5(charset, fallback_utf8=False)
    text, num_replaced = decode(raw, declared, None if html is None else declared_charset(raw), detect=True)
    return replace(bare, text=text if html is None else page_text(text, html), num_replaced=num_replaced)
