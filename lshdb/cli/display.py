"""Progress and warnings on stderr: a live line on a terminal, a plain one every half minute in a log."""

from __future__ import annotations

import time

from rich.console import Console
from rich.live import Live
from rich.text import Text

from lshdb.model import Counts, Rejection
from lshdb.progress import Progress

__all__ = ["Display", "progress_for"]

# Where nobody watches: one plain line now and then.
LOG_SECONDS = 30.0


def progress_for(quiet: bool) -> Progress:
    """What shows the progress of a call."""
    return Progress() if quiet else Display()


class Display(Progress):
    """Shows progress on stderr."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._live = Live(console=self._console, transient=True, refresh_per_second=8)
        self._started = time.monotonic()
        self._said = self._started
        self._counts = Counts()

    def read(self, num_documents: int, num_bytes: int) -> None:
        seconds = max(time.monotonic() - self._started, 1e-3)
        self._show(
            f"ingest  {num_documents:,} documents read  {num_documents / seconds:,.0f}/s  {num_bytes / 1e6:,.1f} MB  "
            f"{num_bytes / 1e6 / seconds:,.1f} MB/s  {self._counts.num_contents:,} new contents committed  "
            f"{self._counts.num_unchanged:,} documents unchanged"
        )

    def ingested(self, counts: Counts) -> None:
        self._counts = counts

    def linked(self, share: float) -> None:
        self._show_share("link", share)

    def verified(self, share: float) -> None:
        self._show_share("verify", share)

    def rejected(self, item: Rejection) -> None:
        place = f"{item.source}{', ' if item.locator else ''}{item.locator}"
        self._print(f"rejected  {place}: {item.reason}")

    def noticed(self, message: str) -> None:
        self._print(f"note  {message}")

    def _show_share(self, stage: str, share: float) -> None:
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
