"""The door: what `Index` does itself, before and after it asks the packages."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

import lshdb
from lshdb import (
    BelowFloor,
    ClusterOptions,
    CollectionUnknown,
    Document,
    Index,
    IndexRebanded,
    IngestOptions,
    Params,
    ParamsMismatch,
    ReadOptions,
    TextsNotKept,
    UsageError,
)

WORDS = "one two three four five six seven eight nine ten"


@pytest.fixture
def index(url: str) -> Index:
    """An index of two near-duplicates in one collection and a copy in another."""
    index = Index.ensure(url)
    index.add([Document("a", WORDS), Document("b", f"{WORDS} eleven"), Document("empty")])
    index.add([Document("a", WORDS.upper())], "other")
    return index


ASKED: dict[str, Callable[[Index, float | None], object]] = {
    "pairs": lambda index, least: index.pairs(least),
    "nearest": lambda index, least: index.nearest("default", "other", least),
    "clusters": lambda index, least: index.clusters(least),
    "members": lambda index, least: index.members(least),
}


@pytest.mark.parametrize("question", ASKED)
def test_a_similarity_below_the_floor_is_refused_at_the_call(question: str, index: Index) -> None:
    with index, pytest.raises(BelowFloor):
        ASKED[question](index, 0.1)


def test_the_default_similarity_of_an_index_may_be_below_its_floor_too(new_url: Callable[[], str]) -> None:
    with Index.create(new_url(), Params(floor=0.9, min_sim=0.8)) as index, pytest.raises(BelowFloor):
        index.pairs()


IN_NOTHING: dict[str, Callable[[Index], object]] = {
    "pairs within": lambda index: index.pairs(within="nothing"),
    "pairs between": lambda index: index.pairs(between=("default", "nothing")),
    "contaminated": lambda index: index.contaminated("default", "nothing"),
    "nearest": lambda index: index.nearest("default", "nothing"),
    "clusters": lambda index: index.clusters(options=ClusterOptions(within="nothing")),
    "members": lambda index: index.members(options=ClusterOptions(within="nothing")),
}


@pytest.mark.parametrize("question", IN_NOTHING)
def test_a_collection_without_documents_is_refused_at_the_call(question: str, index: Index) -> None:
    with index, pytest.raises(CollectionUnknown):
        IN_NOTHING[question](index)


def test_arguments_that_contradict_each_other_are_refused_at_the_call(index: Index) -> None:
    with index:
        for question in (
            lambda: index.pairs(between=("default", "default")),
            lambda: index.pairs(between=("default", "other"), within="other"),
            lambda: index.contaminated("other", "other"),
            lambda: index.contaminated([], "other"),
            lambda: index.nearest("other", "other"),
            lambda: index.clusters(options=ClusterOptions(prefer=("(",))),
        ):
            with pytest.raises(UsageError):
                question()


def test_an_index_is_linked_when_it_is_asked_not_when_the_answer_is_read(url: str) -> None:
    with Index.ensure(url) as index:
        index.add([Document("a", WORDS), Document("b", f"{WORDS} eleven")], link=False)
        answer = index.pairs()
        assert index.stats().figures.num_unlinked == 0
        assert [(pair.left, pair.right) for pair in answer] == [("a", "b")]


def test_its_length_is_the_number_of_documents_of_all_collections(index: Index, new_url: Callable[[], str]) -> None:
    with index:
        assert len(index) == 4
    with Index.create(new_url()) as empty:
        assert len(empty) == 0
        assert empty, "an index without documents is still an index"


def test_it_contains_the_documents_of_the_default_collection(index: Index) -> None:
    with index:
        assert "a" in index
        assert "empty" in index
        assert "c" not in index
        assert 1 not in index


def test_a_document_is_got_as_it_is_stored(index: Index, tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"id": "c", "text": "from a file"}\n')
    with index:
        index.ingest([tmp_path / "c.jsonl"], IngestOptions(read=ReadOptions()))
        assert index.get("a") == Document("a", WORDS)
        assert index.get("a", "other") == Document("a", WORDS), "two documents with the same words share a text"
        assert index.get("empty") == Document("empty")
        assert index.get("nobody") is None
        got = index.get("c")
    assert got is not None
    assert (got.text, got.source, got.locator) == ("from a file", (tmp_path / "c.jsonl").as_uri(), "line 1")


def test_a_set_is_got_as_its_features(new_url: Callable[[], str]) -> None:
    with Index.create(new_url(), {"shingle": "set"}) as index:
        index.add([Document("s", features=("b", "a", "b")), Document("none", features=())])
        assert index.get("s") == Document("s", features=("a", "b"))
        assert index.get("none") == Document("none", features=())


def test_a_text_that_is_not_kept_cannot_be_got(new_url: Callable[[], str]) -> None:
    with Index.create(new_url(), {"keep_text": False}) as index:
        index.add([Document("a", WORDS)])
        assert index.get("nobody") is None
        with pytest.raises(TextsNotKept):
            index.get("a")


def test_an_index_is_created_from_some_of_its_parameters(new_url: Callable[[], str]) -> None:
    url = new_url()
    with Index.create(url, {"min_sim": 0.6, "recall": 0.99}) as index:
        assert (index.params.min_sim, index.params.recall >= 0.99) == (0.6, True)
        index.add(Document("a", WORDS))
    with pytest.raises(ParamsMismatch, match=r"created with --min-sim 0\.6, not 0\.7"):
        Index.ensure(url, {"min_sim": 0.7})
    Index.ensure(url).close()


def test_an_index_without_documents_takes_new_parameters_and_keeps_the_others(new_url: Callable[[], str]) -> None:
    url = new_url()
    Index.create(url, {"min_sim": 0.3, "recall": 0.9, "shingle": "char:7", "seed": 5}).close()
    with Index.ensure(url, {"min_sim": 0.8}) as index:
        assert index.params == Params(shingle="char:7", seed=5)
    with Index.ensure(url, {"shingle": "word:3"}) as index:
        assert index.params == Params(shingle="word:3", seed=5)
        index.add(Document("a", WORDS))
    with pytest.raises(ParamsMismatch, match=r"created with --shingle word:3, not word:5\. Omit the option, or"):
        Index.ensure(url, {"shingle": "word:5"})
    with Index.open(url) as index:
        assert index.params.shingle == "word:3"
        index.remove("a")
    with Index.ensure(url, {"shingle": "word:5"}) as index:
        assert index.params == Params(seed=5)


def test_a_process_that_opened_the_index_with_other_parameters_writes_nothing(new_url: Callable[[], str]) -> None:
    url = new_url()
    with Index.create(url, {"shingle": "char:7"}) as early:
        Index.ensure(url, {"shingle": "word:5"}).close()
        with pytest.raises(IndexRebanded):
            early.add(Document("a", WORDS))


@pytest.mark.parametrize(
    ("chosen", "advice"),
    [
        ({"min_sim": 0.7}, r"To change this one: lshdb --db \S+ reband --min-sim 0\.7$"),
        ({"recall": 0.99999}, r"To change this one: lshdb --db \S+ reband --min-sim 0\.8 --recall 0\.99999$"),
        ({"min_sim": 0.01}, r"or create another index with --db\.$"),
        ({"keep_text": False}, r"or create another index with --db\.$"),
    ],
)
def test_other_parameters_are_refused_with_the_command_that_helps(
    chosen: dict[str, object], advice: str, new_url: Callable[[], str]
) -> None:
    url = new_url()
    with Index.create(url) as index:
        index.add(Document("a", WORDS))
    with pytest.raises(ParamsMismatch, match=advice):
        Index.ensure(url, chosen)


@pytest.mark.parametrize(
    "chosen", [{"min_sim": 0.8}, {"recall": 0.999}, {"min_sim": 0.8, "recall": 0.999}, {"floor": 0.5}]
)
def test_defaults_that_are_given_make_the_same_index(chosen: dict[str, object], new_url: Callable[[], str]) -> None:
    with Index.create(new_url(), chosen) as index:
        assert index.params == Params()


def test_it_says_what_it_is() -> None:
    assert lshdb.__version__ == version("lshdb")


def test_its_repr_names_the_place_and_the_bands(tmp_path: Path) -> None:
    with Index.create(str(tmp_path / "crawl.db")) as index:
        assert repr(index) == f"<Index '{tmp_path}/crawl.db': word:5, 20 bands of 5 rows>"
