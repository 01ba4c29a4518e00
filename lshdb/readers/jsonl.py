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
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, BinaryIO, Final, TypeAlias, cast

import msgspec

from lshdb.model.values import Document
from lshdb.readers.base import Deferred, ReadOptions, Rejection, SourceFile, Unfit, column_names
from lshdb.readers.bytes.decoding import decode
from lshdb.readers.bytes.sniffing import looks_like_json_lines
from lshdb.readers.fields import field, joined, quoted, text_of
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
    holds_records = True

    def recognises(self, head: bytes) -> bool:
        """Return whether the head begins with an object that continues in its first line."""
        return looks_like_json_lines(head)

    def read(
        self, source: SourceFile, stream: BinaryIO, options: ReadOptions, first: int = 1
    ) -> Iterator[Deferred | Rejection]:
        """Yield a Document or a Rejection for every line that is not blank. Args: first: the number of the first."""
        parser = _RecordParser(options, file_doc_id(source, options))
        return read_documents(source, stream, options, parser.parse, first)


# Returns the id of a line, and its text, the texts of its fields, or its features. If it raises one of FAULTS, the line
# is parsed completely.
_Decode: TypeAlias = Callable[[bytes], tuple[object, object]]
FAULTS: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError)


class _RecordParser:
    """Parses the lines of one file. Args: file: its doc_id, from which records without an id get theirs."""

    def __init__(self, options: ReadOptions, file: str) -> None:
        self._options = options
        self._file = file
        self._id_field, self._text_fields = options.id_name, options.text_names
        self._names_records = options.id_field is None
        self._holds_set = options.kind == "set"
        self._is_plain = options.text_format == "text"
        self._decode = _fast_decoder(options)

    def __reduce__(self) -> tuple[object, ...]:
        # The compiled decoder cannot be pickled, so another process creates its own.
        return _RecordParser, (self._options, self._file)

    def parse(self, line: bytes, uri: str, locator: str) -> Document:
        """Return the document of a line. Raises: Unfit."""
        try:
            given, content = self._decode(line)
        except FAULTS:
            return self._parse_fully(line, uri, locator)
        doc_id = self._doc_id(given, locator)
        # The compiled parser has checked the types and refuses lone surrogates.
        if type(content) is str:
            return Document(doc_id, content if self._is_plain else text_of(content, self._options), None, uri, locator)
        if self._holds_set:
            return Document(doc_id, "", _features(content, self._text_fields[0]), uri, locator)
        texts = [text_of(part, self._options) for part in cast("list[str]", content)]
        return Document(doc_id, joined(texts), None, uri, locator)

    def _parse_fully(self, line: bytes, uri: str, locator: str) -> Document:
        text, num_replaced = decode(line)
        record = _json_object(text)
        doc_id = self._doc_id(self._given_id(record), locator)
        contents = _contents(record, self._text_fields)
        if self._holds_set:
            features = tuple(feature for name, value in contents for feature in _features(value, name))
            return Document(doc_id, "", features, uri, locator, num_replaced)
        texts = [text_of(_text(value, name), self._options) for name, value in contents]
        return Document(doc_id, joined(texts), None, uri, locator, num_replaced)

    def _given_id(self, record: dict[str, Any]) -> object:
        try:
            return field(record, self._id_field, _object)
        except KeyError:
            if self._names_records:
                return None
            raise _missing([self._id_field], record) from None

    def _doc_id(self, value: object, locator: str) -> str:
        if self._names_records and (value is None or value == ""):
            return record_doc_id(self._file, locator)
        return _doc_id(value, self._id_field)


@functools.cache
def _fast_decoder(options: ReadOptions) -> _Decode:
    if any("." in name for name in (options.id_name, *options.text_names)):
        return _nested_decoder(options)
    return _single_decoder(options) if len(options.text_names) == 1 else _several_decoder(options)


def _single_decoder(options: ReadOptions) -> _Decode:
    content = list[str | int] if options.kind == "set" else str
    decode = _record_decoder(options, [("content", content)], {"content": options.text_names[0]})

    def fields(line: bytes) -> tuple[object, object]:
        record = decode(line)
        return record.doc_id, record.content

    return fields


def _several_decoder(options: ReadOptions) -> _Decode:
    if options.kind == "set":
        return _undecoded
    places = {f"content{number}": name for number, name in enumerate(options.text_names)}
    decode = _record_decoder(options, [(place, str | None, None) for place in places], places)

    def fields(line: bytes) -> tuple[object, object]:
        record = decode(line)
        return record.doc_id, _some([getattr(record, place) for place in places])

    return fields


def _nested_decoder(options: ReadOptions) -> _Decode:
    """Decode the objects on the way to a field only, and the field itself."""
    if options.kind == "set":
        return _undecoded
    decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
    decode_id = msgspec.json.Decoder(str | int | None).decode
    decode_text = msgspec.json.Decoder(str | None if len(options.text_names) > 1 else str).decode

    def opened(value: msgspec.Raw) -> dict[str, msgspec.Raw] | None:
        try:
            return decode(value)
        except msgspec.ValidationError:
            return None

    def fields(line: bytes) -> tuple[object, object]:
        record = decode(line)
        try:
            doc_id = decode_id(field(record, options.id_name, opened))
        except KeyError:
            if options.id_field is not None:
                raise
            doc_id = None
        found = [_found(record, name, opened) for name in options.text_names]
        return doc_id, _some([None if value is None else decode_text(value) for value in found])

    return fields


def _found(
    record: dict[str, msgspec.Raw], name: str, opened: Callable[[msgspec.Raw], dict[str, msgspec.Raw] | None]
) -> msgspec.Raw | None:
    try:
        return field(record, name, opened)
    except KeyError:
        return None


def _some(texts: list[str | None]) -> list[str]:
    """Return the texts that a record has. Raises: KeyError: it has none."""
    if not (found := [text for text in texts if text is not None]):
        raise KeyError
    return found


def _undecoded(_line: bytes) -> tuple[object, object]:
    raise KeyError


def _record_decoder(
    options: ReadOptions, contents: Sequence[tuple[Any, ...]], places: dict[str, str]
) -> Callable[[bytes], Any]:
    """Return the function that decodes these fields and the id, and skips all others."""
    doc_id = ("doc_id", str | int | None, None) if options.id_field is None else ("doc_id", str | int)
    rename = places | {"doc_id": options.id_name}
    # gc=False: a record has no cycles, and tens of thousands per second would keep the collector busy. Keywords only,
    # because a required field follows an optional one.
    record = msgspec.defstruct("Record", [doc_id, *contents], rename=rename, gc=False, kw_only=True)
    return msgspec.json.Decoder(record).decode


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


def _contents(record: dict[str, Any], names: Sequence[str]) -> list[tuple[str, object]]:
    """Return the fields of the text, with their names. Raises: Unfit: the record has none of them."""
    found: list[tuple[str, object]] = []
    for name in names:
        with suppress(KeyError):
            value = field(record, name, _object)
            # Of several fields, one that is null counts as missing.
            if value is not None or len(names) == 1:
                found.append((name, value))
    if not found:
        raise _missing(names, record)
    return found


def _missing(names: Sequence[str], record: dict[str, Any]) -> Unfit:
    return Unfit(f"no field {quoted(names)}; the fields are: {column_names(list(record))}")


def _object(value: object) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


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
