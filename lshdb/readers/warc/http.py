"""HTTP responses as a crawl keeps them: status, header fields, and the body with its codings undone.

Crawlers keep the header the server sent, but often a body they have decoded already; so a coding is undone only where
the body looks coded. Bodies come out in pieces: memory is bounded whatever a coding unfolds to.
Source: RFC 9112 (chunked), RFC 9110 (content codings).
Limitations: a truncated or damaged coding fails the body, which browsers would show up to there; the coded bytes of a
Brotli body are held at once, and no more than `MAX_BROTLI_BYTES` of them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from fastwarc.stream_io import BrotliReader

from lshdb.readers.base import Unfit, megabytes
from lshdb.readers.bytes.compression import compression_of, decompress, inflate
from lshdb.readers.bytes.sniffing import SNIFF_BYTES, looks_like_html, looks_like_text
from lshdb.readers.bytes.streams import BLOCK_BYTES, ByteStream, StreamDamaged, read_whole
from lshdb.readers.warc.records import Fields, parse_fields, read_header

__all__ = ["Response", "media_type", "named_charset", "read_response"]

STATUS_LINE: Final = re.compile(r"\s*HTTP/[0-9.]+[ \t]+([0-9]{3})\b", re.IGNORECASE)
CHUNK_SIZE: Final = re.compile(rb"[ \t]*([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")
CHUNK_LINE_BYTES: Final = 1024
MAX_BROTLI_BYTES: Final = 64_000_000
CHARSET: Final = re.compile(r"""\bcharset\s*=\s*["']?([^\s"';,]+)""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response: its status (0 where the status line has none), header fields, and body."""

    status: int
    fields: Fields
    body: ByteStream


def read_response(block: ByteStream) -> Response:
    """The response of a record's block; reading its body may raise OSError.

    Raises: Unfit: it has no HTTP header or an endless one, or a coding that is not known.
    """
    if block.peek(5).upper() != b"HTTP/":
        raise Unfit("a response without an HTTP header")
    lines = read_header(block)
    status, fields = STATUS_LINE.match(lines[0]), parse_fields(lines[1:])
    return Response(0 if status is None else int(status[1]), fields, _decoded(block, fields))


def media_type(fields: Fields) -> str:
    """The media type of a header, lower-cased, without parameters; empty for none."""
    return fields.get("content-type", "").partition(";")[0].strip().lower()


def named_charset(fields: Fields) -> str | None:
    """The charset that a header names, as it names it; None for none."""
    match = CHARSET.search(fields.get("content-type", ""))
    return None if match is None else match[1]


def _decoded(body: ByteStream, fields: Fields) -> ByteStream:
    # Applied last, a transfer coding is undone first; codings were applied in the order they are listed in.
    for names in (fields.get("transfer-encoding", ""), fields.get("content-encoding", "")):
        for name in reversed(names.lower().split(",")):
            body = _undone(body, name.strip())
    return body


def _undone(body: ByteStream, coding: str) -> ByteStream:
    if coding in ("", "identity", "none", "binary", "utf-8"):
        return body
    if coding == "chunked":
        is_chunked = CHUNK_SIZE.match(body.peek(CHUNK_LINE_BYTES)) is not None
        return ByteStream(_unchunked(body)) if is_chunked else body
    if coding in ("gzip", "x-gzip", "zstd"):
        # Not only by its name: some servers call their gzip deflate, or say it twice.
        return decompress(body, compression_of(body.peek(10)))
    if coding == "deflate":
        return _inflated(body)
    if coding == "br":
        return ByteStream(_unbrotlied(body))
    raise Unfit(f"content coding {coding[:40]!r} is not known")


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
    """The size of the next chunk; 0 for the last, which may be missing."""
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
    # Brotli has no magic number: what is plainly text was decoded already.
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
