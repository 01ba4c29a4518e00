"""Reading only the first documents, and continuing there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lshdb import Index, IngestOptions, IngestReport
from lshdb.errors import InvalidParams, UsageError
from lshdb.ingest.options import Budgets

NewUrl = Callable[[], str]
BUDGETS = pytest.mark.parametrize("budgets", [Budgets(), Budgets(chunk_bytes=100, chunk_chars=100, batch_documents=3)])


def write(path: Path, *names: str) -> Path:
    """Write JSON lines; the name ``-`` stands for a line that is rejected."""
    lines = [json.dumps({"id": name, "text": f"{name} and some words more"}) if name != "-" else "{" for name in names]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def ingest(index: Index, path: Path, limit: int | None, budgets: Budgets | None = None) -> IngestReport:
    return index.ingest(path, IngestOptions(limit=limit, budgets=budgets or Budgets()))


def told(report: IngestReport) -> tuple[int, int, int, bool]:
    counts = report.counts
    return counts.num_added, counts.num_unchanged, counts.num_rejected, report.is_limited


def ids(index: Index, *names: str) -> list[str]:
    """Return those of the ids that the index has."""
    return [name for name in names if name in index]


@BUDGETS
def test_only_the_first_documents_are_read_and_the_next_run_continues(
    new_url: NewUrl, tmp_path: Path, budgets: Budgets
) -> None:
    names = [f"d{number}" for number in range(9)]
    write(tmp_path / "a.jsonl", *names[:3]), write(tmp_path / "b.jsonl", *names[3:])
    with Index.create(new_url()) as index:
        assert told(ingest(index, tmp_path, 5, budgets)) == (5, 0, 0, True)
        assert ids(index, *names) == names[:5]
        assert told(ingest(index, tmp_path, 5, budgets)) == (0, 3, 0, True)
        assert told(ingest(index, tmp_path, 7, budgets)) == (2, 3, 0, True)
        assert told(ingest(index, tmp_path, None, budgets)) == (2, 3, 0, False)
        assert ids(index, *names) == names
        assert told(ingest(index, tmp_path, 3, budgets)) == (0, 9, 0, False)


@BUDGETS
def test_a_source_that_ends_with_the_last_document_is_done(new_url: NewUrl, tmp_path: Path, budgets: Budgets) -> None:
    write(tmp_path / "a.jsonl", "-", "a", "b", "-")
    with Index.create(new_url()) as index:
        assert told(ingest(index, tmp_path, 2, budgets)) == (2, 0, 2, False)
        assert told(ingest(index, tmp_path, None, budgets)) == (0, 2, 0, False)


@BUDGETS
def test_what_is_rejected_does_not_count(new_url: NewUrl, tmp_path: Path, budgets: Budgets) -> None:
    write(tmp_path / "a.jsonl", "-", "a", "-", "b", "-", "c", "-")
    with Index.create(new_url()) as index:
        assert told(ingest(index, tmp_path, 2, budgets)) == (2, 0, 3, True)
        assert told(ingest(index, tmp_path, None, budgets)) == (1, 0, 1, False)
        assert ids(index, "a", "b", "c") == ["a", "b", "c"]


def test_files_that_are_not_reached_are_not_recorded(new_url: NewUrl, tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text(f"{name} and some words more")
    with Index.create(new_url()) as index:
        assert told(ingest(index, tmp_path, 2)) == (2, 0, 0, True)
        assert index.stats().figures.num_sources == 2
        assert told(ingest(index, tmp_path, None)) == (1, 2, 0, False)


def test_a_changed_source_is_read_from_its_beginning(new_url: NewUrl, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", "a", "b", "c")
    with Index.create(new_url()) as index:
        ingest(index, path, 2)
        write(path, "x", "a", "b", "c")
        assert told(ingest(index, path, 3)) == (1, 2, 0, True)
        assert ids(index, "x", "a", "b", "c") == ["x", "a", "b"]


def test_an_impossible_limit_is_a_usage_error() -> None:
    with pytest.raises(InvalidParams, match="limit is 0: it must be a whole number from 1"):
        IngestOptions(limit=0)
    with pytest.raises(UsageError, match="--prune would remove documents that exist"):
        IngestOptions(limit=1, prune=True)
