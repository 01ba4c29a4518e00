"""The rejections of a run: those that are stored, their reasons, and the sources of which nothing was accepted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from lshdb.ingest.make import SourceProgress, Tally
from lshdb.ingest.options import IngestOptions
from lshdb.model.reports import RejectedSource
from lshdb.model.values import Rejection
from lshdb.readers import file_of, holds_records
from lshdb.store.tables.locators import EarlierRejection
from lshdb.store.tables.sources import DONE

__all__ = ["MAX_NAMED", "OTHER_REASONS", "Earlier", "Reasons", "RejectedSources", "condensed", "count", "earlier"]

# The number of sources that are kept for the message; all are counted.
MAX_NAMED: Final = 10

# Our own readers have about forty kinds of rejections; a reader of another distribution may give every item its own.
MAX_KINDS: Final = 100
OTHER_REASONS: Final = "other reasons"

# The reason of a rejection that stands for several.
_MORE: Final = re.compile(r"([\d,]+) more: ")


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


class Earlier(Struct):
    """What earlier runs rejected of a file. Args: reason: of the first rejection; run_key: of the last."""

    uri: str
    is_empty: bool
    reason: str
    run_key: int
    num_rejected: int = 0


def earlier(rejections: Iterable[EarlierRejection]) -> list[Earlier]:
    """Return the earlier rejections of files, with those that `condensed` counted by reason."""
    found: dict[str, Earlier] = {}
    for one in rejections:
        is_empty = one.state == DONE and not one.num_documents
        file = found.setdefault(one.uri, Earlier(one.uri, is_empty, one.reason, one.run_key))
        more = None if one.locator else _MORE.match(one.reason)
        number = file.num_rejected + (int(more[1].replace(",", "")) if more else 1)
        file.num_rejected = min(number, one.position - one.num_documents)
        file.run_key = one.run_key
    return list(found.values())


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


def count(tallies: dict[str, Tally], progress: Iterable[SourceProgress], rejections: Iterable[Rejection]) -> None:
    """Count the documents and rejections of a batch by the URIs of their sources."""
    for step in progress:
        tallies.setdefault(step.source.uri, Tally()).num_documents += step.num_documents
    for rejection in rejections:
        if (tally := tallies.get(rejection.source)) is not None:
            tally.count(rejection)


class RejectedSources:
    """The sources without a document, which are counted batch by batch.

    A file in a folder that is a single document, such as a page of a crawl, does not count: it is one rejection among
    many. A source whose reading was resumed counts only with the rejections of earlier runs.

    Attributes:
        number: the number of these sources.
        named: the first of them.
    """

    def __init__(self, options: IngestOptions) -> None:
        self._options = options
        # The sources being read.
        self._tallies: dict[str, Tally] = {}
        self.number = 0
        self.named: list[RejectedSource] = []

    def resume(self, uri: str) -> None:
        """Do not count this source."""
        self._tallies[uri] = Tally(num_documents=1)

    def count(
        self, progress: Mapping[str, SourceProgress], rejections: Iterable[Rejection], unsettled: Container[str] = ()
    ) -> None:
        """Count a batch: the progress of its sources, and their rejections.

        Args: unsettled: the URIs of sources that may get more documents or rejections, even if they are read.
        """
        count(self._tallies, progress.values(), rejections)
        for uri, step in progress.items():
            if step.ended and uri not in unsettled:
                self._end(step, self._tallies.pop(uri))

    def _end(self, step: SourceProgress, tally: Tally) -> None:
        if tally.first is not None and not tally.num_documents:
            found = RejectedSource(step.source.uri, tally.num_rejected, tally.first.reason)
            self._add(found, is_named=step.source.named)

    def count_earlier(self, files: Iterable[Earlier], named: Container[str]) -> None:
        """Count the files of which earlier runs have accepted nothing. Args: named: the URIs that the user named."""
        for file in files:
            if file.is_empty:
                self._add(RejectedSource(file.uri, file.num_rejected, file.reason), is_named=file.uri in named)

    def _add(self, source: RejectedSource, *, is_named: bool) -> None:
        """Count a source if the user will miss it: a file that the user named, or one with many records."""
        if (is_named and self._options.must_exist) or holds_records(file_of(source.uri), self._options.read):
            self.number += 1
            if len(self.named) < MAX_NAMED:
                self.named.append(source)
