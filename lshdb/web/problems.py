"""Errors as RFC 9457 problems. An error of lshdb keeps its name and its fields, so that a client can raise it again."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any, Final

import msgspec
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import Match

from lshdb.errors import (
    AccessDenied,
    BadDocument,
    CaptureUnknown,
    CollectionUnknown,
    DecisionUnknown,
    DocumentUnknown,
    IdConflict,
    IndexBusy,
    IndexReadOnly,
    LshdbError,
    PassagesMissing,
    SameText,
    StoreError,
    StoreUnreachable,
    TextsNotKept,
    TextTooShort,
    UsageError,
)
from lshdb.web.served import NAMESPACE

__all__ = ["HANDLERS", "MEDIA_TYPE", "logged_status", "of_error", "problem"]

MEDIA_TYPE: Final = "application/problem+json"

_LOG: Final = logging.getLogger("uvicorn.error")

# The first class that an error is an instance of decides.
_STATUS: Final[tuple[tuple[type[LshdbError], HTTPStatus], ...]] = (
    (DocumentUnknown, HTTPStatus.NOT_FOUND),
    (CollectionUnknown, HTTPStatus.NOT_FOUND),
    (CaptureUnknown, HTTPStatus.NOT_FOUND),
    (DecisionUnknown, HTTPStatus.NOT_FOUND),
    (SameText, HTTPStatus.CONFLICT),
    (BadDocument, HTTPStatus.UNPROCESSABLE_ENTITY),
    (TextTooShort, HTTPStatus.UNPROCESSABLE_ENTITY),
    (UsageError, HTTPStatus.BAD_REQUEST),
    (IdConflict, HTTPStatus.CONFLICT),
    (PassagesMissing, HTTPStatus.CONFLICT),
    (TextsNotKept, HTTPStatus.CONFLICT),
    (IndexReadOnly, HTTPStatus.FORBIDDEN),
    (AccessDenied, HTTPStatus.SERVICE_UNAVAILABLE),
    (IndexBusy, HTTPStatus.SERVICE_UNAVAILABLE),
    (StoreUnreachable, HTTPStatus.SERVICE_UNAVAILABLE),
)


def logged_status(error: LshdbError) -> HTTPStatus:
    """Return the status of an error of lshdb. If it is a failure of the service, log the error in one line."""
    passing = isinstance(error, StoreError) and error.is_passing
    default = HTTPStatus.SERVICE_UNAVAILABLE if passing else HTTPStatus.INTERNAL_SERVER_ERROR
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), default)
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        _LOG.error(" ".join(str(error).split()))
    return status


def problem(status: int, detail: str, *, kind: str = "about:blank", title: str = "", **more: object) -> Response:
    """Return a problem as a response."""
    described = {"type": kind, "title": title or HTTPStatus(status).phrase, "status": status, "detail": detail, **more}
    headers = {"Retry-After": "1"} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Basic realm="lshdb", charset="UTF-8"'
    # A value that is not JSON, such as a path, is shown as text.
    body = msgspec.json.encode(described, enc_hook=str)
    return Response(body, status, headers, MEDIA_TYPE)


def of_error(error: LshdbError) -> Response:
    """Return an error of lshdb as a response."""
    name = type(error).__name__
    fields = {key: value for key, value in error.fields.items() if key != "url"}
    return problem(logged_status(error), str(error), kind=f"{NAMESPACE}{name}", title=name, fields=fields)


async def _of_lshdb(_request: Request, error: Any) -> Response:
    return of_error(error)


async def _of_status(request: Request, error: Any) -> Response:
    answer = problem(error.status_code, str(error.detail))
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        answer.headers["Allow"] = ", ".join(sorted(_allowed(request)))
    return answer


def _allowed(request: Request) -> set[str]:
    """Return the methods of an address, each of which has a route of its own."""
    routes = (route for route in request.app.routes if route.matches(request.scope)[0] != Match.NONE)
    methods = {method for route in routes for method in route.methods}
    return methods | ({"HEAD"} if "GET" in methods else set())


async def _of_request(_request: Request, error: Any) -> Response:
    # FastAPI reads no body of another type.
    if isinstance(error.body, bytes):
        return problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body is JSON: send Content-Type: application/json")
    # Without the values themselves, which may be long, or not JSON.
    faults = [{"at": ".".join(map(str, fault["loc"])), "reason": fault["msg"]} for fault in error.errors()[:10]]
    detail = "; ".join(f"{fault['at']}: {fault['reason']}" for fault in faults)
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail[:2_000], errors=faults)


# Exceptions, and what answers them.
HANDLERS: Final[dict[Any, Any]] = {
    LshdbError: _of_lshdb,
    HTTPException: _of_status,
    RequestValidationError: _of_request,
}
