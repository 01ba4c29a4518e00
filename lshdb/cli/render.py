"""Print rows and reports to stdout, and make ids safe for a terminal. Rows are printed one at a time, never held."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, Protocol, TextIO

from lshdb.clusters.tabular import WRITERS, Row, plain

if TYPE_CHECKING:
    from lshdb.cli.options import Format

__all__ = ["print_json", "print_records", "print_report", "print_rows", "visible"]

# The number of rows that determine the widths of a table's columns.
MEASURED_ROWS: Final = 500

# Values of a list that a table shows.
SHOWN_VALUES: Final = 3

# Control characters in an id must not move the cursor of the terminal.
_VISIBLE: Final = {code: f"\\x{code:02x}" for code in (*range(32), 127)}


class Report(Protocol):
    """The result of a verb."""

    def as_json(self) -> dict[str, object]:
        """Return it as an object for a script."""


def print_report(report: Report, text: str, *, as_json: bool) -> None:
    """Print a report, as one JSON object or as text."""
    if as_json:
        print_json(report.as_json())
    else:
        print(text)


def print_json(value: object) -> None:
    """Print one JSON object."""
    print(json.dumps(value, ensure_ascii=False, default=str))


def print_records(columns: Sequence[str], records: Iterable[object], form: Format | None) -> None:
    """Print records; their attributes are the columns."""
    print_rows(columns, ([getattr(record, name) for name in columns] for record in records), form)


def print_rows(columns: Sequence[str], rows: Iterable[Row], form: Format | None) -> None:
    """Print rows. A table without rows has no header either."""
    form = form or ("table" if sys.stdout.isatty() else "tsv")
    iterator = iter(rows)
    # Get the first row before the header is printed, because that may fail.
    begun = chain(list(islice(iterator, 1)), iterator)
    write = _table if form == "table" else WRITERS[form]
    write(columns, begun, sys.stdout)


def visible(text: str, keep: str = "") -> str:
    """Return the text with control characters spelled out, except those to keep."""
    return text.translate({code: shown for code, shown in _VISIBLE.items() if chr(code) not in keep})


def _table(columns: Sequence[str], rows: Iterable[Row], out: TextIO) -> None:
    from rich.cells import cell_len

    iterator = iter(rows)
    measured = [_cells(row) for row in islice(iterator, MEASURED_ROWS)]
    if not measured:
        return
    widths = [max(map(cell_len, column)) for column in zip(columns, *measured, strict=True)]
    for cells in chain([list(columns)], measured, map(_cells, iterator)):
        padded = [cell + " " * (width - cell_len(cell)) for cell, width in zip(cells, widths, strict=True)]
        out.write("  ".join(padded).rstrip() + "\n")


def _cells(row: Row) -> list[str]:
    return [f"{value:.4f}" if isinstance(value, float) else _shown(value).translate(_VISIBLE) for value in row]


def _shown(value: object) -> str:
    if not isinstance(value, (list, tuple)):
        return plain(value)
    more = [f"and {len(value) - SHOWN_VALUES} more"] if len(value) > SHOWN_VALUES else []
    return ", ".join([*map(plain, value[:SHOWN_VALUES]), *more])
