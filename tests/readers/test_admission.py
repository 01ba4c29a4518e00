"""The size limit and the id prefix apply to the documents of every reader."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lshdb.errors import InvalidParams
from lshdb.model.values import Document
from lshdb.readers import ReadOptions, Rejection, record
from lshdb.readers.base import recorded
from tests.readers.crawls import response
from tests.readers.reading_files import read

# 1,000 characters and 2,000 bytes.
LONG = "é" * 1_000


def write_csv(path: Path) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["id", "text"], ["a", LONG]])


FILES: dict[str, Callable[[Path], object]] = {
    "a.txt": lambda path: path.write_text(LONG),
    "a.html": lambda path: path.write_text(f"<meta charset=utf-8><p>{LONG}"),
    "a.jsonl": lambda path: path.write_text(json.dumps({"id": "a", "text": LONG})),
    "a.csv": write_csv,
    "a.parquet": lambda path: pq.write_table(pa.table({"id": ["a"], "text": [LONG]}), path),
    "a.warc": lambda path: path.write_bytes(response("a", LONG.encode(), kind="text/plain; charset=utf-8")),
}


@pytest.mark.parametrize("name", FILES)
def test_a_text_is_measured_in_bytes_whoever_reads_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    FILES[name](path)
    [item] = read(path, ReadOptions(html="all", max_text=2_000))
    assert isinstance(item, Document)
    assert item.text.strip() == LONG
    [item] = read(path, ReadOptions(html="all", max_text=1_999))
    assert isinstance(item, Rejection)
    assert item.kind == "text larger than the 1.999 kB of --max-text"


@pytest.mark.parametrize("name", FILES)
def test_a_prefix_stands_before_every_id(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    FILES[name](path)
    [plain], [prefixed] = read(path), read(path, ReadOptions(id_prefix="news/"))
    assert isinstance(plain, Document)
    assert isinstance(prefixed, Document)
    assert prefixed.doc_id == f"news/{plain.doc_id}"


def test_a_page_is_measured_by_its_text(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(f"<!-- {'x' * 5_000} --><p>a short text")
    [item] = read(path, ReadOptions(max_text=1_000))
    assert isinstance(item, Document)


def test_a_line_may_be_as_long_as_a_text_within_the_limit_can_make_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lshdb.readers.base.MAX_LINE_BYTES", 200_000)
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "a", "text": "' + "\\u0001" * 190_000 + '"}')
    [item] = read(path, ReadOptions(max_text=200_000))
    assert isinstance(item, Document)
    assert len(item.text) == 190_000


def test_the_limit_and_the_prefix_are_kept_with_a_source() -> None:
    options = ReadOptions(max_text=7_000, id_prefix="news/")
    assert recorded(record(options), ReadOptions()) == options
    assert record(ReadOptions()) == "{}"


def test_a_prefix_without_a_nul_character_is_needed() -> None:
    with pytest.raises(InvalidParams, match="NUL"):
        ReadOptions(id_prefix="a\0")
