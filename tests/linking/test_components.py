"""The rows of keys, and which contents are connected by pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lshdb.linking.components import MAX_SPREAD, Rows, components

# Close together, so that a table finds them, and far apart, so that they are searched.
CLOSE, FAR = [3, 5, 6, 9], [3, 5, 6, 9_000_000]
EDGE = [1, 2, 3, 4 * MAX_SPREAD]  # as far apart as a table may be


def rows_of(keys: list[int], wanted: list[int]) -> list[int]:
    return Rows(np.array(keys, dtype=np.int64)).of(np.array(wanted, dtype=np.int64)).tolist()


@pytest.mark.parametrize("keys", [CLOSE, FAR, EDGE, [*EDGE[:3], EDGE[3] + 1], [7]])
def test_a_key_has_its_row_and_an_unknown_one_has_none(keys: list[int]) -> None:
    assert rows_of(keys, keys) == list(range(len(keys)))
    unknown = [0, keys[0] - 1, keys[-1] - 1, keys[-1] + 1, 10**12]
    assert rows_of(keys, [key for key in unknown if key not in keys]) == [-1] * sum(key not in keys for key in unknown)


def test_without_keys_every_key_is_unknown() -> None:
    assert rows_of([], [0, 1, 7]) == [-1, -1, -1]


def test_rows_have_the_shape_of_the_keys() -> None:
    found = Rows(np.array(CLOSE, dtype=np.int64)).of(np.array([[3, 9], [6, 4]], dtype=np.int64))
    assert found.tolist() == [[0, 3], [2, -1]]


numbers = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 9)


@given(st.sets(numbers), st.lists(st.tuples(numbers, numbers)))
def test_the_row_of_a_key_is_its_index_or_minus_one(among: set[int], pairs: list[tuple[int, int]]) -> None:
    row = {key: index for index, key in enumerate(sorted(among))}
    found = Rows(np.array(sorted(among), np.int64)).of(np.array(pairs, np.int64).reshape(-1, 2))
    assert found.tolist() == [[row.get(key, -1) for key in pair] for pair in pairs]


@pytest.mark.parametrize("keys", [CLOSE, FAR])
def test_a_component_is_the_smallest_row_that_pairs_lead_to(keys: list[int]) -> None:
    last = keys[-1]
    blocks = [np.array(block, dtype=np.int64) for block in ([[6, last]], [[5, 6]], [[3, 4], [8, 5], [3, last + 1]])]
    found = components(Rows(np.array(keys, dtype=np.int64)), len(keys), blocks)
    # A pair with an unknown key connects nothing.
    assert found.tolist() == [0, 1, 1, 1]
