"""Symbolic links inside the folder of an ingest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lshdb import Index, IngestOptions
from lshdb.errors import NothingToRead

NewUrl = Callable[[], str]
FOLLOWED = IngestOptions(follow_links=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a page, and links to a file and to a folder elsewhere."""
    for name in ("crawl", "elsewhere/more"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "elsewhere" / "secret.txt").write_text("a secret of the machine")
    (tmp_path / "elsewhere" / "more" / "note.txt").write_text("another text that is elsewhere")
    (tmp_path / "crawl" / "page.txt").write_text("a page of the crawl")
    (tmp_path / "crawl" / "file.txt").symlink_to(tmp_path / "elsewhere" / "secret.txt")
    (tmp_path / "crawl" / "folder").symlink_to(tmp_path / "elsewhere" / "more")
    return tmp_path / "crawl"


def test_links_that_lead_out_are_counted_and_not_read(new_url: NewUrl, folder: Path) -> None:
    with Index.create(new_url()) as index:
        report = index.ingest(folder)
        assert (report.counts.num_added, report.num_unfollowed, report.num_skipped) == (1, 2, 0)
        assert report.as_json()["links_not_followed"] == 2
        report = index.ingest(folder, FOLLOWED)
        assert (report.counts.num_added, report.counts.num_unchanged, report.num_unfollowed) == (2, 1, 0)
        assert str(folder / "folder" / "note.txt") in index


def test_what_was_read_through_a_link_is_not_pruned_when_it_is_not_followed(new_url: NewUrl, folder: Path) -> None:
    with Index.create(new_url()) as index:
        index.ingest(folder, FOLLOWED)
        assert index.ingest(folder, IngestOptions(prune=True)).counts.num_removed == 0
        (folder / "file.txt").unlink()
        (folder / "folder").unlink()
        assert index.ingest(folder, IngestOptions(prune=True)).counts.num_removed == 2


def test_a_folder_of_nothing_but_such_links_names_the_option(new_url: NewUrl, folder: Path) -> None:
    (folder / "page.txt").unlink()
    with Index.create(new_url()) as index:
        with pytest.raises(NothingToRead, match=r"2; --follow-links reads them"):
            index.ingest(folder)
        assert index.ingest(folder, FOLLOWED).counts.num_added == 2
