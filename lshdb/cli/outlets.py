"""Show progress, notes, warnings and errors: on a terminal, as lines of text or JSON, and in a log file.

An outlet shows every `say`. It may drop a `step`, because the next one replaces it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, Protocol, cast

import typer
from msgspec import Struct, field

from lshdb.cli.escapes import shown_on, visible
from lshdb.cli.settings import Settings
from lshdb.errors import OutputFailed, brief, reason_of
from lshdb.store.files import require_no_database

__all__ = ["Event", "JsonLines", "LogFile", "Outlet", "Quiet", "Terminal", "TextLines", "outlets_of"]

# Where Typer's context keeps the outlets of a call.
_KEY: Final = "lshdb.outlets"

Kind = Literal["progress", "rejected", "note", "warning", "error", "summary"]

PREFIXES: Final = {"rejected": "rejected  ", "note": "note  ", "warning": "warning  ", "error": "lshdb: "}
# What --quiet prints.
LOUD: Final = ("warning", "error")
# A longer line loses its middle.
MAX_LINE: Final = 4_000
# The interval between progress lines in a log and in JSON.
LOG_SECONDS: Final = 60.0
JSON_SECONDS: Final = 1.0


class Event(Struct, frozen=True):
    """Something to show.

    Args:
        text: for human readers.
        figures: for programs.
    """

    kind: Kind
    text: str
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """The event as one line that begins with its kind."""
        return visible(PREFIXES.get(self.kind, "") + brief(self.text, MAX_LINE))


class Outlet(Protocol):
    """Shows events."""

    def step(self, event: Event) -> None:
        """Show progress."""

    def say(self, event: Event) -> None:
        """Show an event that must not be lost."""

    def done(self) -> None:
        """Stop showing progress."""


class Terminal:
    """A live line on a terminal, below the permanent lines."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._console = Console(stderr=True, highlight=False)
        self._live = Live(console=self._console, transient=True, refresh_per_second=8)

    def step(self, event: Event) -> None:
        from rich.text import Text

        self._live.start()
        self._live.update(Text(event.line))

    def say(self, event: Event) -> None:
        from rich.text import Text

        if event.kind != "summary":
            self._console.print(Text(event.line), soft_wrap=True)

    def done(self) -> None:
        self._live.stop()


class TextLines:
    """Lines of text on stderr, with a line of progress per interval; None for no progress."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._said = time.monotonic()

    def step(self, event: Event) -> None:
        if self._seconds is not None and time.monotonic() - self._said >= self._seconds:
            self._said = time.monotonic()
            self.say(event)

    def say(self, event: Event) -> None:
        if event.kind != "summary":
            print(event.line, file=sys.stderr, flush=True)

    def done(self) -> None:
        pass


class JsonLines(TextLines):
    """One JSON object per line on stderr, for programs."""

    def say(self, event: Event) -> None:
        if event.kind != "summary":
            shown = {"event": event.kind, "message": event.text, **event.figures}
            print(json.dumps(shown, ensure_ascii=False), file=shown_on(sys.stderr, as_json=True), flush=True)


class LogFile(TextLines):
    """Lines with a UTC timestamp, appended to a file. If they cannot be written, one warning says so.

    Args: shown: the outlet that shows the warning.
    """

    def __init__(self, path: Path, shown: Outlet) -> None:
        super().__init__(LOG_SECONDS)
        require_no_database(path)
        self._path = path
        self._shown = shown
        self._has_failed = False
        try:
            self._file = path.open("a", encoding="utf-8", errors="backslashreplace", buffering=1)
        except OSError as error:
            raise OutputFailed(path=path, reason=reason_of(error)) from None

    def say(self, event: Event) -> None:
        with self._warned():
            self._file.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}  {event.line}\n")

    def close(self) -> None:
        """Close the file."""
        with self._warned():
            self._file.close()

    @contextmanager
    def _warned(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if not self._has_failed:
                self._has_failed = True
                reason = reason_of(error)
                self._shown.say(Event("warning", f"The log file {self._path} is incomplete: {reason}."))


class Quiet:
    """Passes only warnings and errors on. Args: outlet: the outlet that shows them."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet

    def step(self, event: Event) -> None:
        pass

    def say(self, event: Event) -> None:
        if event.kind in LOUD:
            self._outlet.say(event)

    def done(self) -> None:
        pass


def outlets_of(context: typer.Context) -> tuple[Outlet, ...]:
    """Return the outlets of a call, the same ones each time.

    Raises: OutputFailed: the log cannot be written.
    """
    if _KEY not in context.meta:
        context.meta[_KEY] = tuple(_outlets(context, context.obj))
    return cast(tuple[Outlet, ...], context.meta[_KEY])


def _outlets(context: typer.Context, settings: Settings) -> Iterator[Outlet]:
    on_stderr = _on_stderr(settings)
    shown = Quiet(on_stderr) if settings.quiet else on_stderr
    yield shown
    if settings.log_file is not None:
        log = LogFile(settings.log_file, shown)
        context.find_root().call_on_close(log.close)
        yield log


def _on_stderr(settings: Settings) -> Outlet:
    form = settings.progress or "auto"
    if form == "json":
        return JsonLines(JSON_SECONDS)
    if form == "auto" and not settings.quiet and sys.stderr.isatty():
        return Terminal()
    return TextLines(None if form == "none" else LOG_SECONDS)
