"""Rows that are streamed in blocks."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy import select

from lshdb.store.staging import staged_key
from lshdb.store.store import Store


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 50])
def test_streamed_integers_are_all_rows_in_order(count: int, store: Store) -> None:
    key = staged_key.c.staged_key
    with store.reading() as transaction:
        transaction.stage(staged_key, {"staged_key": np.arange(count)})
        statement = select(key, (key * 10).label("tenfold")).order_by(key)
        blocks = list(transaction.stream_integers(statement, rows=7))
    assert [len(block) for block in blocks] == [min(7, count - begin) for begin in range(0, count, 7)]
    assert all(block.dtype == np.int64 and block.shape[1] == 2 for block in blocks)
    assert [row for block in blocks for row in block.tolist()] == [[number, 10 * number] for number in range(count)]
