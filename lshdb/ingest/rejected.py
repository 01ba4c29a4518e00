"""The rejections of a run: those that are stored, their reasons, and the sources of which nothing was accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from lshdb.ingest.make import SourceProgress
from lshdb.ingest.options import IngestOptions
from lshdb.model.reports import RejectedSource
from lshdb.model.values import Rejection
from lshdb.readers import SourceFile, holds_records

__all__ = ["MAX_NAMED", "OTHER_REASONS", "Reasons", "RejectedSources", "condensed"]

# The number of sources that are kept for the message; all are counted.
MAX_NAMED: Final = 10

# Our own readers have about forty kinds of rejections; a reader of another distribution may give every item its own.
MAX_KINDS: Final = 100
OTHER_REASONS: Final = "other reasons"


def condensed(
    rejections: Sequence[Rejection], num_before: Mapping[str, int], num_stored: int
) -> tuple[list[Rejection], Counter[str]]:
    """Return the rejections of a batch to store: the first ones of each source, and the numbers of others by reason.

    Args:
        num_before: how many rejections of a source the run has had so far.
        num_stored: how many of them are stored one by one.

    Returns: the rejections, and the number of rejections by source, including those before.
    """
    numbers, kept, others = Counter(num_before), list[Rejection](), dict[str, Reasons]()
    for rejection in rejections:
        numbers[rejection.source] += 1
        if numbers[rejection.source] <= num_stored:
            kept.append(rejection)
        else:
            others.setdefault(rejection.source, Reasons()).count([rejection])
    for uri, reasons in others.items():
        kept += [Rejection(uri, "", f"{number:,} more: {kind}") for kind, number in reasons.as_dict().items()]
    return kept, numbers


class Reasons:
    """The number of rejections of each kind. All kinds after the first hundred are counted together."""

    def __init__(self) -> None:
        self._numbers: Counter[str] = Counter()

    def count(self, rejections: Iterable[Rejection]) -> None:
        """Count more rejections."""
        for rejection in rejections:
            is_known = rejection.kind in self._numbers or len(self._numbers) < MAX_KINDS
            self._numbers[rejection.kind if is_known else OTHER_REASONS] += 1

    def as_dict(self) -> dict[str, int]:
        """Return the numbers by kind, the most frequent first."""
        return dict(self._numbers.most_common())


class _Tally(Struct):
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

    def count(
        self, progress: Mapping[str, SourceProgress], rejections: Iterable[Rejection], unsettled: Container[str] = ()
    ) -> None:
        """Count a batch: the progress of its sources, and their rejections.

        Args: unsettled: the URIs of sources that may get more documents or rejections, even if they are read.
        """
        for uri, step in progress.items():
            self._tallies.setdefault(uri, _Tally()).num_documents += step.num_documents
        for rejection in rejections:
            if (tally := self._tallies.get(rejection.source)) is not None:
                tally.num_rejected += 1
                tally.reason = tally.reason or rejection.reason
        for uri, step in progress.items():
            if step.ended and uri not in unsettled:
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
