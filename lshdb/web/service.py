"""Serve an index until a signal ends it."""

from __future__ import annotations

import logging
import socket
from asyncio import CancelledError
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

import uvicorn

from lshdb.errors import UsageError, reason_of
from lshdb.index import Index
from lshdb.store import interrupts
from lshdb.web.app import application
from lshdb.web.connection import Connection
from lshdb.web.options import ServeOptions
from lshdb.web.workers import supervise

__all__ = ["configured", "serve"]

# How long requests may take to finish after a signal.
GRACE_SECONDS: Final = 10
# Connections at a time. More of them than requests that may wait is normal: browsers keep theirs open.
CONNECTIONS: Final = 1_000
BACKLOG: Final = 2_048


def serve(url: str, options: ServeOptions, ready: Callable[[str], None]) -> None:
    """Serve the index at a URL or path. Returns when SIGINT or SIGTERM has come, and all requests are answered.

    Args: ready: is called with a line about the service before it begins.
    Raises: as `Index.open`; UsageError: the address is not free; WorkerLost.
    """
    opened = partial(Index.open, url, read_only=not options.writable)
    alone = options.workers == 1
    with _listening(options) as listening:
        host, port = listening.getsockname()[:2]
        if not alone:
            # Here, an error is still a line. The processes open the index again: no connection survives a fork.
            opened().close()
            listening.close()
        access = "writable" if options.writable else "read-only"
        ready(f"{access} at http://{f'[{host}]' if ':' in host else host}:{port}/")
        # uvicorn raises the signal again after it has stopped.
        with suppress(KeyboardInterrupt):
            if alone:
                _run(opened, options, listening)
            else:
                supervise(options.workers, lambda: _run(opened, options, _listening(options, shared=True)))
        interrupts.heard()


def configured(opened: Callable[[], Index], options: ServeOptions) -> uvicorn.Config:
    """Return how uvicorn runs the service of an index. Args: opened: opens the index."""
    return uvicorn.Config(
        application(opened, options),
        http=partial(Connection, limits=options.limits),  # type: ignore[arg-type]
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def _run(opened: Callable[[], Index], options: ServeOptions, listening: socket.socket) -> None:
    config = configured(opened, options)
    # uvicorn says in a line that it cancels streams that take longer than that. Their tracebacks say nothing more.
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    uvicorn.Server(config).run([listening])


def _is_news(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], CancelledError))


def _listening(options: ServeOptions, *, shared: bool = False) -> socket.socket:
    """Return a socket at the address.

    Args: shared: several processes listen there, and the system spreads the connections. If they shared one socket, the
        first process to wake up would take all waiting connections.
    Raises: UsageError: the address is not free, or not of this machine.
    """
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        options.host.encode("idna")  # A socket would raise a TypeError, and stay open.
        return socket.create_server((options.host, options.port), family=family, backlog=BACKLOG, reuse_port=shared)
    except (OSError, UnicodeError) as error:
        why = reason_of(error) if isinstance(error, OSError) else str(error)
        reason = f"cannot listen at {options.host}, port {options.port}: {why}"
        raise UsageError(reason=reason) from None
