"""Read CSV and TSV: a header row that names the columns, then one document per row.

Quotes follow RFC 4180, also in TSV: a field in double quotes may contain separators, line ends and doubled quotes. The
text is UTF-8, with or without a byte order mark. In an index of feature sets, the text column contains the features,
separated by white space.

Limitations: an unclosed quote takes the following rows into its field, up to the next quote, the end of the file or
the limit of a text, and these rows are usually rejected together. The separator is not guessed, so a CSV file with
semicolons is not read.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import BinaryIO

from lshdb.errors import reason_of
from lshdb.model.values import Document
from lshdb.readers.base import (
    MAX_PAGE_BYTES,
    Damaged,
    Deferred,
    Item,
    ReadOptions,
    Rejection,
    SourceFile,
    Unfit,
    column_names,
    megabytes,
)
from lshdb.readers.bytes.decoding import decode
from lshdb.readers.fields import joined, paged
from lshdb.readers.lines import checked_doc_id, read_lines
from lshdb.readers.naming import file_doc_id, record_doc_id

__all__ = ["DelimitedReader", "Rows"]


class DelimitedReader:
    """Reads rows with ``id`` and ``text``, or the columns that the options name."""

    textual = True
    holds_records = True

    def __init__(self, name: str, suffixes: tuple[str, ...], delimiter: str) -> None:
        self.name = name
        self.suffixes = suffixes
        self._delimiter = delimiter

    def recognises(self, head: bytes) -> bool:
        """Return False, because prose contains commas too."""
        return False

    def read(self, source: SourceFile, stream: BinaryIO, options: ReadOptions) -> Iterator[Item | Deferred]:
        """Yield a Document or a Rejection for every row that is not blank; one Rejection if a column is missing.

        An empty file has no columns, and no rows either.
        """
        rows = Rows(read_lines(stream, options.max_line), self._delimiter, options)
        try:
            if (header := next(rows, None)) is None:
                return
            columns = _Columns(header, options, file_doc_id(source, options))
        except Unfit as error:
            yield Rejection(source.uri, rows.locator, str(error))
            return
        try:
            yield from _documents(source, rows, columns)
        except OSError as error:
            yield Damaged(source.uri, rows.locator, f"{reason_of(error)} in the row that begins here")


class Rows:
    """The rows of lines, which are taken as far as each row needs them.

    Args: lines: without their LF, None for one that is too long; as `read_lines` yields them.

    Attributes:
        number: the line in which the last row began.
        num_replaced: undecodable byte sequences in the last row.
    """

    def __init__(self, lines: Iterator[bytes | None], delimiter: str, options: ReadOptions) -> None:
        # This limit applies to the whole process. Its default of 131,072 is too small for a long page.
        csv.field_size_limit(max(options.max_text, 0 if options.text_format == "text" else MAX_PAGE_BYTES))
        self.num_replaced = 0
        self._max_line = options.max_line
        self._lines = lines
        self._rows = csv.reader(self._decoded(), delimiter=delimiter, strict=True)
        self.number = 1
        self._is_too_long = False

    @property
    def locator(self) -> str:
        """Where the last row began."""
        return f"line {self.number}"

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        """Return the next row. Raises: Unfit: it is malformed; OSError."""
        self.number = self._rows.line_num + 1
        self.num_replaced, self._is_too_long = 0, False
        try:
            row = next(self._rows)
        except csv.Error as error:
            raise Unfit(f"not a valid row: {error}") from None
        if self._is_too_long:
            raise Unfit(f"longer than {megabytes(self._max_line)}")
        return row

    def _decoded(self) -> Iterator[str]:
        for line in self._lines:
            self._is_too_long |= line is None
            text, num_replaced = decode(line or b"")
            self.num_replaced += num_replaced
            yield text.removesuffix("\r") + "\n"


class _Columns:
    """The places of the columns in a row; records without an id are named after their `file`."""

    def __init__(self, header: list[str], options: ReadOptions, file: str) -> None:
        """Raises: Unfit: the header lacks one of them, or has it twice."""
        names = [name.strip() for name in header]
        self._options = options
        self._file = file
        self._names_rows = options.id_field is None
        for name in (options.id_name, *options.text_names):
            if names.count(name) > 1:
                raise Unfit(f'more than one column "{name}"; the columns are: {column_names(names)}')
            if name not in names and not (self._names_rows and name == options.id_name):
                raise Unfit(f'no column "{name}"; the columns are: {column_names(names)}')
        self._id = names.index(options.id_name) if options.id_name in names else None
        self._texts = [names.index(name) for name in options.text_names]
        self._num_columns = len(names)

    def document(self, row: list[str], rows: Rows, uri: str) -> Document | Deferred:
        """Return the document of a row. Raises: Unfit."""
        if len(row) != self._num_columns:
            raise Unfit(f"not as many fields as the header: {len(row)}, not {self._num_columns}")
        doc_id, contents = self._doc_id(row, rows.locator), [row[place] for place in self._texts]
        if self._options.kind == "set":
            features = tuple(feature for content in contents for feature in content.split())
            return Document(doc_id, "", features, uri, rows.locator, rows.num_replaced)
        if self._options.text_format != "text":
            return paged(Document(doc_id, "", None, uri, rows.locator, rows.num_replaced), contents, self._options)
        return Document(doc_id, joined(contents), None, uri, rows.locator, rows.num_replaced)

    def _doc_id(self, row: list[str], locator: str) -> str:
        given = "" if self._id is None else row[self._id]
        return record_doc_id(self._file, locator) if self._names_rows and not given else checked_doc_id(given)


def _documents(source: SourceFile, rows: Rows, columns: _Columns) -> Iterator[Document | Deferred | Rejection]:
    while True:
        try:
            if (row := next(rows, None)) is None:
                return
            if row:
                yield columns.document(row, rows, source.uri)
        except Unfit as error:
            yield Rejection(source.uri, rows.locator, str(error))
