"""JSON lines: the fields of a record, and reasons for rejections."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from lshdb.errors import InvalidParams
from lshdb.model.values import Document
from lshdb.readers import Damaged, Reading, ReadOptions, Rejection, base, jsonl, source_file
from lshdb.readers.bytes.streams import ByteStream
from lshdb.readers.lines import read_lines
from tests.readers.reading_files import read, texts

SETS = ReadOptions(kind="set")


def write(path: Path, *lines: str | bytes) -> Path:
    path.write_bytes(b"".join(line if isinstance(line, bytes) else line.encode() + b"\n" for line in lines))
    return path


def reason(path: Path, line: str | bytes, options: ReadOptions = ReadOptions()) -> str:  # noqa: B008
    """Return the reason why a line is rejected, between two valid ones."""
    good = b'{"id": "a", "text": []}' if options.kind == "set" else b'{"id": "a", "text": "one"}'
    line = line if isinstance(line, bytes) else line.encode()
    path.write_bytes(b"\n".join([good, line, good, b""]))
    before, rejection, after = read(path, options)
    assert isinstance(before, Document)
    assert isinstance(after, Document)
    assert isinstance(rejection, Rejection)
    assert (rejection.source, rejection.locator) == (path.as_uri(), "line 2")
    return rejection.reason


def test_a_line_is_a_document_with_its_id_text_and_place(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"id": "a", "text": "one", "other": [1, {"x": null}]}', '{"text":"née","id":7}')
    assert read(path) == [
        Document("a", "one", source=path.as_uri(), locator="line 1"),
        Document("7", "née", source=path.as_uri(), locator="line 2"),
    ]


def test_the_fields_may_have_other_names(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"url": "http://x/", "raw content": "one", "id": null, "text": 5}')
    [item] = read(path, ReadOptions(id_field="url", text_field="raw content"))
    assert (item.doc_id, item.text) == ("http://x/", "one")


@pytest.mark.parametrize("name", ["", 'a"b', "a\\b", "a\nb", "\ud800"])
def test_a_field_name_that_cannot_be_looked_for_is_a_usage_error(name: str) -> None:
    with pytest.raises(InvalidParams):
        ReadOptions(text_field=name)


def test_one_field_cannot_be_both() -> None:
    with pytest.raises(InvalidParams, match="it is also the id_field"):
        ReadOptions(id_field="url", text_field="url")


def test_blank_lines_line_ends_and_a_byte_order_mark_are_no_records(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl", b"\xef\xbb\xbf", b'{"id":"a","text":"one"}\r\n', "", "  \t", b'{"id":"b","text":"two"}'
    )
    assert [(item.doc_id, item.locator) for item in read(path)] == [("a", "line 1"), ("b", "line 4")]


def test_an_empty_file_has_no_documents(tmp_path: Path) -> None:
    assert read(write(tmp_path / "a.jsonl")) == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("word", "not JSON: Expecting value at character 1"),
        ('{"id": "b", "text": "x"', "not JSON: Expecting ',' delimiter at character 24"),
        ('{"id": "b", "text": "x"} {}', "not JSON: Extra data at character 26"),
        ('{"id": "b", "text": "x\ty"}', "not JSON: Invalid control character at at character 23"),
        ('["b", "x"]', "not a JSON object but an array"),
        ("null", "not a JSON object but null"),
        ('{"id": "b"}', 'no field "text"; the fields are: id'),
        ('{"id": "b", "a\\nb": 1, "née": 2}', r'no field "text"; the fields are: id, a\nb, née'),
        ('{"id": "b", "text": null}', 'field "text" is null, not a string'),
        ('{"id": "b", "text": 5}', 'field "text" is a number, not a string'),
        ('{"id": "b", "text": ["x"]}', 'field "text" is an array, not a string'),
        ('{"id": 1.5, "text": "x"}', 'field "id" is a number, not a string or an integer'),
        ('{"id": true, "text": "x"}', 'field "id" is a boolean, not a string or an integer'),
        (r'{"id": "b\u0000", "text": "x"}', "the id holds a NUL character"),
        (r'{"id": "b", "text": "x\ud800"}', 'field "text" holds a lone surrogate at character 2'),
        (r'{"id": "\udfff", "text": "x"}', 'field "id" holds a lone surrogate at character 1'),
        ('{"id": "b", "text": "x", "deep": ' + "[" * 100_000, "not JSON: nested too deeply"),
        ('{"id": ' + "1" * 5000 + ', "text": "x"}', "not JSON: an integer of more than 4300 digits"),
    ],
    ids=lambda value: value[:30],
)
def test_a_bad_line_is_rejected_with_its_reason_and_the_others_are_read(
    tmp_path: Path, line: str, expected: str
) -> None:
    assert reason(tmp_path / "a.jsonl", line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"id": "b", "text": "x"}', 'no field "uid"; the fields are: id, text'),
        ('{"uid": null, "text": "x"}', 'field "uid" is null, not a string or an integer'),
        ('{"uid": "", "text": "x"}', "the id is empty"),
    ],
    ids=lambda value: value[:30],
)
def test_a_record_without_the_chosen_id_is_rejected(tmp_path: Path, line: str, expected: str) -> None:
    path = write(tmp_path / "a.jsonl", line)
    [rejection] = read(path, ReadOptions(id_field="uid"))
    assert isinstance(rejection, Rejection)
    assert rejection.reason == expected


def test_the_fields_that_a_reason_lists_are_bounded(tmp_path: Path) -> None:
    record = {f"{number:03} " + "x" * 1_000: 1 for number in range(500)}
    [rejection] = read(write(tmp_path / "a.jsonl", json.dumps(record)))
    assert isinstance(rejection, Rejection)
    assert len(rejection.reason) < 1_000
    assert rejection.reason.endswith(", 019 " + "x" * 36 + ", ...")


@pytest.mark.parametrize("other", ["NaN", r'"\ud800"', "1e999", "[" * 200 + "]" * 200, '"\\u0000"'])
def test_what_lies_in_other_fields_costs_no_document(tmp_path: Path, other: str) -> None:
    path = write(tmp_path / "a.jsonl", f'{{"id": "a", "other": {other}, "text": "one"}}')
    assert texts(path) == ["one"]


def test_bytes_that_are_not_utf8_are_replaced_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", b'{"id": "a", "text": "caf\xe9 \xff"}\n')
    [item] = read(path)
    assert (item.text, item.num_replaced) == ("caf\ufffd \ufffd", 2)


def test_a_text_may_hold_escapes_pairs_of_surrogates_and_nul(tmp_path: Path) -> None:
    assert texts(write(tmp_path / "a.jsonl", r'{"id": "a", "text": "\ud83d\ude00 \u0000 \n"}')) == ["😀 \0 \n"]


def test_the_last_of_two_equal_keys_counts(tmp_path: Path) -> None:
    assert texts(write(tmp_path / "a.jsonl", '{"id": "a", "text": "one", "text": "two"}')) == ["two"]


def test_an_index_of_sets_reads_arrays_as_features(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"id": "a", "text": ["x", 5, "née", "x"]}', '{"id": "b", "text": []}')
    assert read(path, SETS) == [
        Document("a", features=("x", "5", "née", "x"), source=path.as_uri(), locator="line 1"),
        Document("b", features=(), source=path.as_uri(), locator="line 2"),
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('"x y"', 'field "text" is a string, not an array of features'),
        ('["x", null]', 'field "text" holds null; features are strings or integers'),
        ("[true]", 'field "text" holds a boolean; features are strings or integers'),
        ("[1.5]", 'field "text" holds a number; features are strings or integers'),
        ('[""]', 'field "text" holds a feature that is empty or has a line end'),
        (r'["a\nb"]', 'field "text" holds a feature that is empty or has a line end'),
        (r'["a\n"]', 'field "text" holds a feature that is empty or has a line end'),
        (r'["\ud800"]', 'field "text" holds a lone surrogate at character 1'),
    ],
)
def test_what_is_no_feature_is_rejected(tmp_path: Path, value: str, expected: str) -> None:
    assert reason(tmp_path / "a.jsonl", f'{{"id": "b", "text": {value}}}', SETS) == expected


def test_a_set_that_only_the_slow_parser_reads_keeps_its_place(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"id": "a", "text": ["x", 5], "other": NaN}')
    assert read(path, SETS) == [Document("a", features=("x", "5"), source=path.as_uri(), locator="line 1")]


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ('{"id": "a", "text": "one"}', ReadOptions()),
        ('{"text": "one"}', ReadOptions()),
        ('{"id": null, "text": "one"}', ReadOptions()),
        ('{"uid": 7, "text": "one"}', ReadOptions(id_field="uid")),
        ('{"id": "a", "text": ["x", 5]}', SETS),
        ('{"id": "a", "x": "one", "y": null}', ReadOptions(text_field=("x", "y"))),
        ('{"m": {"id": "a", "t": "one"}}', ReadOptions(id_field="m.id", text_field="m.t")),
        ('{"m": {"t": "one"}}', ReadOptions(text_field="m.t")),
        ('{"m": {"x": "one", "y": null}}', ReadOptions(text_field=("m.x", "m.y", "m.z"))),
    ],
)
def test_a_sound_line_is_parsed_only_once(
    tmp_path: Path, line: str, options: ReadOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parsed_again(_line: str) -> None:
        raise AssertionError("the compiled parser refused it")

    monkeypatch.setattr(jsonl, "_json_object", parsed_again)
    [item] = read(write(tmp_path / "a.jsonl", line), options)
    assert isinstance(item, Document)


def test_an_overlong_line_is_rejected_and_the_next_one_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "MAX_LINE_BYTES", 1_000_000)
    long = '{"id": "b", "text": "' + "x" * 1_000_000 + '"}'
    options = ReadOptions(max_text=100_000)
    path = write(tmp_path / "a.jsonl", '{"id":"a","text":"one"}', long, '{"id":"c","text":"three"}', long)
    first, second, third, fourth = read(path, options)
    assert [first.doc_id, third.doc_id] == ["a", "c"]
    assert second == Rejection(path.as_uri(), "line 2", "longer than 1 MB")
    assert fourth == Rejection(path.as_uri(), "line 4", "longer than 1 MB")


def test_an_overlong_line_is_not_held_in_memory() -> None:
    num_blocks, block = 10_000, b"x" * 200_000

    def blocks() -> Iterator[bytes]:
        for _ in range(num_blocks):
            yield block
        yield b"\nlast"

    # 2 GB in total, of which at most 1 MB is kept.
    assert list(read_lines(ByteStream(blocks()).binary, 1_000_000)) == [None, b"last"]


def test_lines_are_the_same_whatever_pieces_they_come_in() -> None:
    text = b"one\n\ntwo\r\nthree"
    for size in range(1, len(text) + 1):
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        assert list(read_lines(ByteStream(iter(pieces)).binary, 1_000_000)) == [b"one", b"", b"two\r", b"three"]


def test_a_stream_that_fails_gives_the_lines_before_and_says_where(tmp_path: Path) -> None:
    class Failing(io.RawIOBase):
        def __init__(self) -> None:
            self.blocks = [b'{"id":"a","text":"one"}\n{"id":"b",', b""]

        def read(self, _num_bytes: int = -1) -> bytes:
            if block := self.blocks.pop(0):
                return block
            raise OSError(5, "Input/output error")

    from lshdb.readers import read_stream

    source = source_file(write(tmp_path / "a.jsonl"))
    first, second = read_stream(source, cast(io.BufferedReader, Failing()), ReadOptions())
    assert isinstance(first, Document)
    assert second == Damaged(source.uri, "line 2", "Input/output error after line 1")


def test_a_large_file_is_read_in_order(tmp_path: Path) -> None:
    records = [json.dumps({"id": i, "text": "x" * (i % 977)}) for i in range(20_000)]
    reading = Reading(source_file(write(tmp_path / "a.jsonl", *records)), ReadOptions())
    assert [item.locator for item in reading] == [f"line {i}" for i in range(1, 20_001)]
