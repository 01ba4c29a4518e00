"""Several processes: each does its share of the work, and the caller gets the results in the order of one process.

Every worker is handed all tasks, and makes what its share owns; results are taken in turn, stretch by stretch. A
worker waits when it is a few results ahead, so the memory is bounded. Ctrl-C is the caller's to handle; a worker
whose caller has gone ends by itself.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Final, Protocol, TypeVar

from lshdb.errors import LshdbError, WorkerLost
from lshdb.ingest.engines.share import Share
from lshdb.ingest.engines.threaded import work_ahead

__all__ = ["Stretched", "in_processes"]


class Stretched(Protocol):
    """A result that says which stretch of the work it belongs to, and whether it is the stretch's last."""

    @property
    def stretch(self) -> int: ...
    @property
    def closes(self) -> bool: ...


_Task = TypeVar("_Task")
_Made = TypeVar("_Made", bound=Stretched)

# Tasks sent at a time: many stretches' worth of small files, for a worker that asks for more waits until the caller
# listens to it. (With 256, two workers took turns: 1.0 times one; now 1.6.)
HANDED_TASKS: Final = 8_192

_MORE: Final = "more"
_MADE: Final = "made"
_END: Final = "end"


def in_processes(
    tasks: Iterable[_Task], work: Callable[[Iterable[_Task], Share], Iterable[_Made]], workers: int
) -> Generator[_Made, None, None]:
    """What ``work(tasks, Share(0, 1))`` gives, made by `workers` processes. Tasks are taken in the caller's thread.

    Args: work: is pickled on its way to the workers, as the tasks are.
    Raises: WorkerLost: one of them died, or a source changed under their hands; whatever `work` or `tasks` raises.
    """
    # spawn: the caller's threads, locks and database connections must not be copied.
    context = multiprocessing.get_context("spawn")
    pool = [_Worker(context, work, Share(number, workers)) for number in range(workers)]
    try:
        yield from _in_turn(pool, _Tasks(iter(tasks), workers))
    finally:
        for worker in pool:
            worker.stop()


class _Tasks:
    """The same tasks for every worker, each of which asks for them at its own pace."""

    def __init__(self, tasks: Iterator[Any], workers: int) -> None:
        self._tasks = tasks
        # Taken, and not asked for yet. As long as the slowest worker is behind, which is a few results at most.
        self._waiting: list[deque[list[Any]]] = [deque() for _ in range(workers)]

    def more(self, worker: int) -> list[Any]:
        """The next tasks of a worker; none where there are no more."""
        if not self._waiting[worker]:
            some = list(islice(self._tasks, HANDED_TASKS))
            for waiting in self._waiting:
                waiting.append(some)
        return self._waiting[worker].popleft()


def _in_turn(pool: list[_Worker], tasks: _Tasks) -> Iterator[Any]:
    stretch = 0
    while (made := pool[stretch % len(pool)].next(tasks)) is not None:
        _require(made.stretch == stretch)
        yield made
        stretch += made.closes
    for worker in pool:
        _require(worker.next(tasks) is None)


def _require(agree: bool) -> None:
    if not agree:
        raise WorkerLost(reason="read other bytes than its neighbour: a file changed while it was read")


class _Worker:
    """The caller's end of one process."""

    def __init__(self, context: Any, work: Callable[..., Any], share: Share) -> None:
        tasks, self._tasks = context.Pipe(duplex=False)
        self._results, results = context.Pipe(duplex=False)
        self._number = share.number
        self._ended = False
        self._process = context.Process(
            target=_serve, args=(work, share, tasks, results), name=f"lshdb-worker-{share.number}", daemon=True
        )
        with _unheard_interrupts():
            self._process.start()
        # Ours are copies: while one is open here, its end in a dead process would never read as closed.
        tasks.close()
        results.close()

    def next(self, tasks: _Tasks) -> Any | None:
        """Its next result; None behind the last one."""
        while not self._ended:
            kind, value = self._receive()
            if kind == _MADE:
                return value
            if kind == _MORE:
                # Only ever in answer: sending to one that is itself sending would wait for ever.
                self._send(tasks.more(self._number))
            else:
                self._ended = True
                if value is not None:
                    raise value
        return None

    def stop(self) -> None:
        """Ends the process."""
        self._tasks.close()
        self._results.close()
        self._process.terminate()
        self._process.join()

    def _send(self, tasks: list[Any]) -> None:
        # If it died, whoever waits for its next result hears of it.
        with suppress(BrokenPipeError):
            self._tasks.send(tasks)

    def _receive(self) -> tuple[str, Any]:
        wait([self._results, self._process.sentinel])
        with suppress(EOFError, OSError):
            if self._results.poll():
                message: tuple[str, Any] = self._results.recv()
                return message
        # A process that dies closes its pipes a moment before its exit code can be asked for.
        self._process.join(timeout=5)
        raise WorkerLost(reason=f"ended with exit code {self._process.exitcode}")


@contextmanager
def _unheard_interrupts() -> Iterator[None]:
    """Ctrl-C waits meanwhile; a process that is started never hears it, not even while it imports what it needs."""
    # First, for starting the tracker with the first process would let the signal through again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(work: Callable[..., Iterable[Any]], share: Share, tasks: Connection, results: Connection) -> None:
    """The life of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Almost nothing that we make is a cycle: looking for cycles as often as Python does cost a link 10 % of its time.
    gc.set_threshold(100_000)
    try:
        for made in work_ahead(_received(tasks, results), partial(work, share=share)):
            results.send((_MADE, made))
        results.send((_END, None))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # The caller has gone.
    except LshdbError as error:
        results.send((_END, error))
    except Exception as error:
        results.send((_END, WorkerLost(reason=f"failed: {type(error).__name__}: {error}")))


def _received(tasks: Connection, results: Connection) -> Iterator[Any]:
    while True:
        results.send((_MORE, None))
        some = tasks.recv()
        if not some:
            return
        yield from some
