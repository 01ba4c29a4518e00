"""The items of the parts of a file are those of the file."""

from __future__ import annotations

import errno
import gzip
import io
import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lshdb.readers import Damaged, PartReading, Reading, ReadOptions, digest, line_parts, made, parts, source_file
from lshdb.readers.bytes.streams import BLOCK_BYTES
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


class FailingFile(io.FileIO):
    """A file on a disk that can read only its first two blocks."""

    def read(self, size: int | None = -1, /) -> bytes:
        assert size is not None
        if (left := 2 * BLOCK_BYTES - self.tell()) <= 0:
            raise OSError(errno.EIO, "Input/output error")
        return super().read(min(size, left)) or b""


def test_reading_the_last_part_of_a_damaged_file_reports_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines_of({"id": "a", "text": "one " * 10_000}) * 20)
    for module in ("parts", "registry"):
        monkeypatch.setattr(sys.modules[f"lshdb.readers.{module}"], "open_regular", FailingFile)
    expected = read(path)
    assert [type(one).__name__ for one in expected] == ["Document"] * 6 + ["Damaged"]
    assert expected[-1] == Damaged(path.as_uri(), "line 7", "Input/output error after line 6")
    source = source_file(path)
    found = list(line_parts(source, OPTIONS, 100_000))
    assert len(found) == 2
    assert not any(part.is_last for part in found)
    assert read_in_parts(path, found) == expected
    # Nothing is known of a file that fails within its first part.
    assert list(line_parts(source, OPTIONS, 300_000)) == parts(source, OPTIONS, 100_000) == []
