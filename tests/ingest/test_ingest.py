"""The number of workers, and an ingest from paths to the index."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from lshdb import Index, IngestOptions, Params, ReadOptions
from lshdb.ingest import ingest, make
from lshdb.ingest.ingest import staffed
from lshdb.ingest.make import Task
from lshdb.ingest.options import Budgets
from lshdb.readers import SourceFile


def num_workers(names: list[str], workers: int | None, read: ReadOptions | None = None, size: int = 10**9) -> int:
    files = [SourceFile(f"file:///{name}", Path(f"/{name}"), size, 0, "file:///") for name in names]
    tasks, count = staffed(map(Task, files), IngestOptions(workers=workers, read=read or ReadOptions()))
    assert [task.source for task in tasks] == files
    return count


@pytest.mark.parametrize(("cores", "with_pages", "without"), [(1, 1, 1), (2, 2, 1), (3, 3, 1), (8, 8, 4)])
def test_pages_are_worth_a_worker_for_each_core(
    cores: int, with_pages: int, without: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "num_cores", lambda: cores)
    for names in (["a.html"], ["a.warc.gz"], ["named by nothing"]):
        assert num_workers(names, None) == with_pages
    for names in (["a.jsonl"], ["a.jsonl.zst", "b.CSV"], ["c.parquet", "d.txt"]):
        assert num_workers(names, None) == without
    assert num_workers(["a.jsonl"], None, ReadOptions(input_format="html")) == with_pages


def test_as_many_workers_as_were_asked_for_unless_there_is_little_to_read() -> None:
    assert num_workers(["a.jsonl", "b.html"], 5) == 5
    assert num_workers(["a.html"] * 300, 5, size=100) == 1
    assert num_workers([], None) == 1


@pytest.mark.sqlite
@pytest.mark.parametrize("workers", [1, 3])
def test_a_compressed_file_is_read_once_whatever_the_workers(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in this process: workers receive records and do not open the file."""
    lines = [json.dumps({"id": f"d{number}", "text": f"{number} some words"}) for number in range(2_000)]
    file = tmp_path / "records.jsonl.xz"
    file.write_bytes(lzma.compress("\n".join(lines).encode()))
    opened: list[Path] = []
    reading = make.Reading
    monkeypatch.setattr(make, "Reading", lambda source, read: opened.append(source.path) or reading(source, read))
    budgets = Budgets(chunk_bytes=2_000, pool_bytes=0)
    with Index.create(str(tmp_path / "index.db"), Params()) as index:
        report = index.ingest([file], IngestOptions(workers=workers, budgets=budgets))
    assert report.counts.num_added == 2_000
    assert opened == [file]
