"""Nested fields, texts of several fields, and HTML in a field, in JSON lines, CSV and Parquet."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lshdb.errors import InvalidParams
from lshdb.model.values import Document
from lshdb.readers import Deferred, Item, Reading, ReadOptions, fields, made, record, recorded, source_file
from lshdb.readers.base import Unfit
from lshdb.readers.bytes.sniffing import looks_like_html
from lshdb.readers.fields import is_html
from tests.readers.reading_files import jsonl, read

PAGE = "<html><body><p>one <b>two</b></p><script>three()</script></body></html>"


def said(items: list[Item]) -> list[str]:
    """Return the texts of documents, and the reasons of rejections."""
    return [item.text if isinstance(item, Document) else item.reason for item in items]  # type: ignore[union-attr]


def features(items: list[Item]) -> list[object]:
    return [item.features if isinstance(item, Document) else item.reason for item in items]  # type: ignore[union-attr]


def test_dots_name_a_nested_field(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "a.jsonl",
        {"meta": {"id": 7, "body": {"raw": "one"}}},
        {"meta": {"id": "b", "body": {"raw": "née"}, "x": [1]}, "other": 1.5},
        {"meta": {"id": "c", "body": "raw"}},
        {"meta": {"id": "d", "body": {"raw": 5}}},
        {"meta": None},
    )
    items = read(path, ReadOptions(id_field="meta.id", text_field="meta.body.raw"))
    assert [(item.doc_id, item.text) for item in items[:2]] == [("7", "one"), ("b", "née")]  # type: ignore[union-attr]
    assert said(items[2:]) == [
        'no field "meta.body.raw"; the fields are: meta',
        'field "meta.body.raw" is a number, not a string',
        'no field "meta.id"; the fields are: meta',
    ]


def test_a_field_whose_own_name_has_dots_comes_first(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "a.jsonl",
        {"a.b": "own", "a": {"b": "nested"}},
        {"a": {"b": "nested"}, "a.b": "own"},
        {"a": {"b": "nested"}},
        {"a.b": "own"},
    )
    assert said(read(path, ReadOptions(text_field="a.b"))) == ["own", "own", "nested", "own"]


def test_the_longest_first_part_that_leads_to_a_field_is_taken(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "a.jsonl",
        {"a.b": {"c": "long"}, "a": {"b": {"c": "short"}}},
        {"a.b": {}, "a": {"b.c": "inner", "b": {"c": "short"}}},
        {"a.b": "no object", "a": {"b": {"c": "short"}}},
    )
    assert said(read(path, ReadOptions(text_field="a.b.c"))) == ["long", "inner", "short"]
    deeper = jsonl(tmp_path / "b.jsonl", {"a.b": {"c.d": "middle"}}, {"a": {"b.c.d": "short"}})
    assert said(read(deeper, ReadOptions(text_field="a.b.c.d"))) == ["middle", "short"]


def test_a_record_without_a_nested_id_is_named_by_its_line(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", {"meta": {"text": "one"}}, {"id": "b", "meta": {"text": "two"}})
    items = read(path, ReadOptions(text_field="meta.text"))
    assert [item.doc_id for item in items] == [f"{path}#1", "b"]  # type: ignore[union-attr]


def test_only_the_slow_parser_reads_some_lines_and_it_finds_the_same(tmp_path: Path) -> None:
    (path := tmp_path / "a.jsonl").write_bytes(
        b'{"a": {"t": "caf\xe9"}, "b": "x"}\n{"a": {"t": "y", "n": NaN}, "b": 5}\n'
    )
    assert said(read(path, ReadOptions(text_field="a.t"))) == ["caf\ufffd", "y"]
    assert said(read(path, ReadOptions(text_field=("a.t", "b")))) == [
        "caf\ufffd\nx",
        'field "b" is a number, not a string',
    ]


@pytest.mark.parametrize("names", [("title", "body"), ("title", "meta.body")])
def test_the_texts_of_several_fields_are_joined(tmp_path: Path, names: tuple[str, ...]) -> None:
    def of(title: object, body: object) -> dict[str, object]:
        return {"title": title, "body": body, "meta": {"body": body}}

    path = jsonl(
        tmp_path / "a.jsonl",
        of("one", "two"),
        of("one", None),
        {"title": "one"},
        of("", "two"),
        of(None, None),
        {"x": 1},
    )
    missing = f'no field "title" or "{names[1]}"; the fields are: '
    assert said(read(path, ReadOptions(text_field=names))) == [
        "one\ntwo", "one", "one", "two", f"{missing}title, body, meta", f"{missing}x"
    ]  # fmt: skip


def test_several_columns_of_csv_are_joined(tmp_path: Path) -> None:
    (path := tmp_path / "a.csv").write_text('id,title,a.b\n1,one,"two\nthree"\n2,,two\n3,,\n')
    assert said(read(path, ReadOptions(text_field=("title", "a.b")))) == ["one\ntwo\nthree", "two", ""]
    assert said(read(path, ReadOptions(text_field=("title", "body")))) == [
        'no column "body"; the columns are: id, title, a.b'
    ]


def test_columns_of_structs_in_parquet_are_read(tmp_path: Path) -> None:
    kind = pa.struct([("id", pa.int64()), ("body", pa.struct([("raw", pa.string())])), ("n", pa.float64())])
    meta = [{"id": 1, "body": {"raw": "one"}}, {"id": 2, "body": None}, None, {"id": 4, "body": {"raw": "four"}}]
    table = pa.table({"meta": pa.array(meta, kind), "title": ["a", "b", "c", None]})
    pq.write_table(table, path := tmp_path / "a.parquet")
    options = ReadOptions(text_field="meta.body.raw")
    null = 'column "meta.body.raw" is null'
    assert said(read(path, options)) == ["one", null, null, "four"]
    items = read(path, ReadOptions(id_field="meta.id", text_field=("title", "meta.body.raw")))
    assert said(items) == ["a\none", "b", 'column "meta.id" is null', "four"]
    assert [item.doc_id for item in items if isinstance(item, Document)] == ["1", "2", "4"]
    assert said(read(path, ReadOptions(text_field="meta.n"))) == ['column "meta.n" holds double, not strings']
    assert said(read(path, ReadOptions(text_field="meta.nothing"))) == [
        'no column "meta.nothing"; the columns are: meta, title'
    ]


def test_a_column_of_parquet_whose_own_name_has_dots_comes_first(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [{"b": "nested"}], "a.b": ["own"]}), path := tmp_path / "a.parquet")
    assert said(read(path, ReadOptions(text_field="a.b"))) == ["own"]


def test_several_columns_of_parquet_that_are_all_null_are_rejected(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"a": pa.array([None], pa.string()), "b": pa.array([None], pa.string())}),
        path := tmp_path / "a.parquet",
    )
    assert said(read(path, ReadOptions(text_field=("a", "b")))) == ['column "a" and "b" are null']


def test_features_of_several_fields_are_read(tmp_path: Path) -> None:
    options = ReadOptions(kind="set", text_field=("x", "y"))
    assert features(read(jsonl(tmp_path / "a.jsonl", {"x": ["1"], "y": [2, "3"]}, {"y": [1]}), options)) == [
        ("1", "2", "3"), ("1",)
    ]  # fmt: skip
    (table := tmp_path / "a.csv").write_text("x,y\n1 2,3\n")
    assert features(read(table, options)) == [("1", "2", "3")]
    pq.write_table(pa.table({"x": [["1"]], "y": [["2", "3"]]}), columns := tmp_path / "a.parquet")
    assert features(read(columns, options)) == [("1", "2", "3")]


def write_csv(path: Path, text: str) -> Path:
    quoted = text.replace('"', '""')
    (file := path / "a.csv").write_text(f'id,text\na,"{quoted}"\n')
    return file


def write_parquet(path: Path, text: str) -> Path:
    pq.write_table(pa.table({"id": ["a"], "text": [text]}), file := path / "a.parquet")
    return file


def write_jsonl(path: Path, text: str) -> Path:
    return jsonl(path / "a.jsonl", {"id": "a", "text": text})


WRITERS = pytest.mark.parametrize("write", [write_jsonl, write_csv, write_parquet])
Write = Callable[[Path, str], Path]


@WRITERS
@pytest.mark.parametrize("size", [1, 1_000], ids=["small", "large"])
def test_html_in_a_field_is_extracted(tmp_path: Path, write: Write, size: int) -> None:
    path = write(tmp_path, PAGE.replace("one", "one " * size))
    assert said(read(path))[0].startswith("<html>")
    for text_format in ("html", "auto"):
        [text] = said(read(path, ReadOptions(html="all", text_format=text_format)))
        assert text.split() == ["one"] * size + ["two"]


@WRITERS
def test_text_that_is_no_html_stays_as_it_is(tmp_path: Path, write: Write) -> None:
    path = write(tmp_path, "if a <b and c> d, 5 < 6 &amp; so on")
    assert said(read(path, ReadOptions(text_format="auto"))) == ["if a <b and c> d, 5 < 6 &amp; so on"]


@WRITERS
def test_another_process_may_extract_the_text(tmp_path: Path, write: Write) -> None:
    options = ReadOptions(html="all", text_format="html")
    source = source_file(write(tmp_path, PAGE))
    [step] = Reading(source, options).steps()
    assert isinstance(step, Deferred)
    item = made(pickle.loads(pickle.dumps(step)), options)
    assert isinstance(item, Document)
    assert (item.doc_id, item.text.split(), item.locator[-2:].strip()) == ("a", ["one", "two"], item.locator[-1])
    assert (step.source, step.locator) == (source.uri, item.locator)


@WRITERS
def test_main_content_and_all_text_of_a_field_differ(tmp_path: Path, write: Write) -> None:
    path = write(tmp_path, "<html><body><nav>menu</nav><article><p>" + "one two three. " * 40 + "</p></article></body>")
    whole = said(read(path, ReadOptions(html="all", text_format="html")))[0].split()
    main = said(read(path, ReadOptions(html="main", text_format="html")))[0].split()
    assert ("menu" in whole, "menu" in main, main[:3]) == (True, False, ["one", "two", "three."])


def test_each_of_several_fields_may_be_html_and_none_is_unless_the_options_say_so(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", {"id": "a", "x": "<p>one</p>", "y": "2 < 3"})
    names = ("x", "y")
    assert said(read(path, ReadOptions(text_field=names))) == ["<p>one</p>\n2 < 3"]
    assert said(read(path, ReadOptions(text_field=names, text_format="auto"))) == ["one\n2 < 3"]


def test_a_page_of_the_largest_size_is_read_and_a_larger_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "MAX_PAGE_BYTES", 10)
    options = ReadOptions(text_format="html")
    assert fields.text_of("<p>one</p>", options) == "one"
    with pytest.raises(Unfit, match=r"page larger than 0\.01 kB"):
        fields.text_of("<p>ones</p>", options)


@WRITERS
def test_a_page_in_a_field_is_limited_before_and_after_it_is_extracted(tmp_path: Path, write: Write) -> None:
    path = write(tmp_path, "<p>" + "word " * 500 + "<!--" + "x" * 20_000 + "-->")
    assert len(read(path, ReadOptions(text_format="html", max_text=3_000))) == 1
    assert said(read(path, ReadOptions(text_format="html", max_text=3_000)))[0].startswith("word")
    [reason] = said(read(path, ReadOptions(text_format="html", max_text=2_000)))
    assert reason.startswith("text larger than the 2 kB of --max-text: ")
    path = write(tmp_path, "<p>one" + " " * 10_000_000)
    [reason] = said(read(path, ReadOptions(text_format="html")))
    assert "larger than" in reason or "field limit" in reason


@WRITERS
def test_a_hostile_page_in_a_field_costs_only_itself(tmp_path: Path, write: Write) -> None:
    [reason] = said(read(write(tmp_path, "<rt>" * 60_000), ReadOptions(text_format="html")))
    assert reason == "takes too long to parse: more than 0.7 s of processor time"


@pytest.mark.parametrize(
    "value",
    ["<p>x", " \n<DIV class=x>", "<!-- a --> <!-- b --><h2>x", "<br/>", "<!doctype html>", "<?xml version='1'?><html>"],
)
def test_a_value_that_begins_with_an_element_is_html(value: str) -> None:
    assert is_html(value)


@pytest.mark.parametrize(
    "value", ["", "x <p>", "<pre-release> notes", "< p>", "<3", "<x@example.org> wrote", "<!-- a --"]
)
def test_other_values_are_no_html(value: str) -> None:
    assert not is_html(value)


def test_many_comments_are_no_work() -> None:
    comments = "<!---->" * 140 + "x"
    assert not is_html(comments)
    assert not looks_like_html(comments.encode())
    assert looks_like_html(b"<!-- a --><!-- b -->\n<html>")


def test_the_fields_are_kept_with_a_source() -> None:
    options = ReadOptions(text_field=("title", "body"), text_format="auto")
    assert record(options) == '{"text_field":["title","body"],"text_format":"auto"}'
    assert recorded(record(options), ReadOptions()) == options
    # As it was recorded before there could be several.
    assert (
        record(ReadOptions(text_field=("body",))) == record(ReadOptions(text_field="body")) == '{"text_field":"body"}'
    )
    assert recorded('{"text_field":"body"}', ReadOptions()).text_field == "body"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"text_field": ()}, "it names no field"),
        ({"text_field": ("a", "id")}, "it is also the id_field"),
        ({"text_field": ("a", "")}, "a field name must not be empty"),
        ({"text_format": "html", "kind": "set"}, "an index of feature sets has no texts"),
    ],
)
def test_fields_that_make_no_text_are_usage_errors(options: dict[str, object], reason: str) -> None:
    with pytest.raises(InvalidParams, match=reason):
        ReadOptions(**options)  # type: ignore[arg-type]
