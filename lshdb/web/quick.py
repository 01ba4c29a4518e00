"""Answers short texts at once, in the thread that reads the request, and passes everything else to an application.

On an index of a million documents in SQLite, half of the time of a question went into handing it to another thread and
back, and into FastAPI. An answer is the same either way: whatever is unusual about a question, or long, or wrong, is
left to the application.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from lshdb.errors import LshdbError
from lshdb.model.values import Document
from lshdb.web.desk import Desk
from lshdb.web.guard import App, Message, Receive, Scope, Send
from lshdb.web.questions import QUESTION
from lshdb.web.values import MAX_MATCHES, json

__all__ = ["Quick"]

# Sketching that much takes a millisecond.
QUICK_BYTES: Final = 65_536
JSON: Final = (b"content-type", b"application/json")


class _Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What most clients send. FastAPI checks all other questions, and says what is wrong with them."""

    text: str
    k: Annotated[int, msgspec.Meta(ge=1, le=MAX_MATCHES)] = 100
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
        answer = None if message.get("more_body") or JSON not in scope["headers"] else self._answer(message)
        if answer is not None:
            await json(answer)(scope, receive, send)
        else:
            await self._app(scope, _again(message, receive), send)

    def _answer(self, message: Message) -> dict[str, object] | None:
        """Return the answer to a whole body; None if it would take long, or is an error."""
        body = message.get("body", b"")
        if len(body) > QUICK_BYTES:
            return None
        try:
            asked = _ASKED.decode(body)
            document = Document(QUESTION, asked.text)
            found = self._desk.at_once(lambda index: index.query_at_once(document, asked.min_sim))
        except (msgspec.DecodeError, UnicodeDecodeError, LshdbError):
            return None
        return None if found is None else {"matches": found[: asked.k]}


def _again(message: Message, receive: Receive) -> Receive:
    """Return a function that receives a message once more, and then the following ones."""
    read = [message]

    async def received() -> Message:
        return read.pop() if read else await receive()

    return received
