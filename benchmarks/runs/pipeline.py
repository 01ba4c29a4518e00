"""Simulate a pipeline on any number of cores: one thread reads chunks, workers make them, one thread writes them.

The rules are those of `lshdb.ingest.workers` and `lshdb.model.calls`: the reader is a few chunks ahead of the
workers, results keep their order, a few of them wait, and the writer collects them to batches. If more is to do than
there are cores, everything slows down alike.

Limitation: the memory bus, the disk and Python's interpreter lock have no share of their own. A lock that is held for
long shows as a difference between the prediction and what was measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from lshdb.ingest.workers import WAITING

__all__ = ["Chunk", "simulated"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """The seconds that a chunk takes in each stage.

    Args: cores: how many cores making it keeps busy, because a worker has helpers: threads and another process.
    """

    read: float
    make: float
    write: float
    cores: float = 1.0


Running: TypeAlias = tuple[Literal["read", "make", "write"], int]


def simulated(chunks: Sequence[Chunk], cores: int, workers: int, batch: int, ahead: int = 0) -> float:
    """Return the seconds until all chunks are written.

    Args:
        batch: chunks that are written together.
        ahead: chunks that may be under way or made when the first of them is taken; at least `workers`.
    """
    return _Pipeline(chunks, cores, workers, batch, max(workers, ahead)).seconds()


class _Pipeline:
    """The state of a simulation: how many chunks each stage has begun, and the seconds left of each running task."""

    def __init__(self, chunks: Sequence[Chunk], cores: int, workers: int, batch: int, ahead: int) -> None:
        self._chunks = chunks
        self._cores = cores
        self._workers = workers
        self._batch = batch
        self._ahead = ahead
        self._left: dict[Running, float] = {}
        self._num_begun = self._num_read = self._num_making = self._num_passed = self._num_taken = self._num_written = 0
        self._made: set[int] = set()

    def seconds(self) -> float:
        now = 0.0
        while self._num_written < len(self._chunks):
            self._begin()
            wanted = sum(self._chunks[number].cores if stage == "make" else 1.0 for stage, number in self._left)
            rate = min(1.0, self._cores / wanted)
            elapsed = min(self._left.values())
            now += elapsed / rate
            self._left = {task: left - elapsed for task, left in self._left.items()}
            self._end()
        return now

    def _begin(self) -> None:
        """Begin every task that can run now."""
        self._pass_on()
        begun = self._num_begun
        if begun == self._num_read < min(len(self._chunks), self._num_passed + self._ahead + 1):
            self._left["read", begun] = self._chunks[begun].read
            self._num_begun += 1
        while self._num_making < self._num_read and self._num_running("make") < self._workers:
            self._left["make", self._num_making] = self._chunks[self._num_making].make
            self._num_making += 1
        waiting, is_last = self._num_taken - self._num_written, self._num_taken == len(self._chunks)
        if waiting and not self._num_running("write") and (waiting == self._batch or is_last):
            taken = self._chunks[self._num_written : self._num_taken]
            self._left["write", self._num_taken] = sum(chunk.write for chunk in taken)

    def _pass_on(self) -> None:
        """Move results to the queue of the writer, which takes up to a batch of them while it is not writing."""
        end = self._num_taken if self._num_running("write") else self._num_written + self._batch
        while self._num_passed in self._made and self._num_passed < end + WAITING:
            self._num_passed += 1
        self._num_taken = max(self._num_taken, min(self._num_passed, end))

    def _end(self) -> None:
        for stage, number in [task for task, left in self._left.items() if left <= 1e-12]:
            del self._left[stage, number]
            if stage == "read":
                self._num_read += 1
            elif stage == "make":
                self._made.add(number)
            else:
                self._num_written = number

    def _num_running(self, stage: str) -> int:
        return sum(running == stage for running, _ in self._left)
