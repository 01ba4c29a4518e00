"""Detect the format of a file by its first bytes: HTML, JSON lines, text, or unknown."""

from __future__ import annotations

import codecs
import re
from typing import Final

from lshdb.readers.bytes.decoding import byte_order_mark

__all__ = ["SNIFF_BYTES", "has_controls", "looks_binary", "looks_like_html", "looks_like_json_lines", "looks_like_text"]

SNIFF_BYTES: Final = 1024
HTML: Final = re.compile(
    # A comment ends at its first "-->": with .*? many comments could be matched in exponentially many ways.
    rb"(?:\s|<\?xml[^>]*>|<!--(?:(?!-->).)*-->)*<(?:!doctype\s+html|html|head|body|title|meta|script|div|table|h1|p)\b",
    re.IGNORECASE | re.DOTALL,
)
# An object that spans several lines begins with a lone brace.
JSON_LINES: Final = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{[ \t]*"')
# All control characters except tab, line ends, form feed, backspace (man pages) and escape (terminal logs).
CONTROLS: Final = re.compile(rb"[\x00-\x07\x0b\x0e-\x1a\x1c-\x1f]")


def looks_like_html(head: bytes) -> bool:
    """Return whether the first element of the head is one that a page may begin with."""
    return HTML.match(head.removeprefix(codecs.BOM_UTF8)) is not None


def looks_like_json_lines(head: bytes) -> bool:
    """Return whether the head begins with an object that continues in its first line."""
    return JSON_LINES.match(head) is not None


def looks_binary(head: bytes) -> bool:
    """Return whether the head contains NUL bytes and no byte order mark that would explain them."""
    return b"\0" in head and byte_order_mark(head) is None


def has_controls(head: bytes) -> bool:
    """Return whether the head contains unusual control characters and no byte order mark that would explain them."""
    return CONTROLS.search(head) is not None and byte_order_mark(head) is None


def looks_like_text(head: bytes) -> bool:
    """Return whether the head is UTF-8 without unusual control characters, or has a byte order mark."""
    if byte_order_mark(head) is not None:
        return True
    return not has_controls(head) and _is_utf8(head)


def _is_utf8(head: bytes) -> bool:
    try:
        # A full head may end inside a character; a shorter one ends with the file.
        codecs.getincrementaldecoder("utf-8")().decode(head, final=len(head) < SNIFF_BYTES)
    except UnicodeDecodeError:
        return False
    return True
