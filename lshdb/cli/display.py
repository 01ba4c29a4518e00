"""Progress and warnings on stderr: a live line on a terminal, a plain one every half minute in a log."""

from __future__ import annotations

import time
from datetime import timedelta

from rich.console import Console
from rich.live import Live
from rich.text import Text

from lshdb.model.progress import Progress, Stage
from lshdb.model.values import Counts, Rejection

__all__ = ["Display", "progress_for"]

# The interval of the plain lines in a log.
LOG_SECONDS = 30.0


def progress_for(quiet: bool) -> Progress:
    """Return the object that shows the progress of a call."""
    return Progress() if quiet else Display()


class Display(Progress):
    """Shows progress on stderr."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._live = Live(console=self._console, transient=True, refresh_per_second=8)
        self._started = time.monotonic()
        self._said = self._started
        self._counts = Counts()
        self._num_files = 0
        # Bytes of all files to read; known once all files are found.
        self._num_bytes: int | None = None

    def walked(self, num_files: int, num_bytes: int, *, ended: bool) -> None:
        if not self._num_files:
            self._started = time.monotonic()
        self._num_files = num_files
        self._num_bytes = num_bytes if ended else None

    def read(self, num_documents: int, num_bytes: int) -> None:
        seconds = max(time.monotonic() - self._started, 1e-3)
        self._show(
            f"ingest  {self._num_files:,} files  {num_documents:,} documents read  {num_documents / seconds:,.0f}/s  "
            f"{num_bytes / 1e6:,.1f} MB  {num_bytes / 1e6 / seconds:,.1f} MB/s  {_num_copies(self._counts):,} exact "
            f"copies so far  {self._counts.num_unchanged:,} unchanged{self._left(num_bytes, seconds)}"
        )

    def _left(self, num_bytes: int, seconds: float) -> str:
        """Return the share that is read and the time left; empty until all files are found."""
        if self._num_bytes is None or not 0 < num_bytes <= self._num_bytes:
            return ""
        left = seconds * (self._num_bytes / num_bytes - 1)
        return f"  {num_bytes / self._num_bytes:.0%}, {timedelta(seconds=round(left))} left"

    def ingested(self, counts: Counts) -> None:
        self._counts = counts

    def rejected(self, item: Rejection) -> None:
        place = f"{item.source}{', ' if item.locator else ''}{item.locator}"
        self._print(f"rejected  {place}: {item.reason}")

    def noticed(self, message: str) -> None:
        self._print(f"note  {message}")

    def advanced(self, stage: Stage, share: float) -> None:
        filled = round(share * 30)
        self._show(f"{stage:6}  [{'#' * filled}{'.' * (30 - filled)}]  {share:.0%}")

    def done(self) -> None:
        self._live.stop()

    def _show(self, line: str) -> None:
        if self._console.is_terminal:
            self._live.start()
            self._live.update(Text(line))
        elif time.monotonic() - self._said >= LOG_SECONDS:
            self._said = time.monotonic()
            self._print(line)

    def _print(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)


def _num_copies(counts: Counts) -> int:
    """Return the number of committed documents whose text was already in the index."""
    return max(counts.num_added + counts.num_updated - counts.num_empty - counts.num_contents, 0)
