"""Revisits whose page comes in a later batch or a later file of the same run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from lshdb import Index, IngestOptions, IngestReport
from lshdb.errors import DocumentUnknown, TooManyRejected
from lshdb.ingest.options import Budgets
from lshdb.model.values import Rejection
from lshdb.readers import ReadOptions
from tests.readers.crawls import page, response, revisit

NewUrl = Callable[[], str]
MAY, JUNE = "2024-05-01T00:00:00", "2024-06-01T00:00:00"
MISSING = "revisit of a capture that the index does not have"

# Each file is a batch, in a transaction of its own; and all batches in one transaction.
ALONE = Budgets(chunk_items=1, batch_documents=1, load_seconds=0.0)
TOGETHER = Budgets(chunk_items=1, batch_documents=1)
EITHER = pytest.mark.parametrize("budgets", [ALONE, TOGETHER])


def write(path: Path, *records: bytes) -> Path:
    path.write_bytes(b"".join(records))
    return path


def seen_again(number: int, *, named: int | None = None) -> bytes:
    """Return a revisit of a page, in June, that names its capture, or that of another page, in May."""
    address = f"http://a.org/{number if named is None else named}"
    return revisit(f"http://a.org/{number}", refers_to=(address, f"{MAY}Z"), date=f"{JUNE}Z")


def first_seen(number: int) -> bytes:
    return response(f"http://a.org/{number}", page(number), date=f"{MAY}Z")


def ingest(
    index: Index,
    folder: Path,
    budgets: Budgets,
    captures: Literal["newest", "all"] = "all",
    max_rejected: int | None = None,
) -> IngestReport:
    read = ReadOptions(captures=captures)
    return index.ingest(folder, IngestOptions(read=read, budgets=budgets, max_rejected=max_rejected))


@pytest.mark.parametrize("forgotten", ["in/1.warc.gz", "in"])
def test_a_rejected_revisit_is_read_again_if_its_file_is_forgotten(
    forgotten: str, new_url: NewUrl, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    write(folder / "1.warc.gz", seen_again(1))
    with Index.create(new_url()) as index:
        assert ingest(index, folder, TOGETHER).counts.num_rejected == 1
        write(folder / "2.warc.gz", first_seen(1))
        assert ingest(index, folder, TOGETHER).counts.num_added == 1
        with pytest.raises(DocumentUnknown):
            index.remove(str(tmp_path / forgotten))
        assert index.remove(str(tmp_path / forgotten), forget_sources=True) == 0
        counts = ingest(index, folder, TOGETHER).counts
        assert (counts.num_added, counts.num_unchanged, counts.num_rejected) == (1, 1, 0)
        with pytest.raises(DocumentUnknown):
            index.remove(str(tmp_path / "other"), forget_sources=True)


@EITHER
def test_a_revisit_may_come_files_before_its_page(budgets: Budgets, new_url: NewUrl, tmp_path: Path) -> None:
    write(tmp_path / "1.warc.gz", seen_again(1))
    write(tmp_path / "2.warc.gz", first_seen(2))
    last = write(tmp_path / "3.warc.gz", first_seen(1))
    with Index.create(new_url()) as index:
        report = ingest(index, tmp_path, budgets)
        assert (report.counts.num_added, report.counts.num_rejected, report.num_rejected_sources) == (3, 0, 0)
        assert report.rejected_by_reason == {}
        assert list(index.rejections(report.run)) == []
        [run] = index.runs()
        assert (run.num_added, run.num_rejected) == (3, 0)
        found = index.get("http://a.org/1@20240601000000")
        assert found is not None
        assert found.text.startswith("Page 1.")
        # The file of the revisit counts it as its document.
        assert ingest(index, tmp_path, budgets).counts.num_unchanged == 3
        last.unlink()
        assert index.ingest(tmp_path, IngestOptions(prune=True, read=ReadOptions(captures="all"))).counts == (
            type(report.counts)(num_unchanged=2, num_removed=1)
        )


@EITHER
def test_with_the_newest_capture_it_makes_the_document_newer(budgets: Budgets, new_url: NewUrl, tmp_path: Path) -> None:
    write(tmp_path / "1.warc.gz", seen_again(1))
    write(tmp_path / "2.warc.gz", first_seen(1))
    with Index.create(new_url()) as index:
        report = ingest(index, tmp_path, budgets, "newest")
        assert (report.counts.num_added, report.counts.num_unchanged, report.counts.num_rejected) == (1, 1, 0)
        document = index.get("http://a.org/1")
        assert document is not None
        assert document.dated_at == 1_717_200_000_000_000


@EITHER
def test_one_whose_page_does_not_come_is_rejected_once(budgets: Budgets, new_url: NewUrl, tmp_path: Path) -> None:
    path = write(tmp_path / "1.warc.gz", seen_again(1), seen_again(2, named=9))
    write(tmp_path / "2.warc.gz", first_seen(1))
    with Index.create(new_url()) as index:
        report = ingest(index, tmp_path, budgets)
        assert (report.counts.num_added, report.counts.num_rejected, report.num_rejected_sources) == (2, 1, 0)
        assert report.rejected_by_reason == {MISSING: 1}
        place = f"offset {len(seen_again(1))}"
        reason = f"{MISSING}: http://a.org/9 of 20240501000000"
        assert list(index.rejections(report.run)) == [Rejection(path.as_uri(), place, reason)]
        assert index.runs()[0].num_rejected == 1


def test_a_file_of_which_no_revisit_has_a_page_is_a_rejected_source(new_url: NewUrl, tmp_path: Path) -> None:
    path = write(tmp_path / "1.warc.gz", seen_again(1))
    write(tmp_path / "2.warc.gz", first_seen(2))
    with Index.create(new_url()) as index:
        report = ingest(index, tmp_path, ALONE)
        assert [source.uri for source in report.rejected_sources] == [path.as_uri()]


def test_what_waits_is_bounded_and_the_rest_is_rejected_at_once(new_url: NewUrl, tmp_path: Path) -> None:
    write(tmp_path / "1.warc.gz", *(seen_again(number) for number in range(5)))
    write(tmp_path / "2.warc.gz", *(first_seen(number) for number in range(5)))
    budgets = Budgets(chunk_items=1, batch_documents=1, load_seconds=0.0, late_revisits=3)
    with Index.create(new_url()) as index:
        report = ingest(index, tmp_path, budgets)
        assert (report.counts.num_added, report.counts.num_rejected) == (8, 2)
        assert len(list(index.rejections(report.run))) == 2


def test_those_that_stay_rejected_are_condensed_like_all_others(new_url: NewUrl, tmp_path: Path) -> None:
    path = write(tmp_path / "1.warc.gz", *(seen_again(number) for number in range(5)))
    budgets = Budgets(chunk_items=1, batch_documents=1, load_seconds=0.0, stored_rejections=2)
    with Index.create(new_url()) as index:
        report = ingest(index, tmp_path, budgets)
        stored = list(index.rejections(report.run))
        assert (report.counts.num_rejected, len(stored)) == (5, 3)
        assert stored[-1] == Rejection(path.as_uri(), "", f"3 more: {MISSING}")


def test_one_that_waits_does_not_end_a_run(new_url: NewUrl, tmp_path: Path) -> None:
    write(tmp_path / "1.warc.gz", seen_again(1))
    write(tmp_path / "2.warc.gz", first_seen(1))
    with Index.create(new_url()) as index:
        assert ingest(index, tmp_path, ALONE, max_rejected=0).counts.num_added == 2
    write(tmp_path / "3.warc.gz", seen_again(9))
    with Index.create(new_url()) as index:
        with pytest.raises(TooManyRejected):
            ingest(index, tmp_path, ALONE, max_rejected=0)
        assert [item.reason.partition(":")[0] for item in index.rejections(1)] == [MISSING]
