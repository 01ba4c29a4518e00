"""Threads that call a function ahead of the caller, for work that releases the interpreter lock or waits."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["calls_ahead", "num_cores"]

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


def num_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def calls_ahead(
    function: Callable[[_Given], _Made], given: Iterable[_Given], threads: int, ahead: int = 0
) -> Generator[_Made, None, None]:
    """Yield ``map(function, given)``, computed by `threads` threads ahead of the caller.

    The caller's thread iterates over `given`. Close the generator to wait for the calls that are running.

    Args: ahead: how many calls may be under way or finished when the caller takes a result; at least `threads`.
    """
    waiting: deque[Future[_Made]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="lshdb-call") as pool:
        try:
            for value in given:
                waiting.append(pool.submit(function, value))
                if len(waiting) > max(threads, ahead):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for call in waiting:
                call.cancel()
