"""Many questions at once give the answers that each of them gives alone."""

from __future__ import annotations

import errno
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from lshdb import Answer, BadDocument, Document, Index, InvalidParams, SourceUnreadable
from lshdb.answers.asking import Questions
from lshdb.answers.many import Limits, Question, answered
from lshdb.model.params import Params
from lshdb.model.values import Rejection
from lshdb.readers import ReadOptions

WORDS = [f"word{number}" for number in range(300)]


def texts(count: int, seed: int) -> Iterator[str]:
    """Yield texts in families: each is a part of the words with a few others."""
    chance = random.Random(seed)
    for number in range(count):
        begin = 10 * (number % 20)
        words = WORDS[begin : begin + 80]
        for _ in range(number % 7):
            words[chance.randrange(80)] = f"other{chance.randrange(1000)}"
        yield " ".join(words)


@pytest.fixture
def index(url: str) -> Iterator[Index]:
    """An index of texts in families, some of them in a second collection, and an empty document."""
    with Index.create(url, {"min_sim": 0.7}) as index:
        index.add(Document(f"d{number}", text) for number, text in enumerate(texts(150, seed=1)))
        index.add([Document("copy", next(texts(1, seed=1)).upper()), Document("empty")], "other")
        yield index


def questions() -> list[Document]:
    """Return documents of which most have near-duplicates, an unrelated one and an empty one."""
    asked = [Document(f"q{number}", text) for number, text in enumerate(texts(100, seed=2))]
    return [*asked, Document("unrelated", " ".join(f"strange{number}" for number in range(50))), Document("nothing")]


@pytest.mark.parametrize("least", [None, 0.55, 0.95, 0.0])
def test_the_answers_are_those_of_single_questions_in_their_order(index: Index, least: float | None) -> None:
    asked = questions()
    assert list(index.query_many(iter(asked), least)) == [
        Answer(one.doc_id, tuple(index.query(one, least))) for one in asked
    ]
    assert sum(len(answer.matches) for answer in index.query_many(asked, least)) > 10


def test_the_nearest_of_each_question_are_chosen(index: Index) -> None:
    for k in (1, 2, 1000):
        assert [answer.matches for answer in index.query_many(questions(), k=k)] == [
            tuple(index.query(one)[:k]) for one in questions()
        ]
    with pytest.raises(InvalidParams):
        index.query_many(questions(), k=0)


def test_the_answers_do_not_depend_on_how_much_is_handled_at_a_time(index: Index) -> None:
    store = index._store
    asked = [Question(document) for document in questions()]
    together = list(answered(store, asked, 0.7, None))
    for limits in (Limits(documents=7), Limits(characters=1), Limits(candidates=3), Limits(shingles=100)):
        assert list(answered(store, asked, 0.7, None, limits)) == together, limits


def test_a_document_that_no_text_is_like_is_new(index: Index) -> None:
    (seen, unrelated, nothing) = index.query_many([questions()[0], *questions()[-2:]])
    assert (seen.is_new, unrelated.is_new, nothing.is_new) == (False, True, True)


def test_an_index_without_texts_estimates_and_one_of_new_bands_is_asked_for_them(url: str) -> None:
    with Index.create(url, {"keep_text": False, "min_sim": 0.7}) as index:
        index.add(Document(f"d{number}", text) for number, text in enumerate(texts(100, seed=1)))
        index.reband(0.6)
        found = list(index.query_many(questions(), 0.7))
        assert found == [Answer(one.doc_id, tuple(index.query(one, 0.7))) for one in questions()]
    assert not any(match.exact for answer in found for match in answer.matches)


def test_sets_are_asked_about_too(url: str) -> None:
    with Index.create(url, {"shingle": "set"}) as index:
        index.add([Document("a", features=tuple("abcdefghij")), Document("b", features=tuple("abcdefghi"))])
        (answer,) = index.query_many(Document("?", features=tuple("jabcdefghi")))
    assert [(match.id, match.similarity) for match in answer.matches] == [("a", 1.0), ("b", 0.9)]


def test_documents_are_taken_as_answers_are_read(index: Index) -> None:
    taken: list[int] = []

    def endless() -> Iterator[Question]:
        for number, text in enumerate(texts(1_000_000, seed=3)):
            taken.append(number)
            yield Question(Document(str(number), text))

    found = list(islice(answered(index._store, endless(), 0.7, 1, Limits(documents=10)), 15))
    assert len(found) == 15
    assert len(taken) <= 50


def test_a_bad_document_is_an_error(index: Index) -> None:
    with pytest.raises(BadDocument):
        list(index.query_many([Document("a", "text"), Document("b", features=("one",))]))


def test_nothing_is_added(index: Index, tmp_path: Path) -> None:
    (tmp_path / "new.txt").write_text("a new text of some words that nobody has seen")
    before = index.stats()
    assert len(list(index.query_many(questions()))) == len(questions())
    assert [answer.is_new for answer in index.query_files(tmp_path)] == [True]
    assert index.stats() == before


def test_files_are_asked_about_by_the_ids_that_an_ingest_gives_them(index: Index, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(next(texts(1, seed=1)))
    (tmp_path / "b.jsonl").write_text('{"id": 7, "text": "new"}\n{"text": "no id"}\n')
    found = list(index.query_files(tmp_path, k=1))
    assert [(answer.question, answer.locator, len(answer.matches)) for answer in found] == [
        (f"{tmp_path}/a.txt", "", 1),
        ("7", "line 1", 0),
        (f"{tmp_path}/b.jsonl#2", "line 2", 0),
    ]


def test_a_file_of_lines_that_cannot_be_opened_is_rejected_for_the_reason_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    (tmp_path / "new.jsonl").write_text('{"text": "new"}\n')
    monkeypatch.setattr("lshdb.answers.asking.open_regular", refuse)
    rejected = list[Rejection]()
    with pytest.raises(SourceUnreadable):
        list(Questions([str(tmp_path)], ReadOptions(), Params(), rejected.append, with_lines=True))
    assert rejected == [Rejection((tmp_path / "new.jsonl").as_uri(), "", "Permission denied")]


def test_files_that_are_mostly_unreadable_are_an_error_at_their_end(index: Index, tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_text('{"id": 1, "text": "new"}\nno json\n[]\n')
    answers = index.query_files(tmp_path / "new.jsonl")
    with pytest.raises(SourceUnreadable, match="2 of 3 records could not be read"):
        list(answers)
    (tmp_path / "new.jsonl").write_text('{"id": 1, "text": "new"}\nno json\n')
    assert len(list(index.query_files(tmp_path / "new.jsonl"))) == 1
