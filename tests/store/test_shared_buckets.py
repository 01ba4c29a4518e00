"""All buckets of a band with two or more contents, whatever their hashes and generations."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from lshdb.store.schema import band_bucket, bucket_generation
from lshdb.store.store import Store
from lshdb.store.tables import generations, shared_buckets
from lshdb.store.transaction import Transaction

BAND = 3
LIMITS = np.iinfo(np.int64)


def put(transaction: Transaction, hashes: np.ndarray, numbers: np.ndarray, band: int = BAND) -> None:
    """Store the buckets of contents 1, 2, ... in a band."""
    rows = {
        "generation": numbers.astype(np.int16),
        "band": np.full(len(hashes), band, np.int16),
        "bucket_hash": hashes,
        "content_key": np.arange(1, len(hashes) + 1),
    }
    transaction.bulk_insert(band_bucket, rows)


def divide(num_contents: int, rows_at_a_time: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make slices of about so many rows of an index that has no rows of contents."""
    monkeypatch.setattr(shared_buckets, "FETCH_ROWS", rows_at_a_time)
    monkeypatch.setattr(generations, "num_contents", lambda _transaction: num_contents)


@pytest.fixture
def divided(store: Store) -> Store:
    with store.writing() as transaction:
        numbers = np.arange(3, dtype=np.int16)
        there = transaction.execute(bucket_generation.select()).all()
        assert not there
        transaction.bulk_insert(bucket_generation, {"generation": numbers, "num_rows": np.full(3, 100)})
    return store


@pytest.mark.parametrize("rows_at_a_time", [2, 30, 50_000])
@pytest.mark.parametrize(
    "hashes",
    [
        pytest.param([], id="no row"),
        pytest.param([5], id="one row"),
        pytest.param([5, 5], id="one bucket"),
        pytest.param([LIMITS.min, LIMITS.max, LIMITS.min, 0, LIMITS.max, -1], id="the extremes"),
        pytest.param([2**47 - 1 - n // 3 for n in range(300)], id="dense at one end"),
        pytest.param([*range(2_000), *[2**46] * 500, *range(0, 2_000, 3), 2**46 + 1], id="a large bucket"),
    ],
)
def test_every_shared_bucket_is_in_one_block_with_all_of_its_contents_in_order(
    divided: Store, hashes: list[int], rows_at_a_time: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.asarray(hashes, np.int64)
    divide(len(values), rows_at_a_time, monkeypatch)
    chance = np.random.default_rng(1)
    with divided.writing() as transaction:
        put(transaction, values, chance.integers(0, 3, len(values)))
        put(transaction, np.full(9, 5), chance.integers(0, 3, 9), BAND + 1)
    contents = defaultdict(list)
    for key, value in enumerate(hashes, 1):
        contents[value].append(key)
    expected = [[value, key] for value in sorted(contents) if len(contents[value]) > 1 for key in contents[value]]
    with divided.reading() as transaction:
        blocks = list(shared_buckets.of_band(transaction, BAND))
    assert [row for block in blocks for row in block.tolist()] == expected


def test_a_slice_has_about_as_many_rows_as_are_read_at_a_time(divided: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.repeat(np.random.default_rng(2).integers(0, 2**47, 2_000), 2)
    divide(len(values), 100, monkeypatch)
    with divided.writing() as transaction:
        put(transaction, values, np.arange(len(values)) % 3)
    with divided.reading() as transaction:
        sizes = [len(block) for block in shared_buckets.of_band(transaction, BAND)]
    assert sum(sizes) == 4_000
    assert max(sizes) < 150
    assert len(sizes) < 45
