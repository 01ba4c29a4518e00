"""Gives up on sources that hold little but rejections, such as a CSV file with an unclosed quote.

A run gives up on a source as soon as more than `Budgets.source_rejections` of its items, and more than the share
`Budgets.rejected_share` of those read so far, were rejected. The source stays half read, so a later run continues it,
or reads it from its beginning if it has changed.

Small files are counted item by item, where their documents are made. The records of large files are made by several
workers, so they are counted chunk by chunk in the order of the file. The result is the same for any number of workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lshdb.ingest.make import Chunk, SourceProgress, Tally
from lshdb.ingest.options import Budgets
from lshdb.ingest.rejected import MAX_NAMED, count
from lshdb.model.reports import RejectedSource

__all__ = ["Floods"]


class Floods:
    """The sources that a run has given up on.

    Args: max_rejected: the run ends when more items than this were rejected; None for no limit.

    Attributes:
        number: the number of these sources.
        named: the first of them.
    """

    def __init__(self, budgets: Budgets, max_rejected: int | None) -> None:
        self._budgets = budgets
        self._max_rejected = max_rejected
        # The sources being read.
        self._tallies: dict[str, Tally] = {}
        self._given_up: set[str] = set()
        self.number = 0
        self.named: list[RejectedSource] = []

    def has(self, uri: str) -> bool:
        """Return whether a source was given up."""
        return uri in self._given_up

    def limited(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Yield the chunks up to the limit of the run, without those of sources that were given up."""
        num_rejected = 0
        for chunk in chunks:
            if any(self.has(step.source.uri) for step in chunk.sources):
                continue
            self._count(chunk)
            yield chunk
            num_rejected += len(chunk.rejections)
            if self._max_rejected is not None and num_rejected > self._max_rejected:
                return

    def _count(self, chunk: Chunk) -> None:
        count(self._tallies, chunk.sources, chunk.rejections)
        for step in chunk.sources:
            self._judge(step)

    def _judge(self, step: SourceProgress) -> None:
        uri = step.source.uri
        tally = self._tallies[uri]
        is_flood = tally.is_flood(self._budgets) and not step.ended
        if is_flood and tally.first is not None:
            self._given_up.add(uri)
            self.number += 1
            if len(self.named) < MAX_NAMED:
                place = f"{tally.first.locator}: " if tally.first.locator else ""
                self.named.append(RejectedSource(uri, tally.num_rejected, f"{place}{tally.first.reason}"))
        if is_flood or step.ended:
            del self._tallies[uri]
