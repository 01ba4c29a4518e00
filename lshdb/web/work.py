"""Threads for blocking work, with limits on how much runs, how much waits, and how long a client waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import TypeVar

from starlette.exceptions import HTTPException

__all__ = ["Work"]

_Made = TypeVar("_Made")


class Work:
    """Threads of one kind.

    Args:
        threads: how many calls run at a time.
        waiting: how many more may wait for a thread.
        seconds: how long a caller waits. A call that has begun runs to its end, and keeps its place until then.
    """

    def __init__(self, name: str, threads: int, waiting: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"lshdb-{name}")
        self._places = threading.Semaphore(threads + waiting)
        self._seconds = seconds

    async def call(self, function: Callable[[], _Made]) -> _Made:
        """Return what a function returns in a thread. Raises: HTTPException: too much work, or it takes too long."""
        if not self._places.acquire(blocking=False):
            raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, "too many requests are waiting; try again later")
        future = self._pool.submit(function)
        future.add_done_callback(lambda _: self._places.release())
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, f"no answer within {self._seconds:g} s") from None

    def close(self) -> None:
        """Wait for the calls that run, and drop those that wait."""
        self._pool.shutdown(wait=True, cancel_futures=True)
