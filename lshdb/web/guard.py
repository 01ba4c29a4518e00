"""What a request must pass before anything reads it: its Host, its token, where it comes from, and the size and time
of its body.

Every answer leaves with headers that keep a browser from loading anything from elsewhere.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from starlette.exceptions import HTTPException

from lshdb.web.options import ServeOptions
from lshdb.web.problems import problem

__all__ = ["OPEN_PATHS", "Guard"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# Bytes of an address: ids have up to 2,000, and one may be percent-encoded and occur twice.
MAX_ADDRESS: Final = 16_000
LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
# A load balancer asks without a token.
OPEN_PATHS: Final = frozenset({"/healthz"})

HEADERS: Final = [
    (
        b"content-security-policy",
        b"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
]


# Methods that change nothing.
READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class Guard:
    """Refuses what may not pass, and passes the rest to an application."""

    def __init__(self, app: App, options: ServeOptions) -> None:
        self._app = app
        self._options = options
        self._hosts = LOOPBACK_NAMES | {options.host}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _Body(receive, self._options.limits.body, self._options.limits.seconds)
        headed = _headed(send)
        try:
            self._require(scope)
            # The server itself leaves the body of an answer to HEAD out.
            passed = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
            await self._app(passed, body.receive, headed)
        except HTTPException as refused:
            await problem(refused.status_code, refused.detail)(scope, receive, headed)

    def _require(self, scope: Scope) -> None:
        """Raises: HTTPException."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MAX_ADDRESS:
            raise HTTPException(HTTPStatus.REQUEST_URI_TOO_LONG, f"an address has at most {MAX_ADDRESS:,} bytes")
        _require_utf8(scope)
        if self._options.token is None:
            self._require_host(headers.get(b"host", ""))
        elif scope["path"] not in OPEN_PATHS and not self._is_allowed(headers.get(b"authorization", "")):
            raise HTTPException(HTTPStatus.UNAUTHORIZED, "send the token of this service: Authorization: Bearer TOKEN")
        if scope["method"] not in READING:
            _require_same_origin(headers)
        length = headers.get(b"content-length", "0")
        if not length.isdecimal() or int(length[:20]) > self._options.limits.body:
            raise _too_large(self._options.limits.body)

    def _require_host(self, host: str) -> None:
        """Raises: HTTPException: it is no name of this machine, so a page from elsewhere may have sent the request."""
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        if name.lower() not in self._hosts:
            raise HTTPException(
                HTTPStatus.MISDIRECTED_REQUEST,
                f"this service answers to {', '.join(sorted(self._hosts))}; with a token it answers to every name",
            )

    def _is_allowed(self, authorization: str) -> bool:
        scheme, _, sent = authorization.partition(" ")
        if scheme.lower() == "basic":
            # What a browser sends after it has asked for a password; the name does not matter.
            sent = _password(sent)
        elif scheme.lower() != "bearer":
            return False
        return hmac.compare_digest(sent.strip().encode(), (self._options.token or "").encode())


class _Body:
    """Passes a body on, and counts it."""

    def __init__(self, receive: Receive, most: int, seconds: float) -> None:
        self._receive = receive
        self._most = most
        self._seconds = seconds
        self._size = 0
        self._ended = False

    async def receive(self) -> Message:
        """Return the next message. Raises: HTTPException: the body is too large, or does not come."""
        if self._ended:
            return await self._receive()
        try:
            async with asyncio.timeout(self._seconds):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(HTTPStatus.REQUEST_TIMEOUT, f"no body within {self._seconds:g} s") from None
        self._size += len(message.get("body", b""))
        self._ended = not message.get("more_body", False)
        if self._size > self._most:
            raise _too_large(self._most)
        return message


def _headed(send: Send) -> Send:
    """Return a function that adds the headers of every answer."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await send(message)

    return sent


def _require_utf8(scope: Scope) -> None:
    """Raises: HTTPException: two such ids would become the same one, because each wrong byte is read as U+FFFD."""
    sent = (scope.get("raw_path") or b"") + b"?" + scope["query_string"]
    if b"%" in sent or not sent.isascii():
        try:
            unquote_to_bytes(sent).decode()
        except UnicodeDecodeError:
            raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, "the address is not UTF-8") from None


def _require_same_origin(headers: dict[bytes, str]) -> None:
    """Raises: HTTPException: a browser sends the request on behalf of a page from elsewhere.

    Only browsers send these headers. Old ones, and those that reach the service by plain HTTP, send no Sec-Fetch-Site.
    """
    site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
    if site is not None:
        is_ours = site in ("same-origin", "none")
    else:
        is_ours = origin is None or origin.partition("://")[2] == headers.get(b"host")
    if not is_ours:
        raise HTTPException(HTTPStatus.FORBIDDEN, "a page from elsewhere has sent this request")


def _too_large(most: int) -> HTTPException:
    return HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body has at most {most:,} bytes")


def _password(encoded: str) -> str:
    try:
        return base64.b64decode(encoded, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""
