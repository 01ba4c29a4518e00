"""Copy the wanted rows of a Parquet file, with its schema, metadata, row groups and encodings. Needs pyarrow.

The rows of a row group stay together; a row group without wanted rows is left out. The file is encoded again, because
Parquet has no other way to drop rows. Compression, encodings, statistics, page indexes and the format version follow
the first row group; the version is 2.6 if the file has types that its version lacks. A file is refused if pyarrow
cannot write a schema that means the same.

Limitations: one decoded row group is held in memory. Bloom filters are not written, and the compression level is the
usual one. If a column has a page index, all columns get one. Pages have the first version of their format, in which
values of the type BOOLEAN are not encoded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lshdb.clusters.rows.columns import without_passages
from lshdb.clusters.rows.opened import OpenedFile, Task
from lshdb.clusters.rows.verdicts import KEPT, NUM_VERDICTS
from lshdb.errors import SourceUnreadable
from lshdb.readers.bytes.streams import PositionedFile
from lshdb.readers.rows import first_line

__all__ = ["num_rows", "write_rows"]

VERSIONS: Final = ("1.0", "2.4", "2.6")
# Other encodings of values are PLAIN, or also those of levels.
ENCODINGS: Final = frozenset(
    {"BYTE_STREAM_SPLIT", "DELTA_BINARY_PACKED", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"}
)
# Logical types that versions of the format before 2.6 lack.
UINT32: Final = "Int(bitWidth=32, isSigned=false)"
NANOSECONDS: Final = "timeUnit=nanoseconds"
SIGNED: Final = {
    (f"INT{width}", logical) for width in (32, 64) for logical in ("None", f"Int(bitWidth={width}, isSigned=true)")
}
# Rows are numbered from 1.
FIRST_ROW: Final = 1


def write_rows(file: OpenedFile, task: Task, out: BinaryIO) -> NDArray[np.int64]:
    """Write the wanted rows of a file. Returns: the number of rows by verdict. Raises: SourceUnreadable."""
    counts = np.zeros(NUM_VERDICTS, dtype=np.int64)
    try:
        with _reading(file):
            opened = pq.ParquetFile(PositionedFile(file.binary), pre_buffer=False, page_checksum_verification=True)
        with pq.ParquetWriter(out, opened.schema_arrow, **_settings(opened, task)) as writer:
            for table, found in _groups(file, opened, task):
                counts += np.bincount(found, minlength=NUM_VERDICTS)
                is_wanted = task.is_wanted[found]
                if task.passages is not None:
                    table, is_emptied = without_passages(table, found == KEPT, task.options, task.passages, task.tally)
                    is_wanted &= ~is_emptied
                if is_wanted.any():
                    rows = table if is_wanted.all() else _chosen(table, is_wanted)
                    writer.write_table(rows, row_group_size=len(rows))
        out.flush()
        written = pq.ParquetFile(out.name)
    except (pa.ArrowException, ValueError) as error:
        reason = f"cannot be written as Parquet again ({first_line(error)})"
        raise SourceUnreadable(path=file.file.path, reason=reason) from None
    with written:
        if not _mean_the_same(written.schema, opened.schema):
            reason = "its schema cannot be written again as it is; leave the file out with --exclude"
            raise SourceUnreadable(path=file.file.path, reason=reason)
    return counts


def num_rows(file: OpenedFile) -> int:
    """Return the number of rows of a file; 1 if it is damaged, as for a file that is not read."""
    try:
        return int(pq.read_metadata(PositionedFile(file.binary)).num_rows)
    except (pa.ArrowException, OSError, ValueError):
        return 1


@contextmanager
def _reading(file: OpenedFile) -> Iterator[None]:
    # pyarrow raises OSError for damaged pages too, and an OSError is otherwise about the output.
    try:
        yield
    except OSError as error:
        raise SourceUnreadable(path=file.file.path, reason=f"cannot be read ({first_line(error)})") from None


def _groups(file: OpenedFile, opened: pq.ParquetFile, task: Task) -> Iterator[tuple[pa.Table, NDArray[np.uint8]]]:
    """Yield every row group with the verdicts about its rows."""
    number = FIRST_ROW
    for group in range(opened.metadata.num_row_groups):
        with _reading(file):
            table = opened.read_row_group(group)
        yield table, task.verdicts.of_numbers(number, len(table))
        number += len(table)


def _chosen(table: pa.Table, is_wanted: NDArray[np.bool_]) -> pa.Table:
    """Return the wanted rows of a table."""
    try:
        return table.filter(pa.array(is_wanted))
    except pa.ArrowNotImplementedError:  # Views, such as string_view, can only be sliced.
        bounds = np.flatnonzero(np.diff(is_wanted, prepend=False, append=False)).tolist()
        runs = zip(bounds[::2], bounds[1::2], strict=True)
        return pa.concat_tables([table.slice(start, stop - start) for start, stop in runs]).combine_chunks()


def _mean_the_same(one: pq.ParquetSchema, other: pq.ParquetSchema) -> bool:
    """Return whether two schemas are equal. A plain integer is a signed one, by the definition of the format."""
    return len(one) == len(other) and all(
        mine.equals(theirs) or (_is_signed(mine) and _is_signed(theirs) and _place(mine) == _place(theirs))
        for mine, theirs in ((one.column(at), other.column(at)) for at in range(len(one)))
    )


def _place(column: pq.ColumnSchema) -> tuple[object, ...]:
    return column.path, column.physical_type, column.max_definition_level, column.max_repetition_level


def _is_signed(column: pq.ColumnSchema) -> bool:
    """Return whether a column holds signed integers of the width of its physical type."""
    return (column.physical_type, str(column.logical_type)) in SIGNED


def _settings(opened: pq.ParquetFile, task: Task) -> dict[str, Any]:
    """Return the arguments of a writer that writes like the writer of this file."""
    metadata = opened.metadata
    given: dict[str, Any] = {
        "version": _version(opened),
        "store_schema": b"ARROW:schema" in (metadata.metadata or {}),
    }
    if not metadata.num_row_groups:
        return given
    first = metadata.row_group(0)
    columns = [first.column(place) for place in range(metadata.num_columns)]
    paths = [column.path_in_schema for column in columns]
    return given | {
        "compression": {column.path_in_schema: _codec(column.compression) for column in columns},
        "compression_level": None if task.level is None else _levels(columns, task.level),
        "column_encoding": {
            column.path_in_schema: encoding
            for column in columns
            if not column.has_dictionary_page
            for encoding in column.encodings
            if encoding in ENCODINGS
        },
        "use_dictionary": [column.path_in_schema for column in columns if column.has_dictionary_page],
        "write_statistics": [column.path_in_schema for column in columns if column.is_stats_set],
        "write_page_index": any(column.has_column_index for column in columns),
        "sorting_columns": first.sorting_columns or None,
        "use_deprecated_int96_timestamps": any(column.physical_type == "INT96" for column in columns),
        "store_decimal_as_integer": any(_is_integer_decimal(opened, place) for place in range(len(columns))),
        # Before version 2.4 of the format, writers called the values of a list "item".
        "use_compliant_nested_type": not any(path.endswith(".list.item") for path in paths),
    }


def _version(opened: pq.ParquetFile) -> str:
    """Return the version of the format; the newest one if another cannot express all types.

    Writers such as DuckDB and Polars put 1.0 on every file.
    """
    version = opened.metadata.format_version
    types = [str(opened.schema.column(place).logical_type) for place in range(len(opened.schema))]
    is_new = any(one == UINT32 or NANOSECONDS in one for one in types)
    return VERSIONS[-1] if is_new or version not in VERSIONS else version


def _levels(columns: Sequence[pq.ColumnChunkMetaData], level: int) -> dict[str, int]:
    """Return the levels of the columns whose compression has levels: this one, or the highest that it has."""
    codecs = {column.path_in_schema: column.compression.lower() for column in columns}
    return {
        path: min(level, pa.Codec.maximum_compression_level(codec))
        for path, codec in codecs.items()
        if codec != "uncompressed" and pa.Codec.supports_compression_level(codec)
    }


def _codec(compression: str) -> str:
    return "NONE" if compression == "UNCOMPRESSED" else compression


def _is_integer_decimal(opened: pq.ParquetFile, place: int) -> bool:
    column = opened.schema.column(place)
    return column.logical_type.type == "DECIMAL" and column.physical_type in ("INT32", "INT64")
