"""Spell out the characters that could make a terminal show something other than what was printed.

These are the control characters of ASCII and Latin-1 (C0 and C1), the line separators of Unicode, and the characters
that change the direction of text, or mark one without being seen. Source: Unicode Standard Annex 9, section 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final, TextIO, cast

from lshdb.errors import brief

__all__ = ["named", "shown_on", "visible"]

CONTROLS: Final = (*range(0x20), *range(0x7F, 0xA0))
# Implicit marks; line and paragraph separator; embeddings and overrides; isolates.
DIRECTIONS: Final = (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))


def visible(text: str, keep: str = "") -> str:
    """Return the text with these characters spelled out, except those to keep."""
    return text.translate(_table(keep, as_json=False))


def named(doc_id: str) -> str:
    """Return an id for a message: visible, and shortened in the middle if it is very long."""
    return visible(brief(doc_id))


class Escaped:
    """Writes text to a terminal with these characters spelled out, except tabs and line ends."""

    def __init__(self, out: TextIO, *, as_json: bool) -> None:
        self._out = out
        self._table = _table("\t\n", as_json=as_json)

    def write(self, text: str) -> int:
        return self._out.write(text.translate(self._table))

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        self._out.flush()


def shown_on(out: TextIO, *, as_json: bool) -> TextIO:
    """Return a stream that spells out control characters if `out` is a terminal, and `out` itself otherwise."""
    return cast(TextIO, Escaped(out, as_json=as_json)) if out.isatty() else out


@cache
def _table(keep: str, *, as_json: bool) -> dict[int, str]:
    r"""Return what stands for each character. JSON has no ``\x``."""
    controls = {code: f"\\u{code:04x}" if as_json else f"\\x{code:02x}" for code in CONTROLS}
    directions = {code: f"\\u{code:04x}" for code in DIRECTIONS}
    return {code: shown for code, shown in (controls | directions).items() if chr(code) not in keep}
