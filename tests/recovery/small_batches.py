"""The command line with small batches, and a line on stdout at each step, so that a test can choose a moment.

``python -m tests.recovery.small_batches --db URL ingest FOLDER``. Worker processes import this module too.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cache, wraps
from multiprocessing import current_process
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Timer
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from lshdb.ingest import workers
from lshdb.ingest.make import Chunk, Work, make
from lshdb.ingest.options import Budgets, IngestOptions

if TYPE_CHECKING:
    from lshdb.model.reports import IngestReport
    from lshdb.store.store import Store
    from lshdb.store.transaction import Transaction

READING: Final = "reading"
LINKING: Final = "linking"
REBANDING: Final = "rebanding"
KEYING: Final = "keying"
WRITING: Final = "writing"
COMMITTED: Final = "committed"
SPAWNED: Final = "spawned"
WORKER: Final = "worker"

# Slows each piece of work down by this many seconds, so that a call can be caught at work.
SECONDS_A_CHUNK: Final = "LSHDB_TEST_SECONDS_A_CHUNK"
# For how long SQLite puts batches into one transaction. Elsewhere each batch is one, so that a call has many.
LOAD_SECONDS: Final = "LSHDB_TEST_LOAD_SECONDS"
# "STAGE STEPS SECONDS SIGNAL": SECONDS after that many STEPS of a STAGE, the process sends its group this SIGNAL.
# A test that did this from outside would come late on a busy machine, when the call has ended.
SIGNAL_AT: Final = "LSHDB_TEST_SIGNAL_AT"

serve_all_silently: Final = workers._serve_all

_Args = ParamSpec("_Args")
_Result = TypeVar("_Result")
Writing = Callable[["Store"], AbstractContextManager["Transaction"]]


def make_slowly(works: Iterable[Work], *how: Any) -> Iterator[Chunk]:
    """Run `make` slowly, and announce the worker process."""
    if current_process().name == workers.NAME:
        announce_worker()
    for work in works:
        time.sleep(float(os.environ.get(SECONDS_A_CHUNK, "0")))
        yield from make([work], *how)


def make_whole_slowly(work: Work, **how: Any) -> list[Chunk]:
    """Run `make_whole` slowly, in a worker process."""
    return list(make_slowly([work], *(how[name] for name in ("params", "options", "budgets"))))


def serve_all(*connections: list[Connection]) -> None:
    """Announce that the process of the workers has started, and let them serve."""
    announce(SPAWNED)
    serve_all_silently(*connections)


@cache
def announce_worker() -> None:
    """Announce once that this worker process is at work."""
    announce(f"{WORKER} {os.getpid()}")


def write_small_batches() -> None:
    """Make batches, chunks of pairs and generations small, and worker processes worthwhile."""
    from lshdb.index import Index
    from lshdb.ingest import ingest
    from lshdb.linking import candidates, link
    from lshdb.store.tables import generations
    from lshdb.tuning import reband

    budgets = Budgets(
        planned_files=15,
        chunk_bytes=6_000,
        chunk_items=20,
        chunk_chars=6_000,
        batch_documents=25,
        load_seconds=float(os.environ.get(LOAD_SECONDS, "0")),
        pool_bytes=0,
    )
    undivided = Index.ingest

    def ingest_in_small_batches(
        index: Index, paths: Sequence[str | Path], options: IngestOptions, **how: bool
    ) -> IngestReport:
        return undivided(index, paths, replace(options, budgets=budgets), **how)

    Index.ingest = ingest_in_small_batches  # type: ignore[assignment]
    ingest.make = make_slowly
    ingest.make_whole = make_whole_slowly
    workers._serve_all = serve_all
    shrink(candidates, {"RUN_PAIRS": 200, "PART_PAIRS": 40})
    shrink(link, {"DELTA_CONTENTS": 50, "STORED_PAIRS": 40, "MANY_CONTENTS": 50})
    shrink(reband, {"BATCH_MINIMA": 2_000})
    shrink(generations, {"YOUNG_ROWS": 500, "FAN_OUT": 2, "STEP_ROWS": 200})


def shrink(module: ModuleType, sizes: Mapping[str, int]) -> None:
    """Change constants of a module. Raises: AttributeError: it has no such constant."""
    for name, size in sizes.items():
        getattr(module, name)
        setattr(module, name, size)


def announce_steps() -> None:
    """Make the stages and the transactions of an ingest announce themselves."""
    from lshdb.ingest.ingest import Ingestion
    from lshdb.linking.link import Linking
    from lshdb.store import merging
    from lshdb.store.store import Store
    from lshdb.store.tables import late_indexes
    from lshdb.tuning.reband import Rebanding

    for kind, name, announcing in (
        (Store, "writing", announced_writing(Store.writing)),
        (Ingestion, "ingest", announced(READING, Ingestion.ingest)),
        (Linking, "link", announced(LINKING, Linking.link)),
        (Rebanding, "reband", announced(REBANDING, Rebanding.reband)),
        (late_indexes, "build", announced(KEYING, late_indexes.build)),
        (merging, "merge", unannounced(merging.merge)),
    ):
        setattr(kind, name, announcing)


class Trap:
    """Sends the signal of `SIGNAL_AT` when its moment comes.

    Args: chosen: the value of `SIGNAL_AT`.
    """

    def __init__(self, chosen: str) -> None:
        self._stage, steps, seconds, number = chosen.split()
        self._steps, self._seconds, self._number = int(steps), float(seconds), int(number)
        self._is_reached = False

    def passed(self, line: str) -> None:
        """Take note of an announced line."""
        if self._is_reached and line in (WRITING, COMMITTED):
            self._steps -= 1
        self._is_reached = self._is_reached or line == self._stage
        if self._is_reached and self._steps <= 0:
            self._is_reached, self._stage = False, ""
            self._send_later()

    def _send_later(self) -> None:
        if not self._seconds:
            os.killpg(0, self._number)
            return
        timer = Timer(self._seconds, os.killpg, (0, self._number))
        timer.daemon = True
        timer.start()


@cache
def trap() -> Trap | None:
    """Return the trap of this process, if the environment asks for one."""
    return Trap(os.environ[SIGNAL_AT]) if SIGNAL_AT in os.environ else None


is_silent = ContextVar("is_silent", default=False)


def announce(line: str) -> None:
    """Print a line and flush it."""
    if is_silent.get():
        return
    # One write, so that two workers do not share a line.
    os.write(1, f"{line}\n".encode())
    if (set_trap := trap()) is not None:
        set_trap.passed(line)


def announced(line: str, function: Callable[_Args, _Result]) -> Callable[_Args, _Result]:
    """Return the function, announced before each call."""

    @wraps(function)
    def announcing(*args: _Args.args, **kwargs: _Args.kwargs) -> _Result:
        announce(line)
        return function(*args, **kwargs)

    return announcing


def unannounced(function: Callable[_Args, _Result]) -> Callable[_Args, _Result]:
    """Return the function with transactions that are not announced, because their number depends on time."""

    @wraps(function)
    def silent(*args: _Args.args, **kwargs: _Args.kwargs) -> _Result:
        before = is_silent.set(True)
        try:
            return function(*args, **kwargs)
        finally:
            is_silent.reset(before)

    return silent


def announced_writing(writing: Writing) -> Writing:
    """Announce the start and the commit of a writing transaction."""

    @contextmanager
    def announcing(store: Store, *, refers_safely: bool = False) -> Iterator[Transaction]:
        with writing(store, refers_safely=refers_safely) as transaction:
            announce(WRITING)
            yield transaction
        announce(COMMITTED)

    return announcing


def run() -> None:
    """Run the command line."""
    from lshdb.cli.app import main

    # Background jobs of a shell ignore Ctrl-C, and their children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    write_small_batches()
    announce_steps()
    main()


if __name__ == "__main__":
    # By its name, under which worker processes find its functions: they do not import the main module.
    from tests.recovery import small_batches

    small_batches.run()
