"""Questions in bulk, and lines passed through, from the command line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from lshdb import Index
from tests.cli.conftest import ELEVEN, OTHER, TEN, Run, write_jsonl

UNSEEN = "this was never said before by anybody at all"


@pytest.fixture
def new(tmp_path: Path) -> Path:
    """Records of which two have near-duplicates in the crawl."""
    return write_jsonl(tmp_path / "new.jsonl", {"x": TEN, "y": UNSEEN, "z": OTHER})


def test_matches_of_many_records_come_with_the_id_of_their_question(lshdb: Run, filled: str, new: Path) -> None:
    ended = lshdb(filled, "query", new, "--format", "jsonl")
    assert ended.code == 0
    assert [json.loads(line) for line in ended.out.splitlines()] == [
        {"question": "x", "id": "a.txt", "similarity": 1.0, "exact": True},
        {"question": "x", "id": "c.txt", "similarity": 1.0, "exact": True},
        {"question": "x", "id": "b.txt", "similarity": 6 / 7, "exact": True},
        {"question": "z", "id": "d.txt", "similarity": 1.0, "exact": True},
    ]
    assert [row[:2] for row in lshdb(filled, "query", new, "-k", 1).rows] == [["x", "a.txt"], ["z", "d.txt"]]
    assert lshdb(filled, "query", new, "-k", 1, "--format", "table").out.splitlines() == [
        "similarity  question  id",
        "1.0000      x         a.txt",
        "1.0000      z         d.txt",
        "",
        "2 near-duplicates",
    ]


def test_one_record_is_named_too_but_one_whole_file_is_not(lshdb: Run, filled: str, tmp_path: Path) -> None:
    one = write_jsonl(tmp_path / "one.jsonl", {"x": OTHER})
    assert lshdb(filled, "query", one).rows == [["x", "d.txt", "1.0", "true"]]
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "page.txt").write_text(OTHER)
    page = tmp_path / "folder" / "page.txt"
    assert lshdb(filled, "query", page).rows == [["d.txt", "1.0", "true"]]
    assert lshdb(filled, "query", tmp_path / "folder").rows == [[str(page), "d.txt", "1.0", "true"]]
    assert [row[0] for row in lshdb(filled, "query", page, one).rows] == [str(page), "x"]


def test_fields_are_named_as_in_ingest(lshdb: Run, filled: str, tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_text(json.dumps({"key": "k", "body": OTHER}) + "\n")
    asked = ("query", tmp_path / "new.jsonl", "--id-field", "key", "--text-field", "body")
    assert lshdb(filled, *asked).rows == [["k", "d.txt", "1.0", "true"]]


def test_several_collections_are_named(lshdb: Run, filled: str, new: Path, tmp_path: Path) -> None:
    lshdb(filled, "ingest", "--collection", "other", write_jsonl(tmp_path / "o.jsonl", {"o": OTHER}))
    rows = lshdb(filled, "query", new).rows
    assert [row for row in rows if row[0] == "z"] == [
        ["z", "d.txt", "1.0", "true", "default"],
        ["z", "o", "1.0", "true", "other"],
    ]


# The order of keys, blank lines, line ends and white space are those of the input.
LINES = [
    b'\xef\xbb\xbf{"text": "' + UNSEEN.encode() + b'",  "id": 1, "more": [1, 2]}\r\n',
    b'{"id": 2, "text": "' + TEN.encode() + b'"}\n',
    b"\n",
    '{"id": 3, "text": "日本語 ü", "z": "\\u65e5"}\n'.encode(),
    b"no json\n",
    b'{"id": 4, "text": "' + ELEVEN.encode() + b'"}\n',
    b'{"id": 5, "text": ""}\n',
    b'{"id":6,"text":"' + UNSEEN.upper().encode() + b'"}',
]
NEW = LINES[0] + LINES[3] + LINES[6] + LINES[7]


def test_lines_of_new_records_pass_through_byte_for_byte(lshdb: Run, filled: str, tmp_path: Path) -> None:
    path = tmp_path / "new.jsonl"
    path.write_bytes(b"".join(LINES))
    for form, source in (("plain", path), ("compressed", tmp_path / "new.jsonl.gz")):
        if form == "compressed":
            source.write_bytes(gzip.compress(path.read_bytes()))
        out = tmp_path / f"{form}.out"
        ended = lshdb(filled, "query", source, "--only-new", "--out", out)
        assert (ended.code, out.read_bytes()) == (0, NEW)
        assert "line 5" in ended.err, "a record that cannot be read is neither seen nor new"


@pytest.mark.slow
def test_it_is_a_filter_on_standard_input(filled: str, tmp_path: Path) -> None:
    import subprocess
    import sys

    command = [sys.executable, "-m", "lshdb", "--db", filled, "query", "-", "--only-new"]
    done = subprocess.run(command, input=b"".join(LINES), capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, NEW)
    done = subprocess.run(command, input=LINES[1], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")


def test_only_lines_can_pass_through(lshdb: Run, filled: str, tmp_path: Path, crawl: Path) -> None:
    (tmp_path / "new.csv").write_text(f"id,text\n1,{UNSEEN}\n")
    for asked in ((crawl,), (tmp_path / "new.csv",), ("--id", "a.txt")):
        ended = lshdb(filled, "query", *asked, "--only-new")
        assert (ended.code, ended.out) == (2, "")
    new = write_jsonl(tmp_path / "new.jsonl", {"x": TEN})
    assert lshdb(filled, "query", new, "--only-new", "--format", "csv").code == 2


def test_a_missing_file_is_named(lshdb: Run, filled: str, tmp_path: Path) -> None:
    assert lshdb(filled, "query", tmp_path / "nowhere.jsonl").code == 31
    (tmp_path / "empty.jsonl").touch()
    assert lshdb(filled, "query", tmp_path / "empty.jsonl").code == 34


def test_more_lines_than_a_block_pass_through(lshdb: Run, url: str, tmp_path: Path) -> None:
    with Index.create(url) as index:
        index.ingest(write_jsonl(tmp_path / "seen.jsonl", {"seen": TEN}))
    texts = {str(n): TEN if n % 3 else " ".join(f"w{n}x{m}" for m in range(40)) for n in range(9_000)}
    lines = write_jsonl(tmp_path / "new.jsonl", texts).read_bytes().splitlines(keepends=True)
    assert len(b"".join(lines)) > 1_000_000
    lshdb(url, "query", tmp_path / "new.jsonl", "--only-new", "--out", tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == b"".join(lines[::3])
