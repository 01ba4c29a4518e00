"""Prints rows to stdout as a table, JSON lines, CSV or TSV, as they come: no result is held in memory."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TextIO

from lshdb.cli.options import Format

__all__ = ["print_json", "print_rows"]

Row = Sequence[object]

# Rows that decide how wide a table's columns are.
MEASURED_ROWS = 500

# Backslash escapes, as Postgres and others write TSV: an id with a tab in it stays one field.
_TSV_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
# Control characters of an id must not move the cursor of somebody's terminal.
_VISIBLE = {code: f"\\x{code:02x}" for code in (*range(32), 127)}


def print_rows(columns: Sequence[str], rows: Iterable[Row], form: Format | None) -> int:
    """Prints the rows. Returns: how many; where there are none, a table has no header either."""
    form = form or (Format.table if sys.stdout.isatty() else Format.tsv)
    counted = _Counted(rows)
    {Format.table: _table, Format.jsonl: _jsonl, Format.csv: _csv, Format.tsv: _tsv}[form](columns, counted, sys.stdout)
    return counted.count


def print_json(value: object) -> None:
    """Prints one JSON object."""
    print(json.dumps(value, ensure_ascii=False, default=str))


class _Counted:
    """Rows that are counted while they go by."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = rows
        self.count = 0

    def __iter__(self) -> Iterator[Row]:
        for row in self._rows:
            self.count += 1
            yield row


def _jsonl(columns: Sequence[str], rows: Iterable[Row], out: TextIO) -> None:
    for row in rows:
        out.write(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) + "\n")


class _UnixLines:
    r"""Ends lines with \n. The writer itself ends them with \r\n, for only then it quotes an \r in a field."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, line: str) -> int:
        return self._out.write(line.removesuffix("\r\n") + "\n")


def _csv(columns: Sequence[str], rows: Iterable[Row], out: TextIO) -> None:
    writer = csv.writer(_UnixLines(out))
    writer.writerow(columns)
    writer.writerows([_plain(value) for value in row] for row in rows)


def _tsv(columns: Sequence[str], rows: Iterable[Row], out: TextIO) -> None:
    for row in chain([columns], rows):
        out.write("\t".join(_plain(value).translate(_TSV_ESCAPES) for value in row) + "\n")


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
    return [f"{value:.4f}" if isinstance(value, float) else _plain(value).translate(_VISIBLE) for value in row]


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
