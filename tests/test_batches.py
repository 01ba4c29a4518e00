"""Batches of a size, or of a number of items."""

from __future__ import annotations

import pytest

from lshdb.model.batches import in_batches


@pytest.mark.parametrize(
    ("enough", "most", "expected"),
    [
        (4, 9, [["aaaa"], ["b", "cc", "d"], ["eeeeeeee"], ["f"]]),
        (99, 2, [["aaaa", "b"], ["cc", "d"], ["eeeeeeee", "f"]]),
        (8, 3, [["aaaa", "b", "cc"], ["d", "eeeeeeee"], ["f"]]),
        (99, 9, [["aaaa", "b", "cc", "d", "eeeeeeee", "f"]]),
    ],
)
def test_a_batch_ends_with_the_item_that_fills_it(enough: int, most: int, expected: list[list[str]]) -> None:
    assert list(in_batches(["aaaa", "b", "cc", "d", "eeeeeeee", "f"], len, enough, most)) == expected


def test_no_batch_is_empty() -> None:
    assert list(in_batches([], len, 1)) == []
    assert list(in_batches(["a"], len, 1)) == [["a"]]


def test_no_item_is_taken_before_the_batch_is_wanted() -> None:
    items = iter("abcdef")
    assert next(in_batches(items, len, 2)) == ["a", "b"]
    assert list(items) == ["c", "d", "e", "f"]
