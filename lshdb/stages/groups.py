"""From promising pairs to groups of pairs whose texts fit in memory. The pairs of a group are of one family."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lshdb.linking.jaccard import groups
from lshdb.model.arrays import distinct
from lshdb.model.batches import in_batches
from lshdb.stages.asking import Batches, answered
from lshdb.stages.columns import batch_of, integers
from lshdb.stages.schemas import FAMILIES, GROUPING, GROUPS

__all__ = ["asking_for_families", "grouped", "telling_families", "with_family"]

# Pairs that are put into groups at a time, as in a link.
PART_PAIRS: Final = 100_000


def asking_for_families(batches: Batches) -> Batches:
    """Yield promising pairs as questions for their family."""
    for batch in batches:
        columns = {name: batch.column(name) for name in ("right", "left_size", "right_size")}
        asks = np.ones(len(batch), np.bool_)
        yield batch_of(FAMILIES, len(batch), key=batch.column("left"), asks=asks, **columns)


def telling_families(batches: Batches) -> Batches:
    """Yield the families of contents with a promising pair."""
    for batch in batches:
        asks = np.zeros(len(batch), np.bool_)
        yield batch_of(FAMILIES, len(batch), key=batch.column("content"), asks=asks, family=batch.column("family"))


def with_family(batches: Batches) -> Batches:
    """Yield the pairs with their family. Args: batches: together by key, sorted by key and asks."""
    for rows, told, asked in answered(batches):
        pairs, family = rows.take(pa.array(asked)), rows.column("family").take(pa.array(told))
        columns = {name: pairs.column(name) for name in ("right", "left_size", "right_size")}
        yield batch_of(GROUPING, len(pairs), family=family, left=pairs.column("key"), **columns)


def grouped(batches: Batches) -> Batches:
    """Yield groups of pairs whose texts fit in memory, with their contents. A family may need several groups.

    Args: batches: together by family, sorted by family, right and left.
    """
    for part in map(pa.concat_batches, in_batches(filter(len, batches), len, PART_PAIRS)):
        pairs, sizes = integers(part, "left", "right"), integers(part, "left_size", "right_size")
        keys = distinct(pairs)
        rows = np.searchsorted(keys, pairs)
        num_shingles = np.empty(len(keys), np.int64)
        num_shingles[rows] = sizes
        for chosen in groups(num_shingles, rows):
            yield _group(pairs[chosen], distinct(pairs[chosen]))


def _group(pairs: NDArray[np.int64], keys: NDArray[np.int64]) -> pa.RecordBatch:
    count = len(pairs) + len(keys)
    return batch_of(
        GROUPS,
        count,
        group_left=np.full(count, pairs[0, 0]),
        group_right=np.full(count, pairs[0, 1]),
        is_pair=np.arange(count) >= len(keys),
        left=np.concatenate([keys, pairs[:, 0]]),
        right=np.concatenate([np.zeros_like(keys), pairs[:, 1]]),
    )
