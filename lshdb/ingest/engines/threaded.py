"""One process: a thread reads and sketches while the caller's thread writes to the database.

The kernels, zstd and SQLite leave the interpreter to others while they work, so the two overlap on two cores.
Tasks are taken in the caller's thread, for finding out what to read asks the database too.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from queue import Empty, Queue
from threading import Event, Thread
from typing import Final, Generic, TypeVar, cast

__all__ = ["work_ahead"]

_Task = TypeVar("_Task")
_Made = TypeVar("_Made")

# Results that wait for the caller: a batch of 64 MB, so that the thread goes on while the batch before it is written.
# A result holds compressed texts, about 2 MB.
WAITING: Final = 16

# Tasks handed over at a time: small files come by the thousand.
HANDED: Final = 256


def work_ahead(
    tasks: Iterable[_Task], work: Callable[[Iterable[_Task]], Iterable[_Made]]
) -> Generator[_Made, None, None]:
    """What ``work(tasks)`` gives, made in a thread ahead of the caller.

    Raises: whatever `work` or `tasks` raises. A caller that stops early ends the thread behind its current result.
    """
    worker = _Worker(work)
    try:
        yield from worker.results(iter(tasks))
    finally:
        worker.stop()


class _End:
    """Put behind the last result, or with the error in place of it."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


_MORE: Final = object()
_NO_MORE: Final = object()


class _Worker(Generic[_Task, _Made]):
    """The thread, with a queue on either side of it."""

    def __init__(self, work: Callable[[Iterable[_Task]], Iterable[_Made]]) -> None:
        self._work = work
        self._tasks: Queue[object] = Queue()
        self._results: Queue[object] = Queue(WAITING)
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="lshdb-read", daemon=True)
        self._thread.start()

    def results(self, tasks: Iterator[_Task]) -> Iterator[_Made]:
        """Hands over tasks when the thread asks for more, and yields what it makes."""
        while True:
            got = self._results.get()
            if got is _MORE:
                self._hand_over(tasks)
            elif isinstance(got, _End):
                if got.error is not None:
                    raise got.error
                return
            else:
                yield cast("_Made", got)

    def stop(self) -> None:
        """Ends the thread."""
        self._stopped.set()
        self._tasks.put(_NO_MORE)
        while self._thread.is_alive():
            try:
                self._results.get(timeout=0.1)
            except Empty:
                continue

    def _hand_over(self, tasks: Iterator[_Task]) -> None:
        some = list(islice(tasks, HANDED))
        for task in some:
            self._tasks.put(task)
        if not some:
            self._tasks.put(_NO_MORE)

    def _run(self) -> None:
        try:
            for made in self._work(self._taken()):
                self._results.put(made)
                if self._stopped.is_set():
                    return
            self._results.put(_End())
        except BaseException as error:
            self._results.put(_End(error))

    def _taken(self) -> Iterator[_Task]:
        while not self._stopped.is_set():
            if self._tasks.empty():
                self._results.put(_MORE)
            task = self._tasks.get()
            if task is _NO_MORE:
                return
            yield cast("_Task", task)
