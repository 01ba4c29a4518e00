"""The page of the decisions, and the forms that decide and undo."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from fastapi import Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from lshdb.model.decisions import Decision
from lshdb.web.pages.sheet import Sheet, named, shown
from lshdb.web.templating import address_of

__all__ = ["DecisionPages"]

DECISIONS: Final = 50
# Both databases store these numbers.
MAX_DIGITS: Final = 18


class DecisionPages:
    """The decisions, newest first; the forms of other pages send theirs here."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet

    @shown
    async def decisions(self, request: Request) -> Response:
        """The decisions, page by page."""
        before = _decision(request, "before")
        found = await self.sheet.desk.ask(lambda index: index.decisions(before=before, limit=DECISIONS + 1))
        more = len(found) > DECISIONS
        listed = {
            "decisions": found[:DECISIONS],
            "later": address_of("/decisions", before=found[DECISIONS - 1].decision) if more else None,
            "collections": await self.sheet.desk.ask(self.sheet.collections),
        }
        return self.sheet.page_with_forms(request, "decisions", "Decisions", "/decisions", listed)

    @shown
    async def decide(self, request: Request) -> Response:
        """Store a decision about the documents that the address names, and go back to where it was made."""
        fields = await self.sheet.forms.sent(request)
        doc_id, collection = named(request, "id", "collection")
        is_different = request.query_params.get("kind") == "different"
        other, in_other = named(request, "other", "other_collection") if is_different else (None, None)
        made = Decision(
            "different" if is_different else "keep",
            doc_id,
            other,
            who=" ".join(fields.get("who", "").split()),
            reason=fields.get("reason", "").strip(),
            collection=collection,
            other_collection=in_other,
        )
        await self.sheet.desk.change(lambda index: index.decide(made))
        answer = self._gone_back(request)
        self.sheet.forms.remember_who(answer, request, made.who)
        return answer

    @shown
    async def undo(self, request: Request) -> Response:
        """Undo the decision that the address names, and go back."""
        await self.sheet.forms.sent(request)
        decision = _decision(request, "decision")
        if decision is None:
            raise HTTPException(HTTPStatus.BAD_REQUEST, "Name a decision by its number.")
        await self.sheet.desk.change(lambda index: index.undo(decision))
        return self._gone_back(request)

    def _gone_back(self, request: Request) -> Response:
        """Return the way back, after something was changed."""
        self.sheet.kept.expire()
        return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": _way_back(request)})


def _way_back(request: Request) -> str:
    """Return the address of the page that sent a form: that of a cluster, of two documents, or of the decisions."""
    given = request.query_params
    # A cluster may fall apart, two documents stay.
    if "cluster" in given and given.get("kind") != "different":
        return address_of("/cluster", **{name: given.get(name) for name in ("cluster", "min_sim", "within")})
    if "other" not in given:
        return "/decisions"
    sides = {"a": "id", "b": "other", "collection_a": "collection", "collection_b": "other_collection"}
    return address_of("/compare", **{side: given.get(name) for side, name in sides.items()})


def _decision(request: Request, name: str) -> int | None:
    """Return the number of a decision in an address; None if there is none."""
    given = request.query_params.get(name, "")
    return int(given) if given.isascii() and given.isdecimal() and len(given) <= MAX_DIGITS else None
