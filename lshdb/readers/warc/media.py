"""Tell which media types are texts, and which records are not meant for lshdb."""

from __future__ import annotations

from typing import Final

from resiliparse.parse.encoding import map_encoding_to_html5

from lshdb.readers.bytes.sniffing import SNIFF_BYTES, has_controls, looks_binary, looks_like_html, looks_like_text
from lshdb.readers.bytes.streams import ByteStream
from lshdb.readers.warc.http import media_type, named_charset
from lshdb.readers.warc.syntax import Fields

__all__ = ["Unwanted", "is_html", "require_text"]

HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
# DNS answers, which Heritrix stores with the pages.
NO_TEXT_TYPES: Final = frozenset({"text/dns"})


class Unwanted(ValueError):
    """Raised for a record that is not meant for lshdb. The message becomes the reason of its Skipped."""


def is_html(body: ByteStream, fields: Fields) -> bool:
    """Return whether a body is a page rather than plain text. Raises: Unwanted: it is neither."""
    declared, head = media_type(fields), body.peek(SNIFF_BYTES)
    if declared:
        require_text(declared)
    elif not (looks_like_html(head) or looks_like_text(head)):
        raise Unwanted("media type unknown")
    if looks_binary(head) and not _is_utf16(head, fields):
        raise Unwanted(f"binary, although declared as {declared[:60]}")
    return declared in HTML_TYPES or (not declared and looks_like_html(head))


def _is_utf16(head: bytes, fields: Fields) -> bool:
    """Return whether the header declares UTF-16, and the head is text in it. Without a mark, half of its bytes may be
    NULs.
    """
    charset = map_encoding_to_html5(named_charset(fields) or "", fallback_utf8=False)
    if charset is None or not charset.startswith("utf-16"):
        return False
    return not has_controls(head.decode(charset, "ignore").encode())


def require_text(declared: str) -> None:
    """Accept the media type of a page or a text. Raises: Unwanted: it is another one."""
    if declared in NO_TEXT_TYPES or not (declared in HTML_TYPES or declared.startswith("text/")):
        raise Unwanted(f"media type {declared[:60]}")
