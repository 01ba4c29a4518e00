"""Collections: pairs within and between them, and the nearest documents of another one, also in oversized buckets."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from lshdb.answers.contamination import Nearest, nearest
from lshdb.errors import CollectionUnknown
from lshdb.model.expansion import Expansion
from lshdb.model.values import Document
from lshdb.store.store import Store
from lshdb.store.tables import answers, collections, documents
from lshdb.store.tables.answers import Chosen
from tests.store.conftest import PARAMS, Minima, add, link, sketches_of

ONE, NEAR_ONE, NEARER_ONE, OTHER = (1, 2, 3), (1, 8, 9), (1, 2, 9), (4, 5, 6)


def add_to(store: Store, collection: str, contents: Mapping[str, Minima | None]) -> None:
    """Add documents to a collection."""
    batch = [Document(doc_id) for doc_id in contents]
    with store.writing() as transaction:
        place = documents.Place(1, collection, {})
        documents.put(transaction, batch, sketches_of(list(contents.values())), place)


def within(store: Store, collection: str, *, expand: bool = False) -> list[tuple[str, str]]:
    """Return the pairs of documents within a collection."""
    with store.reading() as transaction:
        return [row[:2] for row in answers.pairs(transaction, Chosen(0.1), expand=expand, within=collection)]


def between(store: Store, left: str, right: str, *, expand: bool = False) -> list[tuple[str, str]]:
    """Return the pairs of documents between two collections."""
    with store.reading() as transaction:
        rows = list(answers.pairs_between(transaction, Chosen(0.1), left, right, expand=expand))
    assert {row[4:] for row in rows} <= {(left, right)}
    return [row[:2] for row in rows]


def nearest_of(store: Store, train: str, test: str, min_sim: float = 0.1) -> list[Nearest]:
    """Return the contamination of a collection."""
    with store.reading() as transaction:
        return list(nearest(transaction, train, test, min_sim, PARAMS))


@pytest.fixture
def three(store: Store) -> Store:
    """Three collections: ids that are the same in each, one content in all, a first document in the third."""
    add_to(store, "c", {"c1": ONE, "c2": NEAR_ONE})
    add_to(store, "a", {"a1": ONE, "a2": ONE, "a3": NEAR_ONE, "a4": None})
    add_to(store, "b", {"b1": ONE, "b2": ONE, "b3": NEARER_ONE, "b4": OTHER, "b5": None})
    link(store)
    return store


def test_a_content_is_named_by_its_first_document_in_the_collection(three: Store) -> None:
    assert within(three, "a") == [("a1", "a2"), ("a1", "a3")]
    assert within(three, "b") == [("b1", "b2"), ("b1", "b3")]
    assert within(three, "c") == [("c1", "c2")]


def test_every_pair_of_a_collection_is_listed_where_that_is_asked(three: Store) -> None:
    assert within(three, "a", expand=True) == [("a1", "a2"), ("a1", "a3"), ("a2", "a3")]
    assert within(three, "b", expand=True) == [("b1", "b2"), ("b1", "b3"), ("b2", "b3")]


def test_the_left_document_is_always_of_the_first_collection(three: Store) -> None:
    assert between(three, "a", "b") == [("a1", "b1"), ("a1", "b3"), ("a3", "b3"), ("a3", "b1")]
    assert sorted(between(three, "b", "a")) == sorted((right, left) for left, right in between(three, "a", "b"))


def test_every_pair_between_two_collections_is_listed_where_that_is_asked(three: Store) -> None:
    copies = [("a1", "b1"), ("a1", "b2"), ("a2", "b1"), ("a2", "b2")]
    near = [("a1", "b3"), ("a2", "b3"), ("a3", "b1"), ("a3", "b2"), ("a3", "b3")]
    assert sorted(between(three, "a", "b", expand=True)) == sorted(copies + near)
    assert sorted(between(three, "b", "a", expand=True)) == sorted((right, left) for left, right in copies + near)


def test_all_pairs_say_whose_documents_they_are(three: Store) -> None:
    with three.reading() as transaction:
        rows = list(answers.pairs(transaction, Chosen(0.1), expand=False))
    assert rows[0] == ("c1", "a1", 1.0, True, "c", "a")
    assert {(left[0], right[0]) == (row_left, row_right) for left, right, _, _, row_left, row_right in rows} == {True}


def test_the_collections_are_those_that_have_documents(store: Store) -> None:
    with store.reading() as transaction:
        assert collections.names(transaction) == []
    for name in ("ä", "B", "a", "b"):
        add_to(store, name, {"1": ONE, name: None})
    with store.reading() as transaction:
        assert collections.names(transaction) == ["B", "a", "b", "ä"]
        assert collections.sizes(transaction) == {"B": 2, "a": 2, "b": 2, "ä": 2}
        collections.require(transaction, "here.db", "a", "B")
        with pytest.raises(CollectionUnknown, match=r"no collection 'A' in index here.db\. It has: 'B', 'a', 'b', 'ä'"):
            collections.require(transaction, "here.db", "a", "A")


def test_every_test_document_has_its_nearest_training_document_or_none(three: Store) -> None:
    assert nearest_of(three, "a", "b") == [
        Nearest("b1", "a1", 1.0, True),
        Nearest("b2", "a1", 1.0, True),
        Nearest("b3", "a1", 2 / 3, False),
        Nearest("b4"),
        Nearest("b5"),
    ]
    assert [found.train for found in nearest_of(three, "b", "a", min_sim=0.7)] == ["b1", "b1", None, None]


def test_of_equally_near_documents_the_first_is_named(store: Store) -> None:
    add_to(store, "test", {"t": (1, 2, 3)})
    add_to(store, "train", {"z": (9, 2, 3), "a": (1, 9, 3)})
    link(store)
    assert nearest_of(store, "train", "test") == [Nearest("t", "z", 2 / 3, False)]


def test_a_near_duplicate_that_a_hot_bucket_kept_apart_is_found(store: Store) -> None:
    store.expansion = Expansion(2, 1)
    add(store, {f"hub {number}": (0, 100 + number, 200 + number) for number in range(3)})
    add_to(store, "train", {"a": (0, 7, 300)})
    add_to(store, "test", {"b": (0, 8, 300)})
    link(store)
    # Their second common bucket is cold: it makes them a pair.
    assert nearest_of(store, "train", "test") == [Nearest("b", "a", 2 / 3, False)]
    add_to(store, "train", {"c": (0, 9, 400)})
    add_to(store, "test", {"d": (0, 9, 500), "e": (0, 10, 600)})
    link(store)
    with store.reading() as transaction:
        pairs = {row[:2] for row in answers.pairs_between(transaction, Chosen(0.1), "train", "test", expand=True)}
    assert not {left for left, right in pairs if right == "e"}
    assert nearest_of(store, "train", "test")[2] == Nearest("e", "a", 1 / 3, False)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("cap", [3, 2_000])
def test_the_nearest_are_those_of_a_comparison_of_all_with_all(
    seed: int, cap: int, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.expansion = Expansion(cap, 1)
    monkeypatch.setattr("lshdb.answers.contamination.SLICE_CONTENTS", 7)
    monkeypatch.setattr("lshdb.answers.contamination.PAGE_DOCUMENTS", 11)
    chance = random.Random(seed)
    texts = [tuple(chance.choice([0, number, number % 5]) for _ in range(3)) for number in range(80)]
    chosen = {name: {f"{name}{row}": texts[row] for row in chance.sample(range(80), 30)} for name in ("test", "train")}
    for name in ("train", "test"):
        add_to(store, name, chosen[name])
        link(store)

    def expected(test: str, minima: Minima) -> Nearest:
        scored = [(sum(map(int.__eq__, minima, other)) / 3, train) for train, other in chosen["train"].items()]
        similarity, train = max(scored, key=lambda one: one[0])
        return Nearest(test, train, similarity, similarity == 1.0) if similarity > 0.1 else Nearest(test)

    assert nearest_of(store, "train", "test") == [expected(*item) for item in sorted(chosen["test"].items())]


@pytest.mark.parametrize("cap", [3, 2_000])
def test_no_near_duplicate_is_missed_however_many_look_more_alike(
    cap: int, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exact similarity of those that look most alike is below the threshold: more have to be tried."""
    store.expansion = Expansion(cap, 1)
    monkeypatch.setattr("lshdb.answers.contamination.TRIED_CONTENTS", 2)
    compared: list[int] = []

    def only_the_last(_: object, contents: object, pairs: object, params: object) -> object:
        compared.append(len(pairs))  # type: ignore[arg-type]
        return type(pairs)(pairs.keys, (pairs.keys.max(axis=1) == 10) * 1.0, ~pairs.exact)  # type: ignore[attr-defined, call-arg]

    add(store, {f"hub {number}": (0, 100 + number, 200 + number) for number in range(3)})
    add_to(store, "test", {"t": (0, 1, 2)})
    add_to(store, "train", {f"a{number}": (0, 50 + number, 60 + number) for number in range(5)})
    add_to(store, "train", {"a5": (0, 90, 91)})
    link(store)
    monkeypatch.setattr("lshdb.answers.contamination.compare", only_the_last)
    [found] = nearest_of(store, "train", "test")
    assert found.train == ("a5" if cap == 3 else "a0")
    assert compared == ([2, 2, 2] if cap == 3 else [])
