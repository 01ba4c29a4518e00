"""Captures: what several crawls of the same pages leave in an index."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lshdb import Index, IngestOptions
from lshdb.model.values import Counts
from lshdb.readers import ReadOptions
from tests.readers.crawls import crawl

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
