"""The application: which address leads to which function."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from importlib.metadata import version
from typing import Any, Final

from fastapi import FastAPI
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import TypeAdapter
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException

from lshdb.answers.query import load_kernels
from lshdb.clusters.members import Cluster, Member
from lshdb.errors import LshdbError
from lshdb.index import Index
from lshdb.model.decisions import Decision
from lshdb.model.reports import Pair, RunRow
from lshdb.web import problems, values
from lshdb.web.decisions import Decisions
from lshdb.web.desk import Desk
from lshdb.web.guard import OPEN_PATHS, App, Guard
from lshdb.web.kept import Kept
from lshdb.web.lists import Lists
from lshdb.web.options import ServeOptions
from lshdb.web.pages import Pages
from lshdb.web.questions import Questions
from lshdb.web.quick import Quick
from lshdb.web.served import NDJSON

__all__ = ["application"]

DESCRIPTION: Final = """Near-duplicates of documents, and the documents themselves.

Errors are problems as in RFC 9457. The `type` of an error of lshdb is `urn:lshdb:error:` and its name.
"""


class _IdConvertor(PathConvertor):
    """Takes every id, also one with line ends, which `path` does not match."""

    regex = "(?s:.*)"


register_url_convertor("doc_id", _IdConvertor())

# How long a service computes before it answers the first request. What takes longer is computed while it answers.
PREPARING_SECONDS: Final = 10.0


def application(opened: Callable[[], Index], options: ServeOptions) -> App:
    """Return the application of an index. Args: opened: opens the index."""
    desk, kept = Desk(opened, options), Kept()
    pages = Pages(desk, kept)

    @asynccontextmanager
    async def lifespan(_app: object) -> AsyncIterator[None]:
        first = asyncio.create_task(_prepared(desk, pages))
        await asyncio.wait([first], timeout=PREPARING_SECONDS)
        yield
        first.cancel()
        await asyncio.to_thread(desk.close)

    app = (FastAPI if options.token is None else _Secured)(
        title="lshdb",
        version=version("lshdb"),
        description=DESCRIPTION,
        lifespan=lifespan,
        exception_handlers=problems.HANDLERS,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        openapi_url="/v1/openapi.json",
    )
    for method, path, endpoint, answer in _routes(Questions(desk), Lists(desk, kept), Decisions(desk, kept)):
        described = PROBLEMS | ({201: {"description": "Added", "model": answer}} if answer is values.Put else {})
        if method == "GET" and path in LINES:
            described |= {200: {"content": {NDJSON: {"schema": _schema(*LINES[path])}}}}
        app.add_api_route(
            path,
            endpoint,
            methods=[method],
            status_code=HTTPStatus.CREATED if answer is Decision else HTTPStatus.OK,
            response_model=answer,
            response_class=JSONResponse if answer else PlainTextResponse,
            responses=described,
            openapi_extra={"security": []} if path in OPEN_PATHS else None,
        )
    for methods, path, page in pages.routes():
        app.add_api_route(path, page, methods=methods, include_in_schema=False)
    return Guard(Quick(app, desk), options)


class _Secured(FastAPI):
    """Describes the token, which the guard checks."""

    def openapi(self) -> dict[str, Any]:
        described = super().openapi()
        described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        return described | {"security": [{"token": []}]}


def _schema(*kinds: type) -> dict[str, Any]:
    """Return the description of a line, which is a value of one of the classes."""
    return {"anyOf": [TypeAdapter(kind).json_schema() for kind in kinds]}


async def _prepared(desk: Desk, pages: Pages) -> None:
    """Compute what the overview shows, and load the kernels, before somebody waits for it."""
    with suppress(LshdbError, HTTPException):
        await desk.list(pages.prepare)
        await desk.list(lambda index: load_kernels(index.params))
        desk.is_prepared = True


# The values that a list has on its lines.
LINES: Final[dict[str, tuple[type, ...]]] = {
    "/v1/pairs": (Pair,),
    "/v1/clusters": (Cluster, Member),
    "/v1/decisions": (Decision,),
    "/v1/runs": (RunRow,),
}
PROBLEM: Final = {
    "description": "A problem (RFC 9457)",
    "content": {problems.MEDIA_TYPE: {"schema": {"type": "object"}}},
}
PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {"4XX": PROBLEM, "5XX": PROBLEM}


def _routes(ask: Questions, lists: Lists, decisions: Decisions) -> list[tuple[str, str, Callable[..., Any], Any]]:
    """Return (method, path, endpoint, type of the answer, or None for a text)."""
    document = "/v1/documents/{doc_id:doc_id}"
    return [
        ("POST", "/v1/query", ask.query, values.Matches),
        ("POST", "/v1/query:batch", ask.query_batch, values.Answers),
        ("POST", "/v1/documents:add", ask.add, values.Added),
        ("POST", "/v1/documents:remove", ask.remove, values.Changed),
        ("GET", document, ask.document, values.Stored),
        ("PUT", document, ask.put, values.Put),
        ("DELETE", document, ask.delete, values.Changed),
        ("GET", "/v1/explain", ask.explain, dict[str, Any]),
        ("GET", "/v1/pairs", lists.pairs, values.Pairs),
        ("GET", "/v1/clusters", lists.clusters, values.Clusters),
        ("GET", "/v1/clusters/{cluster}", lists.cluster, values.ClusterMembers),
        ("GET", "/v1/decisions", decisions.decisions, values.DecisionList),
        ("POST", "/v1/decisions", decisions.decide, Decision),
        ("POST", "/v1/decisions:add", decisions.add, values.AddedDecisions),
        ("POST", "/v1/decisions:undo", decisions.undo_all, values.Undone),
        ("DELETE", "/v1/decisions/{decision}", decisions.undo, values.Undone),
        ("GET", "/v1/stats", lists.stats, dict[str, Any]),
        ("GET", "/v1/runs", lists.runs, values.Runs),
        ("GET", "/healthz", lists.healthz, dict[str, str]),
        ("GET", "/metrics", lists.metrics, None),
    ]
