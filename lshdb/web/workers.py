"""Several processes that serve one socket.

Python runs one thread at a time, so two processes answer twice as many questions on two cores.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Final, NoReturn

from lshdb.errors import WorkerLost
from lshdb.store import interrupts

__all__ = ["supervise"]

# A process that ends sooner would end again at once.
MIN_SECONDS: Final = 5.0


def supervise(number: int, work: Callable[[], None], min_seconds: float = MIN_SECONDS) -> None:
    """Run `work` in processes until a signal interrupts this one. A process that dies is replaced.

    The processes end in order when this one ends, even if it is killed.

    Call it before there are other threads, because it forks.

    Args: min_seconds: a process that ends sooner is not replaced.
    Raises: WorkerLost: a process died soon after it began.
    """
    running: dict[int, float] = {}
    # Nobody writes to it. It ends when this process does.
    reading, writing = os.pipe()

    def work_below() -> None:
        os.close(writing)
        Thread(target=_end_with, args=(reading,), daemon=True).start()
        work()

    try:
        while True:
            while len(running) < number:
                running[_started(work_below)] = time.monotonic()
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
        os.close(reading)
        os.close(writing)


def _end_with(reading: int) -> None:
    """End this process in order when the other end of a pipe is closed."""
    os.read(reading, 1)
    os.kill(os.getpid(), signal.SIGTERM)


def _started(work: Callable[[], None]) -> int:
    """Return the id of a new process that does the work."""
    # A signal that came before the new process can end by it would run the handler of this process there, which raises.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, interrupts.SIGNALS)
    try:
        if pid := os.fork():
            return pid
        _end_after(work, before)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_after(work: Callable[[], None], mask: set[int | signal.Signals]) -> NoReturn:
    """Do the work in a new process, and end it. Args: mask: the signals to block."""
    # The service handles signals itself. Before it does, and after it has ended, there is nothing to put in order.
    for number in interrupts.SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)
