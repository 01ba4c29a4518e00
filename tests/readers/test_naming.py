"""The ids of records that bring none, and prefixes that name the file."""

from __future__ import annotations

import gzip
import os
import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lshdb.errors import InvalidParams
from lshdb.model.values import Document
from lshdb.readers import (
    Deferred,
    Item,
    Reading,
    ReadOptions,
    Rejection,
    made,
    meant_ids,
    record,
    recorded,
    source_file,
)
from tests.readers.reading_files import jsonl, read


def ids(items: list[Item]) -> list[str]:
    return [item.doc_id if isinstance(item, Document) else item.reason for item in items]  # type: ignore[union-attr]


def test_a_line_without_an_id_is_named_by_its_file_and_number(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "a.jsonl", {"text": "a"}, {"id": "x", "text": "b"}, {"id": None, "text": "c"}, {"id": "", "text": ""}
    )
    assert ids(read(path)) == [f"{path}#1", "x", f"{path}#3", f"{path}#4"]
    assert ids(read(path, ReadOptions(base=tmp_path))) == ["a.jsonl#1", "x", "a.jsonl#3", "a.jsonl#4"]


def test_a_line_that_only_the_slow_parser_reads_is_named_in_the_same_way(tmp_path: Path) -> None:
    (path := tmp_path / "a.jsonl").write_bytes(b'{"text": "caf\xe9"}\n{"text": "x", "n": NaN, "id": null}\n')
    assert ids(read(path)) == [f"{path}#1", f"{path}#2"]


def test_a_feature_set_of_json_without_an_id_is_named(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", {"text": ["x", "y"]})
    assert ids(read(path, ReadOptions(kind="set"))) == [f"{path}#1"]


def test_the_integer_zero_is_an_id(tmp_path: Path) -> None:
    assert ids(read(jsonl(tmp_path / "a.jsonl", {"id": 0, "text": "a"}))) == ["0"]


@pytest.mark.parametrize("raw", ["text\none\ntwo\n", "id,text\n,one\n,two\n"])
def test_a_row_of_csv_without_an_id_is_named_by_the_line_it_begins_on(tmp_path: Path, raw: str) -> None:
    (path := tmp_path / "a.csv").write_text(raw)
    assert ids(read(path)) == [f"{path}#2", f"{path}#3"]


@pytest.mark.parametrize(
    "columns",
    [
        {"text": ["one", "two"]},
        {"id": pa.array([None, None], pa.string()), "text": ["one", "two"]},
        {"id": ["", None], "text": ["one", "two"]},
        {"id": pa.array([None, None], pa.int64()), "text": ["one", "two"]},
    ],
)
def test_a_row_of_parquet_without_an_id_is_named_by_its_number(tmp_path: Path, columns: dict[str, object]) -> None:
    pq.write_table(pa.table(columns), path := tmp_path / "a.parquet")
    assert ids(read(path)) == [f"{path}#1", f"{path}#2"]


def test_an_id_that_was_asked_for_must_be_there(tmp_path: Path) -> None:
    options = ReadOptions(id_field="id")
    (table := tmp_path / "a.csv").write_text("text\none\n")
    (row := tmp_path / "b.csv").write_text("id,text\n,one\n")
    pq.write_table(pa.table({"text": ["one"]}), columns := tmp_path / "a.parquet")
    assert ids(read(jsonl(tmp_path / "a.jsonl", {"text": "a"}), options)) == ['no field "id"; the fields are: text']
    assert ids(read(table, options)) == ['no column "id"; the columns are: text']
    assert ids(read(row, options)) == ["the id is empty"]
    assert ids(read(columns, options)) == ['no column "id"; the columns are: text']


def test_another_process_gives_a_record_the_same_id(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", {"text": "a"}, {"text": "b"})
    steps = list(Reading(source_file(path), ReadOptions()).steps())
    assert all(isinstance(step, Deferred) for step in steps)
    sent = pickle.loads(pickle.dumps(steps))
    assert ids([made(step, ReadOptions()) for step in sent]) == [f"{path}#1", f"{path}#2"]


def test_a_prefix_may_name_the_file(tmp_path: Path) -> None:
    (tmp_path / "news").mkdir()
    (path := tmp_path / "news" / "may.2020.jsonl.gz").write_bytes(gzip.compress(b'{"id": "1", "text": "a"}\n'))
    assert ids(read(path, ReadOptions(id_prefix="{path}:"))) == [f"{path}:1"]
    assert ids(read(path, ReadOptions(id_prefix="{path}:", base=tmp_path))) == ["news/may.2020.jsonl.gz:1"]
    assert ids(read(path, ReadOptions(id_prefix="{name}/"))) == ["may.2020.jsonl.gz/1"]
    assert ids(read(path, ReadOptions(id_prefix="x-{stem}-{stem}-"))) == ["x-may.2020-may.2020-1"]


def test_a_placeholder_in_the_name_of_a_file_stands_for_itself(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "{stem}{nonsense}.jsonl", {"id": "1", "text": "a"})
    assert ids(read(path, ReadOptions(id_prefix="{name}/"))) == ["{stem}{nonsense}.jsonl/1"]


def test_bytes_in_a_name_that_are_not_utf8_are_escaped(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.jsonl"))
    path.write_text('{"text": "a"}\n')
    assert ids(read(path, ReadOptions(base=tmp_path))) == [r"caf\xe9.jsonl#1"]
    assert ids(read(path, ReadOptions(base=tmp_path, id_prefix="{stem}/"))) == [r"caf\xe9/caf\xe9.jsonl#1"]


def test_a_prefix_with_an_unknown_placeholder_is_a_usage_error() -> None:
    with pytest.raises(InvalidParams, match=r"\{file\} is unknown; a prefix may contain \{path\}, \{name\}"):
        ReadOptions(id_prefix="{file}/")
    assert ReadOptions(id_prefix="{}{a b}").id_prefix == "{}{a b}"


def test_whether_an_id_was_asked_for_is_kept_with_a_source() -> None:
    assert record(ReadOptions()) == "{}"
    assert record(ReadOptions(id_field="id")) == '{"id_field":"id"}'
    assert recorded('{"id_field":"id"}', ReadOptions()).id_field == "id"
    assert recorded("{}", ReadOptions(id_field="uid")).id_field is None


@pytest.mark.parametrize("name", [".gz", ".xz", ".gz.gz"])
def test_a_file_whose_name_is_nothing_but_a_compression_suffix_is_read(tmp_path: Path, name: str) -> None:
    (path := tmp_path / name).write_bytes(gzip.compress(b"one two three"))
    [item] = read(path, ReadOptions(id_prefix="{stem}/"))
    assert not isinstance(item, Rejection)


def test_a_name_means_itself_a_path_or_a_qualified_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert list(meant_ids("a.txt")) == ["a.txt", f"{tmp_path}/a.txt"]
    assert list(meant_ids("me@home@sub/a.jsonl")) == [
        "me@home@sub/a.jsonl",
        f"{tmp_path}/me@home@sub/a.jsonl",
        f"me@home@{tmp_path}/sub/a.jsonl",
    ]
    assert list(meant_ids(os.fsdecode(b"caf\xe9"))) == ["caf\\xe9", f"{tmp_path}/caf\\xe9"]
