"""Threads for blocking work, with limits on how much runs, how much waits, and how long a client waits."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from http import HTTPStatus
from typing import Any, Final, Generic, TypeVar

from starlette.exceptions import HTTPException

__all__ = ["Work"]

_Made = TypeVar("_Made")

# A call that takes longer is slow. Most take one or two milliseconds.
SLOW_SECONDS: Final = 0.02


class _Call(Generic[_Made]):
    """A call that is run by the thread that comes first."""

    def __init__(self, function: Callable[[], _Made]) -> None:
        self.future: Future[_Made] = Future()
        self._function = function
        self._taken = threading.Lock()

    @property
    def is_waiting(self) -> bool:
        """Whether no thread has begun it."""
        return not self._taken.locked()

    def run(self) -> None:
        """Run it, unless another thread has begun it, or nobody waits for it any more."""
        if not self._taken.acquire(blocking=False) or not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(self._function())
        except BaseException as error:
            self.future.set_exception(error)


class Work:
    """Threads of one kind. One of them works; the others step in only while it is busy with a slow call.

    Python runs one thread at a time. On an index of a million documents, two processes of two threads that share the
    work evenly answered 670 questions per second, and of one thread 1,120.

    Args:
        threads: how many calls run at a time.
        waiting: how many more may wait for a thread.
        seconds: how long a caller waits. A call that has begun runs to its end, and keeps its place until then.
    """

    def __init__(self, name: str, threads: int, waiting: int, seconds: float) -> None:
        self._first = ThreadPoolExecutor(1, thread_name_prefix=f"lshdb-{name}")
        self._others = ThreadPoolExecutor(threads - 1, f"lshdb-{name}-more") if threads > 1 else None
        self._places = threading.Semaphore(threads + waiting)
        self._seconds = seconds
        # When the first thread began the call that it runs.
        self._began = math.inf

    async def call(self, function: Callable[[], _Made]) -> _Made:
        """Return what a function returns in a thread. Raises: HTTPException: too much work, or it takes too long."""
        if not self._places.acquire(blocking=False):
            raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, "too many requests are waiting; try again later")
        call = _Call(function)
        call.future.add_done_callback(lambda _: self._places.release())
        self._first.submit(self._run, call)
        helping = asyncio.get_running_loop().call_later(SLOW_SECONDS, self._help, call)
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.wrap_future(call.future)
        except TimeoutError:
            raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, f"no answer within {self._seconds:g} s") from None
        finally:
            helping.cancel()

    def close(self) -> None:
        """Wait for the calls that run, and drop those that wait."""
        for pool in (self._first, self._others):
            if pool is not None:
                pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, call: _Call[Any]) -> None:
        self._began = time.monotonic()
        call.run()
        self._began = math.inf

    def _help(self, call: _Call[Any]) -> None:
        """Pass a call that waits for a slow one to another thread; if there is no slow one, look again later."""
        if self._others is None or not call.is_waiting:
            return
        if time.monotonic() - self._began >= SLOW_SECONDS:
            self._others.submit(call.run)
        elif not call.future.done():
            asyncio.get_running_loop().call_later(SLOW_SECONDS, self._help, call)
