"""REST: what people decided about documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from http import HTTPStatus
from typing import Annotated, TypeVar

from fastapi import Path, Request
from fastapi.responses import Response, StreamingResponse

from lshdb.index import Index
from lshdb.model.decisions import Decision
from lshdb.web.desk import Desk
from lshdb.web.kept import Kept
from lshdb.web.lists import num_items, one_page, wants_lines
from lshdb.web.served import NDJSON
from lshdb.web.values import (
    AddedDecisions,
    Cursor,
    Decided,
    DecisionNumbers,
    ManyDecisions,
    Most,
    Undone,
    json,
    position,
)

__all__ = ["Decisions"]

_Made = TypeVar("_Made")


class Decisions:
    """Endpoints about decisions. A change is seen in clusters at once, unless these take long to compute."""

    def __init__(self, desk: Desk, kept: Kept) -> None:
        self._desk = desk
        self._kept = kept

    async def decisions(self, request: Request, limit: Most = None, cursor: Cursor = None) -> Response:
        """Return the decisions, the newest first, and whether each has an effect now."""
        if wants_lines(request):
            return StreamingResponse(
                await self._desk.lines(lambda index: index.decisions(limit=limit)), media_type=NDJSON
            )
        before, most = position(cursor, int), num_items(limit)
        found = await self._desk.ask(lambda index: index.decisions(before=before[0] if before else None, limit=most))
        return json(one_page(found, (found[-1].decision,) if len(found) == most else None))

    async def decide(self, made: Decided) -> Response:
        """Decide that two documents are not duplicates (`different`), or which document to keep in its cluster."""
        decision = Decision(**asdict(made))
        return json(await self._changed(lambda index: index.decide(decision)), HTTPStatus.CREATED)

    async def add(self, many: ManyDecisions) -> Response:
        """Add decisions that were made elsewhere or earlier. Of two about the same documents, the later one stays."""
        made = [Decision(**asdict(one)) for one in many.decisions]
        report = await self._changed(lambda index: index.import_decisions(made))
        return json(AddedDecisions(report.num_added, report.num_unchanged))

    async def undo(self, decision: Annotated[int, Path(ge=1, le=2**63 - 1)]) -> Response:
        """Undo a decision."""
        return json(Undone(await self._changed(lambda index: index.undo(decision))))

    async def undo_all(self, numbers: DecisionNumbers) -> Response:
        """Undo several decisions. If one of them does not exist, none is undone."""
        return json(Undone(await self._changed(lambda index: index.undo(numbers.decisions))))

    async def _changed(self, change: Callable[[Index], _Made]) -> _Made:
        done = await self._desk.change(change)
        self._kept.expire()
        return done
