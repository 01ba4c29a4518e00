"""Several collections in an index: columns, pairs of chosen collections, and contamination as a check for CI."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lshdb import Index
from lshdb.answers.contamination import Nearest
from lshdb.errors import UsageError
from tests.cli.conftest import ELEVEN, OTHER, TEN, Run, write_jsonl

TWELVE = f"{ELEVEN} twelve"  # shares 7 of 8 with the previous one, 6 of 8 with the one before


NEAREST = ("contaminated", "--measure", "jaccard")


@pytest.fixture
def two(lshdb: Run, url: str, tmp_path: Path) -> str:
    """An index of a training and a test set, both with ids 1, 2, 3."""
    train = write_jsonl(tmp_path / "train.jsonl", {"1": TEN, "2": ELEVEN, "3": OTHER})
    test = write_jsonl(
        tmp_path / "test.jsonl", {"1": TEN.upper(), "2": TWELVE, "3": "no one said this before now", "4": ""}
    )
    assert lshdb(url, "ingest", "--collection", "train", train).code == 0
    assert lshdb(url, "ingest", "--collection", "test", test).code == 0
    return url


def test_dupes_says_whose_the_ids_are_where_there_are_several_collections(lshdb: Run, two: str) -> None:
    ended = lshdb(two, "dupes")
    assert ended.out.splitlines()[0] == "left\tright\tsimilarity\texact\tleft_collection\tright_collection"
    assert ended.rows == [
        ["1", "1", "1.0", "true", "train", "test"],
        ["1", "2", repr(6 / 7), "true", "train", "train"],
        ["2", "2", "0.875", "true", "train", "test"],
    ]
    first = json.loads(lshdb(two, "dupes", "--format", "jsonl").out.splitlines()[0])
    assert first == {
        "left": "1", "right": "1", "similarity": 1.0, "exact": True,
        "left_collection": "train", "right_collection": "test",
    }  # fmt: skip


def test_dupes_within_a_collection_needs_no_more_columns(lshdb: Run, two: str) -> None:
    ended = lshdb(two, "dupes", "--within", "train")
    assert ended.out.splitlines() == ["left\tright\tsimilarity\texact", f"1\t2\t{6 / 7!r}\ttrue"]
    assert lshdb(two, "dupes", "--within", "test").rows == []
    assert lshdb(two, "dupes", "--within", "test", "--min-sim", "0.7").rows == [["1", "2", "0.75", "true"]]


def test_dupes_between_collections_has_the_first_one_on_the_left(lshdb: Run, two: str) -> None:
    rows = [["1", "1", "1.0", "true"], ["2", "2", "0.875", "true"], ["2", "1", repr(6 / 7), "true"]]
    assert lshdb(two, "dupes", "--between", "train", "test").rows == rows
    assert lshdb(two, "dupes", "--between", "train", "test", "--expand").rows == rows
    turned = sorted([right, left, *rest] for left, right, *rest in rows)
    assert sorted(lshdb(two, "dupes", "--between", "test", "train").rows) == turned


def test_a_collection_that_is_not_there_is_an_error_that_names_those_that_are(lshdb: Run, two: str) -> None:
    for arguments in (
        ["dupes", "--within", "nothing"],
        ["dupes", "--between", "train", "nothing"],
        ["contaminated", "--train", "train", "--test", "nothing"],
        [*NEAREST, "--train", "train", "--test", "nothing"],
    ):
        ended = lshdb(two, *arguments)
        assert (ended.code, ended.out) == (42, ""), arguments
        assert ended.err.startswith("lshdb: There is no collection 'nothing' in index ")
        assert ended.err.endswith(". It has: 'test', 'train'.\n")


def test_collections_that_make_no_sense_are_usage_errors(lshdb: Run, two: str) -> None:
    for arguments in (
        ["dupes", "--between", "train", "train"],
        ["dupes", "--between", "train", "test", "--within", "test"],
        ["dupes", "--between", "train"],
        ["contaminated", "--train", "train", "--test", "train"],
        ["contaminated", "--train", "train"],
        [*NEAREST, "--train", "train", "--test", "train"],
        [*NEAREST, "--train", "train", "--test", "test", "--min-sim", "0.3"],
        ["contaminated", "--train", "train", "--test", "test", "--max-share", "2"],
    ):
        ended = lshdb(two, *arguments)
        assert (ended.code, ended.out) == (2, ""), arguments


def test_query_says_whose_the_ids_are(lshdb: Run, two: str, tmp_path: Path) -> None:
    (tmp_path / "ten.txt").write_text(TEN)
    ended = lshdb(two, "query", tmp_path / "ten.txt")
    assert ended.out.splitlines()[0] == "id\tsimilarity\texact\tcollection"
    assert ended.rows[:2] == [["1", "1.0", "true", "train"], ["1", "1.0", "true", "test"]]


def test_a_query_for_an_id_leaves_out_that_document_and_not_its_namesakes(lshdb: Run, two: str) -> None:
    rows = lshdb(two, "query", "--id", "1", "--collection", "test").rows
    assert rows == [["1", "1.0", "true", "train"], ["2", repr(6 / 7), "true", "train"]]


def test_jaccard_lists_test_documents_with_the_nearest_training_document(lshdb: Run, two: str) -> None:
    ended = lshdb(two, *NEAREST, "--train", "train", "--test", "test")
    assert ended.code == 1
    assert ended.out.splitlines()[0] == "test\ttrain\tsimilarity\texact"
    assert ended.rows == [["1", "1", "1.0", "true"], ["2", "2", "0.875", "true"]]
    assert ended.err == "2 of 4 documents of test (50 %) are near-duplicates of documents of train at 0.8\n"


def test_contaminated_lists_the_clean_ones_too_where_that_is_asked(lshdb: Run, two: str) -> None:
    ended = lshdb(two, *NEAREST, "--train", "train", "--test", "test", "--all", "--format", "jsonl")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert [line["test"] for line in lines] == ["1", "2", "3", "4"]
    assert lines[2] == {"test": "3", "train": None, "similarity": None, "exact": None}
    table = lshdb(two, *NEAREST, "--train", "train", "--test", "test", "--all", "--format", "table")
    assert table.out.splitlines()[2:] == ["0.8750      2     2", "            3", "            4"]
    csv = lshdb(two, *NEAREST, "--train", "train", "--test", "test", "--all", "--format", "csv")
    assert csv.out.splitlines()[-1] == "4,,,"


def test_contaminated_ends_with_1_beyond_the_share_that_is_allowed(lshdb: Run, two: str) -> None:
    arguments = [*NEAREST, "--train", "train", "--test", "test", "--max-share"]
    assert [lshdb(two, *arguments, share).code for share in ("0", "0.49", "0.5", "1")] == [1, 1, 0, 0]


def test_contaminated_ends_with_0_where_nothing_is(lshdb: Run, two: str, tmp_path: Path) -> None:
    assert (
        lshdb(
            two, "ingest", "--collection", "clean", write_jsonl(tmp_path / "c.jsonl", {"1": "quite another text"})
        ).code
        == 0
    )
    ended = lshdb(two, *NEAREST, "--train", "train", "--test", "clean")
    assert (ended.code, ended.rows) == (0, [])
    assert ended.err == "0 of 1 document of clean (0 %) are near-duplicates of documents of train at 0.8\n"
    assert lshdb(two, "--quiet", *NEAREST, "--train", "train", "--test", "clean").err == ""


def test_contaminated_takes_the_similarity_that_is_asked_for(lshdb: Run, two: str) -> None:
    ended = lshdb(two, *NEAREST, "--train", "train", "--test", "test", "--min-sim", "0.9")
    assert ended.rows == [["1", "1", "1.0", "true"]]
    assert ended.err.endswith("(25 %) are near-duplicates of documents of train at 0.9\n")


def test_a_program_asks_the_same(two: str) -> None:
    with Index.open(two) as index:
        assert index.collections() == ["test", "train"]
        assert next(index.nearest("train", "test")) == Nearest("1", "1", 1.0, True)
        [pair] = index.pairs(within="train")
        assert (pair.left, pair.right, pair.left_collection, pair.right_collection) == ("1", "2", "train", "train")
        first = next(index.pairs(between=("test", "train")))
        assert (first.left_collection, first.right_collection) == ("test", "train")
        with pytest.raises(UsageError):
            next(index.pairs(between=("test", "test")))


def test_stats_lists_the_collections_where_there_are_several(lshdb: Run, two: str, tmp_path: Path) -> None:
    assert "collections test 4, train 3" in lshdb(two, "stats").out.splitlines()
    assert json.loads(lshdb(two, "stats", "--json").out)["collections"] == {"test": 4, "train": 3}
    only = str(tmp_path / "only.db")
    lshdb(only, "ingest", tmp_path / "train.jsonl")
    assert "collections" not in lshdb(only, "stats").out
