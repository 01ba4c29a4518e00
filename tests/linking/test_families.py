"""The order in which candidate pairs are compared."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lshdb.linking import candidates
from lshdb.linking.candidates import Occurrences, by_family

Pair = tuple[int, int]

keys = st.integers(0, 40)
pairs = st.lists(st.tuples(keys, keys).filter(lambda pair: pair[0] != pair[1]), max_size=30)


def ordered(found: list[Pair], last_key: int) -> tuple[list[list[Pair]], list[float]]:
    shares: list[float] = []
    with Occurrences(last_key) as candidates:
        candidates.add(np.array(found, dtype=np.int64).reshape(-1, 2))
        parts = [[(left, right) for left, right in part.keys.tolist()] for part in by_family(candidates, shares.append)]
    return parts, shares


@settings(deadline=None)  # the first call loads the kernels
@given(pairs=pairs, run=st.integers(1, 20), part=st.integers(1, 20), spread=st.sampled_from([1, 1_000]))
def test_a_family_is_given_without_a_break_and_every_pair_once(
    pairs: list[Pair], run: int, part: int, spread: int
) -> None:
    found = [(left * spread, right * spread) for left, right in pairs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "RUN_PAIRS", run)
        patch.setattr(candidates, "PART_PAIRS", part)
        parts, _ = ordered(found, 40 * spread)
    flat = [pair for some in parts for pair in some]
    assert sorted(flat) == sorted({(min(pair), max(pair)) for pair in found})
    family = {key: min(group) for group in networkx.connected_components(networkx.Graph(found)) for key in group}
    assert flat == sorted(flat, key=lambda pair: (family[pair[0]], pair[1], pair[0]))


@pytest.mark.parametrize(("num_families", "expected"), [(100, 1), (1_000, 8), (8_000, 32), (64_000, 64)])
def test_few_texts_make_small_parts_for_several_threads(num_families: int, expected: int) -> None:
    parts, _ = ordered([(2 * number, 2 * number + 1) for number in range(num_families)], 2 * num_families)
    assert len(parts) == expected
    assert sum(map(len, parts)) == num_families


def test_the_share_that_is_given_out_grows_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "PART_PAIRS", 2)
    _, shares = ordered([(1, 2), (3, 9), (2, 8), (4, 9), (5, 6), (1, 8)], 9)
    assert shares == [2 / 6, 4 / 6, 1.0]


def test_without_candidates_there_are_no_families() -> None:
    assert ordered([], 9) == ([], [])
