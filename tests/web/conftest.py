"""Fixtures: a service in a thread of this process, and requests to it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest

pytest.importorskip("fastapi", reason="needs the extra web")

import uvicorn

from lshdb import Document, Index
from lshdb.web.options import ServeOptions
from lshdb.web.service import configured

TEN = "one two three four five six seven eight nine ten"
ELEVEN = f"{TEN} eleven"
OTHER = "nothing of the kind is said in here at all"


@dataclass(frozen=True)
class Answer:
    """The status, headers and body of an answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Service:
    """A running service."""

    port: int

    @property
    def address(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    def __call__(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """Send a request. Args: body: bytes, or a value that becomes JSON."""
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, sent, {"Content-Type": "application/json", **named})
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def document(self, doc_id: str) -> str:
        """The path of a document."""
        return f"/v1/documents/{quote(doc_id, safe='')}"


@contextmanager
def serving(url: str, options: ServeOptions) -> Iterator[Service]:
    """Run the service of an index."""
    server = uvicorn.Server(configured(lambda: Index.open(url, read_only=not options.writable), options))
    listening = socket.create_server(("127.0.0.1", 0))
    service = Service(listening.getsockname()[1])
    # Signals belong to the main thread.
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    try:
        yield service
    finally:
        server.should_exit = True
        thread.join(30)


def fill(url: str) -> str:
    with Index.create(url) as index:
        index.add([Document(doc_id, text) for doc_id, text in zip("abcd", (TEN, ELEVEN, TEN, OTHER), strict=True)])
    return url


@pytest.fixture
def filled(url: str) -> str:
    """The URL of an index: a and c have the same text, b is similar to them, d is not."""
    return fill(url)


@pytest.fixture
def sqlite_url(tmp_path: Any) -> str:
    """The same index, in SQLite only."""
    return fill(str(tmp_path / "index.db"))
