"""Serve an index until a signal ends it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import uvicorn

from lshdb.index import Index
from lshdb.model.progress import Progress
from lshdb.store import interrupts
from lshdb.web.app import application
from lshdb.web.options import ServeOptions

__all__ = ["serve"]

# How long requests may take to finish after a signal.
GRACE_SECONDS: Final = 10
# Connections at a time. More of them than requests that may wait is normal: browsers keep theirs open.
CONNECTIONS: Final = 1_000

_log = logging.getLogger("lshdb")


class _Logged(Progress):
    """Passes on what somebody should know."""

    def noticed(self, message: str) -> None:
        _log.info(message)

    def warned(self, message: str) -> None:
        _log.warning(message)


def serve(url: str, options: ServeOptions, ready: Callable[[str], None]) -> None:
    """Serve the index at a URL or path. Returns when SIGINT or SIGTERM has come, and all requests are answered.

    Args: ready: is called with a line about the service before it begins.
    Raises: as `Index.open`.
    """
    # Progress is without state, so all threads can share it.
    progress = _Logged()
    app = application(lambda: Index.open(url, progress, read_only=not options.writable), options)
    access = "writable" if options.writable else "read-only"
    host = f"[{options.host}]" if ":" in options.host else options.host
    ready(f"{access} at http://{host}:{options.port}/")
    config = uvicorn.Config(
        app,
        host=options.host,
        port=options.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    # uvicorn raises the signal again after it has stopped.
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run()
    interrupts.heard()
