"""Prints rows to stdout as a table, JSON lines, CSV or TSV, as they come: no result is held in memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TextIO

from lshdb.cli.options import Format
from lshdb.clusters.tabular import WRITERS, Row, plain

__all__ = ["print_json", "print_rows", "visible"]

# Rows that decide how wide a table's columns are.
MEASURED_ROWS = 500

# Values of a list that a table shows.
SHOWN_VALUES = 3

# Control characters of an id must not move the cursor of somebody's terminal.
_VISIBLE = {code: f"\\x{code:02x}" for code in (*range(32), 127)}


def print_rows(columns: Sequence[str], rows: Iterable[Row], form: Format | None) -> int:
    """Prints the rows. Returns: how many; where there are none, a table has no header either."""
    form = form or (Format.table if sys.stdout.isatty() else Format.tsv)
    counted = _Counted(_begun(rows))
    write = _table if form is Format.table else WRITERS[form.value]
    write(columns, counted, sys.stdout)
    return counted.count


def visible(text: str, keep: str = "") -> str:
    """The text with control characters spelled out, but for those to keep."""
    return text.translate({code: shown for code, shown in _VISIBLE.items() if chr(code) not in keep})


def print_json(value: object) -> None:
    """Prints one JSON object."""
    print(json.dumps(value, ensure_ascii=False, default=str))


def _begun(rows: Iterable[Row]) -> Iterable[Row]:
    """The same rows, the first of them made: what is wrong with a question shows before a header is printed."""
    iterator = iter(rows)
    return chain(list(islice(iterator, 1)), iterator)


class _Counted:
    """Rows that are counted while they go by."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = rows
        self.count = 0

    def __iter__(self) -> Iterator[Row]:
        for row in self._rows:
            self.count += 1
            yield row


def _table(columns: Sequence[str], rows: Iterable[Row], out: TextIO) -> None:
    iterator = iter(rows)
    measured = [_cells(row) for row in islice(iterator, MEASURED_ROWS)]
    if not measured:
        return
    widths = [max(map(len, column)) for column in zip(columns, *measured, strict=True)]
    for cells in chain([list(columns)], measured, map(_cells, iterator)):
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
        out.write("  ".join(padded).rstrip() + "\n")


def _cells(row: Row) -> list[str]:
    return [f"{value:.4f}" if isinstance(value, float) else _shown(value).translate(_VISIBLE) for value in row]


def _shown(value: object) -> str:
    if not isinstance(value, (list, tuple)):
        return plain(value)
    more = [f"and {len(value) - SHOWN_VALUES} more"] if len(value) > SHOWN_VALUES else []
    return ", ".join([*map(plain, value[:SHOWN_VALUES]), *more])
