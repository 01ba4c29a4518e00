"""Random samples of pairs and of bucket-mates: each alike, none invented, the same on both databases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import pytest
from sqlalchemy import update

from lshdb import Document, Index, Params
from lshdb.audit import precision
from lshdb.readers import ReadOptions
from lshdb.store.schema import pair
from lshdb.store.store import Store
from lshdb.store.tables import graph, samples
from tests.store.conftest import add, link
from tests.store.test_graph import crowd


def drawn(store: Store, count: int, seed: int, since: int = 0) -> list[list[int]]:
    with store.reading() as transaction:
        keys: list[list[int]] = samples.stored_pairs(
            transaction, count, since, np.random.default_rng(seed)
        ).keys.tolist()
    return keys


@pytest.fixture
def paired(store: Store) -> Store:
    """A store of ten contents, every two of which are a pair: 45 pairs."""
    add(store, crowd(10))
    link(store)
    return store


def test_a_sample_has_as_many_pairs_as_asked_for_in_order_and_none_twice(paired: Store) -> None:
    found = drawn(paired, 20, 1)
    assert len(found) == 20
    assert found == sorted(found)
    assert len({tuple(keys) for keys in found}) == 20


def test_a_sample_of_more_than_there_are_is_all_of_them(paired: Store) -> None:
    assert drawn(paired, 100, 1) == [list(keys) for keys in combinations(range(1, 11), 2)]


def test_a_seed_chooses_the_same_pairs_on_both_databases(paired: Store) -> None:
    assert drawn(paired, 3, 7) == [[1, 10], [6, 10], [7, 9]]
    assert drawn(paired, 3, 8) != drawn(paired, 3, 7)


def test_every_pair_is_drawn_alike(paired: Store) -> None:
    """9 of 45 pairs, 300 times: each 60 times, with a standard error of sqrt(300 * 0.2 * 0.8) = 6.9."""
    times = Counter(tuple(keys) for seed in range(300) for keys in drawn(paired, 9, seed))
    assert len(times) == 45
    assert all(abs(number - 60) < 4.5 * 6.9 for number in times.values()), times


def test_pairs_of_earlier_runs_are_left_out_and_those_of_no_run_are_not(paired: Store) -> None:
    with paired.writing() as transaction:
        for left, run in {1: 3, 2: 4, 3: 5}.items():
            transaction.execute(update(pair).where(pair.c.left_key == left).values(run_key=run))
    expected = [list(keys) for keys in combinations(range(1, 11), 2)]
    for since, first in ((0, 1), (3, 1), (4, 2), (5, 3), (6, 4)):
        later = [keys for keys in expected if keys[0] >= first]
        assert drawn(paired, 100, 1, since) == later
        with paired.reading() as transaction:
            assert graph.pair_page(transaction, (-1, -1), 100, since).keys.tolist() == later
            assert graph.num_pairs(transaction, since) == len(later)


# What the candidates are worth.


WIDE = Params(shingle="word:1", bands=20, rows=2, floor=0.05, min_sim=0.5)


@pytest.fixture
def mixed(new_url: Callable[[], str]) -> Iterator[Store]:
    """An index of 60 documents of which some are near and many are not, with some four hundred candidate pairs."""
    url = new_url()
    chance = np.random.default_rng(3)
    with Index.create(url, WIDE) as index:
        common = [f"common{number}" for number in range(30)]
        own = [[f"own{document}_{number}" for number in range(int(chance.integers(2, 40)))] for document in range(60)]
        index.add(Document(str(number), " ".join(common + words)) for number, words in enumerate(own))
    with Store.open(url) as store:
        yield store


def measured(store: Store, seed: int) -> tuple[float, float, float, bool]:
    with store.reading() as transaction:
        found = precision.candidate_precision(transaction, WIDE, ReadOptions(), np.random.default_rng(seed))
    assert found.share is not None
    assert found.low is not None
    assert found.high is not None
    return found.share, found.low, found.high, found.is_all


def test_the_precision_of_the_candidates_is_exact_where_all_are_compared_and_covered_where_not(
    mixed: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precision, "SAMPLED_MATES", 10**6)
    truth, low, high, is_all = measured(mixed, 1)
    assert (low, high, is_all) == (truth, truth, True)
    with mixed.reading() as transaction:
        page = graph.pair_page(transaction, (-1, -1), 10**6)
    # Every candidate is at the floor here, so the pairs are the candidates.
    assert truth == pytest.approx((page.similarity >= 0.5).mean())
    assert 0.1 < truth < 0.9
    monkeypatch.setattr(precision, "SAMPLED_MATES", 100)
    intervals = [measured(mixed, seed) for seed in range(40)]
    # 95 of 100 intervals hold the truth; 32 of 40 or fewer would, with P = 0.0001.
    assert sum(low <= truth <= high for _, low, high, _ in intervals) > 32
    assert not any(is_all for *_, is_all in intervals)
    assert np.mean([share for share, *_ in intervals]) == pytest.approx(truth, abs=0.05)


def test_an_index_without_candidates_has_no_precision(store: Store) -> None:
    with store.reading() as transaction:
        found = precision.candidate_precision(transaction, store.params, ReadOptions(), np.random.default_rng(1))
    assert (found.share, found.num_sampled, found.is_all) == (None, 0, True)
