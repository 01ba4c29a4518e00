"""Array functions, compared with dictionaries."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lshdb.model.arrays import places_in

numbers = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 9)


@given(st.sets(numbers), st.lists(st.tuples(numbers, numbers)))
def test_the_place_of_a_value_is_its_index_or_minus_one(among: set[int], pairs: list[tuple[int, int]]) -> None:
    place = {value: index for index, value in enumerate(sorted(among))}
    found = places_in(np.array(sorted(among), np.int64), np.array(pairs, np.int64).reshape(-1, 2))
    assert found.tolist() == [[place.get(value, -1) for value in pair] for pair in pairs]
