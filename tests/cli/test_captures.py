"""``lshdb captures``, and the captures that ``lshdb ingest`` keeps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.readers.crawls import page, response

ADDRESS = "http://a.org/"
NOTE = "note  the index has one capture of each address; `lshdb ingest --captures all` keeps them all\n"


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A WARC with three captures of a page, of which the second repeats the first."""
    dates = {"2026-01-01T00:00:00Z": 1, "2026-02-01T00:00:00Z": 1, "2026-03-01T00:00:00Z": 2}
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(b"".join(response(ADDRESS, page(number), date=date) for date, number in dates.items()))
    return path


@pytest.fixture
def index(lshdb: Run, new_path: str, crawl: Path) -> str:
    """An index of all captures."""
    assert lshdb(new_path, "--quiet", "ingest", "--captures", "all", crawl).code == 0
    return new_path


@pytest.fixture
def new_path(tmp_path: Path) -> str:
    return str(tmp_path / "index.db")


def test_captures_are_printed_by_date(lshdb: Run, index: str, crawl: Path) -> None:
    ended = lshdb(index, "captures", ADDRESS)
    assert (ended.code, ended.err) == (0, "")
    header, *rows = ended.out.splitlines()
    assert header.split("\t") == [
        "id", "address", "date", "similarity", "exact", "redundant", "kept", "source", "locator",
    ]  # fmt: skip
    first = f"{ADDRESS}@20260101000000"
    assert rows[1].split("\t")[:-1] == [
        f"{ADDRESS}@20260201000000", ADDRESS, "2026-02-01T00:00:00Z", "1.0", "true", "true", first, crawl.as_uri(),
    ]  # fmt: skip
    assert [row.split("\t")[5] for row in rows] == ["false", "true", "true"]


def test_json_lines_say_what_makes_a_capture_redundant(lshdb: Run, index: str) -> None:
    rows = [json.loads(row) for row in lshdb(index, "captures", "--min-sim", "1", "--format", "jsonl").out.splitlines()]
    assert [row["redundant"] for row in rows] == [False, True, False]
    assert rows[1]["kept"] == rows[0]["id"]


def test_a_table_has_the_similarity_the_date_and_the_id(lshdb: Run, index: str) -> None:
    lines = lshdb(index, "captures", ADDRESS, "--format", "table").out.splitlines()
    assert [line.split()[:3] for line in lines if "2026-02" in line] == [["1.0000", "2026-02-01T00:00:00Z", "true"]]
    assert lines[-1] == "3 captures"


@pytest.mark.parametrize("to_file", [False, True])
def test_cdxj_has_the_redundant_captures(lshdb: Run, index: str, crawl: Path, tmp_path: Path, to_file: bool) -> None:
    first = len(response(ADDRESS, page(1), date="2026-01-01T00:00:00Z"))
    out = tmp_path / "redundant.cdxj"
    chosen = ("--out", out) if to_file else ("--format", "cdxj")
    ended = lshdb(index, "captures", "--min-sim", "1", *chosen)
    assert (out.read_text() if to_file else ended.out) == (
        f'org,a)/ 20260201000000 {{"url": "{ADDRESS}", "offset": "{first}", "filename": "{crawl.name}"}}\n'
    )


def test_an_index_of_the_newest_captures_says_so(lshdb: Run, new_path: str, crawl: Path) -> None:
    lshdb(new_path, "--quiet", "ingest", crawl)
    ended = lshdb(new_path, "captures", ADDRESS)
    assert ([row[0] for row in ended.rows], ended.err) == ([ADDRESS], NOTE)
    assert lshdb(new_path, "--quiet", "captures").err == ""
    assert lshdb(new_path, "captures", "--format", "cdxj").out == ""


@pytest.mark.parametrize("arguments", [[], [ADDRESS], ["--format", "cdxj"]])
def test_without_captures_the_error_says_what_they_are(
    lshdb: Run, new_path: str, tmp_path: Path, arguments: list[str]
) -> None:
    text = tmp_path / "a.txt"
    text.write_text("one two three four five six")
    lshdb(new_path, "--quiet", "ingest", text)
    ended = lshdb(new_path, "captures", *arguments)
    assert (ended.code, ended.out) == (45, "")
    assert "Captures are dated records of WARC and ARC files" in ended.err
