"""Ask a service as if it were an `Index`. Needs only the standard library's HTTP, and knows no FastAPI.

Limitation: of the methods of `Index`, it has those that the service answers. `pairs`, `clusters` and `members` read
their answers while the service sends them; the others wait for all of it.
"""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Final, Self, TypeVar
from urllib.parse import urlsplit

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

__all__ = ["Client"]

_Made = TypeVar("_Made")

# The most bytes that are read at a time.
BLOCK: Final = 65_536


class Client:
    """An index behind `lshdb serve`. Threads can share a client; each has a connection of its own.

    ::

        with Client("http://localhost:8080") as client:
            if client.put(Document("a", "a text"), only_new=True).outcome == "refused":
                print("there is a near-duplicate")

    Errors of lshdb are raised as `Index` raises them.

    Args:
        token: the LSHDB_TOKEN of the service.
        seconds: how long to wait for the service.

    Raises: UsageError: the address is not an HTTP address, or no header can hold the token.
    """

    def __init__(self, url: str, token: str | None = None, seconds: float = 60.0) -> None:
        self.url = calls.address_of(url)
        self._place = urlsplit(self.url)
        self._seconds = seconds
        self._headers = calls.headers(token)
        self._mine = threading.local()

    def close(self) -> None:
        """Close the connection of this thread."""
        if (connection := getattr(self._mine, "connection", None)) is not None:
            connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def query(self, document: Document, min_sim: float | None = None, k: int | None = None) -> list[Match]:
        """Return the near-duplicates of a document, the most similar first. Args: k: how many at most; None for all."""
        return self._asked(calls.query(document, min_sim, k))

    def query_id(
        self, doc_id: str, min_sim: float | None = None, collection: str = "default", k: int | None = None
    ) -> list[Match]:
        """Return the near-duplicates of a document of the index, without itself."""
        return self._asked(calls.query_id(doc_id, min_sim, collection, k))

    def query_many(
        self, documents: Documents, min_sim: float | None = None, k: int | None = None
    ) -> list[tuple[str, list[Match]]]:
        """Return the id and the near-duplicates of each of many documents; see `Index.query_many`."""
        answers = list[tuple[str, list[Match]]]()
        for some in calls.chunked(arguments.documents(documents), lambda one: one):
            found = self._asked(calls.query_many(some, min_sim, k))
            for one, matches in zip(some, found, strict=True):
                answers.append((one.doc_id, self.query(one, min_sim, k) if calls.is_cut(matches, k) else matches))
        return answers

    def get(self, doc_id: str, collection: str = "default") -> Document | None:
        """Return a document, or None if there is none with this id."""
        try:
            return self._asked(calls.get(doc_id, collection))
        except DocumentUnknown:
            return None

    def put(
        self, document: Document, min_sim: float | None = None, collection: str = "default", *, only_new: bool = False
    ) -> Arrival:
        """Add or refresh a document, and return the near-duplicates that it met; see `Index.put`."""
        return self._asked(calls.put(document, min_sim, collection, only_new=only_new))

    def add(self, documents: Documents, collection: str = "default") -> dict[str, int]:
        """Add or refresh a document, or several, in transactions of up to 1,000 documents or a million characters.

        Returns: how many documents were ``added``, ``updated`` and ``unchanged``, and ``pairs_added``.
        """
        return calls.added(self._asked(call) for call in calls.add(documents, collection))

    def remove(self, doc_ids: Names, collection: str = "default") -> int:
        """Remove a document, or several, and return their number.

        Raises: DocumentUnknown: one of them does not exist, and nothing of its 1,000 is removed.
        """
        return sum(self._asked(call) for call in calls.remove(doc_ids, collection))

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
    ) -> Iterator[Pair]:
        """Yield the pairs of near-duplicates; see `Index.pairs`."""
        return self._lines(calls.pairs(min_sim, max_sim, between, within, sort, limit, expand=expand))

    def clusters(self, min_sim: float | None = None, options: ClusterOptions | None = None) -> Iterator[Cluster]:
        """Yield the clusters, the largest first, each with the document to keep.

        Raises: UsageError: `options` has `prefer`, or another measure.
        """
        return self._lines(calls.clusters(min_sim, options))

    def members(self, min_sim: float | None = None, options: ClusterOptions | None = None) -> Iterator[Member]:
        """Yield the documents of `clusters`, the kept one first, each with its similarity to the kept one."""
        return self._lines(calls.members(min_sim, options))

    def decide(self, decision: Decision) -> Decision:
        """Store what somebody decided now, and return it with its number; see `Index.decide`."""
        return self._asked(calls.decide(decision))

    def decisions(self, *, limit: int | None = None) -> Iterator[Decision]:
        """Yield what people decided, the newest first. Args: limit: how many."""
        return self._lines(calls.decisions(limit))

    def undo(self, numbers: int | Iterable[int]) -> int:
        """Undo up to 1,000 decisions by their numbers. Returns: how many.

        Raises: DecisionUnknown: one of them does not exist, and nothing is undone.
        """
        return self._asked(calls.undo(numbers))

    def import_decisions(self, made: Iterable[Decision]) -> DecisionsReport:
        """Store decisions that were made elsewhere, or earlier, 500 at a time; see `Index.import_decisions`."""
        return calls.imported(self._asked(call) for call in calls.import_decisions(made))

    def explain(
        self,
        left: str,
        right: str,
        collections: tuple[str, str] = ("default", "default"),
        *,
        with_diff: bool = True,
    ) -> Explanation:
        """Return why two documents of the index are a pair, or why not."""
        return self._asked(calls.explain(left, right, collections, with_diff=with_diff))

    def stats(self) -> Stats:
        """Return the figures of the index. A service keeps the seed to itself, which is 0 here."""
        return self._asked(calls.stats())

    def runs(self, count: int = 20) -> list[RunRow]:
        """Return the last runs, the newest first."""
        return self._asked(calls.runs(count))

    def _asked(self, call: Call[_Made]) -> _Made:
        """Return the answer to a request."""
        for number, pause in enumerate(call.pauses, 1):
            time.sleep(pause)
            connection = self._connection()
            if not call.repeat:
                connection.close()
            try:
                answer = self._sent(connection, call.method, call.path, call.body)
                return call.result(answer.status, answer.read(), self.url)
            except (http.client.HTTPException, OSError) as error:
                connection.close()
                if number == len(call.pauses) or isinstance(error, (TimeoutError, ConnectionRefusedError)):
                    raise StoreUnreachable(url=self.url, reason=str(error) or type(error).__name__) from None
        raise AssertionError("unreachable")

    def _lines(self, lines: Lines[_Made]) -> Iterator[_Made]:
        """Yield the lines of an answer, over a connection of their own."""
        connection = self._connected()
        try:
            answer = self._sent(connection, "GET", lines.path, None, {"Accept": served.NDJSON})
            if answer.status != HTTPStatus.OK:
                raise calls.error_of(answer.status, answer.read(), self.url)
            received = Received(lines, self.url)
            # Not `for line in answer`: its `readline` takes a lost connection between two chunks for the end.
            while block := answer.read1(BLOCK):
                yield from received.values(block)
            if answer.length:
                raise http.client.IncompleteRead(b"", answer.length)
            received.end()
        except http.client.IncompleteRead:
            raise StoreUnreachable(
                url=self.url, reason="the connection was lost before the end of its answer"
            ) from None
        except (http.client.HTTPException, OSError) as error:
            raise StoreUnreachable(url=self.url, reason=str(error) or type(error).__name__) from None
        finally:
            connection.close()

    def _sent(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: bytes | None,
        more: dict[str, str] | None = None,
    ) -> http.client.HTTPResponse:
        connection.request(method, self._place.path + path, body, self._headers | (more or {}))
        return connection.getresponse()

    def _connection(self) -> http.client.HTTPConnection:
        """Return the connection of this thread."""
        if not hasattr(self._mine, "connection"):
            self._mine.connection = self._connected()
        connection: http.client.HTTPConnection = self._mine.connection
        return connection

    def _connected(self) -> http.client.HTTPConnection:
        secure = self._place.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        return kind(self._place.hostname or "", self._place.port, timeout=self._seconds)
