"""``contaminated``: runs of words that test documents share with training documents, as a check for CI."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lshdb.cli.contaminated import contaminated
from tests.cli.conftest import ELEVEN, OTHER, TEN, Run, write_jsonl

PAGE = f"before it {OTHER} {ELEVEN}, and {'more ' * 500} after it"
HEADER = "test\ttrain\tshare\tlongest\tnum_words\tnum_train"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Training pages in a folder, and questions in a file, both under the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").mkdir()
    write_jsonl(tmp_path / "corpus" / "pages.jsonl", {"page": PAGE, "other page": "nothing at all"})
    write_jsonl(tmp_path / "questions.jsonl", {"1": TEN.upper(), "2": "no one said this", "3": OTHER, "4": ""})
    return "./corpus", "questions.jsonl"


@pytest.fixture
def index(lshdb: Run, url: str, files: tuple[str, str]) -> str:
    """An index with the same documents in two collections."""
    for name, path in zip(("train", "test"), files, strict=True):
        assert lshdb(url, "ingest", "--collection", name, path).code == 0
    return url


ROWS = [["1", "page", "1.0", "10", "10", "1"], ["3", "page", "1.0", "10", "10", "1"]]


def test_files_need_no_index(lshdb: Run, files: tuple[str, str], tmp_path: Path) -> None:
    ended = lshdb(tmp_path / "none.db", "contaminated", "--train", files[0], "--test", files[1])
    assert (ended.code, ended.rows) == (1, ROWS)
    assert ended.out.splitlines()[0] == HEADER
    assert ended.err == (
        "2 of 4 documents of questions.jsonl (50 %) share 13 words in a row with documents of ./corpus; 83.3 % of all "
        "words are covered, at most 10 in a row\n"
    )
    assert not (tmp_path / "none.db").exists()


def test_collections_and_files_are_told_apart(lshdb: Run, index: str, files: tuple[str, str]) -> None:
    for train in ("train", files[0]):
        for test in ("test", files[1]):
            ended = lshdb(index, "contaminated", "--train", train, "--test", test)
            assert (ended.code, ended.rows) == (1, ROWS)
            assert f"documents of {test} (50 %)" in ended.err


def test_a_collection_comes_before_a_file_of_its_name(lshdb: Run, index: str, tmp_path: Path) -> None:
    (tmp_path / "test").write_text("quite another text")
    assert lshdb(index, "contaminated", "--train", "train", "--test", "test").rows == ROWS
    assert lshdb(index, "contaminated", "--train", "train", "--test", "./test").rows == []


def test_the_words_in_a_row_are_chosen(lshdb: Run, index: str) -> None:
    ended = lshdb(index, "contaminated", "--train", "train", "--test", "test", "--ngram", "2")
    assert [row[-1] for row in ended.rows] == ["1", "2"], "both pages say: at all"
    assert "share 2 words in a row" in ended.err


def test_show_prints_the_passage_as_the_test_document_writes_it(lshdb: Run, index: str) -> None:
    ended = lshdb(index, "contaminated", "--train", "train", "--test", "test", "--show")
    assert [row[-1] for row in ended.rows] == [TEN.upper(), OTHER]


def test_json_lines_have_the_places_in_both_documents(lshdb: Run, index: str) -> None:
    arguments = ("contaminated", "--train", "train", "--test", "test", "--format", "jsonl")
    first = json.loads(lshdb(index, *arguments).out.splitlines()[0])
    run = {
        "num_words": 10,
        "test": {"first_word": 0, "end_word": 10, "first_byte": 0, "end_byte": 48},
        "train": {"first_word": 12, "end_word": 22, "first_byte": 53, "end_byte": 101},
    }
    assert PAGE[53:101] == TEN
    assert first == {
        "test": "1", "train": "page", "share": 1.0, "longest": 10, "num_words": 10, "num_train": 1,
        "matches": [{"train": "page", "num_covered": 10, "longest": 10, "runs": [run]}],
    }  # fmt: skip
    shown = json.loads(lshdb(index, *arguments, "--show").out.splitlines()[0])
    assert shown["passage"] == TEN.upper()
    assert shown["matches"][0]["runs"] == [run | {"passage": TEN.upper()}]


def test_all_lists_clean_documents_too(lshdb: Run, index: str) -> None:
    arguments = ("contaminated", "--train", "train", "--test", "test", "--all")
    assert lshdb(index, *arguments).rows == [
        ROWS[0],
        ["2", "", "0.0", "0", "4", "0"],
        ROWS[1],
        ["4", "", "0.0", "0", "0", "0"],
    ]


def test_several_test_sides_are_summed_up_one_by_one(lshdb: Run, index: str, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "clean.jsonl", {"c": "quite another text"})
    arguments = ("contaminated", "--train", "train", "--test", "test", "--test", "clean.jsonl")
    ended = lshdb(index, *arguments)
    assert ended.out.splitlines()[0] == f"{HEADER}\tcollection"
    assert [row[-1] for row in ended.rows] == ["test", "test"]
    assert [line.split(" share ")[0] for line in ended.err.splitlines()] == [
        "2 of 4 documents of test (50 %)",
        "0 of 1 document of clean.jsonl (0 %)",
    ]
    assert lshdb(index, *arguments, "--max-share", "0.4").code == 1, "2 of 5, but 2 of 4 of one of them"
    assert lshdb(index, *arguments, "--max-share", "0.5").code == 0


def test_it_ends_with_1_beyond_the_share_that_is_allowed(lshdb: Run, index: str) -> None:
    for max_share, code in (("0", 1), ("0.49", 1), ("0.5", 0), ("1", 0)):
        ended = lshdb(index, "-q", "contaminated", "--train", "train", "--test", "test", "--max-share", max_share)
        assert (ended.code, ended.err) == (code, ""), max_share


def test_texts_that_are_gone_are_an_error_after_the_answer(lshdb: Run, url: str, files: tuple[str, str]) -> None:
    assert lshdb(url, "ingest", "--no-keep-text", "--collection", "train", files[0]).code == 0
    (Path(files[0]) / "pages.jsonl").write_text(json.dumps({"id": "page", "text": PAGE}) + "\n{}\n")
    ended = lshdb(url, "contaminated", "--train", "train", "--test", files[1])
    assert (ended.code, ended.rows) == (53, ROWS)
    assert ended.err.startswith("lshdb: 1 texts of index ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--train", "train", "--test", "test", "--min-sim", "0.9"],
        ["--train", "train", "--test", "test", "--ngram", "0"],
        ["--train", "train", "--test", "test", "--ngram", "101"],
        ["--train", "train", "--test", "test", "--measure", "jaccard", "--ngram", "8"],
        ["--train", "train", "--test", "test", "--measure", "jaccard", "--show"],
        ["--train", "train", "--test", "test", "--measure", "jaccard", "-k", "3"],
        ["--train", "train", "--test", "test", "--test", "train", "--measure", "jaccard"],
        ["--train", "./corpus", "--test", "./corpus"],
        ["--train", "train"],
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("files")
def test_what_makes_no_sense_is_a_usage_error(arguments: list[str], lshdb: Run, tmp_path: Path) -> None:
    ended = lshdb(tmp_path / "none.db", "contaminated", *arguments)
    assert (ended.code, ended.out) == (2, "")


def test_neither_a_collection_nor_a_file_is_an_error(lshdb: Run, index: str, tmp_path: Path) -> None:
    assert lshdb(index, "contaminated", "--train", "train", "--test", "nothing").code == 42
    assert lshdb(index, "contaminated", "--train", "train", "--test", "./nothing").code == 31
    assert lshdb(tmp_path / "none.db", "contaminated", "--train", "train", "--test", "questions.jsonl").code == 11


def test_help_says_in_its_first_sentence_what_it_sees_and_what_not() -> None:
    first = (contaminated.__doc__ or "").partition(".")[0]
    assert "share a run of words" in first
    assert "not paraphrases" in first
