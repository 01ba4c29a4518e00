"""Several processes that serve one socket.

Python runs one thread at a time, so two processes answer twice as many questions on two cores.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from lshdb.errors import WorkerLost

__all__ = ["supervise"]

# A process that ends sooner would end again at once.
MIN_SECONDS: Final = 5.0


def supervise(number: int, work: Callable[[], None], min_seconds: float = MIN_SECONDS) -> None:
    """Run `work` in processes until a signal interrupts this one. A process that dies is replaced.

    Call it before there are other threads, because it forks.

    Args: min_seconds: a process that ends sooner is not replaced.
    Raises: WorkerLost: a process died soon after it began.
    """
    running: dict[int, float] = {}
    try:
        while True:
            while len(running) < number:
                running[_started(work)] = time.monotonic()
            pid, status = os.wait()
            began = running.pop(pid, None)
            if began is not None and time.monotonic() - began < min_seconds:
                raise WorkerLost(reason=f"ended soon after it began, with status {os.waitstatus_to_exitcode(status)}")
    except KeyboardInterrupt:
        pass
    finally:
        for pid in running:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        for pid in running:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _started(work: Callable[[], None]) -> int:
    """Return the id of a new process that does the work."""
    if pid := os.fork():
        return pid
    # The service handles signals itself. Before it does, and after it has ended, there is nothing to put in order.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)
