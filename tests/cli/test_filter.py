"""``lshdb filter`` on both databases: its output and its exit status."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import ELEVEN, OTHER, TEN, Run, write_jsonl


@pytest.fixture
def news(lshdb: Run, url: str, tmp_path: Path) -> Path:
    """A file of four records, of which the second is a copy of the first, and the last is rejected."""
    path = write_jsonl(tmp_path / "news.jsonl", {"a": TEN, "b": TEN.upper(), "c": OTHER})
    with path.open("a") as file:
        file.write('{"id": "no text"}\n')
    assert lshdb(url, "ingest", path).code == 0
    return path


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_filter_says_what_became_of_all_records(lshdb: Run, url: str, news: Path, tmp_path: Path) -> None:
    ended = lshdb(url, "filter", news, "--out", tmp_path / "out")
    assert (ended.code, ended.err) == (0, "")
    assert re.sub(r"[\d.]+ s", "_ s", ended.out) == (
        "4 records in 1 file: 2 kept, 1 dropped, 1 rejected by the index (kept); _ s\n" + f"{tmp_path}/out\n"
    )
    given = lines(news)
    assert lines(tmp_path / "out" / "news.jsonl") == [given[0], given[2], given[3]]


def test_the_report_is_also_json_whose_counts_add_up(lshdb: Run, url: str, news: Path, tmp_path: Path) -> None:
    call = ("filter", news, "--out", tmp_path / "out", "--unknown", "drop", "--json")
    first, second = (json.loads(lshdb(url, *call).out) for _ in range(2))
    assert first["records"] == {"records": 4, "kept": 2, "dropped": 1, "unknown": 0, "rejected": 1, "other": 0}
    assert second == {**first, "present": 1, "seconds": second["seconds"]}


def test_dropped_records_are_written_instead(lshdb: Run, url: str, news: Path, tmp_path: Path) -> None:
    assert lshdb(url, "filter", news, "--out", tmp_path / "out", "--dropped", "--keep", "longest").code == 0
    assert lines(tmp_path / "out" / "news.jsonl") == lines(news)[1:2]


def test_a_record_that_is_dropped_for_one_that_is_gone_is_reported(
    lshdb: Run, url: str, news: Path, tmp_path: Path
) -> None:
    news.write_text(news.read_text().partition("\n")[2])
    assert lshdb(url, "ingest", news).code == 0
    out = lshdb(url, "filter", news, "--out", tmp_path / "out").out
    assert "1 dropped (1 for documents that are elsewhere or gone; lshdb ingest --prune removes gone ones)" in out


def test_the_similarity_decides_as_in_an_export(lshdb: Run, url: str, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "near.jsonl", {"a": TEN, "b": ELEVEN})
    assert lshdb(url, "ingest", path).code == 0
    for least, number in (("0.8", 1), ("0.9", 2)):
        out = tmp_path / least
        assert lshdb(url, "filter", path, "--out", out, "--min-sim", least).code == 0
        assert len(lines(out / "near.jsonl")) == number


def test_a_file_that_is_not_in_the_index_ends_with_38(lshdb: Run, url: str, news: Path, tmp_path: Path) -> None:
    other = write_jsonl(tmp_path / "other.jsonl", {"a": TEN})
    ended = lshdb(url, "filter", other, "--out", tmp_path / "out")
    assert (ended.code, ended.out) == (38, "")
    assert ended.err == f"lshdb: {other} is not in the index. Run first: lshdb ingest {other}\n"
    assert not (tmp_path / "out").exists()


def test_a_damaged_file_is_named_and_ends_with_34(lshdb: Run, url: str, news: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.jsonl.gz"
    damaged.write_bytes(gzip.compress(news.read_bytes())[:-4])
    assert lshdb(url, "ingest", damaged).code == 0
    ended = lshdb(url, "filter", news, damaged, "--out", tmp_path / "out")
    assert ended.code == 34
    assert ended.err == f"lshdb: {damaged}: gzip stream is truncated\n"
    assert ended.out.startswith("4 records in 1 file")


NEW = '{"id": "new", "text": "new"}'


@pytest.mark.parametrize(("options", "expected"), [((), [0, 2, 3, 4]), (("--unknown", "drop"), [0, 2])])
def test_lines_of_a_pipe_are_passed_on_by_their_ids(
    lshdb: Run, url: str, news: Path, options: list[str], expected: list[int]
) -> None:
    given = [*lines(news), NEW]
    ended = lshdb(url, "filter", "-", *options, stdin="\n".join(given).encode())
    assert ended.code == 0
    assert ended.out.splitlines() == [given[number] for number in expected]
    treated = "kept" if not options else "dropped"
    assert re.sub(r"[\d.]+ s", "_ s", ended.err) == (
        f"5 records: 2 kept, 1 dropped, 2 not in the index ({treated}); _ s\n"
    )


def test_the_ids_of_a_pipe_may_have_another_name(lshdb: Run, url: str, news: Path) -> None:
    call = ("filter", "-", "--out", "-", "--id-field", "n", "--dropped", "--json")
    ended = lshdb(url, *call, stdin=b'{"n": "a"}\n{"n": "b"}\n')
    assert (ended.code, ended.out) == (0, '{"n": "b"}\n')
    assert json.loads(ended.err)["records"]["dropped"] == 1


def test_standard_input_needs_standard_output(lshdb: Run, url: str, news: Path, tmp_path: Path) -> None:
    for arguments in (("-", "--out", tmp_path / "out"), ("-", news), (news, "--out", "-")):
        assert lshdb(url, "filter", *arguments).code == 2


def test_duplicates_of_a_folder_are_listed_and_then_deleted(lshdb: Run, filled: str, crawl: Path) -> None:
    tried = lshdb(filled, "filter", crawl, "--delete", "--dry-run", "--min-sim", "0.9")
    assert (tried.code, tried.rows) == (0, [[f"{crawl}/c.txt", "a.txt"]])
    assert tried.err == "1 file would be deleted, 0.0 MB\n"
    assert (crawl / "c.txt").exists()
    done = lshdb(filled, "filter", crawl, "--delete", "--min-sim", "0.9")
    assert (done.code, done.rows) == (0, tried.rows)
    assert done.err == "1 file deleted, 0.0 MB; to remove them from the index: lshdb ingest --prune IN\n"
    assert not (crawl / "c.txt").exists()


def test_a_file_that_is_not_deleted_is_named_with_the_reason(lshdb: Run, filled: str, crawl: Path) -> None:
    (crawl / "a.txt").unlink()
    ended = lshdb(filled, "filter", crawl, "--delete", "--min-sim", "0.9", "--json")
    assert json.loads(ended.out) == {
        "deleted": [],
        "spared": [
            {
                "source": f"file://{crawl}/c.txt",
                "locator": "",
                "reason": "the document kept for it, a.txt, no longer exists",
            }
        ],
        "bytes": 0,
        "containers": 0,
        "dry_run": False,
    }


def test_files_to_keep_are_listed_for_xargs(lshdb: Run, filled: str, crawl: Path) -> None:
    out = lshdb(filled, "filter", crawl, "--print0", "--min-sim", "0.9").out
    assert out.split("\0") == [f"{crawl}/{name}.txt" for name in "abde"] + [""]
    assert lshdb(filled, "filter", crawl, "--print0", "--dropped", "--min-sim", "0.9").out == f"{crawl}/c.txt\0"


@pytest.mark.parametrize(
    "arguments", [("--out", "out", "--delete"), ("--print0", "--delete"), ("--out", "out", "--dry-run")]
)
def test_ways_to_filter_exclude_each_other(lshdb: Run, filled: str, crawl: Path, arguments: tuple[str, ...]) -> None:
    assert lshdb(filled, "filter", crawl, *arguments).code == 2


def test_filter_needs_a_place(lshdb: Run, url: str, news: Path) -> None:
    ended = lshdb(url, "filter", news)
    assert (ended.code, ended.err) == (2, "lshdb: filter needs a folder to write to: --out DIR\n")


def test_files_behind_links_that_an_ingest_followed_are_filtered_with_the_same_option(
    lshdb: Run, url: str, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    shard = write_jsonl(tmp_path / "shard.jsonl", {"a": TEN, "b": TEN})
    (tmp_path / "in" / "link.jsonl").symlink_to(shard)
    assert lshdb(url, "ingest", "--follow-links", tmp_path / "in").code == 0
    assert lshdb(url, "filter", tmp_path / "in", "--out", tmp_path / "out", "--follow-links").code == 0
    assert lines(tmp_path / "out" / "link.jsonl") == lines(shard)[:1]
