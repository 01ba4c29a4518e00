"""An ingest that ends at a boundary, any of them: the next one leaves what an undisturbed one leaves.

In this process and with tiny batches, so that every boundary is tried. `tests.recovery` kills real processes instead.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lshdb import Index, IngestOptions
from lshdb.ingest.options import Budgets
from lshdb.linking import candidates, link
from lshdb.model.progress import Progress, Stage
from lshdb.model.values import Counts
from tests.recovery.tables import Facts, contradictions, differences, facts_of

# A file of more than 200 bytes is read in ranges of two records, and each batch is two chunks or so.
TINY = Budgets(planned_files=3, chunk_bytes=200, chunk_items=2, chunk_chars=60, batch_documents=3)


# At least as many as a night has.
NUM_COMMITS = 9
MOST_BOUNDARIES = 30


class Stopped(Exception):
    """The run ends here."""


class Stopping(Progress):
    """Ends a run at its nth report of a kind. Args: kind: ``ingested``, ``read`` or ``link``; number: from 0."""

    def __init__(self, kind: str, number: int) -> None:
        self._kind = kind
        self._left = number

    def _report(self, kind: str) -> None:
        if kind == self._kind:
            self._left -= 1
            if self._left < 0:
                raise Stopped

    def ingested(self, counts: Counts) -> None:
        self._report("ingested")

    def read(self, num_documents: int, num_bytes: int) -> None:
        self._report("read")

    def advanced(self, stage: Stage, share: float) -> None:
        self._report(stage)


def records(*numbers: int) -> str:
    """JSON lines of near-duplicate documents; every fifth cannot be read."""
    lines = [json.dumps({"id": f"d{n}", "text": f"one two three four five six {n % 7}"}) for n in numbers]
    return "".join(f"{'{' if n % 5 == 4 else line}\n" for n, line in zip(numbers, lines, strict=True))


def write(folder: Path, name: str, content: str, hour: int) -> None:
    raw = content.encode()
    (folder / name).write_bytes(gzip.compress(raw, mtime=0) if name.endswith(".gz") else raw)
    os.utime(folder / name, (hour * 3600, hour * 3600))


def write_yesterday(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    write(folder, "a.jsonl", records(*range(10)), 1)
    write(folder, "b.jsonl.gz", records(*range(20, 25)), 1)
    for number in range(3):
        write(folder, f"c{number}.txt", f"one two three four five six text {number}", 1)
    # There is no reader for it.
    (folder / "d.bin").write_bytes(bytes(range(256)))
    os.utime(folder / "d.bin", (3600, 3600))


def write_today(folder: Path) -> None:
    """Change a record, remove some, add some; remove a file, change one, add one, and touch one."""
    changed = records(1).replace("one", "none")
    write(folder, "a.jsonl", records(0, 2, 3, 5, 50, 51, 6, 7) + changed, 2)
    (folder / "c0.txt").unlink()
    write(folder, "c1.txt", "one two three four five six and another text", 2)
    os.utime(folder / "c2.txt", (7200, 7200))
    write(folder, "c9.txt", "a text that is new", 2)


def ingest(url: str, folder: Path, progress: Progress | None = None, load_seconds: float = 0.0) -> Counts:
    budgets = replace(TINY, load_seconds=load_seconds)
    with Index.ensure(url, {"shingle": "word:1", "bands": 10, "rows": 2}, progress) as index:
        return index.ingest(folder, IngestOptions(prune=True, budgets=budgets)).counts


@pytest.fixture
def nights(new_url: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Facts]:
    """The facts after each of two undisturbed nights. The pairs are computed and stored a few at a time."""
    monkeypatch.setattr(candidates, "PART_PAIRS", 10)
    monkeypatch.setattr(link, "STORED_PAIRS", 20)
    url, folder = new_url(), tmp_path / "crawl"
    facts = []
    for write_files in (write_yesterday, write_today):
        write_files(folder)
        ingest(url, folder)
        facts.append(facts_of(url))
    return facts


def ends_early(url: str, folder: Path, progress: Progress, load_seconds: float) -> bool:
    """Ingest. Returns: whether the run ended early."""
    try:
        ingest(url, folder, progress, load_seconds)
    except Stopped:
        return True
    return False


@pytest.mark.parametrize(
    ("kind", "load_seconds"),
    [("ingested", 0.0), ("read", 0.0), ("read", 60.0), ("link", 0.0)],
    ids=["after a commit", "while a batch is made", "in a transaction of many batches", "while linking"],
)
def test_runs_that_end_at_each_boundary_leave_what_one_run_leaves(
    kind: str, load_seconds: float, nights: list[Facts], new_url: Callable[[], str], tmp_path: Path
) -> None:
    """The first run ends at its first boundary, the next one at its second, until one comes to its end."""
    url, folder = new_url(), tmp_path / "crawl"
    for write_files, expected in zip((write_yesterday, write_today), nights, strict=True):
        write_files(folder)
        for number in range(MOST_BOUNDARIES):
            if not ends_early(url, folder, Stopping(kind, number), load_seconds):
                break
            assert contradictions(url) == {}
        assert 2 < number < MOST_BOUNDARIES - 1
        assert differences(url, expected) == {}


def test_runs_that_end_after_one_commit_each_leave_what_one_run_leaves(
    nights: list[Facts], new_url: Callable[[], str], tmp_path: Path
) -> None:
    url, folder = new_url(), tmp_path / "crawl"
    for write_files, expected in zip((write_yesterday, write_today), nights, strict=True):
        write_files(folder)
        for _ in range(NUM_COMMITS):
            ends_early(url, folder, Stopping("ingested", 0), 0.0)
        ingest(url, folder)
        assert differences(url, expected) == {}


def test_tiny_batches_leave_and_count_what_one_batch_does(new_url: Callable[[], str], tmp_path: Path) -> None:
    counted = []
    for budgets in (TINY, Budgets()):
        url, folder = new_url(), tmp_path / "crawl"
        for write_files in (write_yesterday, write_today):
            write_files(folder)
            with Index.ensure(url, {"shingle": "word:1", "bands": 10, "rows": 2}) as index:
                report = index.ingest(folder, IngestOptions(prune=True, budgets=budgets))
            counted.append((report.counts, report.num_skipped, report.pairs_added, facts_of(url)))
    assert counted[:2] == counted[2:]
    counts = counted[1][0]
    assert (counts.num_added, counts.num_updated, counts.num_removed, counts.num_unchanged) == (3, 2, 2, 11)
