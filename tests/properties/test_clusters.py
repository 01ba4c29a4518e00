"""Clusters equal the components of networkx, the compiled forest its reference, complete-to-keep its definition."""

from __future__ import annotations

from collections.abc import Iterator

import networkx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lshdb.clusters import keep
from lshdb.linking.components import Rows, components
from lshdb.sketch import kernels
from lshdb.sketch.kernels import reference

Pairs = list[tuple[int, int]]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Pairs]:
    """Draw a number of contents, and pairs of their rows."""
    count = draw(st.integers(1, 40))
    row = st.integers(0, count - 1)
    return count, draw(st.lists(st.tuples(row, row), max_size=60))


def as_array(pairs: Pairs) -> NDArray[np.int64]:
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def components_by_networkx(nodes: list[int], pairs: Pairs) -> set[frozenset[int]]:
    graph = networkx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(pairs)
    return set(map(frozenset, networkx.connected_components(graph)))


@settings(max_examples=300, deadline=None)
@given(graphs())
def test_the_compiled_forest_equals_the_reference(graph: tuple[int, Pairs]) -> None:
    count, pairs = graph
    left, right = as_array(pairs).T.copy()
    compiled, expected = np.arange(count), np.arange(count)
    kernels.unite(compiled, left, right)
    kernels.settle(compiled)
    reference.unite(expected, left, right)
    np.testing.assert_array_equal(compiled, expected)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 9), max_size=10))
def test_settling_equals_the_reference(parents: list[int]) -> None:
    forest = np.minimum(np.array(parents, dtype=np.int64), np.arange(len(parents)))
    compiled, expected = forest.copy(), forest.copy()
    kernels.settle(compiled)
    reference.settle(expected)
    np.testing.assert_array_equal(compiled, expected)


@settings(max_examples=300, deadline=None)
@given(graphs(), st.integers(1, 7), st.sampled_from([1, 3, 1_000, 2**55]), st.randoms(use_true_random=False))
def test_clusters_equal_the_components_of_networkx(
    graph: tuple[int, Pairs], size: int, gap: int, chance: object
) -> None:
    """The block size, the order of the pairs and the gaps between keys are irrelevant."""
    count, pairs = graph
    keys = 5 + gap * np.arange(count, dtype=np.int64)
    # Pairs with unknown contents join nothing.
    foreign = [(int(keys[-1]) + 1, int(keys[0])), (1, int(keys[-1]))]
    named = [(int(keys[left]), int(keys[right])) for left, right in pairs] + foreign
    chance.shuffle(named)  # type: ignore[attr-defined]

    def blocks() -> Iterator[NDArray[np.int64]]:
        for begin in range(0, len(named), size):
            yield as_array(named[begin : begin + size])

    labels = components(Rows(keys), count, blocks())
    found = {frozenset(keys[labels == label].tolist()) for label in set(labels.tolist())}
    assert found == components_by_networkx(keys.tolist(), [pair for pair in named if pair not in foreign])
    # The smallest row represents each.
    assert all(labels[label] == label for label in labels.tolist())


@settings(max_examples=200, deadline=None)
@given(st.sets(st.integers(-5, 60), min_size=1), st.sampled_from([1, 10**6]))
def test_a_key_is_found_in_its_row_and_others_are_not(present: set[int], gap: int) -> None:
    keys = gap * np.array(sorted(present), dtype=np.int64)
    asked = np.array(range(-8, 70), dtype=np.int64) * gap
    expected = [sorted(present).index(one) if one in present else -1 for one in range(-8, 70)]
    assert Rows(keys).of(asked).tolist() == expected


def complete_to_keep(count: int, ranks: list[int], labels: list[int], near: set[frozenset[int]]) -> list[int]:
    """Return the row kept for each row, by definition: in order of rank, each takes its free neighbours."""
    kept: dict[int, int] = {}
    for row in sorted(range(count), key=lambda row: ranks[row]):
        if row not in kept:
            mine = [
                other
                for other in range(count)
                if other not in kept and labels[other] == labels[row] and frozenset((row, other)) in near
            ]
            kept |= {row: row} | dict.fromkeys(mine, row)
    return [kept[row] for row in range(count)]


@settings(max_examples=300, deadline=None)
@given(graphs(), st.data(), st.sampled_from([0, 1, 2, keep.ROUNDS]))
def test_complete_to_keep_drops_a_content_only_for_one_it_is_near_to(
    graph: tuple[int, Pairs], data: st.DataObject, rounds: int
) -> None:
    """The number of rounds before stored pairs take over is irrelevant if all pairs are stored."""
    count, pairs = graph
    pairs = [pair for pair in pairs if pair[0] != pair[1]]
    ranks = data.draw(st.permutations(range(count)))
    labels = components(Rows(np.arange(count)), count, [as_array(pairs)])
    near = {frozenset(pair) for pair in pairs}

    def is_near(asked: NDArray[np.int64]) -> NDArray[np.bool_]:
        assert all(labels[left] == labels[right] for left, right in asked.tolist())
        return np.array([frozenset(pair) in near for pair in asked.tolist()], dtype=np.bool_)

    rank = np.array(ranks, dtype=np.int64)
    limit, keep.ROUNDS = keep.ROUNDS, rounds  # type: ignore[misc]
    try:
        kept = keep.keep_near(labels, rank, is_near)
    finally:
        keep.ROUNDS = limit  # type: ignore[misc]
    left = sorted(np.flatnonzero(kept < 0).tolist(), key=lambda row: ranks[row])
    mates = [(row, [other for other in range(count) if frozenset((row, other)) in near]) for row in left]
    keep.sweep(kept, mates)
    assert kept.tolist() == complete_to_keep(count, list(ranks), labels.tolist(), near)
    assert all(row == to or frozenset((row, to)) in near for row, to in enumerate(kept.tolist()))
