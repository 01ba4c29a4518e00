"""The command line with batches of a few documents, and a line on stdout at each step, so that a test knows the moment.

``python -m tests.recovery.small_batches --db URL ingest FOLDER``. Worker processes import this module too, under
another name, and so read in equally small portions.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from types import ModuleType
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from lshdb.ingest import portions, stretches

if TYPE_CHECKING:
    from lshdb.model.params import Params
    from lshdb.model.values import Document
    from lshdb.sketch.sketch import Sketching
    from lshdb.store.store import Store
    from lshdb.store.transaction import Transaction

READING: Final = "reading"
LINKING: Final = "linking"
REBANDING: Final = "rebanding"
KEYING: Final = "keying"
WRITING: Final = "writing"
COMMITTED: Final = "committed"
WORKER: Final = "worker"

# Set for a call that is to be met at work: who sketches then sleeps for so many seconds before each portion.
SECONDS_A_PORTION: Final = "LSHDB_TEST_SECONDS_A_PORTION"
# For how long SQLite takes batches into one transaction; elsewhere each batch is one, so that a call has many.
LOAD_SECONDS: Final = "LSHDB_TEST_LOAD_SECONDS"

_Args = ParamSpec("_Args")
_Result = TypeVar("_Result")
Writing = Callable[["Store"], AbstractContextManager["Transaction"]]


def read_small_portions() -> None:
    """Makes stretches and portions small, in the process that reads and in its workers."""
    shrink(portions, {"STRETCH_BYTES": 6_000})
    shrink(stretches, {"STRETCH_BYTES": 6_000, "STRETCH_ITEMS": 20, "PORTION_CHARS": 6_000})


def work_slowly(seconds: float) -> None:
    """Makes a portion take time."""
    begin = stretches.begin

    @wraps(begin)
    def late(documents: Sequence[Document], params: Params) -> Sketching:
        time.sleep(seconds)
        return begin(documents, params)

    stretches.begin = late


def write_small_batches() -> None:
    """Makes batches and chunks of pairs small, and worker processes worth their start."""
    from lshdb.ingest import batches, ingestion
    from lshdb.linking import candidates, link
    from lshdb.store.sqlite.dialect import Sqlite
    from lshdb.tuning import reband

    shrink(batches, {"BATCH_DOCUMENTS": 25, "POOL_BYTES": 0})
    shrink(ingestion, {"TRIAGE_FILES": 15})
    shrink(candidates, {"RUN_PAIRS": 200, "PART_PAIRS": 40})
    shrink(link, {"DELTA_CONTENTS": 50, "STORED_PAIRS": 40})
    shrink(reband, {"BATCH_MINIMA": 2_000})
    Sqlite.load_seconds = float(os.environ.get(LOAD_SECONDS, "0"))


def shrink(module: ModuleType, sizes: Mapping[str, int]) -> None:
    """Gives constants of a module other values. Raises: AttributeError: it has no such constant."""
    for name, size in sizes.items():
        getattr(module, name)
        setattr(module, name, size)


def announce_steps() -> None:
    """Makes the stages and the transactions of an ingest announce themselves."""
    from lshdb.ingest.ingestion import Ingestion
    from lshdb.linking.link import Linking
    from lshdb.store.store import Store
    from lshdb.store.tables import bucket_key
    from lshdb.tuning.reband import Rebanding

    for kind, name, announcing in (
        (Store, "writing", announced_writing(Store.writing)),
        (Ingestion, "ingest", announced(READING, Ingestion.ingest)),
        (Linking, "link", announced(LINKING, Linking.link)),
        (Rebanding, "reband", announced(REBANDING, Rebanding.reband)),
        (bucket_key, "build", announced(KEYING, bucket_key.build)),
    ):
        setattr(kind, name, announcing)


def announce(line: str) -> None:
    """One line on stdout, now."""
    # One write: two workers that speak at once must not share a line.
    os.write(1, f"{line}\n".encode())


def announced(line: str, function: Callable[_Args, _Result]) -> Callable[_Args, _Result]:
    """The function, announced before it is called."""

    @wraps(function)
    def announcing(*args: _Args.args, **kwargs: _Args.kwargs) -> _Result:
        announce(line)
        return function(*args, **kwargs)

    return announcing


def announced_writing(writing: Writing) -> Writing:
    """A writing transaction, announced when it has begun and when it is committed."""

    @contextmanager
    def announcing(store: Store) -> Iterator[Transaction]:
        with writing(store) as transaction:
            announce(WRITING)
            yield transaction
        announce(COMMITTED)

    return announcing


read_small_portions()
work_slowly(float(os.environ.get(SECONDS_A_PORTION, "0")))
if __name__ == "__mp_main__":
    announce(f"{WORKER} {os.getpid()}")
if __name__ == "__main__":
    from lshdb.cli.app import main

    # A shell that runs its jobs in the background has them ignore Ctrl-C, and their children inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    write_small_batches()
    announce_steps()
    main()
