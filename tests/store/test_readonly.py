"""Read-only indexes: a read-only file, a read-only folder, and the questions that still work."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from lshdb import Index
from lshdb.clusters.clusters import ClusterOptions
from lshdb.clusters.export import ExportOptions
from lshdb.errors import AccessDenied, FileUnusable, IndexMissing, IndexReadOnly, LshdbError
from lshdb.model.progress import Progress
from lshdb.model.values import Document
from lshdb.store.store import Store
from lshdb.store.upgrade import REVISIONS
from tests.cli.conftest import Run, lshdb
from tests.readers.reading_files import NOBODY

__all__ = ["lshdb"]

pytestmark = pytest.mark.sqlite

WORDS = "one two three four five six seven eight nine ten"
READ_ONLY, WRITABLE = 0o444, 0o666
T = TypeVar("T")


def as_nobody(function: Callable[[], T]) -> T:
    """Return the result of the function while permissions apply to this process, which they do not for root."""
    if os.geteuid() != 0:
        return function()
    os.seteuid(NOBODY)
    try:
        return function()
    finally:
        os.seteuid(0)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user may enter."""
    with tempfile.TemporaryDirectory(prefix="lshdb-readonly-") as made:
        Path(made).chmod(0o777)
        yield Path(made)
        Path(made).chmod(0o777)


def make_index(folder: Path, *, link: bool = True) -> Path:
    path = folder / "crawl.db"
    with Index.create(str(path)) as index:
        index.add([Document("a", WORDS), Document("b", f"{WORDS} eleven")], link=link)
        index.add([Document("c", WORDS)], "other", link=link)
    return path


class Said(Progress):
    """Collect the notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def warned(self, message: str) -> None:
        self.notes.append(message)


def questions(path: Path) -> Callable[[], dict[str, Any]]:
    """Ask an index every question."""

    def ask() -> dict[str, Any]:
        said = Said()
        with Index.open(str(path), said) as index, tempfile.TemporaryDirectory() as writable:
            out = Path(writable) / "kept.txt"
            index.export(out, options=ExportOptions())
            return {
                "pairs": [str(pair) for pair in index.pairs(0.8)],
                "expanded": [str(pair) for pair in index.pairs(0.8, expand=True)],
                "query": [str(match) for match in index.query(Document("q", WORDS))],
                "query_many": [str(answer) for answer in index.query_many([Document("q", WORDS), Document("r", "no")])],
                "query_id": [str(match) for match in index.query_id("a")],
                "clusters": [str(cluster) for cluster in index.clusters(0.8, ClusterOptions())],
                "explain": str(index.explain("a", "b").similarity),
                "stats": index.stats().figures.num_documents,
                "contaminated": [str(found) for found in index.contaminated("default", "other")],
                "nearest": [str(found) for found in index.nearest("default", "other")],
                "hottest": str(index.hottest(3)),
                "kept": out.read_text(),
                "notes": said.notes,
            }

    return ask


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(READ_ONLY, 0o777), (READ_ONLY, 0o555), (WRITABLE, 0o555)])
def test_an_index_that_may_only_be_read_answers_every_question(folder: Path, file_mode: int, folder_mode: int) -> None:
    path = make_index(folder)
    expected = questions(path)()
    assert len(expected["pairs"]) == 2
    path.chmod(file_mode)
    folder.chmod(folder_mode)
    assert as_nobody(questions(path)) == expected
    if folder_mode == 0o555:
        assert sorted(left.name for left in folder.iterdir()) == ["crawl.db"]


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(READ_ONLY, 0o777), (READ_ONLY, 0o555), (WRITABLE, 0o555)])
def test_a_reader_in_a_folder_that_is_read_only_sees_what_a_writer_has_in_the_log(
    folder: Path, file_mode: int, folder_mode: int
) -> None:
    path = make_index(folder)
    with Index.open(str(path)) as writer:
        writer.add([Document("late", WORDS)])
        expected = questions(path)()
        assert expected["stats"] == 4
        for file in folder.iterdir():
            file.chmod(file_mode)
        folder.chmod(folder_mode)
        assert as_nobody(questions(path)) == expected


def test_commits_in_a_log_that_cannot_be_read_are_an_error_and_not_left_out(folder: Path) -> None:
    path = make_index(folder)
    with Index.open(str(path)) as writer:
        writer.add([Document("late", WORDS)])
        copied = folder / "copied"
        copied.mkdir()
        for suffix in ("", "-wal"):
            (copied / f"crawl.db{suffix}").write_bytes(Path(f"{path}{suffix}").read_bytes())
    copied.chmod(0o555)
    error = as_nobody(lambda: failure(lambda: Index.open(str(copied / "crawl.db"))))
    assert isinstance(error, FileUnusable)
    assert "crawl.db-wal holds commits" in str(error)


def failure(function: Callable[[], object]) -> LshdbError | None:
    """The error that it raises."""
    try:
        function()
    except LshdbError as error:
        return error
    return None


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(READ_ONLY, 0o777), (READ_ONLY, 0o555), (WRITABLE, 0o555)])
def test_what_would_write_says_that_the_index_is_read_only(folder: Path, file_mode: int, folder_mode: int) -> None:
    path = make_index(folder)
    before = path.read_bytes()
    path.chmod(file_mode)
    folder.chmod(folder_mode)

    def try_all() -> list[LshdbError | None]:
        with Index.open(str(path)) as index:
            return [
                failure(lambda: index.add([Document("d", WORDS)])),
                failure(lambda: index.ingest([__file__])),
                failure(lambda: index.remove(["a"])),
                failure(lambda: index.reband(0.7)),
                failure(index.measure),
                failure(index.vacuum),
            ]

    for error in as_nobody(try_all):
        assert isinstance(error, IndexReadOnly)
        assert error.exit_code == 20
        assert isinstance(error, AccessDenied)
        assert "can be read, but not changed" in str(error)
        assert "server" not in str(error).partition("or name")[0]
        assert "is read-only" in str(error)
    assert path.read_bytes() == before


def test_contents_that_are_not_linked_are_named_and_not_computed_in_vain(folder: Path) -> None:
    path = make_index(folder, link=False)
    path.chmod(READ_ONLY)

    def ask() -> tuple[list[str], list[str]]:
        said = Said()
        with Index.open(str(path), said) as index:
            return [str(pair) for pair in index.pairs(0.8)], said.notes

    # Documents with the same content need no linking.
    pairs, notes = as_nobody(ask)
    assert len(pairs) == 1
    assert notes == ["2 contents are not linked yet and are missing from this answer"]


def test_an_index_that_may_only_be_read_can_be_backed_up_and_copied(folder: Path) -> None:
    path = make_index(folder)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir(mode=0o777)
    elsewhere.chmod(0o777)
    path.chmod(READ_ONLY)
    folder.chmod(0o555)

    def back_up() -> str:
        with Index.open(str(path)) as index:
            index.copy(str(elsewhere / "copy.db"))
        return Index.backup(str(path), elsewhere / "backup.db").revision

    assert as_nobody(back_up) == REVISIONS[-1]
    for made in ("backup.db", "copy.db"):
        assert questions(elsewhere / made)() == questions(path)()


def test_a_file_that_may_not_be_opened_is_no_server_that_does_not_answer(folder: Path) -> None:
    path = make_index(folder)
    path.chmod(0)
    (folder / "a folder").mkdir()
    for place in (path, folder / "a folder"):
        error = as_nobody(lambda place=place: failure(lambda: Store.open(str(place))))  # type: ignore[misc]
        assert isinstance(error, FileUnusable)
        assert "server" not in str(error)
        assert error.exit_code == 21


def test_an_index_cannot_be_made_where_files_cannot(folder: Path, lshdb: Run) -> None:
    ended = lshdb(folder / "nowhere" / "crawl.db", "init")
    assert ended.code == 21
    assert "Check that it is a file in a folder that exists" in ended.err
    folder.chmod(0o555)
    error = as_nobody(lambda: failure(lambda: Index.create(str(folder / "crawl.db"))))
    assert isinstance(error, FileUnusable)
    with pytest.raises(IndexMissing):
        Index.open(str(folder / "crawl.db"))
