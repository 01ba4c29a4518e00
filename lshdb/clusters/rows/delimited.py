"""Copy the header and the wanted rows of a CSV or TSV file, byte for byte.

A row spans as many lines as the reader consumes for it. Blank rows are not records: they are copied when kept rows
are written, and left out when dropped rows are. Limitation: each row is held in memory, even one that is too long to
read.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

import numpy as np

from lshdb.clusters.rows.lines import whole_lines
from lshdb.clusters.rows.opened import OpenedFile, Task
from lshdb.clusters.rows.verdicts import NUM_VERDICTS, OTHER
from lshdb.readers.base import Unfit
from lshdb.readers.delimited import Rows

__all__ = ["WholeRows"]


class WholeRows:
    """The rows of a file, chosen by their verdicts.

    Attributes: counts: int64, shape (5,); the number of rows so far by verdict, without the header and blank rows.
    """

    def __init__(self, file: OpenedFile, task: Task, delimiter: str) -> None:
        self.counts = np.zeros(NUM_VERDICTS, dtype=np.int64)
        self._task = task
        self._blocks = file.blocks()
        self._taken: list[bytes] = []
        self._rows = Rows(self._lines(), delimiter, task.options)

    def chosen(self) -> Iterator[tuple[bytes, int]]:
        """Yield the header and the wanted rows, with their verdicts. Raises: SourceUnreadable."""
        self._is_blank_row()
        yield self._row(), OTHER
        while (is_blank := self._is_blank_row()) is not None:
            verdict = OTHER if is_blank else int(self._task.verdicts.of_numbers(self._rows.number, 1)[0])
            self.counts[verdict] += not is_blank
            row = self._row()
            if self._task.is_wanted[verdict]:
                yield row, verdict

    def _is_blank_row(self) -> bool | None:
        """Consume the lines of the next row, and return whether it is blank; None at the end."""
        try:
            return not row if (row := next(self._rows, None)) is not None else None
        except Unfit:
            return False

    def _row(self) -> bytes:
        """Return the bytes of the row consumed last."""
        row = b"".join(self._taken)
        self._taken.clear()
        return row

    def _lines(self) -> Iterator[bytes | None]:
        """Yield the lines as `read_lines` does, and keep their bytes."""
        for number, line in enumerate(whole_lines(self._blocks)):
            self._taken.append(line)
            bare = line.removesuffix(b"\n")
            if len(bare) > self._task.options.max_line:
                yield None
            else:
                yield bare if number else bare.removeprefix(codecs.BOM_UTF8)
