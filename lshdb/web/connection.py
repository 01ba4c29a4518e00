"""A connection to the service: how large a head may be, and how long a client may take to send one, or to read.

The head of a request is its first line and its headers. The guard sees a request only after its head has ended.
"""

from __future__ import annotations

import re
from asyncio import TimerHandle, Transport
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from lshdb.web.options import Limits

__all__ = ["Connection"]

# Bytes of a head, or of the trailer of a body. An address may have 16,000.
MAX_HEAD: Final = 65_536

# httptools takes a body that follows for one of HTTP/2. Java and curl ask in this way with their first request.
UPGRADE: Final = re.compile(rb"\r\nupgrade:(?=[ \t]*h2c)", re.IGNORECASE)


class Connection(HttpToolsProtocol):
    """Ends when a head has not come, or when the client does not read its answer.

    Args: limits: `seconds` for a head, however many bytes come meanwhile; `stream_seconds` without reading.
    """

    def __init__(self, *args: Any, limits: Limits, **more: Any) -> None:
        super().__init__(*args, **more)
        self._limits = limits
        # Since the last head or part of a body.
        self._num_bytes = 0
        self._awaiting_head: TimerHandle | None = None
        self._awaiting_reader: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        _cancel(self._awaiting_head)
        _cancel(self._awaiting_reader)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._num_bytes and self._awaiting_head is not None and not self._awaiting_head.cancelled():
            end = data.find(b"\r\n\r\n")
            head = data if end < 0 else data[:end]
            if UPGRADE.search(head):
                data = UPGRADE.sub(b"\r\nIgnored:", head) + data[len(head) :]
        self._num_bytes += len(data)
        super().data_received(data)
        if self._num_bytes > MAX_HEAD:
            self.send_400_response(f"The headers of a request have at most {MAX_HEAD:,} bytes.")

    def on_headers_complete(self) -> None:
        self._num_bytes = 0
        _cancel(self._awaiting_head)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._num_bytes = 0
        super().on_body(body)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # Otherwise, the next request has already come.
        if self.cycle.response_complete:
            self._await_head()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._awaiting_reader = self.loop.call_later(self._limits.stream_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._awaiting_reader)

    def _await_head(self) -> None:
        # What a slow client has not read yet is still sent.
        self._awaiting_head = self.loop.call_later(self._limits.seconds, self.transport.close)


def _cancel(timer: TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
