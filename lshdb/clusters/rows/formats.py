"""The formats whose records can be filtered, and the function that writes the wanted records of each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import BinaryIO, Final, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.clusters.rows.compression import compressing
from lshdb.clusters.rows.delimited import WholeRows
from lshdb.clusters.rows.lines import Lines, judged_lines
from lshdb.clusters.rows.opened import OpenedFile, Task
from lshdb.clusters.rows.rewriting import csv_fields, json_fields, rewritten
from lshdb.clusters.rows.warc import write_records
from lshdb.errors import SourceUnreadable
from lshdb.readers.parquet import NO_PYARROW

__all__ = ["FORMATS", "Format"]

# Writes the wanted records to a new file. Returns: the number of records by verdict, int64, shape (5,).
Writer: TypeAlias = Callable[[OpenedFile, Task, BinaryIO], NDArray[np.int64]]


class Format(Struct, frozen=True):
    """How the records of a format are filtered.

    Args:
        unit: the word before the number in their locators, such as ``line``; None if they have no numbers.
        num_records: returns how many there are in a file that may be rejected as a whole.
    """

    unit: str | None
    write: Writer
    num_records: Callable[[OpenedFile], int] | None = None


def _write_lines(file: OpenedFile, task: Task, out: BinaryIO) -> NDArray[np.int64]:
    lines = Lines(task.verdicts, task.is_wanted)
    with compressing(out, file.compression, task.level_of(file)) as write:
        if task.passages is None:
            for piece in lines.chosen(file.blocks()):
                write(piece)
            return lines.counts
        found = judged_lines(file.blocks(), task.verdicts, lines.counts)
        wanted = ((line, verdict) for line, verdict in found if task.is_wanted[verdict])
        for line in rewritten(wanted, partial(json_fields, options=task.options), task.passages, task.tally):
            write(line)
    return lines.counts


def _write_delimited(delimiter: str, file: OpenedFile, task: Task, out: BinaryIO) -> NDArray[np.int64]:
    rows = WholeRows(file, task, delimiter)
    with compressing(out, file.compression, task.level_of(file)) as write:
        chosen = rows.chosen()
        if task.passages is None:
            for row, _ in chosen:
                write(row)
            return rows.counts
        header, _ = next(chosen)
        write(header)
        fields_of = csv_fields(header, delimiter, task.options)
        for row in rewritten(chosen, fields_of, task.passages, task.tally):
            write(row)
    return rows.counts


def _write_parquet(file: OpenedFile, task: Task, out: BinaryIO) -> NDArray[np.int64]:
    try:
        from lshdb.clusters.rows.parquet import write_rows
    except ImportError:
        raise SourceUnreadable(path=file.file.path, reason=NO_PYARROW) from None
    return write_rows(file, task, out)


def _num_rows(file: OpenedFile) -> int:
    try:
        from lshdb.clusters.rows.parquet import num_rows
    except ImportError:
        return 1
    return num_rows(file)


FORMATS: Final[dict[str, Format]] = {
    "jsonl": Format("line", _write_lines),
    "sets": Format("line", _write_lines),
    "csv": Format("line", partial(_write_delimited, ",")),
    "tsv": Format("line", partial(_write_delimited, "\t")),
    "warc": Format(None, write_records),
    "parquet": Format("row", _write_parquet, _num_rows),
}
