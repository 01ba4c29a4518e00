"""The items of the parts of a file are those of the file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lshdb.readers import PartReading, Reading, ReadOptions, digest, made, parts, source_file
from lshdb.readers.parts import Part
from tests.readers.reading_files import read

OPTIONS = ReadOptions()


def read_in_parts(path: Path, found: list[Part]) -> list[object]:
    source = source_file(path)
    return [made(step, OPTIONS) for part in found for step in PartReading(source, part, OPTIONS).steps()]


def lines_of(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


RECORD = lines_of({"id": "a", "text": "one"})
NAMELESS = lines_of({"text": "two"})


@given(
    st.lists(st.sampled_from([RECORD, NAMELESS, b"\n", b"\r\n", b"{\n", b"\xef\xbb\xbf" + RECORD])),
    st.sampled_from([b"", b'{"text": "no line end"}']),
    st.integers(1, 200),
)
def test_lines(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], rest: bytes, most: int) -> None:
    path = tmp_path_factory.getbasetemp() / "lines.jsonl"
    path.write_bytes(b"".join(lines) + rest)
    source = source_file(path)
    whole = Reading(source, OPTIONS)
    expected = list(whole)
    found = parts(source, OPTIONS, most)
    if found:
        assert read_in_parts(path, found) == expected
        assert [part.digest for part in found] == [None] * (len(found) - 1) + [whole.digest]
        assert sum(part.num_bytes for part in found) == source.size
        assert all(part.num_bytes >= most for part in found[:-1])
    else:
        assert source.size - most < len(max([*lines, rest], key=len, default=b""))


def test_row_groups(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    rows = [{"id": f"r{n}" if n % 3 else None, "text": f"text {n}" if n % 7 else None} for n in range(100)]
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=10, compression="none")
    source = source_file(path)
    each = parts(source, OPTIONS, 1)
    assert [(part.begin, part.end, part.first) for part in each] == [(n, n + 1, 10 * n + 1) for n in range(10)]
    several = parts(source, OPTIONS, each[0].num_bytes * 3)
    assert len(several) == 4
    for found in (each, several):
        assert read_in_parts(path, found) == read(path)
        assert [part.digest for part in found] == [None] * (len(found) - 1) + [digest(path)]


def test_what_cannot_be_split_has_no_parts(tmp_path: Path) -> None:
    contents = {
        "compressed.jsonl.gz": gzip.compress(RECORD * 100),
        "compressed.jsonl": gzip.compress(RECORD * 100),
        "damaged.jsonl.gz": RECORD * 100,
        "utf16.jsonl": (RECORD * 100).decode().encode("utf-16"),
        "table.csv": b"id,text\na,one\n" * 100,
        "damaged.parquet": b"PAR1" * 100,
        "one line.jsonl": RECORD,
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        assert (name, parts(source_file(tmp_path / name), OPTIONS, 40)) == (name, [])
    pq.write_table(pa.table({"no text": ["a"] * 10}), tmp_path / "other.parquet", row_group_size=1)
    assert parts(source_file(tmp_path / "other.parquet"), OPTIONS, 1) == []
    gone = source_file(tmp_path / "table.csv")
    (tmp_path / "table.csv").unlink()
    assert parts(gone, OPTIONS, 1) == []
    part = Part("byte", 0, 14, 1, 14, b"")
    assert [type(step).__name__ for step in PartReading(gone, part, OPTIONS).steps()] == ["Rejection"]
