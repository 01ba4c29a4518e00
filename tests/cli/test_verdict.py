"""The exit status of an ingest that ran to its end, but lost data or found none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lshdb.cli.verdict import Allowance, allowance
from lshdb.errors import UsageError
from tests.cli.conftest import ELEVEN, OTHER, TEN, Run, write_jsonl

BAD = "{not json\n"
GOOD = f'{{"id": "good", "text": "{TEN}"}}\n'


def documents(lshdb: Run, url: str) -> list[str]:
    """Return the first column of a query for TEN."""
    return [row[0] for row in lshdb(url, "query", "-", "--min-sim", "0.5", stdin=TEN.encode()).rows]


def test_a_source_of_which_nothing_was_accepted(lshdb: Run, url: str, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    write_jsonl(good, {"good": TEN, "other": OTHER, "more": ELEVEN})
    bad.write_text(BAD * 2)
    ended = lshdb(url, "ingest", tmp_path)
    assert ended.code == 36
    assert ended.out.startswith("run 1: 3 added, 2 rejected (not JSON: 2); 1 pair added")
    reason = "not JSON: Expecting property name enclosed in double quotes at character 2"
    assert ended.err.splitlines()[-1] == (
        f"lshdb: Nothing in {bad.as_uri()} was accepted (2 rejected: {reason}). "
        "The documents of other sources are kept."
    )
    assert documents(lshdb, url) == ["good", "more"]


def test_several_such_sources_are_counted(lshdb: Run, url: str, tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.jsonl").write_text(BAD)
    ended = lshdb(url, "ingest", tmp_path)
    assert ended.code == 36
    assert f"Nothing in {tmp_path.as_uri()}/a.jsonl and 2 other files was accepted" in ended.err


def test_a_bad_page_of_a_crawl_is_one_rejection_among_many(lshdb: Run, url: str, tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text(f"{TEN} {name}")
    (tmp_path / "huge.txt").write_text("word " * 1_000)
    ended = lshdb(url, "ingest", "--max-text", "1kB", tmp_path)
    assert (ended.code, ended.out.partition(";")[0]) == (
        0,
        "run 1: 3 added, 1 rejected (text larger than the 1 kB of --max-text: 1)",
    )
    # A file that the user named must not be missing, even if it has not changed since the last run.
    assert lshdb(url, "ingest", "--max-text", "2kB", tmp_path / "huge.txt").code == 36
    assert lshdb(url, "ingest", "--max-text", "2kB", tmp_path / "huge.txt").code == 36


def test_more_than_half_of_all_documents(lshdb: Run, url: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(GOOD + BAD * 2)
    ended = lshdb(url, "ingest", path)
    assert ended.code == 35
    assert ended.err.splitlines()[-1].startswith(
        "lshdb: 2 of 3 documents were rejected, more than 50 %. The others are kept. "
        "To list the rejected ones: lshdb --db "
    )
    assert ended.err.endswith(" stats --rejected 1\n")
    assert documents(lshdb, url) == ["good"]
    path.write_text(GOOD + BAD)
    assert lshdb(url, "ingest", path).code == 0


def test_repeating_a_failed_ingest_does_not_make_it_a_success(lshdb: Run, url: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text(BAD * 2)
    write_jsonl(tmp_path / "good.jsonl", {"good": TEN, "other": OTHER, "more": ELEVEN})
    first, again = lshdb(url, "ingest", tmp_path), lshdb(url, "ingest", tmp_path)
    assert (first.code, again.code) == (36, 36)
    assert again.out.startswith("run 2: 3 unchanged, 2 rejected in earlier runs; 0 pairs added")
    assert again.err == first.err.splitlines(keepends=True)[-1]
    for allowed, code in [("0", 35), ("1", 35), ("2", 0), ("39%", 35), ("40%", 0)]:
        assert lshdb(url, "ingest", "--max-rejected", allowed, tmp_path).code == code
    assert lshdb(url, "ingest", "--exclude", "bad*", tmp_path).code == 0
    bad.unlink()
    assert lshdb(url, "ingest", tmp_path).code == 0


def test_the_message_names_the_run_that_rejected_them(lshdb: Run, url: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(GOOD + BAD * 1_500)
    lshdb(url, "ingest", tmp_path)
    again = lshdb(url, "ingest", tmp_path)
    assert again.code == 35
    assert "1500 of 1501 documents were rejected" in again.err
    assert again.err.endswith(" stats --rejected 1\n")


def test_a_file_that_another_collection_rejected_counts_once(lshdb: Run, url: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(GOOD + BAD)
    for _ in range(2):
        assert lshdb(url, "ingest", tmp_path).code == 0
        assert lshdb(url, "ingest", "--collection", "b", tmp_path).code == 0


@pytest.mark.parametrize(("allowed", "code"), [("100%", 0), ("80%", 0), ("75%", 35), ("4", 0), ("3", 35)])
def test_the_user_may_allow_more_or_less(allowed: str, code: int, lshdb: Run, url: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(GOOD + BAD * 4)
    assert lshdb(url, "ingest", "--max-rejected", allowed, path).code == code


def test_the_user_may_accept_a_source_without_a_document(lshdb: Run, url: str, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text(BAD)
    (tmp_path / "good.jsonl").write_text(GOOD)
    assert lshdb(url, "ingest", "--max-rejected", "1", tmp_path).code == 0


def test_a_run_beyond_a_number_stops_and_keeps_what_was_committed(lshdb: Run, url: str, tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text(TEN)
    lshdb(url, "ingest", tmp_path)
    (tmp_path / "bad.jsonl").write_text(BAD * 5)
    ended = lshdb(url, "ingest", "--max-rejected", "4", tmp_path)
    assert (ended.code, ended.out) == (35, "")
    assert "5 of 6 documents were rejected, more than 4. The others are kept." in ended.err.splitlines()[-1]
    assert "failed" in lshdb(url, "stats").out
    assert len(documents(lshdb, url)) == 1


def test_a_missing_reader_and_the_next_run_tries_again(
    lshdb: Run, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"id": ["1"], "text": [TEN]}), path)
    (tmp_path / "good.txt").write_text(TEN)
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "lshdb.readers.rows", None)
        ended = lshdb(url, "ingest", tmp_path)
    assert ended.code == 37
    assert ended.out.startswith("run 1: 1 added, 1 rejected (no reader: 1); ")
    assert ended.err.splitlines()[-1] == (
        f"lshdb: {path.as_uri()}: reading Parquet needs pyarrow: pip install pyarrow. Then run the same "
        "command again. The documents of other sources are kept."
    )
    ended = lshdb(url, "ingest", tmp_path)
    assert (ended.code, ended.out.partition(";")[0]) == (0, "run 2: 1 added, 1 unchanged")


def test_no_document_at_all(lshdb: Run, url: str, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00")
    ended = lshdb(url, "ingest", folder)
    assert ended.code == 32
    assert ended.err == f"lshdb: {folder}: nothing to read here (1 file or record without text).\n"
    (tmp_path / "empty.jsonl").write_text("")
    ended = lshdb(url, "ingest", tmp_path / "empty.jsonl")
    assert (ended.code, ended.err) == (32, f"lshdb: {tmp_path}/empty.jsonl: nothing to read here (no document).\n")


def test_a_run_in_which_nothing_changed_is_a_success(lshdb: Run, url: str, crawl: Path) -> None:
    assert [lshdb(url, "ingest", crawl).code for _ in range(2)] == [0, 0]


def test_a_source_that_is_resumed_had_documents_in_an_earlier_run(
    lshdb: Run, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lshdb import Budgets, Index, IngestOptions, Progress
    from lshdb.model.values import Counts

    class Interrupted(Progress):
        def ingested(self, counts: Counts) -> None:
            raise KeyboardInterrupt

    path = tmp_path / "a.jsonl"
    path.write_text(GOOD + BAD)
    small = IngestOptions(budgets=Budgets(chunk_bytes=1, chunk_items=1, batch_documents=1, load_seconds=0.0))
    with Index.ensure(url, {}, Interrupted()) as index, pytest.raises(KeyboardInterrupt):
        index.ingest(path, small)
    with Index.open(url) as index:
        report = index.ingest(path, small)
    assert (report.counts.num_rejected, report.num_rejected_sources) == (1, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, Allowance(share=0.5, given=False)),
        ("0", Allowance(0)),
        ("12", Allowance(12)),
        ("2.5%", Allowance(None, 0.025)),
    ],
)
def test_an_allowance_is_a_number_or_a_share(text: str | None, expected: Allowance) -> None:
    assert allowance(text) == expected


@pytest.mark.parametrize("text", ["", "-1", "101%", "five", "0.5", "%"])
def test_anything_else_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="such as 100 or 5%"):
        allowance(text)


def test_a_source_that_was_given_up(lshdb: Run, url: str, tmp_path: Path) -> None:
    bad, good = tmp_path / "bad.csv", tmp_path / "good.csv"
    bad.write_text(f"id,text\n1,{TEN}\n" + "x\n" * 20_000)
    good.write_text(f"id,text\n2,{TEN}\n")
    ended = lshdb(url, "ingest", bad, good)
    assert ended.code == 39
    assert ended.err.splitlines()[-1] == (
        f"lshdb: {bad.as_uri()} was given up after 10001 rejections; the first: line 3: not as many fields as the "
        "header: 1, not 2. Repair it and run the same command again, or read it to its end with --max-rejected 100%. "
        "Everything accepted before is kept, and so are the documents of other sources."
    )
    assert documents(lshdb, url) == ["1", "2"]
    # The user may have it read to its end.
    ended = lshdb(url, "ingest", "--max-rejected", "100%", bad, good)
    assert (ended.code, ended.out.partition(";")[0]) == (
        0,
        "run 2: 1 unchanged, 9,999 rejected (not as many fields as the header: 9,999), 10,001 rejected in earlier runs",
    )
    ended = lshdb(url, "ingest", bad, good)
    assert (ended.code, "20000 of 20002 documents were rejected" in ended.err) == (35, True)


def test_a_table_in_utf_16_is_refused_in_one_clear_line(lshdb: Run, url: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(f"id,text\n1,{TEN}\n".encode("utf-16"))
    ended = lshdb(url, "--quiet", "ingest", path)
    assert ended.code == 36
    assert ended.err.splitlines()[-1].startswith(
        f"lshdb: Nothing in {path.as_uri()} was accepted (1 rejected: in UTF-16, not in UTF-8: convert it, for example "
    )
