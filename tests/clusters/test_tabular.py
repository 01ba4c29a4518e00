"""Rows as JSON lines, CSV, TSV, lines and Parquet, character for character."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lshdb.clusters import tabular
from lshdb.clusters.tabular import plain, write_records, writer

COLUMNS = ("id", "n")
ROWS: list[tuple[object, ...]] = [("née", 1.5), ('a\tb\n\r\\"', None), (["x", "é"], True), (("y",), False)]


def written(form: str, rows: list[tuple[object, ...]], *, raw: bool = False) -> str:
    out = io.StringIO()
    writer(form, raw=raw)(COLUMNS, rows, out)
    return out.getvalue()


def test_json_lines_are_an_object_a_row() -> None:
    assert written("jsonl", ROWS) == (
        '{"id": "née", "n": 1.5}\n'
        '{"id": "a\\tb\\n\\r\\\\\\"", "n": null}\n'
        '{"id": ["x", "é"], "n": true}\n'
        '{"id": ["y"], "n": false}\n'
    )


@pytest.mark.parametrize(
    "value", [0.1, -0.0, 1e-7, 1e22, float("nan"), float("-inf"), 2**70, "\ud800\u2028/\x7f\b", {"a": [1.5, False]}]
)
def test_every_value_is_written_to_json_lines_as_json_dumps_does(value: object) -> None:
    assert written("jsonl", [(value, 1)]) == json.dumps({"id": value, "n": 1}, ensure_ascii=False) + "\n"


def test_tsv_has_a_header_and_escapes_and_lines_have_no_header() -> None:
    lines = 'née\t1.5\na\\tb\\n\\r\\\\"\t\n["x", "é"]\ttrue\n["y"]\tfalse\n'
    assert written("tsv", ROWS) == f"id\tn\n{lines}"
    assert written("lines", ROWS) == lines


def test_csv_quotes_what_it_must_and_ends_its_lines_as_unix_does() -> None:
    assert written("csv", ROWS) == 'id,n\nnée,1.5\n"a\tb\n\r\\""",\n"[""x"", ""é""]",true\n"[""y""]",false\n'


@pytest.mark.parametrize("first", "=+-@\t\r\n\0＝＋－＠")  # noqa: RUF001
def test_a_text_of_csv_that_may_be_a_formula_begins_with_an_apostrophe(first: str) -> None:
    [safe] = written("csv", [(f"{first}1", 2)]).split("id,n\n")[1:]
    assert safe.strip('"').startswith(f"'{first}1")
    [raw] = written("csv", [(f"{first}1", 2)], raw=True).split("id,n\n")[1:]
    assert raw.strip('"').startswith(f"{first}1")
    assert written("tsv", [("=1", 2)], raw=True) == written("tsv", [("=1", 2)]) == "id\tn\n=1\t2\n"


def test_numbers_of_csv_are_no_formulas() -> None:
    assert written("csv", [(-1, "x=1")]) == "id,n\n-1,x=1\n"


def test_a_value_as_the_text_of_a_field() -> None:
    assert [plain(value) for value in (None, "", 0, 1, True, False, 2.0, [], ())] == [
        "", "", "0", "1", "true", "false", "2.0", "[]", "[]"
    ]  # fmt: skip


def test_a_row_of_another_length_is_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        written("jsonl", [("a",)])


def records(path: Path, holds_sets: bool, *given: tuple[str, str | list[str]]) -> list[dict[str, object]]:
    write_records(path, given, holds_sets=holds_sets)
    rows: list[dict[str, object]] = pq.read_table(path).to_pylist()
    return rows


def test_records_of_texts_and_of_sets_are_columns_of_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    assert records(path, False, ("a", "one"), ("b\ud800", "x\ud800y")) == [
        {"id": "a", "text": "one"}, {"id": "b\ufffd", "text": "x\ufffdy"}
    ]  # fmt: skip
    assert records(path, True, ("a", ["x", "\ud800"]), ("b", [])) == [
        {"id": "a", "text": ["x", "\ufffd"]}, {"id": "b", "text": []}
    ]  # fmt: skip
    assert records(path, True, ("a", []), ("b", [])) == [{"id": "a", "text": []}, {"id": "b", "text": []}]
    assert records(path, False) == []
    assert pq.read_schema(path).names == ["id", "text"]


def test_a_row_group_ends_once_it_has_so_many_characters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabular, "GROUP_CHARACTERS", 4)
    path = tmp_path / "a.parquet"

    def sizes() -> Iterator[int]:
        metadata = pq.read_metadata(path)
        return (metadata.row_group(group).num_rows for group in range(metadata.num_row_groups))

    write_records(path, [("a", "one"), ("b", "t"), ("c", "three"), ("d", "x")], holds_sets=False)
    assert list(sizes()) == [2, 1, 1]
    write_records(path, [("a", "four"), ("b", "two"), ("c", "x")], holds_sets=False)
    assert list(sizes()) == [1, 2]
    write_records(path, [("a", ["on", "e"]), ("b", ["t"]), ("c", ["thr", "ee"])], holds_sets=True)
    assert list(sizes()) == [2, 1]
    assert {pq.read_metadata(path).row_group(0).column(0).compression} == {"ZSTD"}
