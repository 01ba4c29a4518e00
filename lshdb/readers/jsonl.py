"""Read JSON lines: one object per line, of which two fields are used.

A compiled parser decodes the two fields and skips all others. A line that it refuses is parsed again completely. That
finds the reason, or keeps a document that the compiled parser is too strict for: one with bytes that are not UTF-8, or
with NaN or a lone surrogate in another field.

Limitations: if a key occurs twice, its last value counts, as in most JSON parsers. A JSON array of records is not JSON
lines, nor is an object that spans several lines.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, Protocol, cast

import msgspec

from lshdb.model.values import Document
from lshdb.readers.base import Deferred, ReadOptions, Rejection, SourceFile, Unfit, column_names
from lshdb.readers.bytes.decoding import decode
from lshdb.readers.bytes.sniffing import looks_like_json_lines
from lshdb.readers.lines import checked_doc_id, read_documents
from lshdb.readers.naming import file_doc_id, record_doc_id

__all__ = ["JsonLinesReader"]

JSON_NAMES: Final = {
    bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "an array", dict: "an object"
}  # fmt: skip


class JsonLinesReader:
    """Reads one JSON object per line, with ``id`` and ``text`` or the fields that the options name."""

    name = "jsonl"
    suffixes = (".jsonl", ".ndjson", ".jsonlines", ".ldjson")
    textual = True

    def recognises(self, head: bytes) -> bool:
        """Return whether the head begins with an object that continues in its first line."""
        return looks_like_json_lines(head)

    def read(self, source: SourceFile, stream: BinaryIO, options: ReadOptions) -> Iterator[Deferred | Rejection]:
        """Yield a Document or a Rejection for every line that is not blank."""
        return read_documents(source, stream, options, _RecordParser(options, file_doc_id(source, options)).parse)


class _Record(Protocol):
    doc_id: str | int | None
    content: str | list[str | int]


class _RecordParser:
    """Parses the lines of one file. Args: file: its doc_id, from which records without an id get theirs."""

    def __init__(self, options: ReadOptions, file: str) -> None:
        self._options = options
        self._file = file
        self._id_field, self._text_field = options.id_name, options.text_field
        self._names_records = options.id_field is None
        self._holds_set = options.kind == "set"
        self._record = _record_decoder(options)

    def __reduce__(self) -> tuple[object, ...]:
        # The compiled decoder cannot be pickled, so another process creates its own.
        return _RecordParser, (self._options, self._file)

    def parse(self, line: bytes, uri: str, locator: str) -> Document:
        """Return the document of a line. Raises: Unfit."""
        try:
            record = self._record.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return self._parse_fully(line, uri, locator)
        doc_id, content = self._doc_id(record.doc_id, locator), record.content
        # The compiled parser has checked the type and refuses lone surrogates.
        if type(content) is str:
            return Document(doc_id, content, None, uri, locator)
        return Document(doc_id, "", _features(content, self._text_field), uri, locator)

    def _parse_fully(self, line: bytes, uri: str, locator: str) -> Document:
        text, num_replaced = decode(line)
        record = _json_object(text)
        value = record.get(self._id_field) if self._names_records else _field(record, self._id_field)
        doc_id = self._doc_id(value, locator)
        content = _field(record, self._text_field)
        if self._holds_set:
            return Document(doc_id, "", _features(content, self._text_field), uri, locator, num_replaced)
        return Document(doc_id, _text(content, self._text_field), None, uri, locator, num_replaced)

    def _doc_id(self, value: object, locator: str) -> str:
        if self._names_records and (value is None or value == ""):
            return record_doc_id(self._file, locator)
        return _doc_id(value, self._id_field)


@functools.cache
def _record_decoder(options: ReadOptions) -> msgspec.json.Decoder[_Record]:
    doc_id: tuple[object, ...] = ("doc_id", str | int)
    if options.id_field is None:
        doc_id = ("doc_id", str | int | None, None)
    content = ("content", list[str | int] if options.kind == "set" else str)
    rename = {"doc_id": options.id_name, "content": options.text_field}
    # gc=False: a record has no cycles, and tens of thousands per second would keep the collector busy. Keywords only,
    # because a required field follows an optional one.
    record = msgspec.defstruct("Record", [doc_id, content], rename=rename, gc=False, kw_only=True)  # type: ignore[list-item]
    return cast("msgspec.json.Decoder[_Record]", msgspec.json.Decoder(record))


def _json_object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise Unfit(f"not JSON: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise Unfit("not JSON: nested too deeply") from None
    except ValueError:  # CPython's protection against quadratic time.
        raise Unfit("not JSON: an integer of more than 4300 digits") from None
    if not isinstance(value, dict):
        raise Unfit(f"not a JSON object but {_kind_of(value)}")
    return value


def _field(record: dict[str, Any], name: str) -> object:
    try:
        return record[name]
    except KeyError:
        raise Unfit(f'no field "{name}"; the fields are: {column_names(list(record))}') from None


def _doc_id(value: object, name: str) -> str:
    if type(value) is int:
        return str(value)
    if type(value) is not str:
        raise Unfit(f'field "{name}" is {_kind_of(value)}, not a string or an integer')
    return checked_doc_id(_encodable(value, name))


def _text(value: object, name: str) -> str:
    if type(value) is not str:
        raise Unfit(f'field "{name}" is {_kind_of(value)}, not a string')
    return _encodable(value, name)


def _features(value: object, name: str) -> tuple[str, ...]:
    if type(value) is not list:
        raise Unfit(f'field "{name}" is {_kind_of(value)}, not an array of features')
    return tuple(_feature(element, name) for element in value)


def _feature(value: object, name: str) -> str:
    if type(value) is int:
        return str(value)
    if type(value) is not str:
        raise Unfit(f'field "{name}" holds {_kind_of(value)}; features are strings or integers')
    if not value or len(value.splitlines()) != 1 or value.splitlines()[0] != value:
        raise Unfit(f'field "{name}" holds a feature that is empty or has a line end')
    return _encodable(value, name)


def _encodable(value: str, name: str) -> str:
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise Unfit(f'field "{name}" holds a lone surrogate at character {error.start + 1}') from None
    return value


def _kind_of(value: object) -> str:
    return JSON_NAMES.get(type(value), "null")
