r"""Write rows as JSON lines, CSV, TSV, plain lines or Parquet.

Rows are written as they arrive; no result is held in memory. A list is a JSON array, also in a CSV or TSV field. TSV
uses the backslash escapes of Postgres, ``\t \n \r \\``. In CSV, a text that a spreadsheet would run as a formula
begins with an apostrophe. Parquet files hold records in two columns, ``id`` and ``text``,
and need the extra ``parquet`` (pyarrow). Limitation: Parquet cannot store a lone surrogate; it becomes U+FFFD.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Sequence
from json.encoder import encode_basestring
from math import isfinite
from pathlib import Path
from typing import Any, Final, TextIO

from lshdb.errors import UsageError
from lshdb.model.batches import in_batches

__all__ = [
    "WRITERS",
    "Record",
    "Row",
    "plain",
    "require_pyarrow",
    "write_csv",
    "write_jsonl",
    "write_lines",
    "write_raw_csv",
    "write_records",
    "write_tsv",
    "writer",
]

Row = Sequence[object]
Writer = Callable[[Sequence[str], Iterable[Row], TextIO], None]

# (id, text), or (id, features) of a feature set.
Record = tuple[str, str | list[str]]

# Backslash escapes, as in Postgres, so that an id with a tab stays one field.
_TSV_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def write_jsonl(columns: Sequence[str], rows: Iterable[Row], out: TextIO) -> None:
    """Write one object per row."""
    # Not `json.dumps` of a dictionary, which makes a new encoder for each row: 3.1 us, and this 1.8.
    names = [_json(column) + ": " for column in columns]
    for row in rows:
        fields = [name + _json(value) for name, value in zip(names, row, strict=True)]
        out.write("{" + ", ".join(fields) + "}\n")


_encoder = json.JSONEncoder(ensure_ascii=False)


def _json(value: object) -> str:
    if type(value) is str:
        return encode_basestring(value)
    if type(value) is float and isfinite(value):
        return repr(value)
    if type(value) is bool:
        return "true" if value else "false"
    return _encoder.encode(value)


# A cell that begins with one of these may be a formula. Spreadsheets with a Japanese keyboard also take the full-width
# forms. Source: OWASP, "CSV Injection".
FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")  # noqa: RUF001


def write_csv(columns: Sequence[str], rows: Iterable[Row], out: TextIO) -> None:
    """Write a header, and one record per row. An apostrophe turns each text that may be a formula into text."""
    write_raw_csv(columns, ([_harmless(value) for value in row] for row in rows), out)


def write_raw_csv(columns: Sequence[str], rows: Iterable[Row], out: TextIO) -> None:
    """Write a header, and one record per row, with all texts as they are."""
    lines = csv.writer(_UnixLines(out))
    lines.writerow(columns)
    lines.writerows([plain(value) for value in row] for row in rows)


def write_tsv(columns: Sequence[str], rows: Iterable[Row], out: TextIO) -> None:
    """Write a header, and one line per row."""
    write_lines(columns, [columns], out)
    write_lines(columns, rows, out)


def write_lines(_columns: Sequence[str], rows: Iterable[Row], out: TextIO) -> None:
    """Write TSV without a header."""
    for row in rows:
        out.write("\t".join(plain(value).translate(_TSV_ESCAPES) for value in row) + "\n")


WRITERS: Final[dict[str, Writer]] = {
    "jsonl": write_jsonl,
    "csv": write_csv,
    "tsv": write_tsv,
    "lines": write_lines,
}


def writer(form: str, *, raw: bool) -> Writer:
    """Return the function that writes a format. Args: raw: write CSV as it is, for programs."""
    return write_raw_csv if raw and form == "csv" else WRITERS[form]


def _harmless(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def plain(value: object) -> str:
    """Return a value as the text of a field."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


class _UnixLines:
    r"""Ends lines with \n. The CSV writer ends them with \r\n, because only then does it quote an \r in a field."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, line: str) -> int:
        return self._out.write(line.removesuffix("\r\n") + "\n")


# Characters of a row group.
GROUP_CHARACTERS: Final = 32_000_000


def require_pyarrow() -> None:
    """Raise UsageError if pyarrow is not installed."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise UsageError(reason="writing Parquet needs pyarrow: pip install pyarrow") from None


def write_records(path: Path, records: Iterable[Record], *, holds_sets: bool) -> None:
    """Write records to a new file. Args: holds_sets: whether they are feature sets."""
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    content = pyarrow.list_(pyarrow.string()) if holds_sets else pyarrow.string()
    schema = pyarrow.schema([("id", pyarrow.string()), ("text", content)])
    with ParquetWriter(path, schema, compression="zstd") as writer:
        for group in in_batches(records, _num_characters, GROUP_CHARACTERS):
            columns = [[_without_surrogates(value) for value in column] for column in zip(*group, strict=True)]
            table: Any = pyarrow.table(dict(zip(schema.names, columns, strict=True)), schema)
            writer.write_table(table)


def _num_characters(record: Record) -> int:
    return len(record[1]) if isinstance(record[1], str) else sum(map(len, record[1]))


def _without_surrogates(value: str | list[str]) -> str | list[str]:
    if isinstance(value, list):
        return [_replaced(feature) for feature in value]
    return _replaced(value)


def _replaced(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
