"""Runs the making of an ingest ahead of its writing: in a thread of this process, or in several processes.

Knows nothing of documents. Results come in the order of what was given, and only some of them wait at a time, so the
memory is bounded. Ctrl-C is left to the caller; a worker process whose caller is gone ends by itself.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from importlib import import_module
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pickle import PicklingError
from queue import Empty, Full, Queue, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, Final, Generic, TypeVar

from lshdb.errors import LshdbError, WorkerLost
from lshdb.linking.calls import calls_ahead

__all__ = ["Ahead", "in_processes"]

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")

# Values that wait for the caller: chunks for a batch of 64 MB, so that making goes on while the last one is written.
# A chunk holds compressed texts, about 2 MB.
WAITING: Final = 16
POLL_SECONDS: Final = 0.1
# How long an interrupted caller waits for the thread; it may be in the middle of a chunk, or of a read that hangs.
STOP_SECONDS: Final = 10.0
# What is imported before workers are forked: the code of `make`, with its kernels loaded.
PRELOADED: Final = "lshdb.sketch.loaded"


class Ahead(Generic[_Made]):
    """A thread that makes values before the caller takes them. A context manager that ends the thread.

    Args: make: runs in that thread, and hands every value to the function that it is called with.
    """

    def __init__(self, make: Callable[[Callable[[_Made], None]], None], waiting: int = WAITING) -> None:
        self.ended = False
        self._make = make
        self._made: Queue[tuple[_Made | None, BaseException | None]] = Queue(waiting)
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="lshdb-make", daemon=True)

    def __enter__(self) -> Ahead[_Made]:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join(STOP_SECONDS)

    def take(self, seconds: float | None = None) -> _Made | None:
        """Return the next value; None if there is none within so many seconds, or `ended`.

        Raises: whatever making it raised.
        """
        if self.ended:
            return None
        try:
            made, error = self._made.get(timeout=seconds)
        except Empty:
            return None
        if error is not None:
            raise error
        self.ended = made is None
        return made

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            self._make(self._put)
        except BaseException as raised:
            error = raised
        with suppress(_Stopped):
            self._hand_over(None, error)

    def _put(self, made: _Made) -> None:
        self._hand_over(made, None)

    def _hand_over(self, made: _Made | None, error: BaseException | None) -> None:
        """Raises: _Stopped: nobody takes values any more."""
        while not self._stopped.is_set():
            with suppress(Full):
                self._made.put((made, error), timeout=POLL_SECONDS)
                return
        raise _Stopped


class _Stopped(Exception):
    """Ends the thread's work."""


def in_processes(
    function: Callable[[_Given], _Made], given: Iterable[_Given], workers: int
) -> Generator[_Made, None, None]:
    """Yield ``map(function, given)``, computed by so many worker processes.

    A generator to be closed: that ends the processes.

    Args: function: is pickled, as what is given and made is; what cannot be pickled is made in this process.
    Raises: WorkerLost: a worker died, or `function` failed; the LshdbError that `function` raised.
    """
    pool = _Pool(function, workers)
    # A thread for each process: it sends, waits and receives, so that neither end ever blocks the other.
    calls = calls_ahead(pool.call, given, workers)
    try:
        # Not "yield from": the processes must end first, which ends the calls under way.
        for made in calls:  # noqa: UP028
            yield made
    finally:
        pool.stop()
        calls.close()


class _Pool:
    """The caller's end of some worker processes."""

    def __init__(self, function: Callable[[Any], Any], workers: int) -> None:
        self._function = function
        ends = [multiprocessing.Pipe() for _ in range(workers)]
        self._free: SimpleQueue[tuple[Connection, BaseProcess]] = SimpleQueue()
        self._processes: list[BaseProcess] = []
        # Of two threads that wait for one process, the second is told that there is no such process.
        self._waiting = Lock()
        # Importing and loading kernels takes 0.6 s of a processor: one process does that, and forks the workers.
        # Elsewhere forking a process with NumPy in it is not safe.
        groups = [ends] if sys.platform == "linux" else [[pair] for pair in ends]
        for group in groups:
            theirs = [end for _, end in group]
            process = _started(_serve_all, (function, theirs))
            self._processes.append(process)
            for ours, end in group:
                # A copy: while it is open here, the end of a dead process would never read as closed.
                end.close()
                self._free.put((ours, process))

    def call(self, value: Any) -> Any:
        """Return what a worker makes of a value. Raises: WorkerLost; what the function raised."""
        connection, process = self._free.get()
        try:
            if not self._sent(connection, value):
                return self._function(value)
            made, error = _received(connection, process)
        except (EOFError, OSError):
            raise self._lost(process) from None
        finally:
            self._free.put((connection, process))
        if error is not None:
            raise error
        return made

    def stop(self) -> None:
        """End the processes."""
        with self._waiting:
            for process in self._processes:
                process.terminate()
            for process in self._processes:
                process.join()

    def _sent(self, connection: Connection, value: Any) -> bool:
        """Send a value. Returns: whether it can be pickled; a lambda of another distribution's reader cannot."""
        try:
            connection.send(value)
        except (PicklingError, AttributeError, TypeError):
            return False
        return True

    def _lost(self, process: BaseProcess) -> WorkerLost:
        # A process that dies closes its pipes a moment before its exit code can be asked for.
        with self._waiting:
            process.join(timeout=5)
        return WorkerLost(reason=f"ended with exit code {process.exitcode}")


def _started(target: Callable[..., None], arguments: tuple[object, ...]) -> BaseProcess:
    """Return a new process that never receives Ctrl-C, not even during its imports."""
    # spawn: the caller's threads, locks and database connections must not be copied.
    process = multiprocessing.get_context("spawn").Process(
        target=target, args=arguments, name="lshdb-workers", daemon=True
    )
    # First, for starting the tracker with the first process would unblock the signal again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return process


def _received(connection: Connection, process: BaseProcess) -> tuple[Any, LshdbError | None]:
    """Return the answer of a worker. Raises: EOFError, OSError: it ended."""
    wait([connection, process.sentinel])
    if not connection.poll():
        raise EOFError
    answer: tuple[Any, LshdbError | None] = connection.recv()
    return answer


def _serve_all(function: Callable[[Any], Any], connections: list[Connection]) -> None:
    """Answer the calls of several connections, each by a process forked from this one."""
    if len(connections) == 1:
        _serve(function, connections[0])
        return
    import_module(PRELOADED)
    workers: list[int] = []
    signal.signal(signal.SIGTERM, lambda *_: _end(workers, -signal.SIGTERM))
    while connections:
        mine = connections.pop()
        if (worker := os.fork()) == 0:
            # Others' ends: while copies are open, those of a dead process would never read as closed.
            for other in connections:
                other.close()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            try:
                _serve(function, mine)
            except BaseException:
                os._exit(1)
            os._exit(0)
        workers.append(worker)
        mine.close()
    while workers:
        worker, status = os.wait()
        workers.remove(worker)
        if (code := os.waitstatus_to_exitcode(status)) != 0:
            _end(workers, code)


def _end(workers: Iterable[int], code: int) -> None:
    """End the workers and this process, which ends as the worker did that was lost."""
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
        os.kill(os.getpid(), -code)
    os._exit(code)


def _serve(function: Callable[[Any], Any], connection: Connection) -> None:
    """Answer calls until the caller is gone: the life of a worker process."""
    # Hardly anything that we make is a cycle: looking for cycles as often as Python does costs 10 % of the time.
    gc.set_threshold(100_000)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            connection.send(_answer(function, connection.recv()))


def _answer(function: Callable[[Any], Any], value: Any) -> tuple[Any, LshdbError | None]:
    try:
        return function(value), None
    except LshdbError as error:
        return None, error
    except Exception as error:
        return None, WorkerLost(reason=f"failed: {type(error).__name__}: {error}")
