"""Threads that run a function ahead of the caller."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from lshdb.model.calls import calls_ahead


def test_results_come_in_the_order_of_what_was_given() -> None:
    assert list(calls_ahead(lambda value: value * value, range(50), 3)) == [value * value for value in range(50)]


def test_an_error_of_a_call_reaches_the_caller_in_its_turn() -> None:
    made = calls_ahead(lambda value: 6 // value, [3, 2, 0, 1], 2)
    assert [next(made), next(made)] == [2, 3]
    with pytest.raises(ZeroDivisionError):
        next(made)


@pytest.mark.parametrize(("ahead", "expected"), [(0, 3), (5, 6)])
def test_no_more_is_taken_than_may_be_ahead(ahead: int, expected: int) -> None:
    taken = []

    def given() -> Iterator[int]:
        for value in range(100):
            taken.append(value)
            yield value

    made = calls_ahead(lambda value: value, given(), 2, ahead)
    assert next(made) == 0
    assert taken == list(range(expected))
    made.close()


def test_two_calls_run_at_once() -> None:
    both = threading.Barrier(2, timeout=20)
    assert sorted(calls_ahead(lambda _: both.wait(), range(2), 2)) == [0, 1]
