"""How much goes together: into one transaction, and to how many workers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final, TypeVar

from lshdb.portions import Portion, Task

__all__ = ["batches", "grouped", "staffed"]

_Entry = TypeVar("_Entry")

# Larger batches insert more rows a B-tree page: the rate at 3 million documents depends on it.
BATCH_DOCUMENTS: Final = 20_000
BATCH_BYTES: Final = 64_000_000
# However slow the reading: what a kill can cost.
BATCH_SECONDS: Final = 30.0

# Files to read from which on worker processes pay.
POOL_BYTES: Final = 16_000_000
PEEKED_TASKS: Final = 100


def batches(made: Iterable[Portion]) -> Iterator[list[Portion]]:
    """The portions, grouped into batches."""
    batch: list[Portion] = []
    num_bytes = num_documents = 0
    started = time.monotonic()
    for portion in made:
        batch.append(portion)
        num_bytes += portion.num_bytes
        num_documents += len(portion.documents)
        is_late = time.monotonic() - started > BATCH_SECONDS
        if num_bytes >= BATCH_BYTES or num_documents >= BATCH_DOCUMENTS or is_late:
            yield batch
            batch, num_bytes, num_documents, started = [], 0, 0, time.monotonic()
    if batch:
        yield batch


def grouped(entries: Iterable[_Entry], size: int) -> Iterator[list[_Entry]]:
    """The entries, `size` at a time."""
    iterator = iter(entries)
    while group := list(islice(iterator, size)):
        yield group


def staffed(tasks: Iterator[Task], workers: int) -> tuple[Iterator[Task], int]:
    """The tasks, and how many workers they are worth: starting a process takes as long as reading some megabytes."""
    first: list[Task] = []
    num_bytes = 0
    while workers > 1 and num_bytes < POOL_BYTES and (some := list(islice(tasks, PEEKED_TASKS))):
        first += some
        num_bytes += sum(task.source.size for task in some)
    return chain(first, tasks), workers if num_bytes >= POOL_BYTES else 1
