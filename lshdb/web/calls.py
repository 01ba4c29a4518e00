"""Questions to a service as values: the request, and how its answer is read. Sends nothing, and knows no FastAPI.

`Client` and `AsyncClient` send them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http import HTTPStatus
from http.client import responses
from itertools import islice
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec
from msgspec import Struct

from lshdb import errors
from lshdb.answers.explain import Explanation
from lshdb.answers.query import Arrival, Match
from lshdb.clusters.clusters import ClusterOptions
from lshdb.clusters.members import Cluster, Member
from lshdb.errors import AccessDenied, IndexBusy, LshdbError, StoreUnreachable, UsageError
from lshdb.model import arguments
from lshdb.model.arguments import Documents, Names
from lshdb.model.batches import in_batches
from lshdb.model.choices import PairOrder
from lshdb.model.decisions import Decision, DecisionsReport
from lshdb.model.params import Params
from lshdb.model.passages import Containing
from lshdb.model.reports import Pair, RunRow, Stats
from lshdb.model.values import Document, num_characters
from lshdb.sketch.sketch import require_fit, text_of
from lshdb.web import served
from lshdb.web.served import MAX_DOCUMENTS, MAX_MATCHES, NAMESPACE

__all__ = [
    "Call",
    "Lines",
    "Received",
    "add",
    "added",
    "address_of",
    "chunked",
    "clusters",
    "containing",
    "decide",
    "decisions",
    "error_of",
    "explain",
    "get",
    "headers",
    "import_decisions",
    "imported",
    "is_cut",
    "members",
    "pairs",
    "put",
    "query",
    "query_id",
    "query_many",
    "refused",
    "remove",
    "require_token",
    "runs",
    "stats",
    "undo",
]

_Made = TypeVar("_Made")

# Before each try. The first connection may be one that the service has closed since then, and the second one may reach
# a process of the service that is dying.
PAUSES: Final = (0.0, 0.0, 0.2)
# Of the documents of a request: at most 6 MB of the 16 that a service takes, but for the last one.
CHARACTERS: Final = 1_000_000
# Decisions in one request. Each has up to four names, a person and a reason.
DECISIONS: Final = 500
# The fields of a decision that is made now.
DECIDED: Final = ("kind", "id", "other", "who", "reason", "collection", "other_collection")


class Call(Struct, Generic[_Made], frozen=True):
    """A request with one answer.

    Args:
        read: makes the result of the JSON that comes back.
        sent: a value that becomes the JSON of the body; None for no body.
        repeat: send it again if the connection is lost, because a second time does no harm.
    """

    method: str
    path: str
    read: Callable[[Any], _Made]
    sent: object = None
    repeat: bool = True

    @property
    def pauses(self) -> tuple[float, ...]:
        """The seconds to wait before each try."""
        return PAUSES if self.repeat else PAUSES[:1]

    @property
    def body(self) -> bytes | None:
        """The body, if there is one."""
        return None if self.sent is None else msgspec.json.encode(self.sent)

    def result(self, status: int, body: bytes, url: str) -> _Made:
        """Return the result. Args: url: of the service. Raises: LshdbError: it is a problem, or none of lshdb."""
        if status >= HTTPStatus.BAD_REQUEST:
            raise error_of(status, body, url)
        with _understood(url):
            return self.read(msgspec.json.decode(body))


class Lines(Struct, Generic[_Made], frozen=True):
    """A request whose answer is a value on each line. Args: kind: of the values."""

    path: str
    kind: type[_Made]

    def value(self, line: bytes, url: str) -> _Made:
        """Return the value of a line. Args: url: of the service. Raises: StoreUnreachable: it is none of lshdb."""
        with _understood(url):
            return msgspec.json.decode(line, type=self.kind)


class Received(Generic[_Made]):
    """The values of an answer that arrives in blocks, which end anywhere. Args: url: of the service."""

    def __init__(self, lines: Lines[_Made], url: str) -> None:
        self._lines = lines
        self._url = url
        # Of a line that has not ended.
        self._begun = list[bytes]()

    def values(self, block: bytes) -> Iterator[_Made]:
        """Yield the values of the lines that end in this block."""
        # Not `splitlines`: an id may hold other line ends.
        first, *more = block.split(b"\n")
        self._begun.append(first)
        if more:
            whole = [b"".join(self._begun), *more[:-1]]
            self._begun = [more[-1]]
            for line in whole:
                yield self._lines.value(line, self._url)

    def end(self) -> None:
        """Raises: StoreUnreachable: the answer ended in the middle of a line."""
        if any(self._begun):
            raise StoreUnreachable(url=self._url, reason="its answer ends in the middle of a line")


def address_of(url: str) -> str:
    """Return the address of a service without its password. Raises: UsageError: it is not an HTTP address."""
    # A ValueError: of a port that is none, of a host that no name server knows, or of a path to be encoded.
    with suppress(ValueError):
        place = urlsplit(str(url))
        host, address = place.hostname, f"{place.scheme}://{place.netloc.rpartition('@')[2]}{place.path.rstrip('/')}"
        if place.scheme in ("http", "https") and host and address.isprintable() and " " not in address:
            _ = place.port, host.encode("idna"), place.path.encode("ascii")
            return address
    raise UsageError(reason="the address of a service is like http://HOST:PORT or https://HOST/PATH")


def refused(what: str) -> UsageError:
    """Return the error of a question that only the index itself answers."""
    return UsageError(reason=f"a service does not {what}; ask the index itself, with --db URL|PATH")


def require_token(token: str) -> None:
    """Raises: UsageError: a header cannot hold the token, or not as it is."""
    if not (token.isascii() and token.isprintable() and token == token.strip()):
        raise UsageError(
            reason="the token may have only printable ASCII characters, and no space at its beginning or its end"
        )


def headers(token: str | None) -> dict[str, str]:
    """Return the headers of every request. Raises: UsageError: see `require_token`."""
    if token:
        require_token(token)
    return {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})


def error_of(status: int, body: bytes, url: str) -> LshdbError:
    """Return the error that a problem describes."""
    try:
        problem = msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.DecodeError:
        problem = {}
    detail = str(problem.get("detail") or responses.get(status, status))
    kind = getattr(errors, str(problem.get("type", "")).removeprefix(NAMESPACE), None)
    if isinstance(kind, type) and issubclass(kind, LshdbError):
        with _understood(url):
            return kind(**problem["fields"] | ({"url": url} if "url" in kind.field_names() else {}))
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return AccessDenied(url=url, reason=detail)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return IndexBusy(url=url, reason=detail)
    return UsageError(reason=detail)


@contextmanager
def _understood(url: str) -> Iterator[None]:
    """Raises: StoreUnreachable: an answer is not what a service of lshdb would send."""
    try:
        yield
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError):
        raise StoreUnreachable(url=url, reason="its answer is not one of this version of lshdb serve") from None


# The questions, as the methods of `Client` describe them.


def query(document: Document, min_sim: float | None, k: int | None) -> Call[list[Match]]:
    return Call("POST", "/v1/query", served.matches, _content(document) | _asked(min_sim, k))


def query_id(doc_id: str, min_sim: float | None, collection: str, k: int | None) -> Call[list[Match]]:
    sent = {"id": arguments.name("an id", doc_id), "collection": collection}
    return Call("POST", "/v1/query", served.matches, sent | _asked(min_sim, k))


def containing(document: Document, min_containment: float) -> Call[list[Containing]]:
    sent = _content(document) | {"measure": "containment"} | _asked(min_containment, None)
    return Call("POST", "/v1/query", lambda answer: served.made(answer["matches"], list[Containing]), sent)


def query_many(documents: Iterable[Document], min_sim: float | None, k: int | None) -> Call[list[list[Match]]]:
    sent = {"documents": [_content(one) for one in documents]} | _asked(
        min_sim, MAX_MATCHES if k is None else min(k, MAX_MATCHES)
    )
    return Call("POST", "/v1/query:batch", served.answers, sent)


def is_cut(matches: list[Match], k: int | None) -> bool:
    """Return whether a document may have more than these matches, which `query_many` found."""
    return len(matches) == MAX_MATCHES and (k is None or k > MAX_MATCHES)


def _asked(min_sim: float | None, k: int | None) -> dict[str, Any]:
    # Sent if it is None, too: without it, a service returns 100 matches.
    return _given(min_sim=_least(min_sim)) | {"k": arguments.limit("k", k)}


def get(doc_id: str, collection: str) -> Call[Document]:
    return Call("GET", _document(doc_id, collection=collection), served.document)


def put(document: Document, min_sim: float | None, collection: str, *, only_new: bool) -> Call[Arrival]:
    sent = _dated(document)
    path = _document(document.doc_id, **_given(min_sim=_least(min_sim), collection=collection, only_new=only_new))
    return Call("PUT", path, partial(served.made, kind=Arrival), sent)


def add(documents: Documents, collection: str) -> Iterator[Call[dict[str, int]]]:
    """Yield calls, each for some of the documents."""
    path = _path("/v1/documents:add", collection=collection)
    for some in chunked(arguments.documents(documents), lambda one: one):
        sent = {"documents": [_dated(one) | {"id": one.doc_id} for one in some]}
        yield Call("POST", path, partial(served.made, kind=dict[str, int]), sent)


def added(parts: Iterable[dict[str, int]]) -> dict[str, int]:
    """Return what became of all documents."""
    sums = dict.fromkeys(("added", "updated", "unchanged", "pairs_added"), 0)
    for part in parts:
        sums = {name: number + part[name] for name, number in sums.items()}
    return sums


def remove(doc_ids: Names, collection: str) -> Iterator[Call[int]]:
    """Yield calls, each for some of the ids."""
    path, names = _path("/v1/documents:remove", collection=collection), iter(dict.fromkeys(arguments.names(doc_ids)))
    while some := list(islice(names, MAX_DOCUMENTS)):
        # Removed twice, they would be unknown.
        yield Call("POST", path, lambda answer: int(answer["removed"]), {"ids": some}, repeat=False)


def chunked(several: Iterable[_Made], document: Callable[[_Made], Document]) -> Iterator[list[_Made]]:
    """Yield values in lists, so that the documents of each list fit into one request."""
    return in_batches(several, lambda one: num_characters(document(one)), CHARACTERS, MAX_DOCUMENTS)


def decide(decision: Decision) -> Call[Decision]:
    return Call(
        "POST", "/v1/decisions", partial(served.made, kind=Decision), _fields(arguments.decision(decision), DECIDED)
    )


def decisions(limit: int | None) -> Lines[Decision]:
    return Lines(_path("/v1/decisions", **_limited(limit)), Decision)


def undo(numbers: int | Iterable[int]) -> Call[int]:
    sent = {"decisions": sorted(arguments.numbers(numbers))}
    return Call("POST", "/v1/decisions:undo", lambda answer: int(answer["undone"]), sent, repeat=False)


def import_decisions(made: Iterable[Decision]) -> Iterator[Call[DecisionsReport]]:
    """Yield calls, each for some of the decisions."""
    iterator = arguments.decisions(made)
    while some := list(islice(iterator, DECISIONS)):
        sent = [_fields(one, (*DECIDED, "decided_at")) for one in some]
        yield Call("POST", "/v1/decisions:add", _imported, {"decisions": sent})


def imported(parts: Iterable[DecisionsReport]) -> DecisionsReport:
    """Return what became of all decisions."""
    reports = list(parts)
    return DecisionsReport(sum(one.num_added for one in reports), sum(one.num_unchanged for one in reports))


def _fields(decision: Decision, names: Iterable[str]) -> dict[str, Any]:
    return _given(**{name: getattr(decision, name) for name in names})


def _imported(answer: Any) -> DecisionsReport:
    return DecisionsReport(int(answer["added"]), int(answer["unchanged"]))


def explain(left: str, right: str, collections: tuple[str, str], *, with_diff: bool) -> Call[Explanation]:
    one, other = collections
    query = {"a": left, "b": right, "collection_a": one, "collection_b": other, "diff": with_diff}
    return Call("GET", _path("/v1/explain", **query), served.explanation)


def stats() -> Call[Stats]:
    return Call("GET", "/v1/stats", served.stats)


def runs(count: int) -> Call[list[RunRow]]:
    return Call("GET", _path("/v1/runs", limit=count), lambda answer: served.made(answer["items"], list[RunRow]))


def pairs(
    min_sim: float | None,
    max_sim: float,
    between: tuple[str, str] | None,
    within: str | None,
    sort: PairOrder | None,
    limit: int | None,
    *,
    expand: bool,
) -> Lines[Pair]:
    chosen = _given(min_sim=_least(min_sim), within=within, between=between, sort=sort) | _limited(limit)
    return Lines(_path("/v1/pairs", max_sim=arguments.similarity(max_sim, "max_sim"), expand=expand, **chosen), Pair)


def clusters(min_sim: float | None, options: ClusterOptions | None) -> Lines[Cluster]:
    return Lines(_path("/v1/clusters", **_clustering(min_sim, options)), Cluster)


def members(min_sim: float | None, options: ClusterOptions | None) -> Lines[Member]:
    return Lines(_path("/v1/clusters", **_clustering(min_sim, options), members=True), Member)


def _clustering(min_sim: float | None, options: ClusterOptions | None) -> dict[str, Any]:
    """Raises: UsageError: a service cannot do this."""
    chosen = arguments.options(options, ClusterOptions)
    if chosen.prefer or chosen.measure != "jaccard":
        raise refused("take --prefer or --measure containment for clusters")
    names = ("keep", "linkage", "within", "min_size", "limit")
    return _given(min_sim=_least(min_sim), **{name: getattr(chosen, name) for name in names})


def _given(**values: object) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _path(path: str, **query: object) -> str:
    written = {name: str(value).lower() if isinstance(value, bool) else value for name, value in query.items()}
    return f"{path}?{urlencode(written, doseq=True)}" if query else path


def _document(doc_id: str, **query: object) -> str:
    return _path(f"/v1/documents/{quote(arguments.name('an id', doc_id), safe='')}", **query)


def _limited(limit: int | None) -> dict[str, Any]:
    return _given(limit=arguments.limit("limit", limit))


def _least(min_sim: float | None) -> float | None:
    return None if min_sim is None else arguments.similarity(min_sim)


def _dated(document: Document) -> dict[str, Any]:
    """Return a document to add. Raises: UsageError, BadDocument: an index would refuse it."""
    require_fit(arguments.document(document), _params(document))
    return _content(document) | _given(dated_at=document.dated_at)


def _content(document: Document) -> dict[str, Any]:
    """Return the text or the features of a document. Raises: UsageError, BadDocument."""
    text = text_of(arguments.document(document), _params(document))
    if document.features is None:
        return {"text": served.without_surrogates(text)}
    return {"features": [served.without_surrogates(one) for one in document.features]}


def _params(document: Document) -> Params:
    """Return the parameters of an index that the document may fit. Only the service knows those of its index."""
    return Params(shingle="word:5" if document.features is None else "set")
