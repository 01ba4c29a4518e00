"""What a call tells its user while it works: progress, rejections, notes and warnings."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import timedelta

import typer

from lshdb.cli.flood import FloodGate
from lshdb.cli.outlets import Event, Outlet, outlets_of
from lshdb.cli.table import counted
from lshdb.model.progress import Progress, Stage
from lshdb.model.values import Counts, Rejection

__all__ = ["Display", "display_of"]


def display_of(context: typer.Context) -> Display:
    """Return a display for the verb of this call. Raises: OutputFailed: its log cannot be written."""
    return Display(outlets_of(context))


class Display(Progress):
    """Puts into words what the library reports, and passes it to outlets.

    Args: clock: returns seconds.
    """

    def __init__(self, shown: Sequence[Outlet], clock: Callable[[], float] = time.monotonic) -> None:
        self._outlets = shown
        self._clock = clock
        self._gate = FloodGate()
        self._started = clock()
        self._counts = Counts()
        self._num_files = 0
        # Bytes of all files to read; known once all files are found.
        self._num_bytes: int | None = None

    def walked(self, num_files: int, num_bytes: int, *, ended: bool) -> None:
        if not self._num_files:
            self._started = self._clock()
        self._num_files = num_files
        self._num_bytes = num_bytes if ended else None

    def read(self, num_documents: int, num_bytes: int) -> None:
        seconds = max(self._clock() - self._started, 1e-3)
        text = (
            f"ingest  {counted(self._num_files, 'file')}  {counted(num_documents, 'document')} read  "
            f"{num_documents / seconds:,.0f}/s  "
            f"{num_bytes / 1e6:,.1f} MB  {num_bytes / 1e6 / seconds:,.1f} MB/s  {_num_copies(self._counts):,} exact "
            f"copies so far  {self._counts.num_unchanged:,} unchanged{self._left(num_bytes, seconds)}"
        )
        figures = {
            "stage": "ingest",
            "files": self._num_files,
            "documents": num_documents,
            "bytes": num_bytes,
            "bytes_to_read": self._num_bytes,
            "seconds": round(seconds, 3),
        }
        self._step(Event("progress", text, figures))

    def _left(self, num_bytes: int, seconds: float) -> str:
        """Return the share that is read and the time left; empty until all files are found."""
        if self._num_bytes is None or not 0 < num_bytes <= self._num_bytes:
            return ""
        left = seconds * (self._num_bytes / num_bytes - 1)
        return f"  {num_bytes / self._num_bytes:.0%}, {timedelta(seconds=round(left))} left"

    def ingested(self, counts: Counts) -> None:
        self._counts = counts

    def advanced(self, stage: Stage, share: float) -> None:
        filled = round(share * 30)
        text = f"{stage:6}  [{'#' * filled}{'.' * (30 - filled)}]  {share:.0%}"
        self._step(Event("progress", text, {"stage": stage, "share": round(share, 4)}))

    def rejected(self, item: Rejection) -> None:
        if not self._gate.lets_through(item):
            return
        place = f"{item.source}{', ' if item.locator else ''}{item.locator}"
        figures = {"source": item.source, "locator": item.locator, "reason": item.reason}
        self._say(Event("rejected", f"{place}: {item.reason}", figures))

    def busy(self, message: str) -> None:
        self._step(Event("progress", message))

    def noticed(self, message: str) -> None:
        self._say(Event("note", message))

    def warned(self, message: str) -> None:
        self._say(Event("warning", message))

    def summarised(self, text: str) -> None:
        """The call has printed its result, which a log keeps too."""
        self._say(Event("summary", text))

    def done(self) -> None:
        for source, reasons in self._gate.rest():
            told = ", ".join(f"{number:,} {reason}" for reason, number in reasons.most_common())
            text = f"{source or 'other files'}: {reasons.total():,} more ({told})"
            self._say(Event("rejected", text, {"source": source, "more": dict(reasons.most_common())}))
        for outlet in self._outlets:
            outlet.done()

    def _step(self, event: Event) -> None:
        for outlet in self._outlets:
            outlet.step(event)

    def _say(self, event: Event) -> None:
        for outlet in self._outlets:
            outlet.say(event)


def _num_copies(counts: Counts) -> int:
    """Return the number of committed documents whose text was already in the index."""
    return max(counts.num_added + counts.num_updated - counts.num_empty - counts.num_contents, 0)
