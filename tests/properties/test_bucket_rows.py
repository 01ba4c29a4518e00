"""The rows of buckets, for any hashes: in the order of the table, whatever repeats."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lshdb.model.values import BandKeys
from lshdb.store.tables.buckets import bucket_rows

hashes = st.sampled_from([0, 1, 2**63 - 1, 2**63, 2**64 - 1])


@given(st.lists(st.lists(hashes, min_size=3, max_size=3), max_size=40))
def test_bucket_rows_are_in_the_order_of_the_table(keys: list[list[int]]) -> None:
    contents = np.arange(len(keys)) * 7 + 1
    columns = bucket_rows(contents, BandKeys(np.array(keys, np.uint64).reshape(-1, 3), first_band=5))
    found = list(zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True))
    signed = np.array(keys, np.uint64).reshape(-1, 3).view(np.int64).tolist()
    rows = [(5 + band, row[band], 7 * place + 1) for place, row in enumerate(signed) for band in range(3)]
    assert list(columns) == ["band", "bucket_hash", "content_key"]
    assert found == sorted(rows)
