"""Parquet: columns by name and type, invalid rows, and damage."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lshdb.model.values import Document
from lshdb.readers import Reading, ReadOptions, Rejection, digest, source_file
from tests.readers.reading_files import read


def write(path: Path, columns: dict[str, object], num_rows: int = 1000) -> Path:
    pq.write_table(pa.table(columns), path, row_group_size=num_rows)
    return path


def only_reason(path: Path, options: ReadOptions = ReadOptions()) -> str:  # noqa: B008
    [item] = read(path, options)
    assert isinstance(item, Rejection)
    return item.reason


def test_a_row_is_a_document(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", {"n": [1, 2, 3], "text": ["one", "née", ""], "id": ["a", "b", "c"]}, 2)
    assert read(path) == [
        Document("a", "one", source=path.as_uri(), locator="row 1"),
        Document("b", "née", source=path.as_uri(), locator="row 2"),
        Document("c", "", source=path.as_uri(), locator="row 3"),
    ]


def test_a_file_without_a_telling_name_is_told_by_its_content(tmp_path: Path) -> None:
    assert len(read(write(tmp_path / "part-00000", {"id": ["a"], "text": ["one"]}))) == 1


def test_digest_and_size_are_those_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", {"id": ["a"], "text": ["one"]})
    reading = Reading(source_file(path), ReadOptions())
    assert len(list(reading)) == 1
    assert (reading.digest, reading.num_bytes) == (digest(path), path.stat().st_size)


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.binary(),
        pa.large_binary(),
        pa.string_view(),
        pa.dictionary(pa.int32(), pa.string()),
    ],
    ids=str,
)
def test_texts_of_every_string_type_are_read(tmp_path: Path, kind: pa.DataType) -> None:
    texts = pa.array(["one", "two"]).cast(kind)
    items = read(write(tmp_path / "a.parquet", {"id": pa.array([7, -1], pa.int64()), "text": texts}))
    assert [(item.doc_id, item.text) for item in items] == [("7", "one"), ("-1", "two")]  # type: ignore[union-attr]


def test_the_options_name_the_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", {"url": ["u"], "body": ["one"]})
    [item] = read(path, ReadOptions(id_field="url", text_field="body"))
    assert isinstance(item, Document)
    assert (item.doc_id, item.text) == ("u", "one")
    assert only_reason(path) == 'no column "text"; the columns are: url, body'


def test_a_column_of_another_type_is_one_rejection(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", {"id": [1.5, 2.5], "text": [["x"], ["y"]]})
    assert only_reason(path) == 'column "id" holds double, not strings or integers'
    path = write(tmp_path / "b.parquet", {"id": ["a", "b"], "text": [["x"], ["y"]]})
    assert only_reason(path) == 'column "text" holds list<element: string>, not strings'


def test_rows_without_id_or_text_are_rejected_and_the_others_are_read(tmp_path: Path) -> None:
    options = ReadOptions(id_field="id", max_text=1_000_000)
    long = "x" * 1_000_001
    columns = {"id": ["a", None, "c", "", "e\0", "f"], "text": [None, "x", "three", "x", "x", long]}
    path = write(tmp_path / "a.parquet", columns)
    assert [(item.locator, getattr(item, "reason", "a document")) for item in read(path, options)] == [
        ("row 1", 'column "text" is null'),
        ("row 2", 'column "id" is null'),
        ("row 3", "a document"),
        ("row 4", "the id is empty"),
        ("row 5", "the id holds a NUL character"),
        ("row 6", "text larger than the 1 MB of --max-text: 1,000,001 bytes"),
    ]


def test_bytes_that_are_not_utf8_are_replaced_and_counted(tmp_path: Path) -> None:
    [item] = read(write(tmp_path / "a.parquet", {"id": ["a"], "text": pa.array([b"caf\xe9"], pa.binary())}))
    assert isinstance(item, Document)
    assert (item.text, item.num_replaced) == ("caf\ufffd", 1)


HOSTILE = """
import resource, sys
from pathlib import Path
from lshdb.readers import ReadOptions, Reading, source_file
resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000, 2_000_000_000))
print(sum(len(item.text) for item in Reading(source_file(Path(sys.argv[1])), ReadOptions())))
"""


@pytest.mark.parametrize("is_declared", [False, True])
def test_a_text_that_many_rows_share_takes_bounded_memory(tmp_path: Path, is_declared: bool) -> None:
    shared = pa.DictionaryArray.from_arrays(pa.array([0] * 400, pa.int32()), pa.array(["word " * 1_000_000]))
    table = pa.table({"id": [str(number) for number in range(400)], "text": shared})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, store_schema=is_declared)
    assert path.stat().st_size < 1_000_000
    program = [sys.executable, "-c", HOSTILE, str(path)]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.stdout, ended.stderr) == ("2000000000\n", "")


def test_a_damaged_row_group_costs_its_own_rows(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.parquet", {"id": [f"d{n}" for n in range(9)], "text": [f"text {n}" for n in range(9)]}, 3
    )
    start = pq.ParquetFile(path).metadata.row_group(1).column(1).data_page_offset
    raw = path.read_bytes()
    path.write_bytes(raw[:start] + b"\xff" * 40 + raw[start + 40 :])
    items = read(path)
    assert [item.doc_id for item in items if isinstance(item, Document)] == ["d0", "d1", "d2", "d6", "d7", "d8"]
    [rejection] = [item for item in items if isinstance(item, Rejection)]
    assert (rejection.source, rejection.locator) == (path.as_uri(), "row 4")
    assert rejection.reason.startswith("its row group cannot be read further (row group 2: ")


def test_what_is_no_parquet_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    for raw in (b"", b"PAR1", b"PAR1" + bytes(100) + b"PAR1", b"id,text\n"):
        path.write_bytes(raw)
        assert only_reason(path).startswith("cannot be read as Parquet (")


def test_an_index_of_sets_reads_lists_as_features(tmp_path: Path) -> None:
    columns = {"id": ["a", "b", "c"], "text": [["x", "née", "x"], [], ["two\nlines"]]}
    first, second, third = read(write(tmp_path / "a.parquet", columns), ReadOptions(kind="set"))
    assert isinstance(first, Document)
    assert isinstance(second, Document)
    assert (first.features, second.features) == (("x", "née", "x"), ())
    assert isinstance(third, Rejection)


def test_without_pyarrow_the_rejection_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.parquet", {"id": ["a"], "text": ["one"]})
    monkeypatch.delitem(sys.modules, "lshdb.readers.rows", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert only_reason(path) == "no reader: reading Parquet needs pyarrow: pip install pyarrow"


def test_a_page_whose_checksum_is_wrong_is_not_read(tmp_path: Path) -> None:
    path, table = tmp_path / "a.parquet", pa.table({"id": ["a", "b"], "text": ["some words", "and more"]})
    # Without statistics, which hold the texts a second time.
    pq.write_table(
        table, path, compression="none", use_dictionary=False, write_page_checksum=True, write_statistics=False
    )
    assert [item.text for item in read(path) if isinstance(item, Document)] == ["some words", "and more"]
    path.write_bytes(path.read_bytes().replace(b"some words", b"same words", 1))
    assert only_reason(path).startswith("its row group cannot be read further (row group 1: ")
    assert "CRC checksum" in only_reason(path)
