"""Group plans and chunks into batches, which are written together.

Batches grow with the index, so that the cost of a transaction per document stays the same. The database says how far.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from lshdb.ingest.make import Chunk
from lshdb.ingest.options import Budgets
from lshdb.ingest.plan import Plan
from lshdb.ingest.workers import Ahead
from lshdb.store.dialect import Growth

__all__ = ["Batch", "Batches"]

# How many times its budget of bytes a batch may have: with six times, an ingest took 1.4 GB with two workers, and 0.9
# with a single one.
MAX_BYTES_TIMES: Final = 4.0


class Batch(Struct, frozen=True):
    """Plans and chunks that are written together. A batch is a value, so its transaction can be repeated."""

    plans: tuple[Plan, ...]
    chunks: tuple[Chunk, ...]


class Batches:
    """Groups plans and chunks into batches.

    Args:
        ahead: supplies the plans and chunks.
        taken: is called with each of them.
        num_contents: returns the approximate number of contents in the index; a larger index gets larger batches.
        growth: how far batches grow; a fact of the database.
        eager: do not let the writer wait until a batch has grown. If nothing more is made yet, a batch is complete as
            soon as it would be in a small index.
    """

    def __init__(
        self,
        ahead: Ahead[Plan | Chunk],
        taken: Callable[[Plan | Chunk], None],
        num_contents: Callable[[], int],
        budgets: Budgets,
        growth: Growth,
        eager: bool = False,
    ) -> None:
        self._ahead = ahead
        self._taken = taken
        self._num_contents = num_contents
        self._budgets = budgets
        self._growth = growth
        self._eager = eager
        self._values: list[Plan | Chunk] = []
        self._num_bytes = self._num_documents = 0
        self._late_at = math.inf

    def next(self, seconds: float = math.inf) -> Batch | None:
        """Return the next batch; None if it is not complete within `seconds`, or if there are no more batches."""
        deadline = time.monotonic() + seconds
        while not self._is_complete():
            is_enough = self._eager and self._has(1.0)
            waits = 0.0 if is_enough else min(deadline, self._late_at) - time.monotonic()
            value = self._ahead.take(None if waits == math.inf else max(waits, 0.0))
            if value is not None:
                self._add(value)
            elif self._ahead.ended or is_enough:
                break
            elif time.monotonic() >= deadline and not self._is_complete():
                return None
        return self._complete() if self._values else None

    def _add(self, value: Plan | Chunk) -> None:
        self._taken(value)
        if not self._values:
            self._late_at = time.monotonic() + self._budgets.batch_seconds
        self._values.append(value)
        if isinstance(value, Chunk):
            self._num_bytes += value.num_bytes
            self._num_documents += len(value.documents) + len(value.rejections) + len(value.revisits)
        else:
            self._num_documents += len(value.unchanged) + len(value.unread)

    def _is_complete(self) -> bool:
        times = self._growth.share * self._num_contents() / self._budgets.batch_documents
        return self._has(min(self._growth.most, max(1.0, times))) or time.monotonic() >= self._late_at

    def _has(self, times: float) -> bool:
        """Return whether it has `times` times the bytes or the documents of a batch of a small index."""
        return (
            self._num_bytes >= min(times, MAX_BYTES_TIMES) * self._budgets.batch_bytes
            or self._num_documents >= times * self._budgets.batch_documents
        )

    def _complete(self) -> Batch:
        values, self._values = self._values, []
        self._num_bytes = self._num_documents = 0
        self._late_at = math.inf
        return Batch(
            plans=tuple(value for value in values if isinstance(value, Plan)),
            chunks=tuple(value for value in values if isinstance(value, Chunk)),
        )
