"""Bring values to the rows that ask for them, by sorting.

For each key, a row with its value, such as the signature of a content, comes first. The rows that ask for it follow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lshdb.stages.columns import flags, integers

__all__ = ["Batches", "answered"]

Batches: TypeAlias = Iterator[pa.RecordBatch]


def answered(batches: Batches) -> Iterator[tuple[pa.RecordBatch, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield rows, with the numbers of the rows that ask and, for each of them, of the row that answers.

    Args: batches: together by key, sorted by key and asks.
    """
    carried: pa.RecordBatch | None = None
    for batch in batches:
        rows = batch if carried is None else pa.concat_batches([carried, batch])
        asks = flags(rows, "asks")
        told = np.maximum.accumulate(np.where(asks, -1, np.arange(len(rows))))
        keys = integers(rows, "key")
        asked = np.flatnonzero(asks & (told >= 0) & (keys == keys[told]))
        yield rows, told[asked], asked
        # The next batch may go on asking for the same content.
        carried = rows.slice(int(told[-1]), 1) if told[-1] >= 0 else None
