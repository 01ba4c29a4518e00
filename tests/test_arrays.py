"""Array functions that NumPy lacks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lshdb.model.arrays import distinct

LEAST, GREATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@given(st.lists(st.integers(-40, 40) | st.integers(LEAST, GREATEST) | st.sampled_from([LEAST, GREATEST])))
def test_distinct_integers_ascend_whether_they_are_dense_or_not(values: list[int]) -> None:
    for some in (values, [value for value in values if abs(value) <= 40]):
        found = distinct(np.asarray(some, np.int64))
        assert found.dtype == np.int64
        assert found.tolist() == sorted(set(some))


@pytest.mark.parametrize("dtype", [np.uint64, np.float64])
def test_distinct_values_of_other_types_ascend(dtype: type[np.generic]) -> None:
    found = distinct(np.asarray([[3, 1], [3, 2]], dtype))
    assert found.dtype == dtype
    assert found.tolist() == [1, 2, 3]
