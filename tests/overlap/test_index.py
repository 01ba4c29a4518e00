"""Overlaps between collections of an index, with and without kept texts, and between files."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from lshdb import Index
from lshdb.errors import PathMissing, SearchIncomplete, SourceUnreadable, UsageError
from lshdb.ingest.options import Budgets, IngestOptions
from lshdb.model.overlap import Overlap, OverlapOptions
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.model.values import Document, Rejection
from lshdb.overlap.files import FileTraining
from lshdb.overlap.search import overlaps
from lshdb.overlap.tested import of_files
from lshdb.readers import ReadOptions
from tests.cli.conftest import write_jsonl
from tests.overlap.brute import expected

SIZE = OverlapOptions(ngram=5)


def sentence(chance: random.Random, num_words: int) -> str:
    return " ".join(chance.choices([f"w{number}" for number in range(400)], k=num_words))


@pytest.fixture(scope="module")
def corpus() -> dict[str, str]:
    """Pages, two of which are copies but for their case."""
    chance = random.Random(7)
    pages = {f"page{number}": sentence(chance, 300) for number in range(40)}
    return pages | {"copy": pages["page3"].upper()}


@pytest.fixture(scope="module")
def questions(corpus: dict[str, str]) -> dict[str, str]:
    """Questions: planted verbatim, with one word changed, unrelated, empty, and shorter than a run."""
    planted = {f"planted{n}": " ".join(corpus[f"page{n}"].split()[50 + n : 75 + n]) for n in range(8)}
    changed = {f"changed{n}": text.replace(text.split()[9], "changed") for n, text in enumerate(planted.values())}
    others = {f"other{n}": sentence(random.Random(n), 25) for n in range(4)}
    return planted | changed | others | {"empty": "", "short": "w1 w2"}


@pytest.fixture
def files(tmp_path: Path, corpus: dict[str, str], questions: dict[str, str]) -> tuple[Path, Path]:
    """The corpus as a folder of text files, and the questions as JSON lines."""
    (tmp_path / "corpus").mkdir()
    for name, text in corpus.items():
        (tmp_path / "corpus" / name).with_suffix(".txt").write_text(text)
    return tmp_path / "corpus", write_jsonl(tmp_path / "questions.jsonl", questions)


def figures(found: Iterable[Overlap]) -> dict[str, tuple[object, ...]]:
    """Return what does not depend on where documents are, by document: without ids of training documents."""
    return {
        one.test: (
            one.num_words,
            one.num_covered,
            one.longest,
            one.num_train,
            [run for match in one.matches[:1] for run in match.runs],
        )
        for one in found
    }


def ingested(url: str, files: tuple[Path, Path], *, keep_text: bool) -> Index:
    index = Index.create(url, {"keep_text": keep_text})
    index.ingest([files[0]], IngestOptions(collection="train"))
    index.ingest([files[1]], IngestOptions(collection="test"))
    return index


def test_files_are_searched_without_an_index(
    files: tuple[Path, Path], corpus: dict[str, str], questions: dict[str, str]
) -> None:
    found = list(Index.contaminated_files(files[0], files[1], SIZE))
    pages = [corpus[name] for name in sorted(corpus)]
    assert [one.test for one in found] == list(questions)
    for one in found:
        said = expected(questions[one.test], pages, 5)
        assert (one.num_words, one.num_covered, one.longest, one.num_train) == (
            said.num_words,
            said.num_covered,
            said.longest,
            said.num_train,
        )
    contaminated = {one.test for one in found if one.is_contaminated}
    assert contaminated >= {f"planted{n}" for n in range(8)} | {f"changed{n}" for n in range(8)}
    assert contaminated.isdisjoint({f"other{n}" for n in range(4)} | {"empty"})
    assert {one.longest for one in found if one.test.startswith("planted")} == {25}


@pytest.mark.parametrize("keep_text", [True, False])
def test_collections_have_the_same_overlaps_as_files(url: str, files: tuple[Path, Path], keep_text: bool) -> None:
    with ingested(url, files, keep_text=keep_text) as index:
        found = list(index.contaminated("train", "test", SIZE))
        assert [one.test for one in found] == sorted(one.test for one in found)
        assert {one.collection for one in found} == {"test"}
        assert figures(found) == figures(Index.contaminated_files(files[0], files[1], SIZE))
        by_name = {one.test: one for one in found}
        both = {str(files[0] / "page3.txt"), str(files[0] / "copy.txt")}
        assert by_name["planted3"].num_train == 2, "both documents of a text that is stored once"
        assert {match.train for match in by_name["planted3"].matches} == both
        (one,) = [one for one in index.contaminated("train", "test", replace(SIZE, k=1)) if one.test == "planted3"]
        assert (one.num_train, len(one.matches)) == (2, 1)
        assert by_name["planted5"].train == str(files[0] / "page5.txt")


def test_a_collection_and_a_file_are_searched_together(url: str, files: tuple[Path, Path], tmp_path: Path) -> None:
    more = tmp_path / "more.txt"
    more.write_text((files[0] / "page1.txt").read_text() + " and more")
    with ingested(url, files, keep_text=True) as index:
        found = {one.test: one for one in index.contaminated(["train", more], files[1], SIZE)}
        assert found["planted1"].num_train == 2
        assert {match.train for match in found["planted1"].matches} == {str(files[0] / "page1.txt"), str(more)}
        assert found["planted2"].num_train == 1
        assert found["planted1"].collection == str(files[1])


def test_texts_that_are_gone_make_the_answer_incomplete(url: str, files: tuple[Path, Path]) -> None:
    with ingested(url, files, keep_text=False) as index:
        (files[0] / "page1.txt").unlink()
        (files[0] / "page2.txt").write_text("changed since")
        found = []
        with pytest.raises(SearchIncomplete, match="2 texts of index"):
            found += index.contaminated("train", "test", SIZE)
        assert {one.test for one in found if one.longest == 25} == {f"planted{n}" for n in (0, 3, 4, 5, 6, 7)}


def test_test_documents_that_are_gone_make_the_answer_incomplete(url: str, files: tuple[Path, Path]) -> None:
    with ingested(url, files, keep_text=False) as index:
        files[1].unlink()
        with pytest.raises(SearchIncomplete, match="21 texts of index"):
            list(index.contaminated("train", "test", SIZE))


def test_other_collections_are_not_searched(url: str, files: tuple[Path, Path], questions: dict[str, str]) -> None:
    with ingested(url, files, keep_text=True) as index:
        index.add([Document("x", questions["other1"])], "elsewhere")
        assert not next(one for one in index.contaminated("train", "test", SIZE) if one.test == "other1").num_train
        both = index.contaminated(["train", "elsewhere"], "test", SIZE)
        assert next(one for one in both if one.test == "other1").train == "x"


def test_every_reader_of_training_files_finds_the_same(files: tuple[Path, Path], tmp_path: Path) -> None:
    shards = tmp_path / "shards"
    shards.mkdir()
    pages = {path.stem: path.read_text() for path in sorted(files[0].iterdir())}
    write_jsonl(shards / "all.jsonl", pages)
    serial = figures(Index.contaminated_files(files[0], files[1], SIZE))
    assert figures(Index.contaminated_files(shards, files[1], SIZE)) == serial
    side = of_files(str(files[1]), Params(), ReadOptions(), lambda _: None)
    for path in (shards, files[0]):
        # Small parts, so that several processes share the work.
        budgets = Budgets(chunk_bytes=9_000, pool_bytes=1)
        training = FileTraining([str(path)], Params(), ReadOptions(), 2, Progress(), budgets)
        found = [replace(one, collection="") for one in overlaps([side], training, SIZE)]
        assert figures(found) == serial


def test_items_that_cannot_be_read_are_reported(files: tuple[Path, Path]) -> None:
    class Listening(Progress):
        def __init__(self) -> None:
            self.items: list[Rejection] = []

        def rejected(self, item: Rejection) -> None:
            self.items.append(item)

    listening = Listening()
    (files[0] / "bad.jsonl").write_text('{"id": "1", "text": "fine"}\nnot json\n')
    list(Index.contaminated_files(files[0], files[1], SIZE, progress=listening))
    assert [item.locator for item in listening.items] == ["line 2"]


REFUSED: dict[str, Callable[[Index, Path], object]] = {
    "one place on both sides": lambda index, _: index.contaminated(["train", "test"], "test"),
    "nothing on one side": lambda index, _: index.contaminated([], "test"),
    "a number": lambda index, _: index.contaminated("train", 7),  # type: ignore[arg-type]
    "one file on both sides": lambda _, file: Index.contaminated_files(file, file),
}


@pytest.mark.parametrize("call", REFUSED)
def test_sides_that_make_no_sense_are_refused_at_the_call(url: str, files: tuple[Path, Path], call: str) -> None:
    with ingested(url, files, keep_text=True) as index, pytest.raises(UsageError):
        REFUSED[call](index, files[1])


def test_an_index_of_sets_has_no_runs_of_words(url: str) -> None:
    with Index.create(url, {"shingle": "set"}) as index, pytest.raises(UsageError, match="sets of features"):
        index.contaminated("train", "test")


def test_a_path_that_is_missing_is_an_error_at_the_call(files: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(PathMissing):
        Index.contaminated_files(files[0], tmp_path / "missing.jsonl")


def test_a_test_file_without_documents_is_an_error(files: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(SourceUnreadable):
        list(Index.contaminated_files(files[0], tmp_path / "empty.jsonl"))
