"""Run the make step of an ingest ahead of the write step: in a thread of this process, or in several processes.

Knows nothing of documents. Results keep their order, and only a few of them wait at a time, so memory is bounded. The
caller handles Ctrl-C. A worker process ends when its caller has ended.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing import resource_tracker, spawn
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkContext, SpawnContext
from multiprocessing.process import BaseProcess
from pickle import PicklingError
from queue import Empty, SimpleQueue
from threading import Event, Lock, Semaphore, Thread, active_count
from typing import Any, Final, Generic, NoReturn, TypeVar

from lshdb.errors import LshdbError, WorkerLost
from lshdb.model.calls import calls_ahead, num_cores
from lshdb.sketch.compiled import are_compiled
from lshdb.store import interrupts

__all__ = ["WAITING", "Ahead", "are_started", "in_processes", "start_early"]

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")

# Places for values that wait for the caller: the chunks that are made while the buckets of a load are written, which
# takes 3 s. A chunk of long texts takes one, and about 2 MB, because its texts are compressed. With 16 places, workers
# waited, and a GB of JSON lines took 4 % longer.
WAITING: Final = 32
POLL_SECONDS: Final = 0.1
# How long an interrupted caller waits for the thread, which may be making a chunk, or blocked in reading a file.
STOP_SECONDS: Final = 10.0
# Of the processes.
NAME: Final = "lshdb-workers"
# Loads the kernels when it is imported.
KERNELS: Final = "lshdb.sketch.loaded"
# What is imported before workers are forked, while the caller opens its index.
PRELOADED: Final = (KERNELS, "lshdb.ingest.make")


class Ahead(Generic[_Made]):
    """A thread that makes values before the caller takes them. A context manager that ends the thread.

    Args:
        make: runs in the thread, and passes every value to the function that it receives.
        waiting: the number of places for values that wait.
        num_places: returns how many of them a value takes. One that takes all waits alone.
    """

    def __init__(
        self,
        make: Callable[[Callable[[_Made], None]], None],
        waiting: int = WAITING,
        num_places: Callable[[_Made], int] = lambda _made: 1,
    ) -> None:
        self.ended = False
        self._make = make
        self._most = waiting
        self._num_places = num_places
        self._free = Semaphore(waiting)
        self._made: SimpleQueue[tuple[_Made | None, BaseException | None, int]] = SimpleQueue()
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="lshdb-make", daemon=True)

    def __enter__(self) -> Ahead[_Made]:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join(STOP_SECONDS)

    def take(self, seconds: float | None = None) -> _Made | None:
        """Return the next value; None after `seconds` without one, and None once all are taken, when `ended` is set.

        Raises: any exception that `make` raised.
        """
        if self.ended:
            return None
        try:
            made, error, num_places = self._made.get(timeout=seconds)
        except Empty:
            return None
        self._free.release(num_places)
        if error is not None:
            raise error
        self.ended = made is None
        return made

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            self._make(lambda made: self._put(made, None))
        except BaseException as raised:
            error = raised
        with suppress(_Stopped):
            self._put(None, error)

    def _put(self, made: _Made | None, error: BaseException | None) -> None:
        """Raises: _Stopped: the caller takes no more values."""
        num_places = 1 if made is None else min(self._num_places(made), self._most)
        for _ in range(num_places):
            is_mine = False
            while not is_mine:
                if self._stopped.is_set():
                    raise _Stopped
                is_mine = self._free.acquire(timeout=POLL_SECONDS)
        self._made.put((made, error, num_places))


class _Stopped(Exception):
    """Ends the thread's work."""


# Processes that wait for the next call of `in_processes`, each with the connections to its workers.
_early: list[tuple[BaseProcess, list[Connection]]] = []


def start_early(workers: int | None) -> None:
    """Start processes for the next call of `in_processes`. They load the kernels while this one does something else.

    If no call follows, they end with this process. Kernels that are not compiled yet are left to `compile_ahead`.

    Args: workers: None for one per core.
    """
    wanted = num_cores() if workers is None else workers
    if wanted > 1 and are_compiled():
        _early.extend(_started(wanted))


def are_started() -> bool:
    """Return whether processes wait for a call of `in_processes`."""
    return bool(_early)


def in_processes(
    function: Callable[[_Given], _Made], given: Iterable[_Given], workers: int
) -> Generator[_Made, None, None]:
    """Yield ``map(function, given)``, computed by worker processes. Close the generator to end them.

    Args: function: is pickled, like its arguments and results. If an argument cannot be pickled, it is called here.
    Raises: WorkerLost: a worker died, or `function` failed; the LshdbError that `function` raised.
    """
    pool = _Pool(function, workers)
    # One thread per process sends, waits and receives, so that neither end ever blocks the other.
    calls = calls_ahead(pool.call, given, workers)
    try:
        # Not "yield from": the processes must end first, which ends the running calls.
        for made in calls:  # noqa: UP028
            yield made
    finally:
        pool.stop()
        calls.close()


class _Pool:
    """The caller's end of some worker processes."""

    def __init__(self, function: Callable[[Any], Any], workers: int) -> None:
        self._function = function
        self._free: SimpleQueue[tuple[Connection, BaseProcess]] = SimpleQueue()
        # If two threads waited for one process, the second would get the error that there is no such process.
        self._waiting = Lock()
        started, _early[:] = list(_early), []
        started += _started(workers - sum(len(connections) for _, connections in started))
        self._processes = [process for process, _ in started]
        ends = [(connection, process) for process, connections in started for connection in connections]
        for connection, process in ends[:workers]:
            self._free.put((connection, process))
        for connection, _ in ends[workers:]:
            connection.close()
        # The caller needs the kernels afterwards, to link. It must not end while LLVM is loading them.
        Thread(target=import_module, args=(KERNELS,), name="lshdb-kernels", daemon=False).start()

    def call(self, value: Any) -> Any:
        """Return the function's result for a value. Raises: WorkerLost; any exception of the function."""
        connection, process = self._free.get()
        try:
            if not _sent(connection, (self._function, value)):
                return self._function(value)
            wait([connection, process.sentinel])
            if not connection.poll():
                raise EOFError
            made, error = connection.recv()
        except (EOFError, OSError):
            # A process that dies closes its pipes a moment before its exit code is available.
            with self._waiting:
                process.join(timeout=5)
            raise WorkerLost(reason=f"ended with exit code {process.exitcode}") from None
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
                process.join()


def _started(workers: int) -> list[tuple[BaseProcess, list[Connection]]]:
    """Start processes for this many workers. Returns: each process, with the connections to its workers."""
    if workers < 1:
        return []
    ends = [multiprocessing.Pipe() for _ in range(workers)]
    # On Linux, one process imports everything and forks the workers, because imports and kernels take 0.4 s of
    # processor time. On other systems, a process that has imported NumPy cannot be forked safely.
    groups = [ends] if sys.platform == "linux" else [[pair] for pair in ends]
    started = [(_process(group), [ours for ours, _ in group]) for group in groups]
    for _, theirs in ends:
        # This is a copy. While it is open here, the pipe of a dead process never reads as closed.
        theirs.close()
    return started


def _process(ends: list[tuple[Connection, Connection]]) -> BaseProcess:
    """Return a new process that never receives Ctrl-C, not even during its imports.

    Args: ends: of each connection that it serves, (the caller's, its own).
    """
    ours, theirs = map(list, zip(*ends, strict=True))
    context: ForkContext | SpawnContext = multiprocessing.get_context("spawn")
    if forks := _may_fork():
        context = multiprocessing.get_context("fork")
    else:
        # First, because starting the tracker together with the first process would unblock the signal.
        resource_tracker.ensure_running()
    process = context.Process(target=_serve_all, args=(theirs, ours if forks else []), name=NAME, daemon=True)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, interrupts.SIGNALS)
    try:
        with _without_main():
            process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return process


def _may_fork() -> bool:
    """Return whether a copy of this process can be a worker, which starts 0.07 s sooner: a command that has just begun.

    Later, the copy would have the caller's connections to the database, and its locks, but not the threads that hold
    them.
    """
    return sys.platform == "linux" and active_count() == 1 and not {"numpy", "sqlalchemy"} & sys.modules.keys()


@contextmanager
def _without_main() -> Iterator[None]:
    """Let a process that starts import nothing of the caller's main module, which it does not need.

    A script without ``if __name__ == "__main__"`` would run again in it, and a command would import its options.
    """
    prepare = spawn.get_preparation_data

    def prepared(name: str) -> dict[str, Any]:
        given = prepare(name)
        if name == NAME:
            for key in ("init_main_from_name", "init_main_from_path"):
                given.pop(key, None)
        return given

    spawn.get_preparation_data = prepared
    try:
        yield
    finally:
        spawn.get_preparation_data = prepare


def _sent(connection: Connection, value: Any) -> bool:
    """Send a value. Returns: False if it cannot be pickled, such as a lambda from an installed reader."""
    try:
        connection.send(value)
    except (PicklingError, AttributeError, TypeError):
        return False
    return True


def _serve_all(connections: list[Connection], others: list[Connection]) -> None:
    """Answer the calls of several connections, each in a process forked from this one.

    Args: others: the caller's ends of the connections, if this process has copies of them.
    """
    # The caller may have a handler of its own.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    for other in others:
        other.close()
    # Hardly any of our objects form cycles. Python's usual search for them takes 7 % of the imports, and 10 % of the
    # work.
    gc.set_threshold(100_000)
    for module in PRELOADED:
        import_module(module)
    if len(connections) == 1:
        _serve(connections[0])
        return
    workers: list[int] = []
    # Waited for, not handled: a signal that came just before `os.wait` would not interrupt it.
    awaited = {signal.SIGCHLD, signal.SIGTERM}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    while connections:
        mine = connections.pop()
        if (worker := os.fork()) == 0:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            _work(mine, connections)
        workers.append(worker)
        mine.close()
    while workers:
        if signal.sigwait(awaited) == signal.SIGTERM:
            _end(workers, -signal.SIGTERM)
        # One signal may stand for several workers.
        while workers and (ended := os.waitpid(-1, os.WNOHANG))[0]:
            workers.remove(ended[0])
            if (code := os.waitstatus_to_exitcode(ended[1])) != 0:
                _end(workers, code)


def _work(mine: Connection, others: list[Connection]) -> NoReturn:
    """Serve in a forked process, and end it."""
    code = 1
    try:
        for other in others:
            other.close()
        _serve(mine)
        code = 0
    finally:
        os._exit(code)


def _end(workers: Iterable[int], code: int) -> None:
    """End the workers, then this process with the given exit code or signal."""
    for worker in workers:
        # A signal to the whole group may have ended it already.
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
    if code > 0:
        os._exit(code)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
    os.kill(os.getpid(), -code)


def _serve(connection: Connection) -> None:
    """Answer calls until the caller has ended."""
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            connection.send(_answer(*connection.recv()))


def _answer(function: Callable[[Any], Any], value: Any) -> tuple[Any, LshdbError | None]:
    try:
        return function(value), None
    except LshdbError as error:
        return None, error
    except Exception as error:
        return None, WorkerLost(reason=f"failed: {type(error).__name__}: {error}")
