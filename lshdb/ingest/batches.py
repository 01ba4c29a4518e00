"""How much goes together: into one transaction, and to how many workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Final, TypeVar

from lshdb.ingest.portions import Portion, Task
from lshdb.linking.calls import num_cores
from lshdb.readers import ReadOptions, may_hold_pages

__all__ = ["batches", "grouped", "loads", "staffed"]

_Entry = TypeVar("_Entry")

# For an index of up to 800,000 contents.
BATCH_DOCUMENTS: Final = 20_000
BATCH_BYTES: Final = 64_000_000
# A batch's buckets are spread over the whole table, so writing them writes nearly all its pages (400 MB for a million
# contents, 1.1 s); SQLite writes those of several batches together, see `loads`. Batches grow with the index, so that
# what a document pays of that stays the same, up to what fits in memory: a twentieth of the index and six times these
# took 1.4 GB with two workers, where one batch takes 0.9.
BATCH_SHARE: Final = 1 / 40
MAX_TIMES: Final = 4.0
# However slow the reading: what a kill can cost.
BATCH_SECONDS: Final = 30.0

# Files to read from which on worker processes pay.
POOL_BYTES: Final = 16_000_000
PEEKED_TASKS: Final = 100
# Cores that one worker keeps busy where there is no HTML to parse: its threads read, sketch and compress. On two cores
# 577 MB of JSON lines took 8.1 seconds in one process and 9.7 with two workers.
PAGELESS_CORES: Final = 2


def batches(made: Iterable[Portion], num_contents: Callable[[], int]) -> Iterator[list[Portion]]:
    """The portions, grouped into batches.

    Args: num_contents: about how many the index has by now; larger batches for a larger one.
    """
    batch: list[Portion] = []
    num_bytes = num_documents = 0
    started = time.monotonic()
    for portion in made:
        batch.append(portion)
        num_bytes += portion.num_bytes
        num_documents += len(portion.documents)
        is_late = time.monotonic() - started > BATCH_SECONDS
        times = min(MAX_TIMES, max(1.0, BATCH_SHARE * num_contents() / BATCH_DOCUMENTS))
        is_full = num_bytes >= times * BATCH_BYTES or num_documents >= times * BATCH_DOCUMENTS
        if is_full or is_late:
            yield batch
            batch, num_bytes, num_documents, started = [], 0, 0, time.monotonic()
    if batch:
        yield batch


def loads(made: Iterator[list[Portion]], seconds: float) -> Iterator[Iterator[list[Portion]]]:
    """The batches, grouped by the transaction that they go into: one, and what comes within so many seconds.

    Each group is to be taken to its end before the next one. A batch that took long to read stays alone, and so does
    the next one.
    """
    while True:
        started = time.monotonic()
        if (first := next(made, None)) is None:
            return
        yield _load(first, made, started, seconds)


def _load(
    first: list[Portion], made: Iterator[list[Portion]], started: float, seconds: float
) -> Iterator[list[Portion]]:
    num_taken = 1
    yield first
    # As long as one more will fit, by what those before took to be read and written.
    while (time.monotonic() - started) * (num_taken + 1) / num_taken < seconds:
        if (batch := next(made, None)) is None:
            return
        num_taken += 1
        yield batch


def grouped(entries: Iterable[_Entry], size: int) -> Iterator[list[_Entry]]:
    """The entries, `size` at a time."""
    iterator = iter(entries)
    while group := list(islice(iterator, size)):
        yield group


def staffed(tasks: Iterator[Task], workers: int | None, options: ReadOptions) -> tuple[Iterator[Task], int]:
    """The tasks, and how many workers they are worth: starting a process takes as long as reading some megabytes.

    Args: workers: None for as many as pay, by the first tasks: a worker for each core where there are pages, and for
        every other core where there are none.
    """
    first: list[Task] = []
    num_bytes, most = 0, num_cores() if workers is None else workers
    while most > 1 and num_bytes < POOL_BYTES and (some := list(islice(tasks, PEEKED_TASKS))):
        first += some
        num_bytes += sum(task.source.size for task in some)
    if num_bytes < POOL_BYTES:
        most = 1
    elif workers is None and not any(may_hold_pages(task.source, options) for task in first):
        most //= PAGELESS_CORES
    return chain(first, tasks), most
