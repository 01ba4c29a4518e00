"""Read the rows of a Parquet file by row groups. Importing this module needs pyarrow."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Final, cast

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import types

from lshdb.model.values import Document
from lshdb.readers.base import Item, ReadOptions, Rejection, SourceFile, Unfit, column_names, too_large
from lshdb.readers.bytes.decoding import decode
from lshdb.readers.lines import checked_doc_id
from lshdb.readers.naming import file_doc_id, record_doc_id

__all__ = ["read_rows"]

BATCH_BYTES: Final = 4_000_000
MAX_BATCH_ROWS: Final = 4096


def read_rows(source: SourceFile, file: io.IOBase, options: ReadOptions) -> Iterator[Item]:
    """Yield the items of an open Parquet file; of a damaged file, those of intact row groups."""
    try:
        opened = pq.ParquetFile(file, pre_buffer=False, buffer_size=1 << 20)
        columns = _Columns(opened.schema_arrow, options, file_doc_id(source, options))
    except Unfit as error:
        yield Rejection(source.uri, "", str(error))
        return
    except (OSError, ValueError, pa.ArrowException) as error:
        yield Rejection(source.uri, "", f"cannot be read as Parquet ({_first_line(error)})")
        return
    first = 1
    for group in range(opened.metadata.num_row_groups):
        yield from _group_items(source, opened, columns, group, first)
        first += opened.metadata.row_group(group).num_rows


def _group_items(
    source: SourceFile, opened: pq.ParquetFile, columns: _Columns, group: int, first: int
) -> Iterator[Item]:
    """Yield the documents of a row group, whose first row has the number `first`."""
    row = first
    try:
        metadata = opened.metadata.row_group(group)
        num_rows = _batch_rows(metadata.total_byte_size, metadata.num_rows)
        batches = opened.iter_batches(num_rows, row_groups=[group], columns=columns.names, use_threads=False)
        for batch in batches:
            for doc_id, content in columns.values(batch):
                yield _item(source, columns, doc_id, content, f"row {row}")
                row += 1
        if row < first + metadata.num_rows:
            raise ValueError(f"it has {metadata.num_rows} rows and gives {row - first}")
    except (OSError, ValueError, pa.ArrowException) as error:
        yield Rejection(
            source.uri, f"row {row}", f"row group {group + 1} cannot be read further ({_first_line(error)})"
        )


def _item(source: SourceFile, columns: _Columns, doc_id: object, content: object, locator: str) -> Item:
    try:
        return columns.document(doc_id, content, source.uri, locator)
    except Unfit as error:
        return Rejection(source.uri, locator, str(error))


def _batch_rows(num_bytes: int, num_rows: int) -> int:
    """Return how many rows contain `BATCH_BYTES`, by the average of their row group."""
    return max(1, min(MAX_BATCH_ROWS, BATCH_BYTES * max(num_rows, 1) // max(num_bytes, 1)))


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


class _Columns:
    """The columns that are read, their types, and the document of a row.

    Attributes: names: the column of the text, and before it that of the id, if there is one.
    """

    def __init__(self, schema: pa.Schema, options: ReadOptions, file: str) -> None:
        """Raises: Unfit: the schema lacks a column, or its type is not text."""
        self._names_rows = options.id_field is None
        self._file = file
        self._id_name, self._text_name = options.id_name, options.text_field
        has_id = not self._names_rows or self._id_name in schema.names
        self.names = [self._id_name, self._text_name] if has_id else [self._text_name]
        self._holds_set = options.kind == "set"
        self._max_text = options.max_text
        for name in self.names:
            if schema.names.count(name) != 1:
                few = "no column" if name not in schema.names else "more than one column"
                raise Unfit(f'{few} "{name}"; the columns are: {column_names(schema.names)}')
        if has_id:
            self._check(schema.field(self._id_name), _is_id, "strings or integers")
        if self._holds_set:
            self._check(schema.field(self._text_name), _is_features, "lists of strings or integers")
        else:
            self._check(schema.field(self._text_name), _is_text, "strings")

    def values(self, batch: pa.RecordBatch) -> Iterator[tuple[object, object]]:
        """Yield the id and content of every row. Strings are bytes, because some writers do not check their UTF-8."""
        *ids, contents = (_bytes_of(batch.column(name)).to_pylist() for name in self.names)
        return zip(ids[0] if ids else repeat(None, len(contents)), contents, strict=True)

    def document(self, doc_id: object, content: object, uri: str, locator: str) -> Document:
        """Return the document of a row. Raises: Unfit."""
        named = self._doc_id(doc_id, locator)
        if content is None:
            raise Unfit(f'column "{self._text_name}" is null')
        if self._holds_set:
            features = tuple(_decoded(element)[0] for element in cast("list[object]", content) if element is not None)
            return Document(named, "", _checked(features, self._text_name), uri, locator)
        if (size := len(cast(bytes, content))) > self._max_text:
            raise Unfit(too_large(self._max_text, size))
        text, num_replaced = _decoded(content)
        return Document(named, text, None, uri, locator, num_replaced)

    def _doc_id(self, value: object, locator: str) -> str:
        if self._names_rows and (value is None or value == b""):
            return record_doc_id(self._file, locator)
        if value is None:
            raise Unfit(f'column "{self._id_name}" is null')
        return checked_doc_id(_decoded(value)[0])

    @staticmethod
    def _check(field: pa.Field, is_fit: Callable[[pa.DataType], bool], expected: str) -> None:
        if not is_fit(_values_type(field.type)):
            raise Unfit(f'column "{field.name}" holds {field.type}, not {expected}')


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


def _bytes_of(column: pa.Array) -> pa.Array:
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_list(column.type) or types.is_large_list(column.type):
        values = _binary_type(column.type.value_type)
        return column.cast(pa.list_(values) if types.is_list(column.type) else pa.large_list(values))
    return column.cast(_binary_type(column.type))


def _binary_type(kind: pa.DataType) -> pa.DataType:
    return pa.large_binary() if _is_text(kind) else kind


def _decoded(value: object) -> tuple[str, int]:
    return decode(value) if isinstance(value, bytes) else (str(value), 0)


def _checked(features: tuple[str, ...], name: str) -> tuple[str, ...]:
    for feature in features:
        if not feature or feature.splitlines() != [feature]:
            raise Unfit(f'column "{name}" holds a feature that is empty or has a line end')
    return features
