"""The page of the largest buckets, and of the passages that many documents share."""

from __future__ import annotations

from typing import Any, Final

from fastapi import Request
from fastapi.responses import Response

from lshdb.index import Index
from lshdb.web.pages.sheet import Sheet, shown

__all__ = ["BoilerplatePage"]

BUCKETS: Final = 20


class BoilerplatePage:
    """What many pages have in common."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet

    @shown
    async def page(self, request: Request) -> Response:
        """The whole page."""
        found = await self.sheet.desk.list(self._found)
        return self.sheet.page("boilerplate", "Boilerplate", "/boilerplate", found)

    def _found(self, index: Index) -> dict[str, Any]:
        kept = self.sheet.kept
        return {
            "buckets": kept.get(index, "buckets", lambda index: index.hottest(BUCKETS)),
            "passages": kept.get(index, "boilerplate", Index.boilerplate) if index.params.passages else None,
        }
