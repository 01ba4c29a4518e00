"""Tracks the sources of a run without any document, because everything in them was rejected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from lshdb.ingest.make import SourceProgress
from lshdb.ingest.options import IngestOptions
from lshdb.model.reports import RejectedSource
from lshdb.model.values import Rejection
from lshdb.readers import SourceFile, holds_records

__all__ = ["RejectedSources"]

# The number of sources that are kept for the message; all are counted.
MAX_NAMED: Final = 10


@dataclass(slots=True)
class _Tally:
    num_documents: int = 0
    num_rejected: int = 0
    reason: str = ""


class RejectedSources:
    """The sources without a document, which are counted batch by batch.

    A file in a folder that is a single document, such as a page of a crawl, does not count: it is one rejection among
    many. A source whose reading was resumed does not count either, because an earlier run added its first documents.

    Attributes:
        number: the number of these sources.
        named: the first of them.
    """

    def __init__(self, options: IngestOptions) -> None:
        self._options = options
        # The sources being read.
        self._tallies: dict[str, _Tally] = {}
        self.number = 0
        self.named: list[RejectedSource] = []

    def resume(self, uri: str) -> None:
        """Do not count this source."""
        self._tallies[uri] = _Tally(num_documents=1)

    def count(self, progress: Mapping[str, SourceProgress], rejections: Iterable[Rejection]) -> None:
        """Count a batch: the progress of its sources, and their rejections."""
        for uri, step in progress.items():
            self._tallies.setdefault(uri, _Tally()).num_documents += step.num_documents
        for rejection in rejections:
            if (tally := self._tallies.get(rejection.source)) is not None:
                tally.num_rejected += 1
                tally.reason = tally.reason or rejection.reason
        for uri, step in progress.items():
            if step.ended:
                self._end(step, self._tallies.pop(uri))

    def _end(self, step: SourceProgress, tally: _Tally) -> None:
        if tally.num_documents or not tally.num_rejected or not self._is_meant(step.source):
            return
        self.number += 1
        if len(self.named) < MAX_NAMED:
            self.named.append(RejectedSource(step.source.uri, tally.num_rejected, tally.reason))

    def _is_meant(self, source: SourceFile) -> bool:
        """Return whether the user will miss this source: a file that the user named, or one with many records."""
        return (source.named and self._options.must_exist) or holds_records(source, self._options.read)
