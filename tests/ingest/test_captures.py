"""Captures: what several crawls of the same pages leave in an index."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lshdb import Index, IngestOptions
from lshdb.model.values import Counts
from tests.readers.crawls import crawl

NewUrl = Callable[[], str]


def write(path: Path, *records: bytes) -> Path:
    path.write_bytes(b"".join(records))
    return path


def ingested(index: Index, *paths: Path, **options: object) -> tuple[int, int, int]:
    """Return the documents (added, updated, unchanged)."""
    counts: Counts = index.ingest(paths, IngestOptions(workers=1, **options)).counts  # type: ignore[arg-type]
    return counts.num_added, counts.num_updated, counts.num_unchanged


def test_an_identical_recrawl_is_unchanged(new_url: NewUrl, tmp_path: Path) -> None:
    first = write(tmp_path / "1.warc.gz", *crawl(20))
    second = write(tmp_path / "2.warc.gz", *crawl(20))
    with Index.create(new_url()) as index:
        assert ingested(index, first, second) == (20, 0, 20)
    with Index.create(new_url()) as index:
        assert ingested(index, first) == (20, 0, 0)
        assert ingested(index, second) == (0, 0, 20)
