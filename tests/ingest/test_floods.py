"""Sources with many rejections: what is stored of them, and when reading them ends."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lshdb import Index, IngestOptions, IngestReport
from lshdb.errors import TooManyRejected
from lshdb.ingest.options import Budgets
from lshdb.model.values import Rejection

NewUrl = Callable[[], str]

# Chunks of ten items; a source is given up at its 21st rejection.
SMALL = Budgets(chunk_bytes=500, chunk_items=10, stored_rejections=5, source_rejections=20)
# The same file in one work.
WHOLE = Budgets(stored_rejections=5, source_rejections=20)
EITHER = pytest.mark.parametrize("budgets", [SMALL, WHOLE])


def write(path: Path, lines: str) -> Path:
    """Write JSON lines: ``.`` is a document, ``x`` and ``y`` are rejected for different reasons."""
    kinds = {"x": "{", "y": '{"id": "y"}'}
    written = [
        kinds.get(kind) or json.dumps({"id": f"{path.name}{place}", "text": f"{place} and some words more"})
        for place, kind in enumerate(lines)
    ]
    raw = "".join(f"{line}\n" for line in written).encode()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


def ingest(index: Index, *paths: Path, budgets: Budgets = SMALL, max_rejected: int | None = None) -> IngestReport:
    return index.ingest(paths, IngestOptions(budgets=budgets, max_rejected=max_rejected))


def stored(index: Index, run: int = 1) -> list[tuple[str, str]]:
    return [(item.locator, item.reason.partition(":")[0]) for item in index.rejections(run)]


@EITHER
def test_the_first_rejections_of_a_source_are_stored_and_the_others_counted_by_reason(
    budgets: Budgets, new_url: NewUrl, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", "xxxyyyyy." + "." * 10)
    with Index.create(new_url()) as index:
        report = ingest(index, path, budgets=budgets)
        assert [item.locator for item in index.rejections(1)] == [*(f"line {number}" for number in range(1, 6)), ""]
        assert list(index.rejections(1))[-1] == Rejection(path.as_uri(), "", '3 more: no field "text"')
    assert report.counts.num_rejected == 8
    assert report.rejected_by_reason == {'no field "text"': 5, "not JSON": 3}


def test_the_rejections_of_a_source_are_counted_across_transactions(new_url: NewUrl, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", "x." * 20)
    budgets = Budgets(chunk_bytes=1, chunk_items=4, batch_documents=4, load_seconds=0.0, stored_rejections=5)
    with Index.create(new_url()) as index:
        assert ingest(index, path, budgets=budgets).counts.num_rejected == 20
        found = stored(index)
    assert found[:5] == [(f"line {number}", "not JSON") for number in (1, 3, 5, 7, 9)]
    assert {locator for locator, _ in found[5:]} == {""}
    assert sum(int(reason.removesuffix(" more")) for _, reason in found[5:]) == 15


def test_each_source_and_each_run_has_its_own_rejections(new_url: NewUrl, tmp_path: Path) -> None:
    one, two = write(tmp_path / "a.jsonl", "." * 9 + "x" * 6), write(tmp_path / "b.jsonl", "." * 9 + "x" * 4)
    with Index.create(new_url()) as index:
        ingest(index, one, two)
        assert [len(stored(index)), stored(index)[-1]] == [10, ("", "1 more")]
        write(one, "." * 9 + "x" * 7)
        ingest(index, one, two)
        assert [len(stored(index, 2)), stored(index, 2)[-1]] == [6, ("", "2 more")]


@EITHER
def test_a_source_that_holds_little_but_rejections_is_given_up(
    budgets: Budgets, new_url: NewUrl, tmp_path: Path
) -> None:
    bad, good = write(tmp_path / "a.jsonl", "." * 5 + "x" * 500), write(tmp_path / "b.jsonl", "." * 9)
    with Index.create(new_url()) as index:
        report = ingest(index, bad, good, budgets=budgets)
        assert index.stats().num_unfinished == 1
    assert report.counts.num_added == 14
    assert 21 <= report.counts.num_rejected <= 30
    assert report.num_given_up == 1
    [given_up] = report.given_up
    assert (given_up.uri, given_up.num_rejected) == (bad.as_uri(), report.counts.num_rejected)
    assert given_up.reason.startswith("line 6: not JSON: ")


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_give_a_source_up_at_the_same_record(workers: int, new_url: NewUrl, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", "x" * 3_000)
    budgets = Budgets(chunk_bytes=500, chunk_items=10, source_rejections=20, pool_bytes=0)
    with Index.create(new_url()) as index:
        report = index.ingest(path, IngestOptions(workers=workers, budgets=budgets))
    assert report.counts.num_rejected == 30


@EITHER
def test_a_source_with_as_many_documents_as_rejections_is_read_to_its_end(
    budgets: Budgets, new_url: NewUrl, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", ".x" * 100)
    with Index.create(new_url()) as index:
        report = ingest(index, path, budgets=budgets)
    assert (report.counts.num_added, report.counts.num_rejected, report.num_given_up) == (100, 100, 0)


def test_no_source_is_given_up_if_all_may_be_rejected(new_url: NewUrl, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", "x" * 500 + ".")
    budgets = Budgets(chunk_bytes=500, chunk_items=10, source_rejections=20, rejected_share=1.0)
    with Index.create(new_url()) as index:
        report = ingest(index, path, budgets=budgets)
    assert (report.counts.num_added, report.counts.num_rejected, report.num_given_up) == (1, 500, 0)


def test_a_repaired_source_is_read_from_its_beginning(new_url: NewUrl, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", "x" * 500)
    with Index.create(new_url()) as index:
        ingest(index, path)
        write(path, "." * 300)
        assert ingest(index, path).counts.num_added == 300
        assert index.stats().num_unfinished == 0


def test_a_run_ends_soon_after_more_documents_than_allowed_were_rejected(new_url: NewUrl, tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{number}.jsonl", "." * 10 + "x" * 20) for number in range(100)]
    with Index.create(new_url()) as index:
        with pytest.raises(TooManyRejected) as raised:
            ingest(index, *paths, max_rejected=30)
        assert 31 <= raised.value.num_rejected <= 40
        # What was read before is kept.
        assert len(index) == 20


def test_a_compressed_file_of_rejections_is_not_read_to_its_end(new_url: NewUrl, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl.gz", "x" * 100_000)
    assert path.stat().st_size < WHOLE.chunk_bytes
    with Index.create(new_url()) as index:
        assert ingest(index, path, budgets=WHOLE).counts.num_rejected == 21


def test_a_limited_run_gives_sources_up_too(new_url: NewUrl, tmp_path: Path) -> None:
    bad, good = write(tmp_path / "a.jsonl", "x" * 100), write(tmp_path / "b.jsonl", "." * 9)
    with Index.create(new_url()) as index:
        report = index.ingest([bad, good], IngestOptions(limit=5, budgets=SMALL))
    assert (report.counts.num_added, report.counts.num_rejected, report.num_given_up) == (5, 21, 1)
