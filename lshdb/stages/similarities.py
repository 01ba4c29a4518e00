"""From promising pairs to verified pairs. Memory: a few batches, and the texts of one group."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lshdb.linking.jaccard import jaccard
from lshdb.model.arrays import slices_within
from lshdb.model.params import Params
from lshdb.sketch.sketch import shingle_sets_utf8
from lshdb.sketch.texts import unpack_utf8
from lshdb.stages.asking import Batches, answered
from lshdb.stages.columns import batch_of, flags, integers, runs
from lshdb.stages.listed import ListedContents
from lshdb.stages.schemas import COMPARED, GROUPS, PAIRS, TEXTS

__all__ = ["asking_for_texts", "estimated", "pairs_of_groups", "texts", "verified", "with_text"]

# Bytes of texts in one batch. Arrow's offsets end at 2 GB.
TEXT_BYTES: Final = 64_000_000


def estimated(batches: Batches, floor: float) -> Batches:
    """Yield promising pairs with their estimates as similarities, for an index that keeps no texts."""
    for batch in batches:
        similarity = batch.column("estimate").to_numpy()
        yield _pairs(integers(batch, "left", "right"), similarity, floor, is_exact=False)


def texts(batches: Batches, contents: Path) -> Batches:
    """Yield the texts of some contents. Args: contents: the folder of their list."""
    listed = ListedContents(contents)
    for batch in batches:
        rows = listed.among(batch)
        none = np.zeros(len(rows), np.int64)
        yield batch_of(
            TEXTS,
            len(rows),
            key=rows.column("place"),
            asks=none.astype(np.bool_),
            group_left=none,
            group_right=none,
            text=rows.column("text"),
        )


def asking_for_texts(batches: Batches) -> Batches:
    """Yield the contents of groups as questions for their text."""
    for batch in batches:
        rows = batch.take(pa.array(np.flatnonzero(~flags(batch, "is_pair"))))
        columns = {name: rows.column(name) for name in ("group_left", "group_right")}
        yield batch_of(TEXTS, len(rows), key=rows.column("left"), asks=np.ones(len(rows), np.bool_), **columns)


def with_text(batches: Batches) -> Batches:
    """Yield the contents of groups with their texts. Args: batches: together by key, sorted by key and asks."""
    for rows, told, asked in answered(batches):
        sizes = _lengths(rows.column("text"))
        for some in slices_within(sizes[told], TEXT_BYTES):
            group, text = rows.take(pa.array(asked[some])), rows.column("text").take(pa.array(told[some]))
            count = len(group)
            yield batch_of(
                COMPARED,
                count,
                group_left=group.column("group_left"),
                group_right=group.column("group_right"),
                is_pair=np.zeros(count, np.bool_),
                left=group.column("key"),
                right=np.zeros(count, np.int64),
                text=text,
            )


def pairs_of_groups(batches: Batches) -> Batches:
    """Yield the pairs of groups."""
    for batch in batches:
        rows = batch.take(pa.array(np.flatnonzero(flags(batch, "is_pair"))))
        yield batch_of(COMPARED, len(rows), **{name: rows.column(name) for name in GROUPS.names})


def verified(batches: Batches, params: Params) -> Batches:
    """Yield the pairs that reach the floor, with their exact similarity.

    Args: batches: together by group, sorted by group, is_pair and left.
    """
    for _, parts in groupby(_by_group(batches), key=lambda part: part[0]):
        keys, encoded, pairs = list[NDArray[np.int64]](), list[bytes](), [np.empty((0, 2), np.int64)]
        for _, rows in parts:
            is_pair = flags(rows, "is_pair")
            num_texts = int(np.count_nonzero(~is_pair))
            keys.append(integers(rows, "left")[:num_texts])
            encoded += map(unpack_utf8, rows.column("text").slice(0, num_texts).to_pylist())
            pairs.append(integers(rows, "left", "right")[num_texts:])
        found = np.searchsorted(np.concatenate(keys), np.concatenate(pairs))
        sets = shingle_sets_utf8(encoded, params)
        similarity = jaccard(sets, found[:, 0].copy(), found[:, 1].copy())
        yield _pairs(np.concatenate(pairs), similarity, params.floor, is_exact=True)


def _by_group(batches: Batches) -> Iterator[tuple[tuple[int, int], pa.RecordBatch]]:
    for batch in batches:
        ids = integers(batch, "group_left", "group_right")
        for begin, end in runs(ids):
            yield (int(ids[begin, 0]), int(ids[begin, 1])), batch.slice(begin, end - begin)


def _pairs(keys: NDArray[np.int64], similarity: NDArray[np.float64], floor: float, *, is_exact: bool) -> pa.RecordBatch:
    kept = similarity >= floor
    exact = np.full(int(kept.sum()), is_exact)
    return batch_of(
        PAIRS, len(exact), left=keys[kept, 0], right=keys[kept, 1], similarity=similarity[kept], exact=exact
    )


def _lengths(column: pa.Array) -> NDArray[np.int64]:
    """Return the bytes of each value of a binary column, int64, shape (n,); 0 for a null."""
    offsets = np.frombuffer(column.buffers()[1], np.int32)[column.offset : column.offset + len(column) + 1]
    return np.diff(offsets).astype(np.int64)
