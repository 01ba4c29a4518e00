"""The pages of the clusters, and of one cluster."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import numpy as np
from fastapi import Request
from fastapi.responses import Response
from msgspec import Struct
from msgspec.structs import asdict
from starlette.exceptions import HTTPException

from lshdb.clusters.catalogue import FOUND_DOCUMENTS, Catalogue, ClusterOrder
from lshdb.clusters.clusters import ClusterOptions
from lshdb.clusters.members import Member
from lshdb.clusters.portrait import Portrait
from lshdb.index import Index
from lshdb.model.values import MAX_NAME_BYTES
from lshdb.web.forms import fields_of
from lshdb.web.lists import catalogue
from lshdb.web.pages.sheet import Sheet, number, shown
from lshdb.web.portraits import heat_map, timeline
from lshdb.web.templating import address_of
from lshdb.web.texts import beginning_of, documents_like

__all__ = ["ClusterPages"]

CLUSTERS: Final = 50
MEMBERS: Final = 500
# Texts that are compared with each other.
TEXTS: Final = 40
# Characters of a search. An address holds those of a shorter one, so that it can be kept and sent; of a longer text,
# the form is the request.
SEARCHED: Final = 100_000
IN_ADDRESS: Final = 500


class _Asked(Struct, frozen=True):
    """What the form of the clusters asks for. Args: search: a part of an id, or a text."""

    search: str
    source: str
    min_sim: float
    min_size: int
    within: str
    sort: ClusterOrder
    page: int

    @classmethod
    def of(cls, index: Index, query: Mapping[str, str]) -> _Asked:
        """Return what an address asks for. A value that makes no sense counts as not given."""
        floor = index.params.floor
        return cls(
            search=query.get("search", "").replace("\0", "").strip()[:SEARCHED],
            source=query.get("source", "").replace("\0", "")[:IN_ADDRESS],
            min_sim=min(1.0, max(floor, number(query.get("min_sim"), index.params.min_sim))),
            min_size=int(min(1e6, max(2, number(query.get("min_size"), 2)))),
            within=query.get("within", ""),
            sort="newest" if query.get("sort") == "newest" else "size",
            page=int(min(1e6, max(1, number(query.get("page"), 1)))),
        )

    def address(self, page: int) -> str:
        """Return the address of a page of these clusters."""
        return address_of("/clusters", **asdict(self) | {"page": page})


class ClusterPages:
    """The clusters, sorted, searched and page by page; the documents of one cluster."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet

    @shown
    async def clusters(self, request: Request) -> Response:
        """The clusters, sorted, searched and page by page."""
        given = await fields_of(request) if request.method == "POST" else request.query_params
        asked = _Asked.of(self.sheet.desk.index, given)
        if request.method == "POST" and len(asked.search) <= IN_ADDRESS:
            return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": asked.address(1)})

        def listed(index: Index) -> dict[str, Any]:
            found, known = self._catalogue(index, asked)
            return _part(index, found, asked) | {"collections": known, "asked": asked, "most": SEARCHED}

        return self.sheet.page("clusters", "Clusters", "/clusters", await self.sheet.desk.list(listed))

    @shown
    async def cluster(self, request: Request) -> Response:
        """The documents of one cluster, and what somebody decided about them."""
        asked, name = _Asked.of(self.sheet.desk.index, request.query_params), request.query_params.get("cluster", "")
        found = await self.sheet.desk.list(lambda index: self._members(index, asked, name))
        if found is None:
            raise HTTPException(HTTPStatus.NOT_FOUND, "There is no such cluster any more.")
        return self.sheet.page_with_forms(request, "cluster", "Cluster", "/clusters", found)

    def _catalogue(self, index: Index, asked: _Asked) -> tuple[Catalogue, list[str]]:
        """Return the clusters, and the names of all collections."""
        known = self.sheet.collections(index)
        options = ClusterOptions(within=asked.within if asked.within in known else None)
        return catalogue(index, self.sheet.kept, asked.min_sim, options), known

    def _members(self, index: Index, asked: _Asked, name: str) -> dict[str, Any] | None:
        """Return what the page of a cluster shows; None if there is no such cluster."""
        found, known = self._catalogue(index, asked)
        place = found.place(name)
        if place is None:
            return None
        drawn = found.portrait(place, MEMBERS, TEXTS)
        members = drawn.members
        if not members:
            return None
        kept = members[0]
        decisions = index.decisions(map(_name, members))
        chosen = (one for one in decisions if one.kind == "keep" and (one.collection, one.id) == _name(kept))
        return {
            "cluster": name,
            "size": found.size(place),
            "num_texts": found.num_texts(place),
            "members": members,
            **_charts(drawn, index.params.floor, asked),
            "kept": kept,
            "chosen": next(chosen, None),
            "decisions": decisions,
            "back": {"cluster": name, "min_sim": asked.min_sim, "within": asked.within},
            "text": beginning_of(index, kept.document, kept.collection),
            "collections": known,
        }


def _name(member: Member) -> tuple[str, str]:
    return member.collection, member.document


def _charts(found: Portrait, floor: float, asked: _Asked) -> dict[str, Any]:
    """Return what the template ``portrait.html`` shows, and the numbers and dates of the documents' texts."""
    heat = heat_map(found, floor, asked.min_sim)
    firsts = {text: found.members[place] for place, text in reversed([*enumerate(found.texts)])}
    return {
        "asked": asked,
        "texts": found.texts,
        "dates": found.dates,
        "heat": heat,
        "farthest": [(pair, firsts[pair.left], firsts[pair.right]) for pair in heat.farthest] if heat else [],
        "dated": timeline(found),
    }


def _part(index: Index, found: Catalogue, asked: _Asked) -> dict[str, Any]:
    """Return one page of clusters, with the addresses of those before and after it."""
    by_id = found.holding(asked.search) if 0 < len(asked.search) <= MAX_NAME_BYTES else np.empty(0, dtype=np.int64)
    having = []
    if asked.search:
        having.append(np.append(by_id, found.named(documents_like(index, asked.search, asked.min_sim))))
    if asked.source:
        having.append(found.from_sources(asked.source))
    places = found.places(asked.sort, asked.min_size, having)
    begin = CLUSTERS * (asked.page - 1)
    listed = found.listed(places[begin : begin + CLUSTERS].tolist())
    is_addressed = len(asked.search) <= IN_ADDRESS
    return {
        "clusters": listed,
        "total": len(places),
        "first": begin + 1,
        "last": min(begin + CLUSTERS, len(places)),
        "earlier": asked.address(asked.page - 1) if is_addressed and asked.page > 1 else None,
        "later": asked.address(asked.page + 1) if is_addressed and begin + CLUSTERS < len(places) else None,
        "num_found": len(by_id) if len(by_id) == FOUND_DOCUMENTS else None,
    }
