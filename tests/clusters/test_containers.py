"""The texts that are kept for those that they contain."""

from __future__ import annotations

import numpy as np
import pytest

from lshdb.clusters.containers import containers
from lshdb.passages.containment import ContainedPairs

# (small, large, containment)
Contained = tuple[int, int, float]


def kept(sizes: list[int], best: list[int], *pairs: Contained) -> list[int]:
    """Return the row that is kept for each row. Args: sizes: numbers of shingles. best: ranks; 0 is the best."""
    keys = np.array([pair[:2] for pair in pairs], dtype=np.int64).reshape(-1, 2)
    containment = np.array([pair[2] for pair in pairs])
    found = containers(ContainedPairs(keys, containment, np.array(sizes)[keys]), np.array(best))
    assert found.dtype == np.int64
    return found.tolist()


def test_texts_that_no_other_contains_are_kept() -> None:
    assert kept([5, 6, 7], [0, 1, 2]) == [0, 1, 2]


def test_a_text_is_dropped_for_the_longer_one_whatever_their_ranks() -> None:
    assert kept([10, 9], [1, 0], (1, 0, 0.8)) == [0, 0]
    assert kept([9, 10], [0, 1], (0, 1, 0.8)) == [1, 1]


@pytest.mark.parametrize(("best", "expected"), [([0, 1], 0), ([1, 0], 1)])
def test_of_texts_of_one_length_the_better_ranked_is_kept(best: list[int], expected: int) -> None:
    assert kept([10, 10], best, (0, 1, 0.9)) == kept([10, 10], best, (1, 0, 0.9)) == [expected] * 2


def test_a_text_whose_container_is_dropped_itself_is_kept() -> None:
    """Of a chain, the middle one is dropped for the longest; decided in this order, whatever the rows."""
    assert kept([10, 9, 8], [0, 1, 2], (2, 1, 0.9), (1, 0, 0.9)) == [0, 0, 2]
    assert kept([8, 9, 10], [0, 1, 2], (0, 1, 0.9), (1, 2, 0.9)) == [0, 2, 2]


def test_a_text_whose_container_is_dropped_is_dropped_for_another_one() -> None:
    assert kept([10, 9, 8], [0, 1, 2], (2, 1, 0.9), (2, 0, 0.8), (1, 0, 0.9)) == [0, 0, 0]


def test_of_several_containers_the_one_that_has_most_of_it_counts() -> None:
    assert kept([10, 9, 8], [0, 1, 2], (2, 0, 0.8), (2, 1, 0.9)) == [0, 1, 1]
    assert kept([10, 9, 8], [1, 0, 2], (2, 0, 0.9), (2, 1, 0.8)) == [0, 1, 0]


@pytest.mark.parametrize(("best", "expected"), [([0, 1, 2], 0), ([1, 0, 2], 1)])
def test_of_several_that_have_as_much_of_it_the_better_ranked_counts(best: list[int], expected: int) -> None:
    assert kept([10, 9, 8], best, (2, 0, 0.9), (2, 1, 0.9)) == [0, 1, expected]
    assert kept([10, 9, 8], best, (2, 1, 0.9), (2, 0, 0.9)) == [0, 1, expected]


def test_rows_without_pairs_do_not_move_the_others() -> None:
    """Rows 0, 2 and 5 contain nothing."""
    assert kept([1, 20, 2, 19, 18, 3], [5, 4, 3, 2, 1, 0], (3, 1, 0.7), (4, 3, 0.7)) == [0, 1, 2, 1, 4, 5]
