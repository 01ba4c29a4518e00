"""The end of an ingest: warnings about lost data, and errors because of rejected documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from lshdb.cli.table import counted
from lshdb.errors import (
    LshdbError,
    NothingToRead,
    ReaderMissing,
    SourceGivenUp,
    SourceRejected,
    TooManyRejected,
    UsageError,
)

if TYPE_CHECKING:
    from lshdb.model.reports import IngestReport, RejectedSource
    from lshdb.model.values import Conflicts

__all__ = ["Allowance", "allowance", "rejections", "verdict", "warnings", "without_text"]

# More rejections than this point to a mistake, such as a wrong field.
DEFAULT_SHARE: Final = 0.5


class Allowance(Struct, frozen=True):
    """How many documents may be rejected: a number, or a share of all.

    Args: given: whether the user set it, and so also accepts sources without any document.
    """

    number: int | None = None
    share: float = 1.0
    given: bool = True

    @property
    def share_of_source(self) -> float:
        """The share of the items of a source that may be rejected before ingest gives up on it; 1 for never."""
        return max(self.share, DEFAULT_SHARE)

    def __str__(self) -> str:
        return f"{100 * self.share:g} %" if self.number is None else str(self.number)


def allowance(text: str | None) -> Allowance:
    """Return what ``--max-rejected`` allows, such as ``100`` or ``5%``. Raises: UsageError: it is neither."""
    if text is None:
        return Allowance(share=DEFAULT_SHARE, given=False)
    match = re.fullmatch(r"(?:(\d+)|(\d+(?:\.\d+)?) ?%)", text)
    share = float(match[2]) / 100 if match and match[2] else 1.0
    if match is None or share > 1.0:
        raise UsageError(reason=f"--max-rejected {text}: write a number or a share, such as 100 or 5%")
    return Allowance(number=int(match[1])) if match[1] else Allowance(share=share)


def verdict(report: IngestReport, paths: str, url: str, allowed: Allowance) -> LshdbError | None:
    """Return the error to end a run with, or None for success. Either way, everything committed is kept.

    It depends on the files, not on whether an earlier run has read them: a failed run that is repeated fails again.

    Args: paths: the paths of the run, for the message.
    """
    counts = report.counts
    num_rejected = counts.num_rejected + report.num_rejected_before
    num_documents = counts.num_seen + report.num_resumed + report.num_rejected_before
    if (missing := _missing_reader(report)) is not None:
        return ReaderMissing(path=missing.uri, reason=missing.reason.partition(": ")[2])
    if report.given_up:
        path, first = _first_of(report.given_up, report.num_given_up)
        return SourceGivenUp(path=path, num_rejected=first.num_rejected, reason=first.reason)
    if report.rejected_sources and not allowed.given:
        path, first = _first_of(report.rejected_sources, report.num_rejected_sources)
        return SourceRejected(path=path, num_rejected=first.num_rejected, reason=first.reason)
    if num_rejected > (allowed.share * num_documents if allowed.number is None else allowed.number):
        return TooManyRejected(
            num_rejected=num_rejected,
            num_documents=num_documents,
            allowed=str(allowed),
            url=url,
            run=report.run if counts.num_rejected else report.last_rejected_before or report.run,
        )
    if not (num_documents or counts.num_removed or report.conflicts.num_left_out):
        return NothingToRead(path=paths, reason=without_text(report) if report.num_skipped else "no document")
    return None


def warnings(report: IngestReport, *, quiet: bool) -> Iterator[str]:
    """Yield a line for each kind of data that the run lost or displaced.

    Args: quiet: whether to add a line with the number of rejections, because they were not printed.
    """
    if quiet and report.counts.num_rejected:
        yield f"{report.counts.num_rejected:,} {rejections(report)}; lshdb stats --rejected {report.run} lists them"
    if told := _conflicts(report.conflicts):
        yield told
    if report.num_spared:
        told = counted(report.num_spared, "file is", "files are")
        yield f"{told} damaged or empty: --prune kept the documents that were read from there before"


def without_text(report: IngestReport) -> str:
    """Return how much was skipped because it has no text."""
    return f"{counted(report.num_skipped, 'file or record', 'files or records')} without text"


def rejections(report: IngestReport) -> str:
    """Return how many documents were rejected for each reason."""
    reasons = ", ".join(f"{reason}: {number:,}" for reason, number in report.rejected_by_reason.items())
    return f"rejected ({reasons})"


def _missing_reader(report: IngestReport) -> RejectedSource | None:
    from lshdb.readers import NO_READER

    return next((each for each in report.rejected_sources if each.reason.startswith(f"{NO_READER}: ")), None)


def _first_of(sources: Sequence[RejectedSource], number: int) -> tuple[str, RejectedSource]:
    """Return the first source, and its name with the number of the others."""
    more = number - 1
    others = f" and {more:,} other files" if more > 1 else " and another file" if more else ""
    return f"{sources[0].uri}{others}", sources[0]


def _conflicts(found: Conflicts) -> str:
    """Return a line about documents whose id belonged to a different text; empty if there are none."""
    parts = {
        "took the place of documents from other files": found.num_replaced,
        "were left out": found.num_left_out,
        "got ids of the form ID@FILE": found.num_qualified,
    }
    told = []
    if any(parts.values()):
        numbers = ", ".join(f"{number:,} {what}" for what, number in parts.items() if number)
        told.append(f"several files have the same ids with different texts: {numbers} (see --on-conflict)")
    if found.num_repeated:
        taken = counted(
            found.num_repeated, "record took the place of an earlier one", "records took the place of earlier ones"
        )
        told.append(f"{taken} with the same id in the same file")
    return "; ".join(told)
