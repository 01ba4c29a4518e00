"""A sorted list of contents in a work folder, which tasks look up without reading all of it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lshdb.stages.columns import integers

__all__ = ["ListedContents"]

NO_GROUP: Final = -1


class ListedContents:
    """The contents of a stage that the driver wrote: one Parquet file, sorted by its column ``content``.

    A row group is read if its range has a place that is looked up. The last one is kept, because places are looked up
    nearly in order.
    """

    def __init__(self, folder: Path) -> None:
        (file,) = folder.glob("part-*.parquet")
        self._file = pq.ParquetFile(file)
        groups = map(self._file.metadata.row_group, range(self._file.num_row_groups))
        self._firsts = np.asarray([group.column(0).statistics.min for group in groups if group.num_rows], np.int64)
        self._held, self._contents = NO_GROUP, np.empty(0, np.int64)

    def among(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows whose ``place`` is one of the contents."""
        rows = batch.filter(batch.column("place").is_valid())
        place = integers(rows, "place")
        is_listed = np.zeros(len(place), np.bool_)
        group_of = np.searchsorted(self._firsts, place, side="right") - 1
        for group in np.unique(group_of[group_of > NO_GROUP]).tolist():
            mine = np.flatnonzero(group_of == group)
            is_listed[mine] = np.isin(place[mine], self._group(group))
        return rows.take(pa.array(np.flatnonzero(is_listed)))

    def _group(self, number: int) -> NDArray[np.int64]:
        if number != self._held:
            read = self._file.read_row_group(number, columns=["content"])
            self._held, self._contents = number, read.column("content").to_numpy()
        return self._contents
