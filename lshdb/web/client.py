"""Ask a service as if it were an `Index`. Needs only the standard library's HTTP, and knows no FastAPI.

Limitation: of the methods of `Index`, it has those that the service answers. `pairs` and `clusters` read their answers
while the service sends them; the others wait for all of it.
"""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Any, Final, Self, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from lshdb import errors
from lshdb.answers.query import Arrival, Match
from lshdb.clusters.members import Cluster
from lshdb.errors import AccessDenied, DocumentUnknown, IndexBusy, LshdbError, StoreUnreachable, UsageError
from lshdb.model import arguments
from lshdb.model.arguments import Names
from lshdb.model.reports import Pair, RunRow
from lshdb.model.values import Document

__all__ = ["Client"]

_Made = TypeVar("_Made")

# As in lshdb.web.problems, which needs FastAPI.
NAMESPACE: Final = "urn:lshdb:error:"
NDJSON: Final = "application/x-ndjson"


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

    Raises: UsageError: the address is not one of HTTP.
    """

    def __init__(self, url: str, token: str | None = None, seconds: float = 60.0) -> None:
        place = urlsplit(url)
        if place.scheme not in ("http", "https") or place.hostname is None:
            raise UsageError(reason="the address of a service begins with http:// or https://")
        self.url = f"{place.scheme}://{place.netloc.rpartition('@')[2]}{place.path.rstrip('/')}"
        self._place = place
        self._seconds = seconds
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._mine = threading.local()

    def close(self) -> None:
        """Close the connection of this thread."""
        if (connection := getattr(self._mine, "connection", None)) is not None:
            connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def query(self, document: Document, min_sim: float | None = None, k: int = 100) -> list[Match]:
        """Return the near-duplicates of a document, the most similar first. Args: k: at most so many."""
        answer = self._asked("POST", "/v1/query", _content(document) | {"k": k} | _given(min_sim=min_sim))
        return _made(answer["matches"], list[Match])

    def query_many(
        self, documents: Iterable[Document], min_sim: float | None = None, k: int = 100
    ) -> list[tuple[str, list[Match]]]:
        """Return the id and the near-duplicates of each of up to 1,000 documents."""
        asked = {"documents": [_content(one) | {"id": one.doc_id} for one in documents], "k": k}
        answers = self._asked("POST", "/v1/query:batch", asked | _given(min_sim=min_sim))["answers"]
        return [(one["id"], _made(one["matches"], list[Match])) for one in answers]

    def get(self, doc_id: str, collection: str = "default") -> Document | None:
        """Return a document, or None if there is none with this id."""
        try:
            found = self._asked("GET", _document(doc_id, collection=collection))
        except DocumentUnknown:
            return None
        features = None if found["features"] is None else tuple(found["features"])
        return Document(
            doc_id,
            found["text"] or "",
            features,
            source=found["source"],
            locator=found["locator"],
            dated_at=found["dated_at"],
        )

    def put(
        self, document: Document, min_sim: float | None = None, collection: str = "default", *, only_new: bool = False
    ) -> Arrival:
        """Add or refresh a document, and return the near-duplicates that it met; see `Index.put`."""
        query = _given(min_sim=min_sim, collection=collection, only_new=str(only_new).lower())
        answer = self._asked("PUT", _document(document.doc_id, **query), _content(document))
        return _made({"outcome": answer["outcome"], "matches": answer["matches"]}, Arrival)

    def add(self, documents: Iterable[Document], collection: str = "default") -> dict[str, int]:
        """Add or refresh up to 1,000 documents in one transaction. Returns: how many were added, updated and so on."""
        sent = {"documents": [_content(one) | {"id": one.doc_id} for one in documents]}
        return _made(self._asked("POST", _path("/v1/documents:add", collection=collection), sent), dict[str, int])

    def remove(self, doc_ids: Names, collection: str = "default") -> int:
        """Remove documents, and return their number.

        Raises: DocumentUnknown: one of them does not exist, and nothing is removed.
        """
        sent, path = {"ids": list(arguments.names(doc_ids))}, _path("/v1/documents:remove", collection=collection)
        return int(self._asked("POST", path, sent, repeat=False)["removed"])

    def pairs(self, min_sim: float | None = None, within: str | None = None) -> Iterator[Pair]:
        """Yield the pairs of near-duplicates, exact copies first."""
        return self._lines(_path("/v1/pairs", **_given(min_sim=min_sim, within=within)), Pair)

    def clusters(self, min_sim: float | None = None, within: str | None = None) -> Iterator[Cluster]:
        """Yield the clusters, the largest first, each with the document to keep."""
        return self._lines(_path("/v1/clusters", **_given(min_sim=min_sim, within=within)), Cluster)

    def explain(self, left: str, right: str, collections: tuple[str, str] = ("default", "default")) -> dict[str, Any]:
        """Return why two documents are a pair, or why not, as ``explain --json`` prints it."""
        one, other = collections
        query = {"a": left, "b": right, "collection_a": one, "collection_b": other}
        return _made(self._asked("GET", _path("/v1/explain", **query)), dict[str, Any])

    def stats(self) -> dict[str, Any]:
        """Return the figures of the index, as ``stats --json`` prints them, without the seed."""
        return _made(self._asked("GET", "/v1/stats"), dict[str, Any])

    def runs(self, count: int = 20) -> list[RunRow]:
        """Return the last runs, the newest first."""
        return _made(self._asked("GET", _path("/v1/runs", limit=count))["items"], list[RunRow])

    def _asked(self, method: str, path: str, sent: object = None, *, repeat: bool = True) -> Any:
        """Return the answer to a request.

        Args: repeat: send it again if the service has closed the connection. Otherwise, open a new one.
        """
        body = None if sent is None else msgspec.json.encode(sent)
        for is_last in (False, True) if repeat else (True,):
            connection = self._connection()
            if not repeat:
                connection.close()
            try:
                answer = self._sent(connection, method, path, body)
                return msgspec.json.decode(self._read(answer))
            except (http.client.HTTPException, OSError) as error:
                connection.close()
                if is_last or isinstance(error, TimeoutError):
                    raise StoreUnreachable(url=self.url, reason=str(error) or type(error).__name__) from None
        raise AssertionError("unreachable")

    def _lines(self, path: str, kind: type[_Made]) -> Iterator[_Made]:
        """Yield the lines of an answer, over a connection of their own."""
        connection = self._connected()
        try:
            answer = self._sent(connection, "GET", path, None, {"Accept": NDJSON})
            if answer.status != HTTPStatus.OK:
                self._read(answer)
            for line in answer:
                yield msgspec.json.decode(line, type=kind)
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
        connection.request(method, self._place.path.rstrip("/") + path, body, self._headers | (more or {}))
        return connection.getresponse()

    def _read(self, answer: http.client.HTTPResponse) -> bytes:
        """Return the body of an answer. Raises: LshdbError: it is a problem."""
        body = answer.read()
        if answer.status >= HTTPStatus.BAD_REQUEST:
            raise self._error(answer.status, body)
        return body

    def _error(self, status: int, body: bytes) -> LshdbError:
        try:
            problem = msgspec.json.decode(body, type=dict[str, Any])
        except msgspec.DecodeError:
            problem = {}
        detail = str(problem.get("detail") or HTTPStatus(status).phrase)
        kind = getattr(errors, str(problem.get("type", "")).removeprefix(NAMESPACE), None)
        if isinstance(kind, type) and issubclass(kind, LshdbError):
            fields = dict(problem.get("fields", {}))
            return kind(**fields | ({"url": self.url} if "url" in kind.field_names() else {}))
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            return AccessDenied(url=self.url, reason=detail)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return IndexBusy(url=self.url, reason=detail)
        return UsageError(reason=detail)

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


def _made(value: object, kind: type[_Made]) -> _Made:
    return msgspec.convert(value, kind)


def _given(**values: object) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _path(path: str, **query: object) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _document(doc_id: str, **query: object) -> str:
    return _path(f"/v1/documents/{quote(doc_id, safe='')}", **query)


def _content(document: Document) -> dict[str, Any]:
    features = arguments.document(document).features
    return {"text": document.text} if features is None else {"features": features}
