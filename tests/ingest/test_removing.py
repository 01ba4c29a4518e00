"""What an ingest removes: documents of deleted files and records, and documents that no run has seen for long."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from lshdb import Document, Index, IngestOptions
from lshdb.cli.verdict import warnings
from lshdb.errors import NothingToRead, PruneRefused
from lshdb.ingest.options import Budgets
from lshdb.store.schema import content_text, run
from lshdb.store.store import Store
from lshdb.store.tables.collections import document_pages
from tests.readers.crawls import page, response
from tests.recovery.tables import contradictions
from tests.store.conftest import counts

PRUNED = IngestOptions(prune=True)
DAYS_90 = timedelta(days=90)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return files(tmp_path / "crawl", "a", "b", "c")


def files(folder: Path, *names: str) -> Path:
    """A folder with a document of its own text for each name."""
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / f"{name}.txt").write_text(f"{name} and some words more that make it a document")
    return folder


def ids(index: Index, collection: str = "default") -> list[str]:
    """The names of the documents of a collection."""
    with Store.open(index.url) as store, store.reading() as snapshot:
        found = [doc_id for page in document_pages(snapshot, collection, 100) for doc_id, _ in page]
    return sorted(Path(doc_id).stem for doc_id in found)


def collected(name: str, *, prune: bool = False, expire_after: timedelta | None = None) -> IngestOptions:
    return IngestOptions(collection=name, prune=prune, expire_after=expire_after)


def backdate(index: Index, run_key: int, days: float) -> None:
    """Let a run have started so many days ago."""
    moment = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="milliseconds")
    with Store.open(index.url) as store, store.writing() as transaction:
        transaction.execute(update(run).where(run.c.run_key == run_key).values(started_at=moment))


def test_the_documents_of_deleted_files_stay_until_they_are_pruned(index: Index, folder: Path) -> None:
    index.ingest(folder)
    (folder / "b.txt").unlink()
    assert index.ingest(folder).counts.num_removed == 0
    assert ids(index) == ["a", "b", "c"]
    assert index.ingest(folder, PRUNED).counts.num_removed == 1
    assert ids(index) == ["a", "c"]
    assert contradictions(index.url) == {}


def test_a_collection_is_pruned_alone(index: Index, folder: Path) -> None:
    for name in ("one", "two"):
        index.ingest(folder, collected(name))
    (folder / "b.txt").unlink()
    assert index.ingest(folder, collected("one", prune=True)).counts.num_removed == 1
    assert (ids(index, "one"), ids(index, "two")) == (["a", "c"], ["a", "b", "c"])
    assert index.stats().figures.num_contents == 3


def test_records_are_pruned_from_their_own_collection_alone(index: Index, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "a", "text": "a text"}\n{"id": "b", "text": "another text"}\n')
    for name in ("one", "two"):
        index.ingest(path, collected(name))
    path.write_text('{"id": "a", "text": "a text"}\n')
    assert index.ingest(path, collected("one", prune=True)).counts.num_removed == 1
    assert (ids(index, "one"), ids(index, "two")) == (["a"], ["a", "b"])


@pytest.mark.parametrize("batch", [1, 1_000])
def test_records_that_an_earlier_run_missed_are_pruned_although_their_files_are_unchanged(
    batch: int, index: Index, tmp_path: Path
) -> None:
    first, second, elsewhere = (tmp_path / name for name in ("in/1.jsonl", "in/2.jsonl", "3.jsonl"))
    first.parent.mkdir()
    for path in (first, second, elsewhere):
        path.write_text("".join(f'{{"id": "{path.stem}{name}", "text": "the text {name}"}}\n' for name in "abc"))
        index.ingest(path)
        path.write_text(f'{{"id": "{path.stem}a", "text": "the text a"}}\n')
        index.ingest(path)
    budgets = Budgets(planned_files=batch, batch_documents=batch)
    report = index.ingest(first.parent, IngestOptions(prune=True, budgets=budgets))
    assert (report.counts.num_unchanged, report.counts.num_removed, report.counts.num_bytes) == (2, 4, 0)
    assert ids(index) == ["1a", "2a", "3a", "3b", "3c"]
    assert [run.num_removed for run in index.runs() if run.run == report.run] == [4]


def packed(*names: str) -> bytes:
    return gzip.compress("".join(f'{{"id": "{name}", "text": "the text {name}"}}\n' for name in names).encode())


WHOLE = b"".join(response(f"http://a.org/{number}", page(number)) for number in range(1, 4))
INTACT = {
    "a.warc.gz": WHOLE,
    "a.warc": gzip.decompress(WHOLE),
    "a.jsonl.gz": packed("1", "2", "3"),
    "a.csv.gz": gzip.compress(b"id,text\n1,one text\n2,another\n3,and a third\n"),
}


@pytest.mark.parametrize("name", INTACT)
def test_what_a_damaged_or_empty_file_no_longer_has_is_not_pruned(name: str, index: Index, tmp_path: Path) -> None:
    path = tmp_path / "in" / name
    path.parent.mkdir()
    path.write_bytes(INTACT[name])
    (path.parent / "other.jsonl").write_text('{"id": "x", "text": "another text"}\n')
    index.ingest(path.parent)
    before = ids(index)
    for share in range(3):
        path.write_bytes(INTACT[name][: len(INTACT[name]) * share // 3 - 9] if share else b"")
        for _ in range(2):
            report = index.ingest(path.parent, PRUNED)
            assert (report.counts.num_removed, report.num_spared) == (0, 1)
            assert ids(index) == before
        [told] = warnings(report, quiet=True)
        assert told == "1 file is damaged or empty: --prune kept the documents that were read from there before"
        path.write_bytes(INTACT[name])
        assert index.ingest(path.parent, PRUNED).num_spared == 0
        assert list(index.check()) == []


def test_other_folders_are_not_pruned_even_if_their_names_begin_alike(index: Index, tmp_path: Path) -> None:
    crawl, inner = files(tmp_path / "crawl", "a", "b"), files(tmp_path / "crawl" / "0", "c")
    # "-" sorts before the "/" of a folder, and "0" follows it.
    others = [files(tmp_path / "crawl-2", "d", "e"), files(tmp_path / "crawl0", "f", "g")]
    index.ingest([crawl, *others])
    for gone in (crawl / "b.txt", inner / "c.txt", others[0] / "e.txt", others[1] / "g.txt"):
        gone.unlink()
    assert index.ingest(crawl, PRUNED).counts.num_removed == 2
    assert ids(index) == ["a", "d", "e", "f", "g"]


def test_a_file_that_is_named_and_missing_keeps_its_document(index: Index, folder: Path) -> None:
    index.ingest(folder)
    path = folder / "b.txt"
    path.unlink()
    with pytest.raises(NothingToRead):
        index.ingest(path, IngestOptions(prune=True, must_exist=False))
    assert ids(index) == ["a", "b", "c"]


def test_a_folder_without_files_is_not_pruned(index: Index, folder: Path) -> None:
    index.ingest(folder)
    for path in folder.iterdir():
        path.unlink()
    with pytest.raises(PruneRefused):
        index.ingest(folder, PRUNED)
    assert ids(index) == ["a", "b", "c"]


def test_the_files_of_a_folder_that_cannot_be_walked_are_not_pruned(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = files(tmp_path / "crawl", "a", "b")
    closed, open_ = files(crawl / "closed", "c"), files(crawl / "open", "d", "e")
    index.ingest(crawl)
    (crawl / "b.txt").unlink()
    (open_ / "e.txt").unlink()
    scan = os.scandir

    def refused(path: str) -> Iterator[os.DirEntry[str]]:
        if path == str(closed):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    # A folder without permissions would not stop root.
    monkeypatch.setattr(os, "scandir", refused)
    report = index.ingest(crawl, PRUNED)
    assert (report.counts.num_removed, report.counts.num_rejected) == (2, 1)
    assert ids(index) == ["a", "c", "d"]


def test_a_file_that_cannot_be_opened_keeps_its_documents(
    index: Index, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.ingest(folder)
    (folder / "b.txt").unlink()
    (folder / "b.txt").symlink_to(folder / "b.txt")
    assert index.ingest(folder, PRUNED).counts.num_removed == 0
    assert ids(index) == ["a", "b", "c"]


def test_documents_expire_when_no_run_has_seen_them_for_so_long(index: Index, folder: Path, tmp_path: Path) -> None:
    other = files(tmp_path / "other", "d")
    backdate(index, index.ingest(folder).run, days=91)
    backdate(index, index.ingest(other).run, days=89)
    (folder / "b.txt").unlink()
    report = index.ingest(folder, collected("default", expire_after=DAYS_90))
    # Seen today: a and c, which did not change. Seen 89 days ago: d.
    assert (report.counts.num_removed, ids(index)) == (1, ["a", "c", "d"])
    assert contradictions(index.url) == {}
    assert index.ingest(folder, collected("default", expire_after=timedelta(days=88))).counts.num_removed == 1
    assert ids(index) == ["a", "c"]


def test_documents_of_programs_expire_too(index: Index, folder: Path) -> None:
    backdate(index, index.add([Document("old", "words of old"), Document("again", "words again")]).run, days=91)
    backdate(index, index.add([Document("again", "words again"), Document("new", "words that are new")]).run, days=89)
    assert index.ingest(folder, collected("default", expire_after=DAYS_90)).counts.num_removed == 1
    assert ids(index) == ["a", "again", "b", "c", "new"]


def test_documents_of_other_collections_do_not_expire(index: Index, folder: Path) -> None:
    for name in ("one", "two"):
        backdate(index, index.ingest(folder, collected(name)).run, days=91)
        backdate(index, index.add(Document("x", "words of a program"), name).run, days=91)
    (folder / "b.txt").unlink()
    assert index.ingest(folder, collected("one", expire_after=DAYS_90)).counts.num_removed == 2
    assert (ids(index, "one"), ids(index, "two")) == (["a", "c"], ["a", "b", "c", "x"])


def test_pairs_of_removed_documents_are_gone_and_the_texts_that_others_have_stay(index: Index, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    folder.mkdir()
    words = " ".join(f"word{number}" for number in range(40))
    for name, text in {"a": words, "b": f"{words} b", "c": f"{words} b", "d": f"{words} d"}.items():
        (folder / f"{name}.txt").write_text(text)
    index.ingest(folder)
    assert (index.stats().figures.num_contents, index.stats().figures.num_pairs) == (3, 3)
    for name in ("b", "d"):
        (folder / f"{name}.txt").unlink()
    assert index.ingest(folder, PRUNED).counts.num_removed == 2
    figures = index.stats().figures
    assert (figures.num_contents, figures.num_pairs, figures.num_sources) == (2, 1, 2)
    assert counts(index.url, content_text) == [2]
    assert contradictions(index.url) == {}


NOW = 1_700_000_000


@pytest.mark.parametrize(
    ("change", "num_read", "expected"),
    [
        (Path.stat, 0, "one text"),
        (lambda path: os.utime(path, (NOW + 9, NOW + 9)), 0, "one text"),
        (lambda path: path.write_text("two text"), 8, "two text"),
        (lambda path: path.write_text("one more text"), 13, "one more text"),
    ],
    ids=["nothing", "its time", "its content", "its size"],
)
def test_a_file_is_read_again_if_its_content_changed(
    index: Index, tmp_path: Path, change: Callable[[Path], object], num_read: int, expected: str
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one text")
    os.utime(path, (NOW, NOW))
    index.ingest(path)
    change(path)
    counts = index.ingest(path).counts
    assert (counts.num_bytes, counts.num_unchanged) == (num_read, 1 if not num_read else 0)
    document = index.get(str(path))
    assert document is not None
    assert document.text == expected
    # The state that the index has now is that of the file.
    again = index.ingest(path).counts
    assert (again.num_bytes, again.num_unchanged) == (0, 1)
