"""Filtered Parquet files have the schema, metadata, row groups and encodings of the original."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lshdb import FilterOptions, RecordCounts, RecordsUnknown
from lshdb.clusters.rows import parquet
from lshdb.model.choices import Unknown
from tests.clusters.test_filter import filtered, ingested, words

# Ten rows; those from the sixth on repeat the first five, except the last.
FIRSTS = [0, 100, 200, 300, 400, 0, 100, 200, 300, 900]
KEPT = [0, 1, 2, 3, 4, 9]


def table() -> pa.Table:
    """Rows with columns of many types, and metadata of the table and of a column."""
    text = pa.field("text", pa.large_string(), nullable=False, metadata={"language": "none"})
    columns: dict[pa.Field, list[Any]] = {
        pa.field("id", pa.int32()): list(range(10)),
        text: [words(first) for first in FIRSTS],
        pa.field("tags", pa.list_(pa.field("element", pa.dictionary(pa.int8(), pa.string())))): [["a", None]] * 10,
        pa.field("at", pa.timestamp("ns", "Europe/Rome")): list(range(10)),
        pa.field("price", pa.decimal128(9, 2)): [Decimal("1.50"), None] * 5,
        pa.field("nested", pa.struct([pa.field("n", pa.map_(pa.string(), pa.int64()))])): [{"n": [("k", 1)]}] * 10,
        pa.field("raw", pa.binary(2)): [b"\x00\xff"] * 10,
    }
    arrays = [pa.array(values, field.type) for field, values in columns.items()]
    return pa.table(arrays, schema=pa.schema(list(columns), metadata={"huggingface": '{"info": {}}', "pandas": "{}"}))


def shape(path: Path) -> dict[str, Any]:
    """Return everything about a Parquet file that a reader may notice, without its rows."""
    with pq.ParquetFile(path) as opened:
        groups = [opened.metadata.row_group(number) for number in range(opened.metadata.num_row_groups)]
        metadata = dict(opened.metadata.metadata or {})
        return {
            "arrow is stored": metadata.pop(b"ARROW:schema", None) is not None,
            "metadata": metadata,
            "schema": str(opened.schema).partition("\n")[2],
            "arrow": opened.schema_arrow.to_string(show_field_metadata=True),
            "version": opened.metadata.format_version,
            "columns": [
                (one.path_in_schema, one.compression, one.encodings, one.is_stats_set, one.has_column_index)
                for one in (groups[0].column(number) for number in range(opened.metadata.num_columns))
            ],
            "sorting": groups[0].sorting_columns,
        }


def rows_of_groups(path: Path) -> list[list[int]]:
    with pq.ParquetFile(path) as opened:
        groups = range(opened.metadata.num_row_groups)
        return [opened.read_row_group(number, ["id"]).column("id").to_pylist() for number in groups]


WRITERS: dict[str, dict[str, Any]] = {
    "as usual": {},
    "of an old writer": {
        "version": "1.0",
        "compression": "gzip",
        "store_schema": False,
        "use_dictionary": False,
        "use_deprecated_int96_timestamps": True,
        "use_compliant_nested_type": False,
        "write_statistics": False,
    },
    "with all features": {
        "compression": {"id": "none", "text": "zstd", "raw": "brotli"},
        "use_dictionary": ["text"],
        "write_page_index": True,
        "store_decimal_as_integer": True,
        "sorting_columns": [pq.SortingColumn(0)],
    },
    "with encodings": {
        "use_dictionary": ["raw"],
        "column_encoding": {
            "id": "BYTE_STREAM_SPLIT",
            "text": "DELTA_BYTE_ARRAY",
            "at": "DELTA_BINARY_PACKED",
            "nested.n.key_value.key": "DELTA_LENGTH_BYTE_ARRAY",
            "nested.n.key_value.value": "DELTA_BINARY_PACKED",
        },
    },
}


@pytest.mark.parametrize("settings", WRITERS.values(), ids=WRITERS)
def test_rows_are_dropped_and_nothing_else_changes(url: str, tmp_path: Path, settings: dict[str, Any]) -> None:
    source, out = tmp_path / "in.parquet", tmp_path / "out" / "in.parquet"
    pq.write_table(table(), source, row_group_size=3, **settings)
    report = filtered(ingested(url, source), source, tmp_path / "out")
    assert report.failed == ()
    assert report.counts == RecordCounts(num_kept=6, num_dropped=4)
    assert rows_of_groups(out) == [[0, 1, 2], [3, 4], [9]]
    assert shape(out) == shape(source)
    assert pq.read_table(out).equals(pq.read_table(source).take(KEPT), check_metadata=True)


def test_dropped_rows_keep_the_schema_too(url: str, tmp_path: Path) -> None:
    source, out = tmp_path / "in.parquet", tmp_path / "out" / "in.parquet"
    pq.write_table(table(), source, row_group_size=3)
    filtered(ingested(url, source), source, tmp_path / "out", FilterOptions(dropped=True))
    assert rows_of_groups(out) == [[5], [6, 7, 8]]
    assert shape(out) == shape(source)


def test_a_file_without_a_wanted_row_is_a_file_without_rows(url: str, tmp_path: Path) -> None:
    first, copy = tmp_path / "1.parquet", tmp_path / "2.parquet"
    pq.write_table(table().slice(0, 2), first)
    pq.write_table(table().slice(5, 2), copy)
    filtered(ingested(url, first, copy), [first, copy], tmp_path / "out")
    assert (tmp_path / "out" / "1.parquet").read_bytes() == first.read_bytes()
    assert pq.read_table(tmp_path / "out" / "2.parquet").num_rows == 0
    assert pq.read_schema(tmp_path / "out" / "2.parquet").equals(pq.read_schema(copy), check_metadata=True)


def test_the_file_is_compressed_at_the_level_asked_for(url: str, tmp_path: Path) -> None:
    source = tmp_path / "in.parquet"
    texts = [words(37 * number % 1_000) for number in range(900)]
    pq.write_table(pa.table({"text": texts}), source, compression="zstd", use_dictionary=False)
    ingested(url, source)
    sizes = []
    for level in (1, 19):
        filtered(url, source, tmp_path / str(level), FilterOptions(level=level, unknown="drop"))
        sizes.append((tmp_path / str(level) / source.name).stat().st_size)
    assert sizes[0] > sizes[1]


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "brotli", "lz4", "zstd"])
def test_a_level_is_that_of_the_columns_whose_compression_has_it(codec: str, url: str, tmp_path: Path) -> None:
    source, out = tmp_path / "in.parquet", tmp_path / "out" / "in.parquet"
    pq.write_table(table(), source, compression=codec)
    assert filtered(ingested(url, source), source, tmp_path / "out", FilterOptions(level=22)).failed == ()
    assert pq.read_table(out).num_rows == 6


def test_a_file_whose_schema_cannot_be_written_again_is_refused(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "in.parquet"
    pq.write_table(table(), source)
    monkeypatch.setattr(parquet, "_settings", lambda *_: {"use_deprecated_int96_timestamps": True})
    (failed,) = filtered(ingested(url, source), source, tmp_path / "out").failed
    assert failed.reason == "its schema cannot be written again as it is; leave the file out with --exclude"
    assert not (tmp_path / "out" / "in.parquet").exists()


def test_a_file_that_the_writer_refuses_is_reported(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "in.parquet"
    pq.write_table(table(), source)
    monkeypatch.setattr(parquet, "_settings", lambda *_: {"version": "9.0"})
    (failed,) = filtered(ingested(url, source), source, tmp_path / "out").failed
    assert failed.reason.startswith("cannot be written as Parquet again (Unsupported Parquet format version: 9.0")


def test_lists_of_an_old_writer_keep_their_names(url: str, tmp_path: Path) -> None:
    source = tmp_path / "in.parquet"
    texts = [words(0), words(0)]
    pq.write_table(pa.table({"text": texts, "tags": [["a"], ["b"]]}), source, use_compliant_nested_type=False)
    report = filtered(ingested(url, source), source, tmp_path / "out")
    assert report.failed == ()
    assert pq.read_table(tmp_path / "out" / "in.parquet").column("tags").to_pylist() == [["a"]]


def test_the_page_index_of_some_columns_is_not_lost(url: str, tmp_path: Path) -> None:
    source = tmp_path / "in.parquet"
    rows = pa.table({"text": [words(0), words(0)], "n": [1, 2]})
    pq.write_table(rows, source, write_page_index=True, write_statistics=["n"])
    assert [has_index for *_, has_index in shape(source)["columns"]] == [False, True]
    filtered(ingested(url, source), source, tmp_path / "out")
    assert shape(tmp_path / "out" / "in.parquet")["columns"] == shape(source)["columns"]


@pytest.mark.parametrize("unknown", ["keep", "drop"])
def test_the_rows_of_a_file_that_was_rejected_as_a_whole_are_counted(
    url: str, tmp_path: Path, unknown: Unknown
) -> None:
    source, damaged = tmp_path / "in.parquet", tmp_path / "damaged.parquet"
    pq.write_table(pa.table({"content": [words(0)] * 1_000}), source, row_group_size=400)
    damaged.write_bytes(b"PAR1 and no more")
    pq.write_table(table(), tmp_path / "good.parquet")
    ingested(url, source, damaged, tmp_path / "good.parquet")
    report = filtered(url, source, tmp_path / "out", FilterOptions(unknown=unknown))
    assert report.counts == RecordCounts(num_rejected=1_000)
    assert pq.read_metadata(tmp_path / "out" / "in.parquet").num_rows == {"keep": 1_000, "drop": 0}[unknown]
    with pytest.raises(RecordsUnknown) as raised:
        filtered(url, source, tmp_path / "none", FilterOptions(unknown="error"))
    assert raised.value.number == 1_000
    assert filtered(url, damaged, tmp_path / "out").counts == RecordCounts(num_rejected=1)


# Written by DuckDB 2.0.1: integers of all widths, also in a list, a struct and a map, and a time in nanoseconds. The
# fourth row repeats the text of the first one.
DUCKDB = Path(__file__).parent.parent / "assets" / "duckdb.parquet"


def test_integers_and_times_of_duckdb_are_written_again(url: str, tmp_path: Path) -> None:
    report = filtered(ingested(url, DUCKDB), DUCKDB, tmp_path / "out")
    assert (report.failed, report.counts) == ((), RecordCounts(num_kept=3, num_dropped=1))
    with pq.ParquetFile(DUCKDB) as before, pq.ParquetFile(tmp_path / "out" / DUCKDB.name) as after:
        assert "Int(bitWidth=64, isSigned=true)" in str(before.schema)
        assert after.schema_arrow.equals(before.schema_arrow)
        assert after.read().equals(before.read().slice(0, 3))


def test_unsigned_integers_and_nanoseconds_of_polars_are_written_again(url: str, tmp_path: Path) -> None:
    source = tmp_path / "in.parquet"
    frame = polars.DataFrame({"text": [words(0), words(100), words(0)], "at": [1, 2, 3]})
    at = polars.col("at").cast(polars.Datetime("ns"))
    frame.with_row_index().with_columns(at, size=polars.col("text").str.len_chars()).write_parquet(source)
    report = filtered(ingested(url, source), source, tmp_path / "out")
    assert (report.failed, report.counts) == ((), RecordCounts(num_kept=2, num_dropped=1))
    assert polars.read_parquet(tmp_path / "out" / "in.parquet").equals(polars.read_parquet(source).head(2))


def test_an_integer_of_another_sign_is_another_type(tmp_path: Path) -> None:
    types = {"signed": pa.int32(), "unsigned": pa.uint32(), "wide": pa.int64(), "float": pa.float32()}
    for name, kind in types.items():
        pq.write_table(pa.table({"n": pa.array([1], kind)}), tmp_path / name)
    schemas = [pq.ParquetFile(tmp_path / name).schema for name in types]
    same = [[parquet._mean_the_same(one, other) for one in schemas] for other in schemas]
    assert same == [[one == other for one in types] for other in types]


@pytest.mark.parametrize("kind", [pa.string_view(), pa.list_(pa.string_view()), pa.struct([("v", pa.binary_view())])])
def test_columns_of_views_are_written_again(kind: pa.DataType, url: str, tmp_path: Path) -> None:
    source = tmp_path / "in.parquet"
    one: Any = "a word" if kind == pa.string_view() else {"v": b"a"} if pa.types.is_struct(kind) else ["a", None]
    views = pa.array([one, None, one, one, None], kind)
    pq.write_table(pa.table({"text": [words(first) for first in (0, 0, 100, 200, 0)], "views": views}), source)
    report = filtered(ingested(url, source), source, tmp_path / "out")
    assert (report.failed, report.counts) == ((), RecordCounts(num_kept=3, num_dropped=2))
    out = pq.read_table(tmp_path / "out" / "in.parquet").column("views")
    assert (out.type, out.to_pylist()) == (kind, [one, one, one])


def test_a_damaged_page_of_another_column_is_reported_and_the_other_files_are_written(url: str, tmp_path: Path) -> None:
    first, second = tmp_path / "1.parquet", tmp_path / "2.parquet"
    columns = {"text": [words(0), words(0)], "note": ["some words", "and more"]}
    settings: dict[str, Any] = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    for path in (first, second):
        pq.write_table(pa.table(columns), path, write_page_checksum=True, **settings)
    first.write_bytes(first.read_bytes().replace(b"some words", b"same words", 1))
    report = filtered(ingested(url, first, second), [first, second], tmp_path / "out")
    assert [one.source for one in report.failed] == [first.as_uri()]
    assert "CRC checksum" in report.failed[0].reason
    assert not (tmp_path / "out" / "1.parquet").exists()
    assert pq.read_table(tmp_path / "out" / "2.parquet").num_rows == 0
