"""Two sources that bring one id with different texts: which of them has the id, and what becomes of the other."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from lshdb import Conflicts, Document, IdConflict, Index, IngestOptions
from lshdb.ingest.options import Budgets
from lshdb.model.choices import OnConflict
from lshdb.readers import ReadOptions
from lshdb.store.schema import content, content_text
from lshdb.store.store import Store
from lshdb.store.tables.collections import document_pages
from tests.store.conftest import counts

NewUrl = Callable[[], str]
TEXT = "the quick brown fox jumps over the lazy dog and {} of them run away"
# One file a batch, and a few records a chunk.
SMALL = Budgets(chunk_bytes=100, chunk_items=2, batch_documents=1, batch_bytes=1, load_seconds=0.0)


def write(path: Path, texts: dict[str, str], hour: int | None = None) -> Path:
    """Write JSON lines. Args: hour: when the file was changed; now by default."""
    lines = [json.dumps({"id": doc_id, "text": TEXT.format(text)}) for doc_id, text in texts.items()]
    path.write_text("".join(f"{line}\n" for line in lines))
    if hour is not None:
        os.utime(path, (hour * 3600, hour * 3600))
    return path


def ingest(index: Index, *paths: Path, budgets: Budgets | None = None, **options: object) -> tuple[int, ...]:
    """Return the documents (added, updated, unchanged, removed), and assert that nothing was rejected."""
    chosen = IngestOptions(budgets=budgets or Budgets(), **options)  # type: ignore[arg-type]
    counts = index.ingest(paths, chosen).counts
    assert counts.num_rejected == 0
    return counts.num_added, counts.num_updated, counts.num_unchanged, counts.num_removed


def conflicts(index: Index, *paths: Path, on_conflict: OnConflict | None = None) -> Conflicts:
    return index.ingest(paths, IngestOptions(on_conflict=on_conflict)).conflicts


def texts(index: Index) -> dict[str, str]:
    """Return what differs in the text of each document, by id."""
    before, after = TEXT.split("{}")
    with Store.open(index.url) as store, store.reading() as snapshot:
        doc_ids = [doc_id for page in document_pages(snapshot, "default", 100) for doc_id, _ in page]
    found = {doc_id: index.get(doc_id) for doc_id in doc_ids}
    return {doc_id: one.text.removeprefix(before).removesuffix(after) for doc_id, one in found.items() if one}


@pytest.mark.parametrize("budgets", [Budgets(), SMALL], ids=["in one batch", "in several"])
def test_the_newer_file_has_the_id(new_url: NewUrl, tmp_path: Path, budgets: Budgets) -> None:
    old, new = write(tmp_path / "a.jsonl", {"1": "ten"}, hour=1), write(tmp_path / "b.jsonl", {"1": "six"}, hour=2)
    with Index.create(new_url()) as index:
        assert ingest(index, old, new, budgets=budgets) == (1, 1, 0, 0)
        assert texts(index) == {"1": "six"}


@pytest.mark.parametrize("hour", [1, 2], ids=["older", "as old"])
@pytest.mark.parametrize("budgets", [Budgets(), SMALL], ids=["in one batch", "in several"])
def test_what_is_not_newer_gets_an_id_of_its_own(new_url: NewUrl, tmp_path: Path, hour: int, budgets: Budgets) -> None:
    first = write(tmp_path / "a.jsonl", {"1": "ten", "2": "two"}, hour=2)
    second = write(tmp_path / "b.jsonl", {"1": "six", "2": "two", "3": "one"}, hour=hour)
    with Index.create(new_url()) as index:
        assert ingest(index, first, second, budgets=budgets) == (4, 0, 1, 0)
        assert texts(index) == {"1": "ten", f"1@{second}": "six", "2": "two", "3": "one"}
        assert ingest(index, first, second, budgets=budgets) == (0, 0, 5, 0)


def test_conflicts_are_counted(new_url: NewUrl, tmp_path: Path) -> None:
    first = write(tmp_path / "a.jsonl", {"1": "ten", "2": "two", "3": "six"}, hour=2)
    older = write(tmp_path / "b.jsonl", {"1": "six", "2": "two", "3": "one"}, hour=1)
    newer = write(tmp_path / "c.jsonl", {"1": "two"}, hour=3)
    with Index.create(new_url()) as index:
        assert conflicts(index, first, older, newer) == Conflicts(num_replaced=1, num_qualified=2)
        assert conflicts(index, first, older, newer) == Conflicts()


@pytest.mark.parametrize(
    ("on_conflict", "expected", "counted"),
    [
        ("replace", {"1": "six"}, Conflicts(num_replaced=1)),
        ("keep", {"1": "ten"}, Conflicts(num_left_out=1)),
        ("qualify", {"1": "ten", "1@{second}": "six"}, Conflicts(num_qualified=1)),
    ],
)
@pytest.mark.parametrize("hour", [1, 3], ids=["older", "newer"])
def test_the_user_may_choose(
    new_url: NewUrl, tmp_path: Path, on_conflict: OnConflict, expected: dict[str, str], counted: Conflicts, hour: int
) -> None:
    first = write(tmp_path / "a.jsonl", {"1": "ten"}, hour=2)
    second = write(tmp_path / "b.jsonl", {"1": "six"}, hour=hour)
    with Index.create(new_url()) as index:
        assert conflicts(index, first, second, on_conflict=on_conflict) == counted
        assert texts(index) == {doc_id.format(second=second): text for doc_id, text in expected.items()}


def test_a_conflict_may_be_an_error(new_url: NewUrl, tmp_path: Path) -> None:
    first, second = write(tmp_path / "a.jsonl", {"1": "ten"}), write(tmp_path / "b.jsonl", {"1": "six", "2": "two"})
    with Index.create(new_url()) as index:
        ingest(index, first, on_conflict="error")
        with pytest.raises(IdConflict) as raised:
            ingest(index, second, on_conflict="error")
        assert raised.value.fields == {
            "doc_id": "1", "collection": "default", "one": first.as_uri(), "other": second.as_uri()
        }  # fmt: skip
        assert texts(index) == {"1": "ten"}


@pytest.mark.parametrize("budgets", [Budgets(), SMALL], ids=["in one batch", "in several"])
def test_a_record_keeps_its_qualified_id_when_its_file_changes(
    new_url: NewUrl, tmp_path: Path, budgets: Budgets
) -> None:
    first = write(tmp_path / "a.jsonl", {"1": "ten", "2": "two"}, hour=2)
    second = write(tmp_path / "b.jsonl", {"1": "six"}, hour=1)
    with Index.create(new_url()) as index:
        ingest(index, first, second, budgets=budgets)
        # Newer than the first file now.
        write(second, {"1": "six", "3": "one", "4": "few"}, hour=5)
        assert ingest(index, first, second, budgets=budgets) == (2, 0, 3, 0)
        assert texts(index) == {"1": "ten", f"1@{second}": "six", "2": "two", "3": "one", "4": "few"}
        write(second, {"1": "all"}, hour=6)
        assert ingest(index, first, second, budgets=budgets, prune=True) == (0, 1, 2, 2)
        assert texts(index) == {"1": "ten", f"1@{second}": "all", "2": "two"}


def test_a_record_keeps_its_qualified_id_when_the_other_is_gone(new_url: NewUrl, tmp_path: Path) -> None:
    first = write(tmp_path / "a.jsonl", {"1": "ten"}, hour=2)
    second = write(tmp_path / "b.jsonl", {"1": "six"}, hour=1)
    with Index.create(new_url()) as index:
        ingest(index, tmp_path, budgets=SMALL)
        first.unlink()
        assert ingest(index, tmp_path, prune=True) == (0, 0, 1, 1)
        write(second, {"1": "all"})
        assert ingest(index, tmp_path, prune=True) == (0, 1, 0, 0)
        assert texts(index) == {f"1@{second}": "all"}


def test_a_qualified_document_is_pruned_with_its_record_and_with_its_file(new_url: NewUrl, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", {"1": "ten", "2": "two"}, hour=2)
    second = write(tmp_path / "b.jsonl", {"1": "six", "2": "one"}, hour=1)
    with Index.create(new_url()) as index:
        ingest(index, tmp_path)
        write(second, {"1": "six"})
        assert ingest(index, tmp_path, prune=True) == (0, 0, 3, 1)
        assert texts(index) == {"1": "ten", "2": "two", f"1@{second}": "six"}
        second.unlink()
        assert ingest(index, tmp_path, prune=True) == (0, 0, 2, 1)
        assert texts(index) == {"1": "ten", "2": "two"}


def test_two_files_that_swap_their_names_swap_their_texts(new_url: NewUrl, tmp_path: Path) -> None:
    first = write(tmp_path / "a.jsonl", {"1": "ten", "2": "some"}, hour=2)
    second = write(tmp_path / "b.jsonl", {"1": "six"}, hour=1)
    with Index.create(new_url()) as index:
        ingest(index, tmp_path)
        first.rename(tmp_path / "c"), second.rename(first), (tmp_path / "c").rename(second)
        assert ingest(index, tmp_path, prune=True) == (0, 2, 1, 0)
        assert texts(index) == {"1": "six", f"1@{second}": "ten", "2": "some"}
        assert ingest(index, tmp_path, prune=True) == (0, 0, 3, 0)


def test_a_renamed_file_keeps_its_ids(new_url: NewUrl, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"1": "ten", "2": "two"}, hour=2)
    with Index.create(new_url()) as index:
        ingest(index, tmp_path)
        path.rename(tmp_path / "b.jsonl")
        assert ingest(index, tmp_path, prune=True) == (0, 0, 2, 0)
        assert texts(index) == {"1": "ten", "2": "two"}


def test_choosing_to_keep_both_brings_back_what_was_replaced(new_url: NewUrl, tmp_path: Path) -> None:
    first = write(tmp_path / "a.jsonl", {"1": "ten"}, hour=1)
    second = write(tmp_path / "b.jsonl", {"1": "six"}, hour=2)
    with Index.create(new_url()) as index:
        ingest(index, first, second)
        ingest(index, first, second, on_conflict="qualify")
        assert texts(index) == {"1": "six", f"1@{first}": "ten"}
        assert ingest(index, first, second, on_conflict="qualify") == (0, 0, 2, 0)
        assert ingest(index, first, second) == (0, 0, 2, 0)


def test_an_id_that_looks_qualified_and_belongs_to_a_third_file_is_not_taken(new_url: NewUrl, tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    write(first, {"1": "ten", f"1@{second}": "few"}, hour=2)
    write(second, {"1": "six"}, hour=1)
    with Index.create(new_url()) as index:
        ingest(index, first, second)
        expected = {"1": "ten", f"1@{second}": "few", f"1@{second}@{second}": "six"}
        assert texts(index) == expected
        write(second, {"1": "six"}, hour=9)
        assert ingest(index, first, second) == (0, 0, 3, 0)
        assert texts(index) == expected


def test_files_with_one_relative_name_are_both_kept(new_url: NewUrl, tmp_path: Path) -> None:
    paths = [tmp_path / folder / "x.txt" for folder in ("one", "two")]
    with Index.create(new_url()) as index:
        for path, text in zip(paths, ("ten", "six"), strict=True):
            path.parent.mkdir()
            path.write_text(TEXT.format(text))
            os.utime(path, (0, 0))
            ingest(index, path, read=ReadOptions(base=path.parent))
        assert texts(index) == {"x.txt": "ten", f"x.txt@{paths[1]}": "six"}


@pytest.mark.parametrize("budgets", [Budgets(), SMALL], ids=["in one batch", "in several"])
def test_an_id_that_a_file_brings_twice_is_counted(new_url: NewUrl, tmp_path: Path, budgets: Budgets) -> None:
    path = tmp_path / "a.jsonl"
    records = [("1", "ten"), ("2", "two"), ("1", "ten"), ("3", "one"), ("1", "six")]
    path.write_text("".join(json.dumps({"id": doc_id, "text": TEXT.format(text)}) + "\n" for doc_id, text in records))
    with Index.create(new_url()) as index:
        report = index.ingest(path, IngestOptions(budgets=budgets))
        assert report.conflicts == Conflicts(num_repeated=1)
        assert texts(index) == {"1": "six", "2": "two", "3": "one"}
        write(path, {"1": "few"})
        assert index.ingest(path, IngestOptions(budgets=budgets)).conflicts == Conflicts()


def test_a_document_that_a_program_added_is_replaced(new_url: NewUrl, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"1": "ten"}, hour=1)
    with Index.create(new_url()) as index:
        index.add([Document("1", TEXT.format("six"))])
        assert conflicts(index, path) == Conflicts()
        assert texts(index) == {"1": "ten"}
        index.add([Document("1", TEXT.format("six"))])
        assert texts(index) == {"1": "six"}


def test_text_that_is_left_out_leaves_nothing_behind(new_url: NewUrl, tmp_path: Path) -> None:
    first, second = write(tmp_path / "a.jsonl", {"1": "ten"}), write(tmp_path / "b.jsonl", {"1": "six"})
    with Index.create(new_url()) as index:
        ingest(index, first, second, on_conflict="keep")
        assert counts(index.url, content, content_text) == [1, 1]


@pytest.mark.postgres
def test_four_writers_at_once_lose_nothing(new_postgres_url: NewUrl, tmp_path: Path) -> None:
    url = new_postgres_url()
    ids = [str(number) for number in range(20)]
    paths = [
        write(tmp_path / f"{name}.jsonl", {doc_id: f"{name} {doc_id}" for doc_id in ids}, hour=1) for name in "abcd"
    ]
    Index.create(url).close()

    def ingest_one(path: Path) -> None:
        with Index.open(url) as index:
            ingest(index, path, budgets=SMALL)

    threads = [threading.Thread(target=ingest_one, args=(path,)) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Index.open(url) as index:
        found = texts(index)
        assert sorted(found.values()) == sorted(f"{name} {doc_id}" for name in "abcd" for doc_id in ids)
        assert all(doc_id.split("@")[0] == text.split()[1] for doc_id, text in found.items())
        assert ingest(index, *paths) == (0, 0, 80, 0)
