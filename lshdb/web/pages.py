"""The pages: what a person looks at. They are rendered here, and work without a script."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qs

from fastapi import Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from lshdb.answers.explain import Explanation
from lshdb.answers.worddiff import Hunk, WordDiff, diff
from lshdb.clusters.catalogue import Catalogue, ClusterOrder
from lshdb.clusters.clusters import ClusterOptions
from lshdb.errors import DocumentUnknown, LshdbError, TextsNotKept
from lshdb.index import Index
from lshdb.model.values import MAX_ID_BYTES, Document
from lshdb.web import charts
from lshdb.web.desk import Desk
from lshdb.web.kept import Kept
from lshdb.web.lists import catalogue
from lshdb.web.problems import status_of
from lshdb.web.templating import address_of, assets, environment
from lshdb.web.texts import text_of

__all__ = ["Pages"]

CLUSTERS: Final = 50
MEMBERS: Final = 500
MATCHES: Final = 50
BUCKETS: Final = 20
# Characters of a text that a page shows.
SHOWN_TEXT: Final = 20_000
# Texts that are compared word by word while somebody types.
COMPARED_TEXT: Final = 100_000

VERDICTS: Final[Mapping[str, str]] = {
    "same_content": "They have the same text, but for case, punctuation and white space.",
    "pair": "They are a pair.",
    "empty": "One of them has no words, so it has no near-duplicates.",
    "not_in_index": "One of them is not in the index.",
    "not_linked": "They were not compared yet.",
    "below_floor": "They are not a pair: they are less similar than this index stores.",
    "no_shared_band": "They are not a pair: their signatures share no band, so they were never compared.",
    "ruled_out": "They are not a pair: their signatures ruled it out before the texts were compared.",
    "hot_bucket": "They are not a pair: they share only oversized buckets, whose texts are not all compared.",
    "missing": "They should be a pair. Run lshdb check.",
}

Page = Callable[["Pages", Request], Awaitable[Response]]


def _shown(page: Page) -> Page:
    """Return a page that shows errors as pages, too."""

    @wraps(page)
    async def answer(self: Pages, request: Request) -> Response:
        try:
            return await page(self, request)
        except LshdbError as error:
            return self.problem(status_of(error), str(error))
        except HTTPException as error:
            return self.problem(error.status_code, str(error.detail))

    return answer


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the form of the clusters asks for."""

    holding: str
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
            holding=query.get("holding", "").replace("\0", "")[:500],
            min_sim=min(1.0, max(floor, _number(query.get("min_sim"), index.params.min_sim))),
            min_size=int(min(1e6, max(2, _number(query.get("min_size"), 2)))),
            within=query.get("within", ""),
            sort="newest" if query.get("sort") == "newest" else "size",
            page=int(min(1e6, max(1, _number(query.get("page"), 1)))),
        )


class Pages:
    """Endpoints of the pages."""

    def __init__(self, desk: Desk, kept: Kept) -> None:
        self._desk = desk
        self._kept = kept
        self._templates = environment()
        self._assets = assets()

    @_shown
    async def overview(self, request: Request) -> Response:
        """The size of the index, its similarities, its recall and its runs."""
        return self._page("overview", "Overview", "/", await self._desk.list(self.figures))

    def figures(self, index: Index) -> dict[str, Any]:
        """Return what the overview shows. A service computes it before anybody asks."""
        stats = self._kept.get(index, "stats", Index.stats)
        clusters = catalogue(index, self._kept, None, ClusterOptions())
        numbers = self._kept.get(index, "histogram", Index.histogram)
        num_documents = stats.figures.num_documents
        return {
            "figures": stats.figures,
            "collections": stats.collections,
            "num_clusters": len(clusters),
            "redundant": clusters.num_redundant / num_documents if num_documents else 0.0,
            "runs": index.runs(12),
            **charts.drawn(index.params, stats.recall, numbers),
        }

    @_shown
    async def clusters(self, request: Request) -> Response:
        """The clusters, sorted, searched and page by page."""
        asked = _Asked.of(self._desk.index, request.query_params)

        def listed(index: Index) -> dict[str, Any]:
            known = self._kept.get(index, "collections", Index.collections)
            within = asked.within if asked.within in known else None
            found = catalogue(index, self._kept, asked.min_sim, ClusterOptions(within=within))
            return _part(found, asked) | {"collections": known, "asked": asked}

        return self._page("clusters", "Clusters", "/clusters", await self._desk.list(listed))

    @_shown
    async def cluster(self, request: Request) -> Response:
        """The documents of one cluster."""
        asked, name = _Asked.of(self._desk.index, request.query_params), request.query_params.get("cluster", "")

        def members(index: Index) -> dict[str, Any] | None:
            known = self._kept.get(index, "collections", Index.collections)
            within = asked.within if asked.within in known else None
            found = catalogue(index, self._kept, asked.min_sim, ClusterOptions(within=within))
            place = found.place(name)
            shown = [] if place is None else found.members(place, MEMBERS)
            if place is None or not shown:
                return None
            kept = shown[0]
            return {
                "cluster": name,
                "size": found.size(place),
                "members": shown,
                "kept": kept,
                "text": _text(index, kept.document, kept.collection),
                "collections": known,
            }

        found = await self._desk.list(members)
        if found is None:
            raise HTTPException(HTTPStatus.NOT_FOUND, "There is no such cluster any more.")
        return self._page("cluster", "Cluster", "/clusters", found)

    @_shown
    async def document(self, request: Request) -> Response:
        """One document and its near-duplicates."""
        doc_id, collection = _named(request, "id", "collection")

        def read(index: Index) -> dict[str, Any]:
            matches = index.query_id(doc_id, None, collection)[:MATCHES]
            text = _text(index, doc_id, collection)
            return {
                "document": _stored(index, doc_id, collection),
                "text": "The text is not kept in the index." if text is None else text,
                "collection": collection,
                "matches": matches,
            }

        return self._page("document", doc_id[:100], "", await self._desk.list(read))

    @_shown
    async def compare(self, request: Request) -> Response:
        """Two documents and what differs."""
        (a, in_a), (b, in_b) = _named(request, "a", "collection_a"), _named(request, "b", "collection_b")
        found: Explanation = await self._desk.list(lambda index: index.explain(a, b, (in_a, in_b), ids=True))
        left, right = _sides(found.word_diff)
        shown = {
            "found": found,
            "verdict": VERDICTS[found.status],
            "asked": {"a": a, "b": b, "collection_a": in_a, "collection_b": in_b},
            "view": "inline" if request.query_params.get("view") == "inline" else "sides",
            "left": left,
            "right": right,
        }
        return self._page("compare", "Two documents", "", shown)

    @_shown
    async def ask(self, request: Request) -> Response:
        """The near-duplicates of a text that somebody types."""
        text = ""
        if request.method == "POST":
            given = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=10)
            text = given.get("text", [""])[0]
        found = await self._desk.ask(lambda index: _answer(index, text))
        known = await self._desk.ask(lambda index: self._kept.get(index, "collections", Index.collections))
        template = "answer" if request.headers.get("x-part") == "answer" else "ask"
        return self._page(template, "Ask", "/ask", found | {"text": text, "collections": known})

    @_shown
    async def boilerplate(self, request: Request) -> Response:
        """The largest buckets, and the passages that most documents share."""

        def found(index: Index) -> dict[str, Any]:
            has = bool(index.params.passages)
            passages = self._kept.get(index, "boilerplate", Index.boilerplate) if has else None
            return {
                "buckets": self._kept.get(index, "buckets", lambda index: index.hottest(BUCKETS)),
                "passages": passages,
            }

        return self._page("boilerplate", "Boilerplate", "/boilerplate", await self._desk.list(found))

    async def asset(self, name: str) -> Response:
        """A file that pages load."""
        if name not in self._assets:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        content, media_type = self._assets[name]
        return Response(content, media_type=media_type, headers={"Cache-Control": "max-age=300"})

    def problem(self, status: int, detail: str) -> Response:
        """Return a page that says what went wrong."""
        return self._page("problem", HTTPStatus(status).phrase, "", {"detail": detail}, status)

    def _page(self, name: str, title: str, here: str, values: Mapping[str, Any], status: int = 200) -> Response:
        common = {"title": title, "here": here, "index": self._desk.index, "writable": self._desk.options.writable}
        text = self._templates.get_template(f"{name}.html").render(common | dict(values))
        return Response(text.encode("utf-8", "replace"), status, media_type="text/html; charset=utf-8")


def _part(found: Catalogue, asked: _Asked) -> dict[str, Any]:
    """Return one page of clusters, with the addresses of those before and after it."""
    places = found.places(asked.sort, asked.holding, asked.min_size)
    begin = CLUSTERS * (asked.page - 1)
    listed = found.listed(places[begin : begin + CLUSTERS].tolist())
    query = {name: getattr(asked, name) for name in ("holding", "min_sim", "min_size", "within", "sort")}
    return {
        "clusters": listed,
        "total": len(places),
        "first": begin + 1,
        "last": min(begin + CLUSTERS, len(places)),
        "earlier": address_of("/clusters", page=asked.page - 1, **query) if asked.page > 1 else None,
        "later": address_of("/clusters", page=asked.page + 1, **query) if begin + CLUSTERS < len(places) else None,
    }


def _answer(index: Index, text: str) -> dict[str, Any]:
    """Return the near-duplicates of a text, and what differs from the first of them."""
    if not text.strip():
        return {"matches": [], "diff": None}
    features = tuple(text.split("\n")) if index.params.shingle == "set" else None
    asked = Document("the question", "" if features else text, features)
    matches = index.query(asked)[:MATCHES]
    first = text_of(index, matches[0].id, matches[0].collection) if matches and len(text) < COMPARED_TEXT else None
    return {"matches": matches, "diff": None if first is None else diff(text, first[:COMPARED_TEXT])}


def _stored(index: Index, doc_id: str, collection: str) -> Document:
    """Return a document, without its text if the index keeps none. Raises: DocumentUnknown."""
    try:
        found = index.get(doc_id, collection)
    except TextsNotKept:
        return Document(doc_id)
    if found is None:
        raise DocumentUnknown(doc_id=doc_id, collection=collection, url=index.url)
    return found


def _text(index: Index, doc_id: str, collection: str) -> str | None:
    """Return the beginning of a text; None if the index keeps none."""
    text = text_of(index, doc_id, collection)
    return text if text is None or len(text) <= SHOWN_TEXT else f"{text[:SHOWN_TEXT]} …"


def _sides(found: WordDiff | None) -> tuple[list[Hunk], list[Hunk]]:
    """Return the hunks of the left and of the right text."""
    hunks = found.hunks if found is not None else ()
    left, right, kind = list[Hunk](), list[Hunk](), "equal"
    for hunk in hunks:
        # Words that are left out belong to the hunk before them.
        kind = hunk.kind if hunk.kind != "elided" else kind
        if kind != "added":
            left.append(hunk)
        if kind != "removed":
            right.append(hunk)
    return left, right


def _named(request: Request, name: str, collection: str) -> tuple[str, str]:
    """Return the id and the collection in an address. Raises: HTTPException: there is none."""
    doc_id = request.query_params.get(name, "")
    where = request.query_params.get(collection) or "default"
    for given in (doc_id, where):
        if not given or "\0" in given or len(given.encode("utf-8", "surrogatepass")) > MAX_ID_BYTES:
            raise HTTPException(HTTPStatus.BAD_REQUEST, f"Name a document: an id has 1 to {MAX_ID_BYTES:,} bytes.")
    return doc_id, where


def _number(given: str | None, default: float) -> float:
    try:
        number = float(given or default)
    except ValueError:
        return default
    return number if number == number else default
