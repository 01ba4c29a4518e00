"""Pairs sorted through a temporary file are sorted like a list."""

from __future__ import annotations

import random

import pytest

from lshdb.answers import sorting
from lshdb.store.tables.answers import PairRow, order_key


def rows(count: int) -> list[PairRow]:
    chance = random.Random(5)
    return [
        (f"d{chance.randrange(50)}", f"é{chance.randrange(50)}", chance.choice([0.5, 0.75, 1.0]), True, "a", "b")
        for _ in range(count)
    ]


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 2_500])
@pytest.mark.parametrize("limit", [None, 3, 40])
def test_runs_on_disk_are_merged_into_one_order(count: int, limit: int | None) -> None:
    made, key = rows(count), order_key("similarity")
    assert list(sorting.in_order(iter(made), key, limit, run_rows=10)) == sorted(made, key=key)[:limit]


def test_a_run_of_several_blocks_is_read_as_a_whole() -> None:
    made, key = rows(5_000), order_key("id")
    assert list(sorting.in_order(iter(made), key, None, run_rows=2_300)) == sorted(made, key=key)
