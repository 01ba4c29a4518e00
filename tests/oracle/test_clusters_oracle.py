"""Clusters equal those of networkx on exact similarities, even if nearly every bucket is oversized."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import combinations

import networkx
import pytest

from lshdb import Document
from lshdb.model.expansion import Expansion
from tests.expanding import index_with

# Families of families: the texts of a base share boilerplate, those of a branch share more of it.
NUM_BASES, NUM_BRANCHES, NUM_TEXTS, NUM_WORDS = 3, 8, 10, 60


def texts(seed: int) -> Iterator[tuple[str, str]]:
    chance = random.Random(seed)
    for base in range(NUM_BASES):
        page = [f"{base}-{chance.randrange(10**6)}" for _ in range(NUM_WORDS)]
        for branch in range(NUM_BRANCHES):
            section = changed(chance, page, 6)
            for text in range(NUM_TEXTS):
                yield f"{base}/{branch}/{text}", " ".join(changed(chance, section, 2))


def changed(chance: random.Random, words: list[str], count: int) -> list[str]:
    after = list(words)
    for place in chance.sample(range(len(words)), count):
        after[place] = str(chance.randrange(10**6))
    return after


def components(corpus: dict[str, str], min_sim: float) -> set[frozenset[str]]:
    """Compare all pairs, with the words of these texts as sets."""
    sets = {doc_id: frozenset(text.split()) for doc_id, text in corpus.items()}
    graph = networkx.Graph(
        (left, right)
        for left, right in combinations(sets, 2)
        if len(sets[left] & sets[right]) / len(sets[left] | sets[right]) >= min_sim
    )
    return set(map(frozenset, networkx.connected_components(graph)))


@pytest.mark.parametrize("cap", [256, 20], ids=["below the cap", "hot"])
@pytest.mark.parametrize("seed", range(2))
def test_clusters_are_the_components_of_all_exact_pairs(seed: int, cap: int, new_url: Callable[[], str]) -> None:
    corpus = dict(texts(seed))
    with index_with(Expansion(cap, 10), new_url(), shingle="set", bands=60, rows=3) as index:
        index.add(Document(doc_id, features=tuple(text.split())) for doc_id, text in corpus.items())
        figures = index.stats().figures
        assert (figures.num_skipped_pairs > 5_000) == (cap == 20)
        for min_sim in (0.5, 0.6, 0.7, 0.8, 0.9):
            found = {frozenset(cluster.members) for cluster in index.clusters(min_sim)}
            assert found == components(corpus, min_sim)


def test_what_is_not_expanded_is_accounted_for(new_url: Callable[[], str]) -> None:
    """One bucket in each band, of 50 contents: the first 10 meet each other, each later one meets the first 3."""
    shared = tuple(f"s{number}" for number in range(20_000))
    with index_with(Expansion(10, 3), new_url(), shingle="set", bands=4, rows=1) as index:
        index.add(Document(f"d{number}", features=(*shared, f"own{number}")) for number in range(50))
        figures = index.stats().figures
        (cluster,) = index.clusters(0.9)
    assert len(cluster.members) == 50
    assert figures.num_hot_buckets == 4
    expanded = 10 * 9 // 2 + 40 * 3
    assert figures.num_pairs == expanded
    assert figures.num_skipped_pairs == 4 * (50 * 49 // 2 - expanded)
