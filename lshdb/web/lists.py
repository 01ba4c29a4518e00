"""REST: pairs, clusters, runs and figures.

A list is a JSON object with the first items and a cursor for the next ones. With ``Accept: application/x-ndjson``, it
is all items, one per line, read while they are sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from functools import partial
from itertools import dropwhile, islice
from typing import Annotated, Any

from fastapi import Path, Query, Request
from fastapi.responses import Response, StreamingResponse

from lshdb.clusters.catalogue import Catalogue, ClusterOrder
from lshdb.clusters.clusters import ClusterOptions
from lshdb.errors import LshdbError, UsageError
from lshdb.index import Index
from lshdb.model.choices import Keep, Linkage, PairOrder
from lshdb.model.metrics import metrics
from lshdb.model.reports import Pair, Stats
from lshdb.web.desk import Desk
from lshdb.web.kept import Kept
from lshdb.web.problems import logged_status, problem
from lshdb.web.served import NDJSON
from lshdb.web.texts import documents_like
from lshdb.web.values import (
    MAX_KEY,
    Collection,
    Cursor,
    Limit,
    MinSim,
    Most,
    Name,
    Similarity,
    cursor,
    json,
    position,
    without_seed,
)

__all__ = ["Lists", "catalogue", "num_items", "one_page", "wants_lines"]

Within = Annotated[Collection | None, Query(description="Only documents of this collection.")]
Between = Annotated[
    list[Name] | None,
    Query(min_length=2, max_length=2, description="Given twice: the collections of the left and the right document."),
]


class Lists:
    """Endpoints about the whole index."""

    def __init__(self, desk: Desk, kept: Kept) -> None:
        self._desk = desk
        self._kept = kept

    async def pairs(
        self,
        request: Request,
        min_sim: MinSim = None,
        max_sim: Similarity = 1.0,
        within: Within = None,
        between: Between = None,
        expand: Annotated[bool, Query(description="Every pair of documents, not one per two distinct texts.")] = False,
        sort: Annotated[
            PairOrder | None, Query(description="Of lines; items are always the most similar first.")
        ] = None,
        limit: Most = None,
        cursor: Cursor = None,
    ) -> Response:
        """Return the pairs of near-duplicates, the most similar first."""
        sides = None if between is None else (between[0], between[1])

        def pairs(index: Index, most: float, order: PairOrder | None, limit: int | None = None) -> Iterator[Pair]:
            return index.pairs(
                min_sim, max_sim=most, within=within, between=sides, expand=expand, sort=order, limit=limit
            )

        if wants_lines(request):
            return await self._streamed(lambda index: pairs(index, max_sim, sort, limit))
        most = num_items(limit)
        return json(await self._desk.list(lambda index: _pairs(partial(pairs, index), max_sim, most, cursor)))

    async def clusters(
        self,
        request: Request,
        min_sim: MinSim = None,
        within: Within = None,
        keep: Keep = "first",
        linkage: Linkage = "single",
        sort: ClusterOrder = "size",
        holding: Annotated[str, Query(max_length=2_000, description="Part of an id.")] = "",
        source: Annotated[str, Query(max_length=2_000, description="Part of the address of a file.")] = "",
        text: Annotated[str, Query(max_length=8_000, description="A text that a document is like.")] = "",
        min_size: Annotated[int, Query(ge=2, description="Least number of documents.")] = 2,
        members: Annotated[bool, Query(description="Lines of documents, instead of clusters.")] = False,
        limit: Most = None,
        cursor: Cursor = None,
    ) -> Response:
        """Return the clusters of near-duplicates with the document to keep from each."""
        options = ClusterOptions(keep=keep, linkage=linkage, within=within)
        if wants_lines(request):
            if holding or source or text:
                raise UsageError(reason="lines are all clusters; for holding, source or text, page through them")
            every = replace(options, min_size=min_size, limit=limit)
            return await self._streamed(lambda index: (index.members if members else index.clusters)(min_sim, every))
        after, most = position(cursor, int), num_items(limit)

        def page(index: Index) -> dict[str, Any]:
            found = catalogue(index, self._kept, min_sim, options)
            begin = max(0, after[0]) if after else 0
            having = []
            if holding:
                having.append(found.holding(holding.replace("\0", "")))
            if source:
                having.append(found.from_sources(source.replace("\0", "")))
            if text:
                having.append(found.named(documents_like(index, text, min_sim)))
            places = found.places(sort, min_size, having)
            items = found.listed(places[begin : begin + most].tolist())
            return one_page(items, (begin + most,) if begin + most < len(places) else None, total=len(places))

        return json(await self._desk.list(page))

    async def cluster(
        self,
        cluster: Annotated[str, Path(max_length=16)],
        min_sim: MinSim = None,
        within: Within = None,
        keep: Keep = "first",
        linkage: Linkage = "single",
        limit: Limit = 1_000,
    ) -> Response:
        """Return the documents of a cluster, the kept one first, each with its similarity to the kept one."""
        options = ClusterOptions(keep=keep, linkage=linkage, within=within)

        def members(index: Index) -> dict[str, Any] | None:
            found = catalogue(index, self._kept, min_sim, options)
            place = found.place(cluster)
            if place is None:
                return None
            return {"cluster": cluster, "size": found.size(place), "members": found.members(place, limit)}

        answer = await self._desk.list(members)
        return problem(404, f"there is no cluster {cluster}") if answer is None else json(answer)

    async def stats(self) -> Response:
        """Return the figures of the index, its parameters and its last runs."""
        found = await self._desk.list(self._stats)
        return json(found.as_json() | {"params": without_seed(found.params) | {"recall": found.params.recall}})

    async def runs(self, request: Request, limit: Limit = 20, cursor: Cursor = None) -> Response:
        """Return the runs that wrote to the index, the newest first."""
        if wants_lines(request):
            return await self._streamed(lambda index: index.runs(MAX_KEY - 1))
        before = position(cursor, int)
        found = await self._desk.ask(lambda index: index.runs(limit, before[0] if before else None))
        return json(one_page([asdict(row) for row in found], (found[-1].run,) if len(found) == limit else None))

    async def metrics(self) -> Response:
        """Return the figures of the index in the text format of Prometheus."""
        found = await self._desk.list(self._stats)
        lines = metrics(found.figures, found.runs)
        return Response("".join(f"{line}\n" for line in lines), media_type="text/plain; version=0.0.4")

    async def healthz(self) -> Response:
        """Return whether the index answers. Everybody may ask, so a failure does not say where the index is."""
        try:
            await self._desk.ask(lambda index: index.runs(1))
        except LshdbError as error:
            return problem(logged_status(error), "the index does not answer")
        return json({"status": "ok"})

    def _stats(self, index: Index) -> Stats:
        return self._kept.get(index, "stats", Index.stats)

    async def _streamed(self, question: Callable[[Index], Iterable[Any]]) -> Response:
        return StreamingResponse(await self._desk.lines(question), media_type=NDJSON)


def catalogue(index: Index, kept: Kept, min_sim: float | None, options: ClusterOptions) -> Catalogue:
    """Return the clusters, which are kept while the index does not change."""
    least = index.params.min_sim if min_sim is None else min_sim
    return kept.get(index, ("catalogue", least, options), lambda index: index.catalogue(least, options))


def wants_lines(request: Request) -> bool:
    """Return whether a client asks for everything, one item to a line."""
    return NDJSON in request.headers.get("accept", "")


def num_items(limit: int | None) -> int:
    """Return how many items a part of a list has at most."""
    return min(limit or 100, 1_000)


def one_page(items: list[Any], following: tuple[Any, ...] | None, **more: object) -> dict[str, Any]:
    """Return a part of a list. Args: following: the place where the next part begins; None at the end."""
    return {"items": items, "next": cursor(following), **more}


def _pairs(
    pairs: Callable[[float, PairOrder], Iterator[Pair]], max_sim: float, limit: int, given: str | None
) -> dict[str, Any]:
    after = position(given, float, str, str, str, str)
    rows = pairs(max_sim if after is None else min(max_sim, max(0.0, after[0])), "similarity")
    later = rows if after is None else dropwhile(lambda pair: _key(pair) <= (-after[0], *after[1:]), rows)
    found = list(islice(later, limit))
    last = found[-1] if len(found) == limit else None
    return one_page(found, None if last is None else (last.similarity, *_key(last)[1:]))


def _key(pair: Pair) -> tuple[Any, ...]:
    return (-pair.similarity, pair.left, pair.right, pair.left_collection, pair.right_collection)
