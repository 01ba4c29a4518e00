"""The page that asks for the near-duplicates of a text."""

from __future__ import annotations

from typing import Any, Final

from fastapi import Request
from fastapi.responses import Response

from lshdb.answers.worddiff import diff
from lshdb.index import Index
from lshdb.web.forms import fields_of
from lshdb.web.pages.sheet import Sheet, shown
from lshdb.web.texts import text_of, typed

__all__ = ["Ask"]

MATCHES: Final = 50
# Texts that are compared word by word while somebody types.
COMPARED_TEXT: Final = 100_000


class Ask:
    """The near-duplicates of a text that somebody types."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet

    @shown
    async def page(self, request: Request) -> Response:
        """The whole page, or the answer alone."""
        text = (await fields_of(request)).get("text", "") if request.method == "POST" else ""
        desk = self.sheet.desk
        found = await desk.ask(lambda index: _answer(index, text))
        known = await desk.ask(self.sheet.collections)
        template = "answer" if request.headers.get("x-part") == "answer" else "ask"
        return self.sheet.page(template, "Ask", "/ask", found | {"text": text, "collections": known})


def _answer(index: Index, text: str) -> dict[str, Any]:
    """Return the near-duplicates of a text, and what differs from the first of them."""
    if not text.strip():
        return {"matches": [], "diff": None}
    asked = typed(index, text)
    matches = index.query(asked)[:MATCHES]
    first = text_of(index, matches[0].id, matches[0].collection) if matches and len(text) < COMPARED_TEXT else None
    if first is None:
        return {"matches": matches, "diff": None}
    by_line = asked.features is not None
    # The index keeps features in this order.
    mine = "\n".join(sorted(asked.features or ())) if by_line else text
    return {"matches": matches, "diff": diff(mine, first[:COMPARED_TEXT], by_line=by_line)}
