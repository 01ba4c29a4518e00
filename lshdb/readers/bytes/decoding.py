"""Decode bytes to text: by byte order mark, else a declared charset, else UTF-8, else with counted replacements.

The charset is guessed only on request, as for crawls, because web servers often do not declare it. Other texts in an
undeclared legacy charset are decoded as UTF-8 with replacements, which are counted.
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
    """A text, and the number of undecodable byte sequences that became U+FFFD."""

    text: str
    num_replaced: int


class ByteOrderMark(NamedTuple):
    """The charset that a mark at the start of a text stands for, and the length of the mark in bytes."""

    charset: str
    length: int


def byte_order_mark(raw: bytes) -> ByteOrderMark | None:
    """Return the byte order mark at the start, or None."""
    return next((ByteOrderMark(charset, len(bom)) for bom, charset in BOMS if raw.startswith(bom)), None)


def decode(raw: bytes, *declared: str | None, detect: bool = False) -> Decoded:
    """Return the text of `raw`. This never fails.

    A byte order mark overrides every declaration. A declared charset that does not fit is skipped, for the next one and
    then for UTF-8. If none fits, the first one decodes the text with replacements.

    Args:
        declared: the charsets that the source declares, in order of precedence, as Python names them; None for none.
        detect: whether to guess the charset if the source declares no charset and UTF-8 does not fit.
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
