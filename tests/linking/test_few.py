"""Documents that are linked as they are added have the pairs that a link of all of them computes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from sqlalchemy import select

from lshdb import Document, Index, Params
from lshdb.linking import few
from lshdb.linking.few import FEW_CONTENTS, link_few
from lshdb.model.expansion import Expansion
from lshdb.store.schema import oversized_bucket
from lshdb.store.store import Store
from lshdb.store.tables import graph
from tests.expanding import index_with


def family(number: int) -> list[Document]:
    """Texts that differ in two words each."""
    chance = random.Random(number)
    words = [f"w{place}" for place in range(60)]
    return [
        Document(f"{number}/{place}", " ".join([*words, str(chance.random()), f"end{chance.randrange(3)}"]))
        for place in range(30)
    ]


def pairs_of(index: Index) -> set[tuple[str, str, float, bool]]:
    return {(*sorted((pair.left, pair.right)), pair.similarity, pair.exact) for pair in index.pairs(0.5)}


def oversized_of(url: str) -> list[tuple[object, ...]]:
    with Store.open(url) as store, store.reading() as transaction:
        return sorted(tuple(row) for row in transaction.execute(select(oversized_bucket)))


def test_one_by_one_and_a_few_at_a_time_give_the_pairs_of_one_link(url: str, tmp_path: Path) -> None:
    expansion, documents = Expansion(cap=12, hubs=3), family(1) + family(2)
    whole = f"sqlite:///{tmp_path}/whole.db"
    with index_with(expansion, whole) as index:
        index.add(documents)
        expected = pairs_of(index)
    with index_with(expansion, url) as index:
        num_pairs = sum(index.add(one).pairs_added for one in documents[:20])
        for begin in range(20, 60, 7):
            num_pairs += index.add(documents[begin : begin + 7]).pairs_added
        assert pairs_of(index) == expected
        assert num_pairs == len(expected) > 300
    assert oversized_of(url) == oversized_of(whole) != []


def test_contents_that_were_left_unlinked_are_linked_with_the_next_addition(url: str) -> None:
    documents = family(1)
    with Index.create(url) as index:
        index.add(documents[: FEW_CONTENTS + 5], link=False)
        index.add(documents[-1])
        figures = index.stats().figures
        num_contents = FEW_CONTENTS + 6
        assert (figures.num_unlinked, figures.num_pairs) == (0, num_contents * (num_contents - 1) // 2)


def test_so_many_contents_are_linked_at_once_and_one_more_are_not(url: str) -> None:
    with Index.create(url) as index, Store.open(url) as store:
        index.add([Document(str(number), f"the text of {number}") for number in range(FEW_CONTENTS)], link=False)
        assert store.write(lambda transaction: link_few(transaction, store.params, 1)) == 0
        index.add([Document(f"x{number}", f"a text of {number}") for number in range(FEW_CONTENTS + 1)], link=False)
        assert store.write(lambda transaction: link_few(transaction, store.params, 1)) is None


# Single words are shingles, and each minimum is a band, so that these share a bucket. Their similarity is 1/3.
HALVES = [Document("a", "ant bee"), Document("b", "bee cat")]


def test_candidates_below_the_floor_are_no_pairs(url: str) -> None:
    with Index.create(url, Params(shingle="word:1", bands=100, rows=1, floor=0.34)) as index:
        assert index.add(HALVES).pairs_added == 0
        assert index.stats().figures.num_unlinked == 0


@pytest.mark.parametrize(("pairs", "shingles", "expected"), [(1, 4, 1), (0, 4, None), (1, 3, None)])
def test_so_many_pairs_and_shingles_are_compared_at_once_and_no_more(
    url: str, pairs: int, shingles: int, expected: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(few, "FEW_PAIRS", pairs)
    monkeypatch.setattr(few, "FEW_SHINGLES", shingles)
    with Index.create(url, Params(shingle="word:1", bands=100, rows=1, floor=1 / 3)) as index:
        index.add(HALVES, link=False)
        with Store.open(url) as store:
            assert store.write(lambda transaction: link_few(transaction, store.params, 1)) == expected
        assert index.stats().figures.num_unlinked == (2 if expected is None else 0)


def test_long_texts_are_not_compared_while_other_writers_wait(url: str) -> None:
    words = [f"w{number}" for number in range(150_000)]
    with Index.create(url) as index:
        for number in range(2):
            index.add(Document(str(number), " ".join([*words, str(number)])), link=False)
        with Store.open(url) as store:
            assert store.write(lambda transaction: link_few(transaction, store.params, 1)) is None
            assert store.read(graph.unlinked_keys).tolist() == [1, 2]
        assert [pair.exact for pair in index.pairs(0.9)] == [True]
