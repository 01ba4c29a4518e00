"""Files whose documents are dropped are listed and deleted, but never the last one of a text."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lshdb import ClusterOptions, DeletionReport, Document, FilterOptions, Index, IngestOptions, NotIngested, UsageError
from lshdb.clusters.rows import files
from lshdb.readers import SourceFile, changes
from lshdb.store.tables.locators import KeptDocument
from tests.clusters.test_filter import ingested, line, words


def deleted(url: str, *paths: Path, dry_run: bool = False, options: FilterOptions | None = None) -> DeletionReport:
    with Index.open(url) as index:
        return index.delete_files(paths, options=options, dry_run=dry_run)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def spared(report: DeletionReport) -> list[str]:
    assert report.deleted == ()
    return [one.reason for one in report.spared]


def test_a_dry_run_lists_what_is_deleted_then(url: str, pages: Path) -> None:
    ingested(url, pages)
    tried = deleted(url, pages, dry_run=True)
    assert names(pages) == ["a.txt", "b.txt", "copy.txt", "empty.txt"]
    done = deleted(url, pages)
    assert done.deleted == tried.deleted
    assert [(one.path, one.kept) for one in done.deleted] == [(pages / "copy.txt", str(pages / "a.txt"))]
    assert (tried.dry_run, done.dry_run, done.num_bytes, done.num_containers) == (True, False, len(words(0)), 0)
    assert names(pages) == ["a.txt", "b.txt", "empty.txt"]


def test_the_bytes_of_all_deleted_files_are_counted(url: str, pages: Path) -> None:
    (pages / "second copy.txt").write_text(words(0))
    report = deleted(ingested(url, pages), pages)
    assert (len(report.deleted), report.num_bytes) == (2, 2 * len(words(0)))


def test_the_policy_decides_which_file_is_left(url: str, pages: Path) -> None:
    ingested(url, pages)
    deleted(url, pages, options=FilterOptions(clusters=ClusterOptions(prefer=("copy",))))
    assert names(pages) == ["b.txt", "copy.txt", "empty.txt"]


def test_a_file_is_spared_if_the_one_kept_for_it_is_missing(url: str, pages: Path) -> None:
    ingested(url, pages)
    (pages / "a.txt").unlink()
    report = deleted(url, pages)
    assert spared(report) == [f"the document kept for it, {pages}/a.txt, no longer exists"]
    assert [(one.source, one.locator) for one in report.spared] == [((pages / "copy.txt").as_uri(), "")]
    assert report.num_bytes == 0
    assert names(pages) == ["b.txt", "copy.txt", "empty.txt"]


def test_a_file_is_spared_if_the_one_kept_for_it_has_changed(url: str, pages: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (pages / "copy.txt").rename(other / "copy.txt")
    ingested(url, pages, other)
    ingested_at = (pages / "a.txt").stat().st_mtime_ns
    (pages / "a.txt").write_text(words(0).upper())
    reason = f"the document kept for it, {pages}/a.txt, has changed since it was ingested"
    assert spared(deleted(url, other)) == [reason]
    (pages / "a.txt").write_text(words(0) + " and more")
    os.utime(pages / "a.txt", ns=(ingested_at, ingested_at))
    assert spared(deleted(url, other)) == [reason]
    (pages / "a.txt").write_text(words(0))  # the old text with a new time
    assert len(deleted(url, other).deleted) == 1


def test_a_file_is_spared_if_the_one_kept_for_it_cannot_be_read(
    url: str, pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(_path: Path) -> bytes:
        raise OSError(5, "Input/output error")

    other = tmp_path / "other"
    other.mkdir()
    (pages / "copy.txt").rename(other / "copy.txt")
    ingested(url, pages, other)
    os.utime(pages / "a.txt", ns=(1, 1))
    monkeypatch.setattr(changes, "digest", unreadable)
    reason = f"the document kept for it, {pages}/a.txt, cannot be read (Input/output error)"
    assert spared(deleted(url, other)) == [reason]


@pytest.mark.parametrize("change", [lambda path: os.utime(path, ns=(1, 1)), lambda path: path.write_text("short")])
def test_a_file_that_changes_meanwhile_is_spared(
    url: str, pages: Path, change: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    ingested(url, pages)
    obstacle = files._obstacle

    def changing(file: SourceFile, kept: KeptDocument) -> str | None:
        mtime_ns = file.mtime_ns
        change(file.path)
        if file.path.stat().st_size != file.size:
            os.utime(file.path, ns=(mtime_ns, mtime_ns))
        return obstacle(file, kept)

    monkeypatch.setattr(files, "_obstacle", changing)
    assert spared(deleted(url, pages)) == ["it has just changed"]


def test_a_file_that_cannot_be_deleted_is_spared(url: str, pages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(_path: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    ingested(url, pages)
    monkeypatch.setattr(Path, "unlink", refusing)
    assert spared(deleted(url, pages)) == ["Operation not permitted"]


def test_a_file_whose_document_was_removed_is_no_container(url: str, pages: Path) -> None:
    with Index.open(ingested(url, pages)) as index:
        index.remove([str(pages / "b.txt")])
    report = deleted(url, pages)
    assert ([one.path.name for one in report.deleted], report.num_containers) == (["copy.txt"], 0)


def test_a_file_is_spared_if_the_record_kept_for_it_is_no_longer_in_its_file(url: str, pages: Path) -> None:
    records = pages.parent / "records.jsonl"
    records.write_bytes(line("first", 0) + line("second", 300))
    ingested(url, records, pages)
    records.write_bytes(line("second", 300))
    ingested(url, records)
    assert set(spared(deleted(url, pages))) == {"the document kept for it, first, no longer exists"}


def test_a_file_is_spared_if_the_document_kept_for_it_is_in_no_file(url: str, pages: Path) -> None:
    with Index.ensure(url) as index:
        index.add([Document("added", words(100))])
    ingested(url, pages / "b.txt")
    assert spared(deleted(url, pages / "b.txt")) == ["the document kept for it, added, is in no file"]


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_two_names_of_one_file_are_left(url: str, tmp_path: Path, link: object) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "target.txt").write_text(words(0))
    assert callable(link)
    link(folder / "target.txt", folder / "link.txt")
    ingested(url, folder)
    assert spared(deleted(url, folder)) == [f"it is the same file as the one kept for it, {folder}/link.txt"]
    assert names(folder) == ["link.txt", "target.txt"]


def test_nothing_is_deleted_if_a_file_is_not_as_it_was_ingested(url: str, pages: Path) -> None:
    ingested(url, pages)
    (pages / "z.txt").write_text("new")
    with pytest.raises(NotIngested):
        deleted(url, pages)
    assert "copy.txt" in names(pages)


def test_records_of_a_file_are_not_deleted(url: str, pages: Path) -> None:
    (pages / "records.jsonl").write_bytes(line("x", 100) + line("y", 0))
    report = deleted(ingested(url, pages), pages)
    assert (len(report.deleted), report.num_containers) == (1, 1)
    assert (pages / "records.jsonl").exists()


def test_a_file_of_two_collections_is_deleted_only_if_both_drop_it(url: str, pages: Path) -> None:
    ingested(url, pages / "copy.txt", options=IngestOptions(collection="first"))
    ingested(url, pages, options=IngestOptions(collection="second"))
    assert [one.path.name for one in deleted(url, pages).deleted] == ["a.txt"]


def test_kept_files_are_listed(url: str, pages: Path) -> None:
    with Index.open(ingested(url, pages)) as index:
        assert [path.name for path in index.wanted_files(pages)] == ["a.txt", "b.txt", "empty.txt"]
        dropped = index.wanted_files(pages, options=FilterOptions(dropped=True))
        assert [path.name for path in dropped] == ["copy.txt"]


def test_files_of_many_records_cannot_be_listed(url: str, pages: Path) -> None:
    (pages / "records.jsonl").write_bytes(line("x", 100) + line("y", 0))
    with Index.open(ingested(url, pages)) as index, pytest.raises(UsageError, match="has many records"):
        list(index.wanted_files(pages))
