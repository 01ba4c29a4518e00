"""Reports of an ingest: reasons for rejections, colliding ids, and progress."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lshdb.cli.display import Display
from lshdb.cli.options import size
from lshdb.cli.outlets import JsonLines, TextLines
from lshdb.errors import UsageError
from lshdb.ingest.rejected import OTHER_REASONS, Reasons
from lshdb.model.values import Counts, Rejection
from tests.cli.conftest import Run
from tests.cli.test_collections import ELEVEN, OTHER, TEN, write_jsonl

REPLACED = (
    "warning  several files have the same ids with different texts: 1 took the place of documents from other files "
    "(see --on-conflict)\n"
)


def changed_at(hour: int, path: Path) -> Path:
    """Set the time when a file was changed."""
    os.utime(path, (hour * 3600, hour * 3600))
    return path


def ids(lshdb: Run, url: str) -> list[str]:
    """Return the ids of all documents similar to TEN."""
    return sorted(row[0] for row in lshdb(url, "query", "-", "--min-sim", "0.5", stdin=TEN.encode()).rows)


def test_rejections_are_told_by_their_reasons(lshdb: Run, url: str, tmp_path: Path) -> None:
    lines = ["{not json", '{"id": "b"}', '{"id": "c"', '{"id": "d", "text": "' + "x" * 2_000 + '"}', '{"text": 1}']
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join([*lines, json.dumps({"id": "a", "text": TEN})]))
    ended = lshdb(url, "ingest", "--id-field", "id", "--max-text", "2kB", path)
    assert ended.out.startswith(
        'run 1: 2 added, 4 rejected (not JSON: 2, no field "text": 1, no field "id": 1); 0 pairs added'
    )
    path.write_text(path.read_text() + "\n")
    report = json.loads(lshdb(url, "ingest", "--json", "--id-field", "id", "--max-text", "1kB", path).out)
    assert report["documents"]["rejected"] == 5
    assert report["rejected_by_reason"] == {
        "not JSON": 2, 'no field "text"': 1, "text larger than the 1 kB of --max-text": 1, 'no field "id"': 1,
    }  # fmt: skip


def test_a_text_beyond_the_limit_is_recorded_with_its_size_and_comes_with_a_higher_limit(
    lshdb: Run, url: str, tmp_path: Path
) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", {"a": TEN, "long": "word " * 300})
    ended = lshdb(url, "ingest", "--max-text", "1.2kB", path)
    assert ended.err == f"rejected  {path.as_uri()}, line 2: text larger than the 1.2 kB of --max-text: 1,500 bytes\n"
    assert lshdb(url, "stats", "--rejected", "1").rows[0][2].endswith(": 1,500 bytes")
    assert json.loads(lshdb(url, "ingest", "--json", "--max-text", "1.5kB", path).out)["documents"]["added"] == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [("10MB", 10_000_000), ("500kB", 500_000), ("1GB", 10**9), ("1.5gb", 1_500_000_000), ("7 B", 7), ("8kb", 8_000)],
)
def test_a_size_is_read(text: str, expected: int) -> None:
    assert size("--max-text", text) == expected


@pytest.mark.parametrize("text", ["", "10", "MB", "-1MB", "0B", "1TB", "10 M B", "1e3B"])
def test_what_is_no_size_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="such as 10MB"):
        size("--max-text", text)


def test_the_kinds_of_reasons_are_bounded() -> None:
    reasons = Reasons()
    reasons.count(Rejection("s", "", f"reason {number}") for number in range(150))
    reasons.count([Rejection("s", "", "reason 7")] * 3)
    counted = reasons.as_dict()
    assert len(counted) == 101
    assert list(counted.items())[:2] == [(OTHER_REASONS, 50), ("reason 7", 4)]


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("not JSON: Expecting value at character 3", "not JSON"),
        ("gzip stream is truncated after line 7", "gzip stream is truncated"),
        ('no column "text"; the columns are: id, body', 'no column "text"'),
        ('field "text" holds a lone surrogate at character 2', 'field "text" holds a lone surrogate'),
        ("zstd stream is damaged (checksum)", "zstd stream is damaged"),
        ("Permission denied", "Permission denied"),
        ("not as many fields as the header: 3, not 2", "not as many fields as the header"),
        ("its row group cannot be read further (row group 2: truncated)", "its row group cannot be read further"),
        ("its id is too long: 2,001 bytes; at most 2,000 are possible", "its id is too long"),
    ],
)
def test_the_kind_of_a_rejection_is_its_reason_without_its_particulars(reason: str, kind: str) -> None:
    assert Rejection("s", "", reason).kind == kind


def test_an_id_that_another_file_has_is_told_in_one_run(lshdb: Run, url: str, tmp_path: Path) -> None:
    one = changed_at(1, write_jsonl(tmp_path / "one.jsonl", {"1": TEN, "2": OTHER}))
    two = changed_at(2, write_jsonl(tmp_path / "two.jsonl", {"1": ELEVEN, "2": OTHER}))
    ended = lshdb(url, "ingest", one, two)
    # The 2 of the second file has the same text, so nothing is lost.
    assert ended.err == REPLACED
    assert json.loads(lshdb(url, "ingest", "--json", one, two).out)["documents_displaced"] == 0


def test_an_id_that_another_file_has_is_told_in_a_later_run(lshdb: Run, url: str, tmp_path: Path) -> None:
    train = changed_at(1, write_jsonl(tmp_path / "train.jsonl", {"1": TEN, "2": OTHER}))
    test = changed_at(2, write_jsonl(tmp_path / "test.jsonl", {"1": ELEVEN, "2": OTHER}))
    lshdb(url, "ingest", train)
    ended = lshdb(url, "--quiet", "ingest", "--json", test)
    assert ended.err == REPLACED
    report = json.loads(ended.out)
    assert report["documents_displaced"] == 1
    assert report["id_conflicts"] == {"replaced": 1, "left_out": 0, "qualified": 0, "repeated": 0}


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ([], "2 got ids of the form ID@FILE"),
        (["--on-conflict", "qualify"], "2 got ids of the form ID@FILE"),
        (["--on-conflict", "keep"], "2 were left out"),
        (["--on-conflict", "replace"], "2 took the place of documents from other files"),
    ],
)
def test_what_becomes_of_conflicts_is_one_warning(
    lshdb: Run, url: str, tmp_path: Path, chosen: list[str], told: str
) -> None:
    one = changed_at(2, write_jsonl(tmp_path / "one.jsonl", {"1": TEN, "2": OTHER}))
    two = changed_at(1, write_jsonl(tmp_path / "two.jsonl", {"1": ELEVEN, "2": TEN}))
    line = f"warning  several files have the same ids with different texts: {told} (see --on-conflict)\n"
    assert lshdb(url, "ingest", *chosen, one, two).err == line


def test_a_conflict_that_is_an_error_ends_with_a_status_of_its_own(lshdb: Run, url: str, tmp_path: Path) -> None:
    one = write_jsonl(tmp_path / "one.jsonl", {"1": TEN})
    two = write_jsonl(tmp_path / "two.jsonl", {"1": ELEVEN})
    lshdb(url, "ingest", one)
    ended = lshdb(url, "ingest", "--on-conflict", "error", two)
    assert ended.code == 44
    assert ended.err == (
        f"lshdb: The id '1' in collection 'default' belongs to different texts in {one.as_uri()} and {two.as_uri()}. "
        "Choose another --on-conflict, or keep the ids apart with --id-prefix. Everything committed before is kept.\n"
    )
    assert lshdb(url, "ingest", "--id-prefix", "{stem}/", two).code == 0
    assert ids(lshdb, url) == ["1", "two/1"]


def test_an_id_that_a_file_brings_twice_is_told(lshdb: Run, url: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"id": 1, "text": text}) + "\n" for text in (TEN, ELEVEN, OTHER)))
    told = "warning  2 records took the place of earlier ones with the same id in the same file\n"
    assert lshdb(url, "ingest", path).err == told


def test_a_record_that_changed_in_its_own_file_is_no_collision(lshdb: Run, url: str, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "one.jsonl", {"1": TEN})
    lshdb(url, "ingest", path)
    ended = lshdb(url, "ingest", "--json", write_jsonl(path, {"1": ELEVEN, "2": OTHER}))
    assert ended.err == ""
    assert json.loads(ended.out)["documents_displaced"] == 0


def test_a_second_crawl_of_a_page_is_no_collision(lshdb: Run, url: str, tmp_path: Path) -> None:
    for day, text in ((1, TEN), (2, ELEVEN)):
        header = f"WARC/1.1\r\nWARC-Type: conversion\r\nWARC-Date: 2024-05-0{day}T00:00:00Z\r\n"
        header += f"WARC-Target-URI: http://a.org/\r\nContent-Type: text/plain\r\nContent-Length: {len(text)}\r\n\r\n"
        (tmp_path / f"{day}.wet").write_text(f"{header}{text}\r\n\r\n")
    ended = lshdb(url, "ingest", "--json", tmp_path / "1.wet", tmp_path / "2.wet")
    assert (ended.err, json.loads(ended.out)["documents"]["updated"]) == ("", 1)


def test_a_prefix_or_a_collection_keeps_both(lshdb: Run, url: str, tmp_path: Path) -> None:
    one = write_jsonl(tmp_path / "one.jsonl", {"1": TEN})
    two = write_jsonl(tmp_path / "two.jsonl", {"1": ELEVEN})
    assert lshdb(url, "ingest", one).err == ""
    assert lshdb(url, "ingest", "--id-prefix", "two/", two).err == ""
    assert ids(lshdb, url) == ["1", "two/1"]
    assert lshdb(url, "ingest", "--collection", "second", two).err == ""
    assert ids(lshdb, url) == ["1", "1", "two/1"]


def display() -> Display:
    """A display that prints every line of progress; ten seconds pass between two of them."""
    clock = iter(range(0, 1_000, 10))
    return Display([TextLines(0.0)], lambda: float(next(clock)))


def test_the_time_left_is_shown_when_the_walk_has_ended(capsys: pytest.CaptureFixture[str]) -> None:
    shown = display()
    shown.walked(120, 3_000_000, ended=False)
    shown.read(100, 1_000_000)
    shown.ingested(Counts(num_added=90, num_unchanged=20, num_empty=1, num_contents=70))
    shown.walked(150, 4_000_000, ended=True)
    shown.read(200, 1_000_000)
    first, second = capsys.readouterr().err.splitlines()
    assert first == (
        "ingest  120 files  100 documents read  10/s  1.0 MB  0.1 MB/s  0 exact copies so far  0 unchanged"
    )
    assert second == (
        "ingest  150 files  200 documents read  10/s  1.0 MB  0.1 MB/s  19 exact copies so far  20 unchanged"
        "  25%, 0:01:00 left"
    )


def test_no_time_left_is_shown_of_what_has_no_known_size(capsys: pytest.CaptureFixture[str]) -> None:
    shown = display()
    shown.walked(1, 0, ended=True)
    shown.read(100, 1_000_000)
    assert capsys.readouterr().err.endswith("0 unchanged\n")


def test_an_ingest_says_how_many_files_it_met_and_when_there_are_no_more(url: str, tmp_path: Path) -> None:
    from lshdb import Index, Progress

    heard: list[tuple[int, int, bool]] = []

    class Heard(Progress):
        def walked(self, num_files: int, num_bytes: int, *, ended: bool) -> None:
            heard.append((num_files, num_bytes, ended))

    for name in "abc":
        (tmp_path / f"{name}.txt").write_text(TEN)
    for _ in range(2):
        with Index.ensure(url, {}, Heard()) as index:
            index.ingest([tmp_path / f"{name}.txt" for name in "abc"])
    size = 3 * len(TEN)
    assert heard == [(3, size, True), (3, 0, True)]


def test_a_limit_that_leaves_documents_unread_is_told(lshdb: Run, url: str, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", {"1": TEN, "2": ELEVEN, "3": OTHER})
    told = "; --limit left the rest unread, and the next run continues there; "
    assert lshdb(url, "ingest", "--limit", "2", path).out.startswith(f"run 1: 2 added; 1 pair added{told}")
    assert json.loads(lshdb(url, "ingest", "--json", "--limit", "2", path).out)["limit_reached"] is True
    assert lshdb(url, "ingest", path).out.startswith("run 3: 1 added; 0 pairs added; ")
    assert lshdb(url, "ingest", "--limit", "2", "--prune", path).code == 2


def test_the_first_rejections_of_a_source_are_printed_and_the_others_counted(
    lshdb: Run, url: str, tmp_path: Path
) -> None:
    path, other = tmp_path / "a.csv", tmp_path / "b.csv"
    path.write_text("id,text\n" + "x\n" * 28 + "x,y,z\n" + '"x"y\n' + "1,words\n" * 40)
    other.write_text("id,text\n" + "x\n" + "1,words\n" * 2)
    ended = lshdb(url, "ingest", path, other)
    lines = ended.err.splitlines()
    assert len(lines) == 22
    assert lines[19] == f"rejected  {path.as_uri()}, line 21: not as many fields as the header: 1, not 2"
    assert lines[20] == f"rejected  {other.as_uri()}, line 2: not as many fields as the header: 1, not 2"
    assert lines[21] == (f"rejected  {path.as_uri()}: 10 more (9 not as many fields as the header, 1 not a valid row)")


def test_files_that_are_rejected_as_a_whole_are_printed_as_one_source(lshdb: Run, url: str, tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number:02}.txt").write_text("long " * (500 if number < 25 else 1))
    ended = lshdb(url, "ingest", "--max-text", "1kB", "--max-rejected", "100%", tmp_path)
    assert len(ended.err.splitlines()) == 21
    assert ended.err.endswith("rejected  other files: 5 more (5 text larger than the 1 kB of --max-text)\n")


def test_a_program_receives_the_numbers_of_rejections_that_were_not_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    display = Display([JsonLines(0.0)])
    for number in range(22):
        display.rejected(Rejection("file:///a", f"line {number}", f"not JSON: {number}"))
    display.done()
    display.done()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 21
    assert json.loads(lines[-1]) == {
        "event": "rejected",
        "message": "file:///a: 2 more (2 not JSON)",
        "source": "file:///a",
        "more": {"not JSON": 2},
    }
