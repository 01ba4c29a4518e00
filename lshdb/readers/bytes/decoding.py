"""From bytes to text: byte order mark, else a declared charset, else UTF-8, else replacement, counted.

Guesses only where it is asked to, as for a crawl, whose servers forget to declare: elsewhere a text in an undeclared
legacy charset is read as UTF-8 with replacements, and the count says so.
"""

from __future__ import annotations

import codecs
from typing import Final, NamedTuple

from resiliparse.parse.encoding import detect_encoding

__all__ = ["REPLACEMENT", "ByteOrderMark", "Decoded", "byte_order_mark", "decode"]

REPLACEMENT: Final = "\ufffd"
# UTF-32 first: its little-endian mark begins with that of UTF-16.
BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Decoded(NamedTuple):
    """A text, and how many undecodable byte sequences of it became U+FFFD."""

    text: str
    num_replaced: int


class ByteOrderMark(NamedTuple):
    """The charset that a mark at the start of a text stands for, and the mark's length in bytes."""

    charset: str
    length: int


def byte_order_mark(raw: bytes) -> ByteOrderMark | None:
    """The byte order mark at the start; None without one."""
    return next((ByteOrderMark(charset, len(bom)) for bom, charset in BOMS if raw.startswith(bom)), None)


def decode(raw: bytes, *declared: str | None, detect: bool = False) -> Decoded:
    """The text of `raw`; never fails.

    Args:
        declared: the charsets the source claims, the first one first, as Python names them; None for no claim.
        detect: whether to guess the charset of what nothing claims and UTF-8 does not fit.
    A byte order mark overrules every claim. One that does not fit gives way to the next, and to UTF-8 where that
    fits; else what the first one cannot decode is replaced.
    """
    if (mark := byte_order_mark(raw)) is not None:
        return _replaced(raw[mark.length :], mark.charset)
    claimed = [charset for charset in declared if charset is not None]
    for charset in (*claimed, "utf-8"):
        if (text := _strict(raw, charset)) is not None:
            return Decoded(text, 0)
    if detect and not claimed and (guess := detect_encoding(raw)) is not None:
        claimed = [guess]
    return _replaced(raw, claimed[0] if claimed else "utf-8")


def _strict(raw: bytes, charset: str) -> str | None:
    try:
        return raw.decode(charset)
    except (UnicodeError, LookupError):
        return None


def _replaced(raw: bytes, charset: str) -> Decoded:
    try:
        text = raw.decode(charset, "replace")
    except (UnicodeError, LookupError):
        return _replaced(raw, "utf-8")
    genuine = raw.count(REPLACEMENT.encode(charset)) if charset.startswith("utf-") and REPLACEMENT in text else 0
    return Decoded(text, text.count(REPLACEMENT) - genuine)
