"""Ask a service from asyncio. Needs httpx.

Limitation: as of `Client`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from http import HTTPStatus
from typing import Self, TypeVar

import httpx

from lshdb.answers.explain import Explanation
from lshdb.answers.query import Arrival, Match
from lshdb.clusters.clusters import ClusterOptions
from lshdb.clusters.members import Cluster, Member
from lshdb.errors import DocumentUnknown, StoreUnreachable
from lshdb.model import arguments
from lshdb.model.arguments import Documents, Names
from lshdb.model.choices import PairOrder
from lshdb.model.decisions import Decision, DecisionsReport
from lshdb.model.reports import Pair, RunRow, Stats
from lshdb.model.values import Document
from lshdb.web import calls, served
from lshdb.web.calls import Call, Lines, Received

__all__ = ["AsyncClient"]

_Made = TypeVar("_Made")


class AsyncClient:
    """An index behind `lshdb serve`, for asyncio. The methods are those of `Client`.

    ::

        async with AsyncClient("http://localhost:8080") as client:
            matches = await client.query(Document("?", "a text"))
            async for pair in client.pairs():
                print(pair)

    Args: as of `Client`.
    """

    def __init__(self, url: str, token: str | None = None, seconds: float = 60.0) -> None:
        self.url = calls.address_of(url)
        self._http = httpx.AsyncClient(headers=calls.headers(token), timeout=seconds)

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def query(self, document: Document, min_sim: float | None = None, k: int | None = None) -> list[Match]:
        """Return the near-duplicates of a document, the most similar first. Args: k: how many at most; None for all."""
        return await self._asked(calls.query(document, min_sim, k))

    async def query_id(
        self, doc_id: str, min_sim: float | None = None, collection: str = "default", k: int | None = None
    ) -> list[Match]:
        """Return the near-duplicates of a document of the index, without itself."""
        return await self._asked(calls.query_id(doc_id, min_sim, collection, k))

    async def query_many(
        self, documents: Documents, min_sim: float | None = None, k: int | None = None
    ) -> list[tuple[str, list[Match]]]:
        """Return the id and the near-duplicates of each of many documents; see `Index.query_many`."""
        answers = list[tuple[str, list[Match]]]()
        for some in calls.chunked(arguments.documents(documents), lambda one: one):
            found = await self._asked(calls.query_many(some, min_sim, k))
            for one, matches in zip(some, found, strict=True):
                answers.append((one.doc_id, await self.query(one, min_sim, k) if calls.is_cut(matches, k) else matches))
        return answers

    async def get(self, doc_id: str, collection: str = "default") -> Document | None:
        """Return a document, or None if there is none with this id."""
        try:
            return await self._asked(calls.get(doc_id, collection))
        except DocumentUnknown:
            return None

    async def put(
        self, document: Document, min_sim: float | None = None, collection: str = "default", *, only_new: bool = False
    ) -> Arrival:
        """Add or refresh a document, and return the near-duplicates that it met; see `Index.put`."""
        return await self._asked(calls.put(document, min_sim, collection, only_new=only_new))

    async def add(self, documents: Documents, collection: str = "default") -> dict[str, int]:
        """Add or refresh a document, or several, in transactions of up to 1,000 documents or a million characters.

        Returns: how many documents were ``added``, ``updated`` and ``unchanged``, and ``pairs_added``.
        """
        return calls.added([await self._asked(call) for call in calls.add(documents, collection)])

    async def remove(self, doc_ids: Names, collection: str = "default") -> int:
        """Remove a document, or several, and return their number.

        Raises: DocumentUnknown: one of them does not exist, and nothing of its 1,000 is removed.
        """
        return sum([await self._asked(call) for call in calls.remove(doc_ids, collection)])

    def pairs(
        self,
        min_sim: float | None = None,
        *,
        expand: bool = False,
        between: tuple[str, str] | None = None,
        within: str | None = None,
        max_sim: float = 1.0,
        sort: PairOrder | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[Pair]:
        """Yield the pairs of near-duplicates; see `Index.pairs`."""
        return self._lines(calls.pairs(min_sim, max_sim, between, within, sort, limit, expand=expand))

    def clusters(self, min_sim: float | None = None, options: ClusterOptions | None = None) -> AsyncIterator[Cluster]:
        """Yield the clusters; see `Client.clusters`."""
        return self._lines(calls.clusters(min_sim, options))

    def members(self, min_sim: float | None = None, options: ClusterOptions | None = None) -> AsyncIterator[Member]:
        """Yield the documents of `clusters`, the kept one first, each with its similarity to the kept one."""
        return self._lines(calls.members(min_sim, options))

    async def decide(self, decision: Decision) -> Decision:
        """Store what somebody decided now, and return it with its number; see `Index.decide`."""
        return await self._asked(calls.decide(decision))

    def decisions(self, *, limit: int | None = None) -> AsyncIterator[Decision]:
        """Yield what people decided, the newest first. Args: limit: how many."""
        return self._lines(calls.decisions(limit))

    async def undo(self, numbers: int | Iterable[int]) -> int:
        """Undo up to 1,000 decisions by their numbers. Returns: how many.

        Raises: DecisionUnknown: one of them does not exist, and nothing is undone.
        """
        return await self._asked(calls.undo(numbers))

    async def import_decisions(self, made: Iterable[Decision]) -> DecisionsReport:
        """Store decisions that were made elsewhere, or earlier, 500 at a time; see `Index.import_decisions`."""
        return calls.imported([await self._asked(call) for call in calls.import_decisions(made)])

    async def explain(
        self,
        left: str,
        right: str,
        collections: tuple[str, str] = ("default", "default"),
        *,
        with_diff: bool = True,
    ) -> Explanation:
        """Return why two documents of the index are a pair, or why not."""
        return await self._asked(calls.explain(left, right, collections, with_diff=with_diff))

    async def stats(self) -> Stats:
        """Return the figures of the index. A service keeps the seed to itself, which is 0 here."""
        return await self._asked(calls.stats())

    async def runs(self, count: int = 20) -> list[RunRow]:
        """Return the last runs, the newest first."""
        return await self._asked(calls.runs(count))

    async def _asked(self, call: Call[_Made]) -> _Made:
        """Return the answer to a request."""
        for number, pause in enumerate(call.pauses, 1):
            await asyncio.sleep(pause)
            try:
                answer = await self._http.request(call.method, self.url + call.path, content=call.body)
                return call.result(answer.status_code, answer.content, self.url)
            except httpx.HTTPError as error:
                is_last = number == len(call.pauses)
                if is_last or isinstance(error, (httpx.TimeoutException, httpx.ConnectError)):
                    raise StoreUnreachable(url=self.url, reason=str(error) or type(error).__name__) from None
        raise AssertionError("unreachable")

    async def _lines(self, lines: Lines[_Made]) -> AsyncIterator[_Made]:
        """Yield the lines of an answer."""
        try:
            async with self._http.stream("GET", self.url + lines.path, headers={"Accept": served.NDJSON}) as answer:
                if answer.status_code != HTTPStatus.OK:
                    raise calls.error_of(answer.status_code, await answer.aread(), self.url)
                received = Received(lines, self.url)
                async for block in answer.aiter_bytes():
                    for value in received.values(block):
                        yield value
                received.end()
        except httpx.HTTPError as error:
            raise StoreUnreachable(url=self.url, reason=str(error) or type(error).__name__) from None
