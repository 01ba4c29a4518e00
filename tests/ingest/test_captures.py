"""Captures: what several crawls of the same pages leave in an index."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lshdb import Index, IngestOptions
from lshdb.errors import IdConflict
from lshdb.model.values import Conflicts, Counts, Rejection
from lshdb.readers import ReadOptions
from lshdb.readers.warc.capture_ids import timestamp
from tests.readers.crawls import crawl, page, response, revisit

NewUrl = Callable[[], str]
MAY, JUNE, JULY = (f"2024-0{month}-01T00:00:00" for month in (5, 6, 7))


def write(path: Path, *records: bytes) -> Path:
    path.write_bytes(b"".join(records))
    return path


def ingested(index: Index, *paths: Path, **options: object) -> tuple[int, int, int]:
    """Return the documents (added, updated, unchanged)."""
    read = ReadOptions(**options)  # type: ignore[arg-type]
    counts: Counts = index.ingest(paths, IngestOptions(read=read)).counts
    return counts.num_added, counts.num_updated, counts.num_unchanged


def test_an_identical_recrawl_is_unchanged(new_url: NewUrl, tmp_path: Path) -> None:
    first = write(tmp_path / "1.warc.gz", *crawl(20))
    second = write(tmp_path / "2.warc.gz", *crawl(20))
    with Index.create(new_url()) as index:
        assert ingested(index, first, second) == (20, 0, 20)
    with Index.create(new_url()) as index:
        assert ingested(index, first) == (20, 0, 0)
        assert ingested(index, second) == (0, 0, 20)


def test_all_captures_of_an_address_are_documents(new_url: NewUrl, tmp_path: Path) -> None:
    first = write(tmp_path / "1.warc.gz", *crawl(2, date=f"{MAY}Z"))
    second = write(tmp_path / "2.warc.gz", *crawl(2, date=f"{JUNE}Z"))
    with Index.create(new_url()) as index:
        assert ingested(index, first, second, captures="all") == (4, 0, 0)
        assert "http://a.org/0@20240501000000" in index
        assert "http://a.org/0@20240601000000" in index
        assert ingested(index, first, second, captures="all") == (0, 0, 4)


def test_the_same_capture_in_two_files_is_one_document(new_url: NewUrl, tmp_path: Path) -> None:
    first = write(tmp_path / "1.warc.gz", *crawl(2))
    copied = write(tmp_path / "copy.warc", *crawl(2, gzip=False))
    with Index.create(new_url()) as index:
        assert ingested(index, first, copied, captures="all") == (2, 0, 2)


def test_captures_of_the_same_moment_with_different_texts_conflict(new_url: NewUrl, tmp_path: Path) -> None:
    first = write(
        tmp_path / "1.warc.gz",
        response("http://a.org/", page(1), date=f"{MAY}Z"),
        response("http://a.org/", page(2), date=f"{MAY}Z"),
        response("http://b.org/", page(3), date=f"{MAY}Z"),
    )
    again = [response("http://b.org/", page(4), date=f"{MAY}Z"), response("http://b.org/", page(4), date=f"{JUNE}Z")]
    second = write(tmp_path / "2.warc.gz", *again)
    for path in (first, second):
        os.utime(path, ns=(1, 1))
    ids = ["http://a.org/@20240501000000", "http://b.org/@20240501000000", "http://b.org/@20240601000000"]
    read = ReadOptions(captures="all")
    with Index.create(new_url()) as index:
        report = index.ingest([first, second], IngestOptions(read=read))
        assert (report.counts.num_added, report.conflicts) == (4, Conflicts(num_qualified=1, num_repeated=1))
        assert [one for one in ids if one not in index] == []
        assert f"{ids[1]}@{second}" in index
        write(second, *again, response("http://c.org/", page(5), date=f"{MAY}Z"))
        report = index.ingest([first, second], IngestOptions(read=read))
        assert (report.counts.num_added, report.counts.num_unchanged, report.conflicts) == (1, 5, Conflicts())
        newest = index.ingest([first, second], IngestOptions(collection="newest"))
        assert (newest.counts.num_added, newest.conflicts) == (3, Conflicts())
    with Index.create(new_url()) as index, pytest.raises(IdConflict):
        index.ingest([first, second], IngestOptions(read=read, on_conflict="error"))


def dated(index: Index, doc_id: str) -> str:
    """Return the date of a document."""
    found = index.get(doc_id)
    assert found is not None
    assert found.dated_at is not None
    return timestamp(found.dated_at)


def test_with_all_captures_a_revisit_has_the_text_of_the_capture_that_it_names(new_url: NewUrl, tmp_path: Path) -> None:
    first = write(
        tmp_path / "1.warc.gz",
        response("http://a.org/", page(1), date=f"{MAY}Z"),
        response("http://a.org/", page(2), date=f"{JUNE}Z"),
    )
    second = write(
        tmp_path / "2.warc.gz",
        revisit("http://a.org/", refers_to=("http://a.org/", f"{MAY}Z"), date=f"{JULY}Z"),
        revisit("http://copy.org/", refers_to=("http://a.org/", f"{JUNE}Z"), date=f"{JULY}Z"),
    )
    with Index.create(new_url()) as index:
        assert ingested(index, first, second, captures="all") == (4, 0, 0)
        assert index.stats().figures.num_contents == 2
        again, copied = index.get("http://a.org/@20240701000000"), index.get("http://copy.org/@20240701000000")
        assert again is not None
        assert again.text.startswith("Page 1.")
        assert (again.source, again.locator) == (second.as_uri(), "offset 0")
        assert copied is not None
        assert copied.text.startswith("Page 2.")
        assert ingested(index, first, second, captures="all") == (0, 0, 4)


def test_with_the_newest_capture_a_revisit_makes_the_document_newer(new_url: NewUrl, tmp_path: Path) -> None:
    first = write(tmp_path / "1.warc.gz", response("http://a.org/", page(1), date=f"{MAY}Z"))
    for number, date in enumerate((JULY, JUNE)):  # The older one comes last.
        made = revisit("http://a.org/", refers_to=("http://a.org/", f"{MAY}Z"), date=f"{date}Z")
        write(tmp_path / f"2{number}.warc.gz", made)
    with Index.create(new_url()) as index:
        assert ingested(index, first, *sorted(tmp_path.glob("2?.warc.gz"))) == (1, 0, 2)
        assert dated(index, "http://a.org/") == "20240701000000"
        found = index.get("http://a.org/")
        assert found is not None
        assert found.source == first.as_uri()
        older = write(tmp_path / "3.warc.gz", response("http://a.org/", page(2), date=f"{JUNE}Z"))
        assert ingested(index, older) == (0, 0, 1)


@pytest.mark.parametrize("captures", ["newest", "all"])
def test_a_revisit_may_come_before_its_page_in_a_file(captures: str, new_url: NewUrl, tmp_path: Path) -> None:
    path = write(
        tmp_path / "1.warc.gz",
        revisit("http://a.org/", refers_to=("http://a.org/", f"{MAY}Z"), date=f"{JUNE}Z"),
        response("http://a.org/", page(1), date=f"{MAY}Z"),
    )
    with Index.create(new_url()) as index:
        assert sum(ingested(index, path, captures=captures)) == 2
        assert dated(index, "http://a.org/" if captures == "newest" else "http://a.org/@20240601000000")[:6] == "202406"


@pytest.mark.parametrize("captures", ["newest", "all"])
def test_a_revisit_without_its_page_is_rejected_and_one_of_anything_is_skipped(
    captures: str, new_url: NewUrl, tmp_path: Path
) -> None:
    path = write(
        tmp_path / "1.warc.gz",
        revisit("http://a.org/", refers_to=("http://a.org/", f"{MAY}Z"), date=f"{JUNE}Z"),
        revisit("http://a.org/logo", refers_to=("http://a.org/logo", f"{MAY}Z"), status="", date=f"{JUNE}Z"),
    )
    with Index.create(new_url()) as index:
        report = index.ingest([path], IngestOptions(read=ReadOptions(captures=captures)))  # type: ignore[arg-type]
        assert (report.counts.num_rejected, report.num_skipped, len(index)) == (1, 1, 0)
        assert report.rejected_by_reason == {"revisit of a capture that the index does not have": 1}
        [rejection] = index.rejections(report.run)
        reason = "revisit of a capture that the index does not have: http://a.org/ of 20240501000000"
        assert rejection == Rejection(path.as_uri(), "offset 0", reason)


def test_with_the_newest_capture_a_revisit_of_a_replaced_page_of_another_address_is_rejected(
    new_url: NewUrl, tmp_path: Path
) -> None:
    """The index has thrown away the text that it means."""
    write(tmp_path / "1.warc.gz", response("http://a.org/", page(1), date=f"{MAY}Z"))
    write(tmp_path / "2.warc.gz", response("http://a.org/", page(2), date=f"{JUNE}Z"))
    write(tmp_path / "3.warc.gz", revisit("http://b.org/", refers_to=("http://a.org/", f"{MAY}Z"), date=f"{JULY}Z"))
    write(tmp_path / "4.warc.gz", revisit("http://c.org/", refers_to=("http://a.org/", f"{JUNE}Z"), date=f"{JULY}Z"))
    with Index.create(new_url()) as index:
        report = index.ingest([tmp_path])
        assert report.counts.num_rejected == 1
        assert "http://b.org/" not in index
        found = index.get("http://c.org/")
        assert found is not None
        assert found.text.startswith("Page 2.")


def test_a_revisit_older_than_what_it_names_changes_nothing(new_url: NewUrl, tmp_path: Path) -> None:
    path = write(
        tmp_path / "1.warc.gz",
        response("http://a.org/", page(1), date=f"{MAY}Z"),
        revisit("http://a.org/", refers_to=("http://a.org/", f"{JUNE}Z"), date=f"{JULY}Z"),
    )
    with Index.create(new_url()) as index:
        assert index.ingest([path]).counts.num_rejected == 1
        assert dated(index, "http://a.org/") == "20240501000000"


@pytest.mark.parametrize("captures", ["newest", "all"])
def test_prune_keeps_what_a_revisit_has_confirmed(captures: str, new_url: NewUrl, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    folder.mkdir()
    page_of = response("http://a.org/", page(1), date=f"{MAY}Z")
    first = write(folder / "1.warc.gz", page_of)
    write(folder / "2.warc.gz", revisit("http://a.org/", refers_to=("http://a.org/", f"{MAY}Z"), date=f"{JUNE}Z"))
    options = IngestOptions(prune=True, read=ReadOptions(captures=captures))  # type: ignore[arg-type]
    with Index.create(new_url()) as index:
        index.ingest([folder], options)
        num_documents = len(index)
        write(first, response("http://b.org/", page(2)), page_of)  # The record moves within its file.
        report = index.ingest([folder], options)
        assert (report.counts.num_removed, len(index)) == (0, num_documents + 1)
        found = index.get("http://a.org/" if captures == "newest" else "http://a.org/@20240501000000")
        assert found is not None
        assert found.locator == f"offset {len(response('http://b.org/', page(2)))}"
        write(folder / "2.warc.gz", revisit("http://a.org/", refers_to=("http://a.org/", f"{MAY}Z"), date=f"{JULY}Z"))
        assert index.ingest([folder], options).counts.num_removed == (1 if captures == "all" else 0)


def test_files_that_did_not_change_count_their_revisits_as_documents(new_url: NewUrl, tmp_path: Path) -> None:
    path = write(
        tmp_path / "1.warc.gz",
        response("http://a.org/", page(1), date=f"{MAY}Z"),
        revisit("http://a.org/", refers_to=("http://a.org/", f"{MAY}Z"), date=f"{JUNE}Z"),
    )
    with Index.create(new_url()) as index:
        assert ingested(index, path, captures="all") == (2, 0, 0)
        assert ingested(index, path, captures="all") == (0, 0, 2)
