"""Read the rows of a Parquet file by row groups. Importing this module needs pyarrow."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Final, TypeAlias, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import Struct
from pyarrow import types

from lshdb.model.values import Document
from lshdb.readers.base import (
    Damaged,
    Deferred,
    Item,
    ReadOptions,
    Rejection,
    SourceFile,
    Unfit,
    column_names,
    too_large,
)
from lshdb.readers.bytes.decoding import decode
from lshdb.readers.dictionary_pages import dictionary_bytes
from lshdb.readers.fields import field, joined, paged, quoted
from lshdb.readers.lines import checked_doc_id
from lshdb.readers.naming import file_doc_id, record_doc_id

__all__ = ["Column", "bytes_of", "find_column", "first_line", "group_sizes", "read_rows"]

# The path of a column, and its type.
_Typed: TypeAlias = tuple[tuple[str, ...], pa.DataType]

BATCH_BYTES: Final = 4_000_000
MAX_BATCH_ROWS: Final = 4096
# Each row of a batch may be a whole dictionary. Writers usually end a dictionary at 1 or 2 MB.
MAX_BATCH_BYTES: Final = 128_000_000


def read_rows(
    source: SourceFile, file: io.IOBase, options: ReadOptions, groups: range | None = None, first: int = 1
) -> Iterator[Item | Deferred]:
    """Yield the items of an open Parquet file; of a damaged file, those of intact row groups.

    Args: groups: the row groups to read; None for all. first: the number of their first row.
    """
    try:
        opened, columns = _opened(source, file, options)
    except Unfit as error:
        yield Rejection(source.uri, "", str(error))
        return
    except (OSError, ValueError, pa.ArrowException) as error:
        yield Damaged(source.uri, "", f"cannot be read as Parquet ({first_line(error)})")
        return
    for group in range(opened.metadata.num_row_groups) if groups is None else groups:
        yield from _group_items(source, opened, columns, group, first, file)
        first += opened.metadata.row_group(group).num_rows


def group_sizes(source: SourceFile, file: io.IOBase, options: ReadOptions) -> list[tuple[int, int]]:
    """Return the rows and the bytes of each row group; none if the file cannot be read."""
    try:
        metadata = _opened(source, file, options)[0].metadata
    except (Unfit, OSError, ValueError, pa.ArrowException):
        return []
    found = map(metadata.row_group, range(metadata.num_row_groups))
    return [(one.num_rows, sum(one.column(at).total_compressed_size for at in range(one.num_columns))) for one in found]


def _opened(source: SourceFile, file: io.IOBase, options: ReadOptions) -> tuple[pq.ParquetFile, _Columns]:
    opened = pq.ParquetFile(file, pre_buffer=False, buffer_size=1 << 20, page_checksum_verification=True)
    return opened, _Columns(opened.schema_arrow, options, file_doc_id(source, options))


def _group_items(
    source: SourceFile, opened: pq.ParquetFile, columns: _Columns, group: int, first: int, file: io.IOBase
) -> Iterator[Item | Deferred]:
    """Yield the documents of a row group, whose first row has the number `first`."""
    row = first
    try:
        metadata = opened.metadata.row_group(group)
        num_rows = min(
            _batch_rows(metadata.total_byte_size, metadata.num_rows),
            max(1, MAX_BATCH_BYTES // max(1, columns.dictionary_bytes(metadata, file))),
        )
        batches = opened.iter_batches(num_rows, row_groups=[group], columns=columns.names, use_threads=False)
        for batch in batches:
            for doc_id, contents in columns.values(batch):
                yield _item(source, columns, doc_id, contents, f"row {row}")
                row += 1
        if row < first + metadata.num_rows:
            raise ValueError(f"it has {metadata.num_rows} rows and gives {row - first}")
    except (OSError, ValueError, pa.ArrowException) as error:
        yield Damaged(
            source.uri,
            f"row {row}",
            f"its row group cannot be read further (row group {group + 1}: {first_line(error)})",
        )


def _item(
    source: SourceFile, columns: _Columns, doc_id: object, contents: list[object], locator: str
) -> Item | Deferred:
    try:
        return columns.document(doc_id, contents, source.uri, locator)
    except Unfit as error:
        return Rejection(source.uri, locator, str(error))


def _batch_rows(num_bytes: int, num_rows: int) -> int:
    """Return how many rows contain `BATCH_BYTES`, by the average of their row group."""
    return max(1, min(MAX_BATCH_ROWS, BATCH_BYTES * max(num_rows, 1) // max(num_bytes, 1)))


def first_line(error: Exception) -> str:
    """Return the beginning of an error message of pyarrow, which may have many lines."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


class _Columns:
    """The columns that are read, their types, and the document of a row.

    Attributes: names: the columns of the id, if there is one, and of the text.
    """

    def __init__(self, schema: pa.Schema, options: ReadOptions, file: str) -> None:
        """Raises: Unfit: the schema lacks a column, or its type is not text."""
        self._options = options
        self._file = file
        self._names_rows = options.id_field is None
        id_column = find_column(schema, options.id_name, required=not self._names_rows)
        if id_column is not None:
            _check(id_column, _is_id, "strings or integers")
        self._ids = [id_column] if id_column is not None else []
        self._texts = [column for name in options.text_names if (column := find_column(schema, name)) is not None]
        for column in self._texts:
            if options.kind == "set":
                _check(column, _is_features, "lists of strings or integers")
            else:
                _check(column, _is_text, "strings")
        self.names = [column.name for column in (*self._ids, *self._texts)]

    def dictionary_bytes(self, group: pq.RowGroupMetaData, file: io.IOBase) -> int:
        """Return the bytes of the dictionaries of all columns in a row group. Raises: OSError, ValueError."""
        chunks = (group.column(at) for at in range(group.num_columns))
        roots = tuple(f"{column.path[0]}." for column in (*self._ids, *self._texts))
        return sum(dictionary_bytes(file, chunk) for chunk in chunks if f"{chunk.path_in_schema}.".startswith(roots))

    def values(self, batch: pa.RecordBatch) -> Iterator[tuple[object, list[object]]]:
        """Yield the id and contents of every row. Strings are bytes, because some writers do not check their UTF-8."""
        ids = [bytes_of(column.of(batch)).to_pylist() for column in self._ids] or [repeat(None, len(batch))]
        contents = [bytes_of(column.of(batch)).to_pylist() for column in self._texts]
        for doc_id, *values in zip(*ids, *contents, strict=True):
            yield doc_id, values

    def document(self, doc_id: object, contents: list[object], uri: str, locator: str) -> Document | Deferred:
        """Return the document of a row. Raises: Unfit."""
        named = self._doc_id(doc_id, locator)
        # Of several columns, one that is null counts as missing.
        values = [value for value in contents if value is not None]
        if not values:
            are = "is" if len(contents) == 1 else "are"
            raise Unfit(f"column {quoted(self._options.text_names).replace(' or ', ' and ')} {are} null")
        if self._options.kind == "set":
            return Document(named, "", self._features(cast("list[list[object]]", values)), uri, locator)
        return self._with_text(named, cast("list[bytes]", values), uri, locator)

    def _with_text(self, doc_id: str, values: list[bytes], uri: str, locator: str) -> Document | Deferred:
        is_plain = self._options.text_format == "text"
        size, limit = sum(map(len, values)), self._options.max_text
        if is_plain and size > limit:
            raise Unfit(too_large(limit, size))
        decoded = [_decoded(value) for value in values]
        texts, num_replaced = [text for text, _ in decoded], sum(number for _, number in decoded)
        if is_plain:
            return Document(doc_id, joined(texts), None, uri, locator, num_replaced)
        return paged(Document(doc_id, "", None, uri, locator, num_replaced), texts, self._options)

    def _features(self, values: list[list[object]]) -> tuple[str, ...]:
        features = tuple(_decoded(one)[0] for value in values for one in value if one is not None)
        return _checked(features, self._options.text_names[0])

    def _doc_id(self, value: object, locator: str) -> str:
        if self._names_rows and (value is None or value == b""):
            return record_doc_id(self._file, locator)
        if value is None:
            raise Unfit(f'column "{self._options.id_name}" is null')
        return checked_doc_id(_decoded(value)[0])


class Column(Struct, frozen=True):
    """A column, which may be a field of structs.

    Args:
        name: as the user wrote it.
        path: the names that lead to it.
        kind: the type of its values.
    """

    name: str
    path: tuple[str, ...]
    kind: pa.DataType

    def of(self, batch: pa.RecordBatch) -> pa.Array:
        """Return its values in a batch."""
        array = batch.column(self.path[0])
        for name in self.path[1:]:
            array = pc.struct_field(array, name)
        return array


def find_column(schema: pa.Schema, name: str, *, required: bool = True) -> Column | None:
    """Return a column; None if it is missing and not required. Raises: Unfit: it is missing, or there are several."""
    if schema.names.count(name) > 1:
        raise Unfit(f'more than one column "{name}"; the columns are: {column_names(schema.names)}')
    columns: dict[str, _Typed] = {one.name: ((one.name,), one.type) for one in schema}
    try:
        path, kind = field(columns, name, _inner)
    except KeyError:
        if required:
            raise Unfit(f'no column "{name}"; the columns are: {column_names(schema.names)}') from None
        return None
    return Column(name, path, kind)


def _inner(column: _Typed) -> dict[str, _Typed] | None:
    """Return the fields of a column of structs by name, with their paths and types."""
    path, kind = column
    if not types.is_struct(kind):
        return None
    return {one.name: ((*path, one.name), one.type) for one in (kind.field(at) for at in range(kind.num_fields))}


def _check(column: Column, is_fit: Callable[[pa.DataType], bool], expected: str) -> None:
    if not is_fit(_values_type(column.kind)):
        raise Unfit(f'column "{column.name}" holds {column.kind}, not {expected}')


def _values_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if types.is_dictionary(kind) else kind


def _is_text(kind: pa.DataType) -> bool:
    is_view = types.is_string_view(kind) or types.is_binary_view(kind)
    return bool(is_view or any(fits(kind) for fits in (types.is_string, types.is_large_string, types.is_binary,
                                                       types.is_large_binary)))  # fmt: skip


def _is_id(kind: pa.DataType) -> bool:
    return _is_text(kind) or bool(types.is_integer(kind))


def _is_features(kind: pa.DataType) -> bool:
    return bool(types.is_list(kind) or types.is_large_list(kind)) and _is_id(_values_type(kind.value_type))


def bytes_of(values: pa.Array) -> pa.Array:
    """Return values with bytes for their strings, and without a dictionary."""
    if types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if types.is_list(values.type) or types.is_large_list(values.type):
        elements = _binary_type(values.type.value_type)
        return values.cast(pa.list_(elements) if types.is_list(values.type) else pa.large_list(elements))
    return values.cast(_binary_type(values.type))


def _binary_type(kind: pa.DataType) -> pa.DataType:
    return pa.large_binary() if _is_text(kind) else kind


def _decoded(value: object) -> tuple[str, int]:
    return decode(value) if isinstance(value, bytes) else (str(value), 0)


def _checked(features: tuple[str, ...], name: str) -> tuple[str, ...]:
    for feature in features:
        if not feature or feature.splitlines() != [feature]:
            raise Unfit(f'column "{name}" holds a feature that is empty or has a line end')
    return features
