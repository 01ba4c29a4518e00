"""The page that shows the index as a whole."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.responses import Response

from lshdb.clusters.clusters import ClusterOptions
from lshdb.index import Index
from lshdb.web import charts
from lshdb.web.lists import catalogue
from lshdb.web.pages.sheet import Sheet, shown

__all__ = ["Overview"]


class Overview:
    """The size of the index, its similarities, its recall and its runs."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet

    @shown
    async def page(self, request: Request) -> Response:
        """The whole page."""
        return self.sheet.page("overview", "Overview", "/", await self.sheet.desk.list(self.figures))

    def figures(self, index: Index) -> dict[str, Any]:
        """Return what the page shows."""
        stats = self.sheet.kept.get(index, "stats", Index.stats)
        clusters = catalogue(index, self.sheet.kept, None, ClusterOptions())
        numbers = self.sheet.kept.get(index, "histogram", Index.histogram)
        num_documents = stats.figures.num_documents
        return {
            "figures": stats.figures,
            "collections": stats.collections,
            "num_clusters": len(clusters),
            "redundant": clusters.num_redundant / num_documents if num_documents else 0.0,
            "runs": index.runs(12),
            **charts.drawn(index.params, stats.recall, numbers),
        }
