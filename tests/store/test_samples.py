"""Random samples of pairs: unbiased, without repetition, the same on both databases."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from sqlalchemy import update

from lshdb.store.schema import pair
from lshdb.store.store import Store
from lshdb.store.tables import graph
from tests.store.conftest import add, link
from tests.store.test_graph import crowd


def drawn(store: Store, count: int, seed: int, since: int = 0) -> list[list[int]]:
    with store.reading() as transaction:
        keys: list[list[int]] = graph.sampled_pairs(
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
