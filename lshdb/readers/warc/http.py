"""Read HTTP responses of a crawl: status, header fields, and the decoded body.

Crawlers keep the header that the server sent, but often store a decoded body. A coding is therefore undone only if the
body looks encoded. Bodies are read in pieces, so memory is bounded.

Source: RFC 9112 (chunked), RFC 9110 (content codings).
Limitations: a truncated or damaged coding makes the whole body fail, while browsers would show its beginning. The
encoded bytes of a Brotli body are held in memory, up to `MAX_BROTLI_BYTES`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Final

from fastwarc.stream_io import BrotliReader
from msgspec import Struct

from lshdb.readers.base import Unfit, megabytes
from lshdb.readers.bytes.compression import compression_of, decompress, inflate
from lshdb.readers.bytes.sniffing import SNIFF_BYTES, looks_like_html, looks_like_text
from lshdb.readers.bytes.streams import BLOCK_BYTES, ByteStream, StreamDamaged, read_whole
from lshdb.readers.warc.syntax import Fields, parse_fields, read_header

__all__ = ["Response", "media_type", "named_charset", "read_head", "read_response"]

STATUS_LINE: Final = re.compile(r"\s*HTTP/[0-9.]+[ \t]+([0-9]{3})\b", re.IGNORECASE)
CHUNK_SIZE: Final = re.compile(rb"[ \t]*([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")
# Each coding is a stream that reads the next one. curl accepts as many.
MAX_CODINGS: Final = 5
CHUNK_LINE_BYTES: Final = 1024
MAX_BROTLI_BYTES: Final = 64_000_000
CHARSET: Final = re.compile(r"""\bcharset\s*=\s*["']?([^\s"';,]+)""", re.IGNORECASE)


class Response(Struct, frozen=True):
    """An HTTP response: its status (0 if the status line has none), header fields, and body."""

    status: int
    fields: Fields
    body: ByteStream


def read_response(block: ByteStream) -> Response:
    """Return the response of a record's block. Reading its body may raise OSError.

    Raises: Unfit: it has no HTTP header, one that is too long, or codings that are unknown or too many.
    """
    status, fields = read_head(block)
    return Response(status, fields, _decoded(block, fields))


def read_head(block: ByteStream) -> tuple[int, Fields]:
    """Return the status of a response (0 if the status line has none), and its header fields.

    Raises: Unfit: it has no HTTP header, or one that is too long.
    """
    if block.peek(5).upper() != b"HTTP/":
        raise Unfit("a response without an HTTP header")
    lines = read_header(block)
    status = STATUS_LINE.match(lines[0])
    return 0 if status is None else int(status[1]), parse_fields(lines[1:])


def media_type(fields: Fields) -> str:
    """Return the media type of a header, lower-case, without parameters; empty if there is none."""
    return fields.get("content-type", "").partition(";")[0].strip().lower()


def named_charset(fields: Fields) -> str | None:
    """Return the charset that a header names, unchanged; None if it names none."""
    match = CHARSET.search(fields.get("content-type", ""))
    return None if match is None else match[1]


def _decoded(body: ByteStream, fields: Fields) -> ByteStream:
    # The transfer coding was applied last, so it is undone first. Content codings are listed in the order they were
    # applied.
    for names in (fields.get("transfer-encoding", ""), fields.get("content-encoding", "")):
        codings = [name.strip() for name in names.lower().split(",")]
        if len(codings) > MAX_CODINGS:
            raise Unfit(f"more than {MAX_CODINGS} codings of its body")
        for coding in reversed(codings):
            body = _undone(body, coding)
    return body


def _undone(body: ByteStream, coding: str) -> ByteStream:
    if coding in ("", "identity", "none", "binary", "utf-8"):
        return body
    if coding == "chunked":
        is_chunked = CHUNK_SIZE.match(body.peek(CHUNK_LINE_BYTES)) is not None
        return ByteStream(_unchunked(body)) if is_chunked else body
    if coding in ("gzip", "x-gzip", "zstd"):
        # The name does not decide: some servers call gzip deflate, or list it twice.
        return decompress(body, compression_of(body.peek(10)))
    if coding == "deflate":
        return _inflated(body)
    if coding == "br":
        return ByteStream(_unbrotlied(body))
    raise Unfit(f"unknown content coding: {coding[:40]!r}")


def _unchunked(body: ByteStream) -> Iterator[bytes]:
    num_bytes = 0
    while (size := _chunk_size(body, num_bytes)) > 0:
        left = size
        while left:
            if not (block := body.read(min(left, BLOCK_BYTES))):
                raise StreamDamaged(f"chunked body is truncated after {num_bytes} bytes")
            left -= len(block)
            num_bytes += len(block)
            yield block
        line_end = body.peek(2)
        body.skip(2 if line_end == b"\r\n" else line_end.startswith(b"\n"))


def _chunk_size(body: ByteStream, num_bytes: int) -> int:
    """Return the size of the next chunk; 0 for the last one, which may be missing."""
    line = body.peek(CHUNK_LINE_BYTES)
    if not line.strip():
        return 0
    if (match := CHUNK_SIZE.match(line)) is None:
        raise StreamDamaged(f"chunked body is damaged after {num_bytes} bytes")
    body.skip(match.end())
    return int(match[1], 16)


def _inflated(body: ByteStream) -> ByteStream:
    head = body.peek(SNIFF_BYTES)
    if compression_of(head) is not None:
        return decompress(body, compression_of(head))
    if looks_like_html(head) or looks_like_text(head):
        return body
    is_zlib = head[0] & 0x0F == 8 and int.from_bytes(head[:2], "big") % 31 == 0
    return ByteStream(inflate(body, 15 if is_zlib else -15, "deflate"))


def _unbrotlied(body: ByteStream) -> Iterator[bytes]:
    # Brotli has no magic number. A body that is clearly text was decoded by the crawler.
    head = body.peek(SNIFF_BYTES)
    if looks_like_html(head) or looks_like_text(head):
        yield from iter(lambda: body.read(BLOCK_BYTES), b"")
        return
    if (coded := read_whole(body.binary, MAX_BROTLI_BYTES)) is None:
        raise StreamDamaged(f"Brotli body is larger than {megabytes(MAX_BROTLI_BYTES)}")
    reader = BrotliReader(io.BytesIO(coded))
    try:
        yield from iter(lambda: reader.read(BLOCK_BYTES), b"")
    except OSError:
        raise StreamDamaged("Brotli stream is damaged or truncated") from None
