"""Arrow columns as NumPy arrays, and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import DTypeLike, NDArray

from lshdb.model.arrays import are_first
from lshdb.model.params import Params
from lshdb.model.values import stored_type

__all__ = [
    "POSITION_BITS",
    "batch_of",
    "binaries",
    "flags",
    "integers",
    "matrix",
    "minima",
    "places",
    "runs",
]

# A place is the ordinal of a source, shifted by this, plus a position.
POSITION_BITS = 32


def places(ordinal: int, first: int, count: int) -> NDArray[np.int64]:
    """Return the places of `count` documents of a source, int64, shape (count,). Args: first: the first position."""
    return (ordinal << POSITION_BITS) + np.arange(first, first + count, dtype=np.int64)


def integers(batch: pa.RecordBatch, *names: str) -> NDArray[np.int64]:
    """Return columns without nulls as int64, shape (n,) for one column and (n, columns) for several."""
    columns = [batch.column(name).to_numpy(zero_copy_only=False).astype(np.int64, copy=False) for name in names]
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def matrix(column: pa.Array, width: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return a binary column whose values all have the same length, shape (n, width). Nothing is copied."""
    if not len(column):
        return np.empty((0, width), dtype)
    offsets = np.frombuffer(column.buffers()[1], np.int32)[column.offset : column.offset + len(column) + 1]
    values = np.frombuffer(column.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]
    return values.view(dtype).reshape(len(column), width)


def minima(batch: pa.RecordBatch, params: Params) -> NDArray[Any]:
    """Return the column of signatures in the type that an index stores, shape (n, num_perm). Nothing is copied."""
    return matrix(batch.column("signature"), params.num_perm, stored_type(params.scheme))


def binaries(rows: NDArray[Any]) -> pa.Array:
    """Return the rows of an array as a binary column; the reverse of `matrix`."""
    size = rows.shape[1] * rows.itemsize
    offsets = np.arange(0, size * len(rows) + 1, max(size, 1), dtype=np.int32)[: len(rows) + 1]
    data = np.ascontiguousarray(rows)
    return pa.Array.from_buffers(pa.binary(), len(rows), [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def batch_of(schema: pa.Schema, count: int, **columns: Any) -> pa.RecordBatch:
    """Return a batch of `count` rows with these columns; the others are null."""
    arrays = [
        pa.array(columns[field.name], field.type)
        if field.name in columns and not isinstance(columns[field.name], pa.Array)
        else columns.get(field.name, pa.nulls(count, field.type))
        for field in schema
    ]
    return pa.record_batch(arrays, schema=schema)


def runs(rows: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Yield where each run of equal rows begins and ends. Args: rows: shape (n, columns), n at least 1."""
    begins = np.flatnonzero(are_first(*rows.T)).tolist()
    yield from zip(begins, [*begins[1:], len(rows)], strict=True)


def flags(batch: pa.RecordBatch, name: str) -> NDArray[np.bool_]:
    """Return a boolean column without nulls, shape (n,)."""
    return np.asarray(batch.column(name).to_numpy(zero_copy_only=False), dtype=np.bool_)
