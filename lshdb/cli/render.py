"""Print rows and reports. Rows are written immediately, table rows in blocks; they are never all held in memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Protocol

import typer

from lshdb.cli.escapes import named, shown_on, visible
from lshdb.cli.output import Output
from lshdb.cli.table import Listing, counted, write_table
from lshdb.clusters.tabular import Row, writer

__all__ = [
    "Listing",
    "Output",
    "counted",
    "named",
    "print_json",
    "print_note",
    "print_records",
    "print_report",
    "print_rows",
    "visible",
]


class Report(Protocol):
    """The result of a verb."""

    def as_json(self) -> dict[str, object]:
        """Return it as an object for a script."""


def print_report(report: Report, text: str, *, as_json: bool) -> None:
    """Print a report, as one JSON object or as text."""
    if as_json:
        print_json(report.as_json())
    else:
        print(text, file=shown_on(sys.stdout, as_json=False))


def print_json(value: object) -> None:
    """Print one JSON object."""
    print(json.dumps(value, ensure_ascii=False, default=str), file=shown_on(sys.stdout, as_json=True))


def print_note(line: str) -> None:
    """Print a line on standard error."""
    typer.echo(visible(line) if sys.stderr.isatty() else line, err=True)


def print_records(listing: Listing | Sequence[str], records: Iterable[object], output: Output | None = None) -> bool:
    """Print records; their attributes are the columns. Returns: whether there are any."""
    shown = listing if isinstance(listing, Listing) else Listing(listing)
    return print_rows(shown, ([getattr(record, name) for name in shown.columns] for record in records), output)


def print_rows(listing: Listing | Sequence[str], rows: Iterable[Row], output: Output | None = None) -> bool:
    """Print rows, or write them to a file. A table without rows has no header either.

    Returns: whether there are any.
    Raises: OutputExists, OutputFailed.
    """
    shown, chosen = listing if isinstance(listing, Listing) else Listing(listing), output or Output()
    iterator = iter(rows)
    # Get the first row before a header is printed or a pager is started, because that may fail.
    first = list(islice(iterator, 1))
    with chosen.opened() as out:
        if chosen.chosen == "table":
            write_table(shown, chain(first, iterator), out, chosen.width)
        else:
            writer(chosen.chosen, raw=chosen.raw)(shown.columns, chain(first, iterator), out)
    return bool(first)
