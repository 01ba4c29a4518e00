"""Answers short texts without FastAPI, and at once if possible: in the thread that reads the request.

On an index of a million documents in SQLite, half of the time of a question went into handing it to another thread and
back, and into FastAPI. An answer has the same bytes either way. Whatever is unusual, long or wrong about a question is
left to the application.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from fastapi.responses import Response

from lshdb.errors import LshdbError
from lshdb.model.values import Document
from lshdb.web.desk import Desk
from lshdb.web.guard import App, Message, Receive, Scope, Send
from lshdb.web.problems import of_error
from lshdb.web.questions import QUESTION
from lshdb.web.values import json

__all__ = ["Quick"]

# Sketching that much takes a millisecond.
QUICK_BYTES: Final = 65_536
JSON: Final = (b"content-type", b"application/json")


class _Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What most clients send. FastAPI checks all other questions, and says what is wrong with them."""

    text: str
    k: Annotated[int, msgspec.Meta(ge=1)] | None = 100
    min_sim: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] | None = None


_ASKED: Final = msgspec.json.Decoder(_Asked)


class Quick:
    """Answers what it can, and passes the rest to an application."""

    def __init__(self, app: App, desk: Desk) -> None:
        self._app = app
        self._desk = desk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or (scope["method"], scope["path"]) != ("POST", "/v1/query"):
            await self._app(scope, receive, send)
            return
        message = await receive()
        asked = None if JSON not in scope["headers"] else _asked(message)
        if asked is None:
            await self._app(scope, _again(message, receive), send)
        else:
            answer = await self._answer(asked)
            await answer(scope, receive, send)

    async def _answer(self, asked: _Asked) -> Response:
        document = Document(QUESTION, asked.text)
        try:
            found = self._desk.at_once(lambda index: index.query_at_once(document, asked.min_sim))
            if found is None:
                found = await self._desk.ask(lambda index: index.query(document, asked.min_sim))
        except LshdbError as error:
            return of_error(error)
        return json({"matches": found[: asked.k]})


def _asked(message: Message) -> _Asked | None:
    """Return the question of a whole body; None if it is not a short text, and nothing unusual."""
    body = message.get("body", b"")
    if message.get("more_body") or len(body) > QUICK_BYTES:
        return None
    try:
        return _ASKED.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _again(message: Message, receive: Receive) -> Receive:
    """Return a function that receives a message once more, and then the following ones."""
    read = [message]

    async def received() -> Message:
        return read.pop() if read else await receive()

    return received
