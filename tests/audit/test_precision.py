"""Which pairs a sample of bucket-mates holds, and what it says of the others."""

from __future__ import annotations

import numpy as np
import pytest

from lshdb.audit.precision import _places, wilson_interval


def test_ranks_count_the_pairs_of_a_bucket() -> None:
    left, right = _places(np.arange(10))
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == [
        (0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3), (0, 4), (1, 4), (2, 4), (3, 4),
    ]  # fmt: skip


@pytest.mark.parametrize("right", [2_000, 94_906_267, 2_000_000_000])
def test_the_ranks_of_a_huge_bucket_are_exact(right: int) -> None:
    first = right * (right - 1) // 2
    left_places, right_places = _places(np.array([first - 1, first, first + right - 1]))
    assert left_places.tolist() == [right - 2, 0, right - 1]
    assert right_places.tolist() == [right - 1, right, right]


@pytest.mark.parametrize(
    ("share", "size", "low", "high"),
    [(0.5, 100, 0.4038, 0.5962), (0.0, 100, 0.0, 0.0370), (1.0, 20, 0.8389, 1.0), (0.9, 10, 0.5958, 0.9821)],
)
def test_the_interval_is_that_of_the_tables(share: float, size: float, low: float, high: float) -> None:
    assert wilson_interval(share, size) == pytest.approx((low, high), abs=5e-5)
