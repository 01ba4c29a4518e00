"""The pages: what a person looks at. They are rendered here, and work without a script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lshdb.index import Index
from lshdb.web.desk import Desk
from lshdb.web.kept import Kept
from lshdb.web.pages.ask import Ask
from lshdb.web.pages.boilerplate import BoilerplatePage
from lshdb.web.pages.clusters import ClusterPages
from lshdb.web.pages.decisions import DecisionPages
from lshdb.web.pages.documents import DocumentPages
from lshdb.web.pages.overview import Overview
from lshdb.web.pages.sheet import Sheet

__all__ = ["Pages"]


class Pages:
    """All pages of a service."""

    def __init__(self, desk: Desk, kept: Kept) -> None:
        self._sheet = Sheet(desk, kept)
        self._overview = Overview(self._sheet)

    def prepare(self, index: Index) -> None:
        """Compute what the first page shows, before anybody asks."""
        self._overview.figures(index)

    def routes(self) -> list[tuple[list[str], str, Callable[..., Any]]]:
        """Return (methods, path, endpoint)."""
        clusters, documents = ClusterPages(self._sheet), DocumentPages(self._sheet)
        decisions = DecisionPages(self._sheet)
        return [
            (["GET"], "/", self._overview.page),
            (["GET", "POST"], "/clusters", clusters.clusters),
            (["GET"], "/cluster", clusters.cluster),
            (["GET"], "/document", documents.document),
            (["GET"], "/compare", documents.compare),
            (["GET", "POST"], "/ask", Ask(self._sheet).page),
            (["GET"], "/boilerplate", BoilerplatePage(self._sheet).page),
            (["GET"], "/decisions", decisions.decisions),
            (["POST"], "/decide", decisions.decide),
            (["POST"], "/undo", decisions.undo),
            (["GET"], "/static/{name}", self._sheet.asset),
        ]
