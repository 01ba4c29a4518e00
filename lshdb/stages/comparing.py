"""From candidate pairs to verified pairs: first by signatures, then by texts.

Signatures and texts are brought to the pairs by sorting: for each content, a row with its signature or text comes
first, and the rows that ask for it follow. Memory: a few batches, and the texts of one group.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
from numpy.typing import NDArray

from lshdb.linking.jaccard import groups, jaccard, min_agreement
from lshdb.model.arrays import distinct
from lshdb.model.params import Params
from lshdb.sketch.sketch import shingle_sets_utf8
from lshdb.sketch.texts import unpack_utf8
from lshdb.stages.columns import batch_of, integers, matrix, runs, slices_of_bytes
from lshdb.stages.schemas import COMPARED, FAMILIES, GROUPING, GROUPS, PAIRS, PROMISING, SIGNED, TEXTS

__all__ = [
    "asking_for_families",
    "asking_for_signatures",
    "asking_for_texts",
    "estimated",
    "grouped",
    "pairs_of_groups",
    "promising",
    "signatures",
    "telling_families",
    "texts",
    "verified",
    "with_family",
    "with_left_signature",
    "with_text",
]

# Pairs that are put into groups at a time, as in a link.
PART_PAIRS: Final = 100_000
# Bytes of texts in one batch. Arrow's offsets end at 2 GB.
TEXT_BYTES: Final = 64_000_000

Batches = Iterator[pa.RecordBatch]


def signatures(batches: Batches) -> Batches:
    """Yield the signatures and sizes of the documents among sketches."""
    for batch in batches:
        rows = batch.filter(batch.column("place").is_valid())
        count = len(rows)
        yield batch_of(
            SIGNED,
            count,
            key=rows.column("place"),
            asks=np.zeros(count, np.bool_),
            other=np.zeros(count, np.int64),
            size=rows.column("num_shingles"),
            signature=rows.column("signature"),
        )


def asking_for_signatures(batches: Batches) -> Batches:
    """Yield candidate pairs as questions for their left signature."""
    for batch in batches:
        rows = batch.filter(batch.column("left").is_valid())
        asks = np.ones(len(rows), np.bool_)
        yield batch_of(SIGNED, len(rows), key=rows.column("left"), asks=asks, other=rows.column("right"))


def with_left_signature(batches: Batches) -> Batches:
    """Yield each pair once, with the signature of its left content, as a question for its right one.

    Args: batches: together by key, sorted by key, asks and other.
    """
    last = (-1, -1)
    for rows, told, asked in _answered(batches):
        pairs = integers(rows, "key", "other")[asked]
        before = np.concatenate([[last], pairs[:-1]]) if len(pairs) else pairs
        is_first = (pairs != before).any(axis=1)
        last = tuple(pairs[-1].tolist()) if len(pairs) else last
        told, pairs = told[is_first], pairs[is_first]
        taken = rows.take(pa.array(told))
        yield batch_of(
            SIGNED,
            len(pairs),
            key=pairs[:, 1],
            asks=np.ones(len(pairs), np.bool_),
            other=pairs[:, 0],
            size=taken.column("size"),
            signature=taken.column("signature"),
        )


def promising(batches: Batches, params: Params) -> Batches:
    """Yield the pairs whose signatures do not rule out the floor, with the estimate.

    Args: batches: together by key, sorted by key and asks.
    """
    least = min_agreement(params.num_perm, params.floor)
    for rows, told, asked in _answered(batches):
        left, right = rows.take(pa.array(asked)), rows.take(pa.array(told))
        minima = (matrix(side.column("signature"), params.num_perm, "<u4") for side in (left, right))
        equal = np.count_nonzero(np.equal(*minima), axis=1)
        kept = pa.array(np.flatnonzero(equal >= least))
        yield batch_of(
            PROMISING,
            len(kept),
            left=left.column("other").take(kept),
            right=left.column("key").take(kept),
            left_size=left.column("size").take(kept),
            right_size=right.column("size").take(kept),
            estimate=equal[kept.to_numpy()] / params.num_perm,
        )


def estimated(batches: Batches, floor: float) -> Batches:
    """Yield promising pairs with their estimates as similarities, for an index that keeps no texts."""
    for batch in batches:
        similarity = batch.column("estimate").to_numpy()
        yield _pairs(integers(batch, "left", "right"), similarity, floor, is_exact=False)


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
    for rows, told, asked in _answered(batches):
        pairs, family = rows.take(pa.array(asked)), rows.column("family").take(pa.array(told))
        columns = {name: pairs.column(name) for name in ("right", "left_size", "right_size")}
        yield batch_of(GROUPING, len(pairs), family=family, left=pairs.column("key"), **columns)


def grouped(batches: Batches, part_pairs: int = PART_PAIRS) -> Batches:
    """Yield groups of pairs whose texts fit in memory, with their contents. A family may need several groups.

    Args: batches: together by family, sorted by family, right and left.
    """
    for part in _parts(batches, part_pairs):
        pairs, sizes = integers(part, "left", "right"), integers(part, "left_size", "right_size")
        keys = distinct(pairs)
        rows = np.searchsorted(keys, pairs)
        num_shingles = np.empty(len(keys), np.int64)
        num_shingles[rows] = sizes
        for begin, end in groups(num_shingles, rows):
            yield _group(pairs[begin:end], distinct(pairs[begin:end]))


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


def texts(batches: Batches, families: Path) -> Batches:
    """Yield the texts of the documents among sketches that have a promising pair.

    Args: families: the folder of the contents with a promising pair, sorted. Only the part of it is read that a batch
        of sketches, which is sorted too, can match.
    """
    wanted = ds.dataset(families, format="parquet")
    for batch in batches:
        rows = batch.filter(batch.column("place").is_valid())
        if not len(rows):
            continue
        place = integers(rows, "place")
        near = (ds.field("content") >= int(place.min())) & (ds.field("content") <= int(place.max()))
        found = wanted.to_table(columns=["content"], filter=near).column("content").to_numpy()
        kept = rows.take(pa.array(np.flatnonzero(np.isin(place, found))))
        none = np.zeros(len(kept), np.int64)
        yield batch_of(
            TEXTS,
            len(kept),
            key=kept.column("place"),
            asks=none.astype(np.bool_),
            group_left=none,
            group_right=none,
            text=kept.column("text"),
        )


def asking_for_texts(batches: Batches) -> Batches:
    """Yield the contents of groups as questions for their text."""
    for batch in batches:
        rows = batch.take(pa.array(np.flatnonzero(~_flags(batch, "is_pair"))))
        columns = {name: rows.column(name) for name in ("group_left", "group_right")}
        yield batch_of(TEXTS, len(rows), key=rows.column("left"), asks=np.ones(len(rows), np.bool_), **columns)


def with_text(batches: Batches, most: int = TEXT_BYTES) -> Batches:
    """Yield the contents of groups with their texts. Args: batches: together by key, sorted by key and asks."""
    for rows, told, asked in _answered(batches):
        sizes = _lengths(rows.column("text"))
        for some in slices_of_bytes(sizes[told], most):
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
        rows = batch.take(pa.array(np.flatnonzero(_flags(batch, "is_pair"))))
        yield batch_of(COMPARED, len(rows), **{name: rows.column(name) for name in GROUPS.names})


def verified(batches: Batches, params: Params) -> Batches:
    """Yield the pairs that reach the floor, with their exact similarity.

    Args: batches: together by group, sorted by group, is_pair and left.
    """
    for _, parts in groupby(_by_group(batches), key=lambda part: part[0]):
        keys, encoded, pairs = list[NDArray[np.int64]](), list[bytes](), [np.empty((0, 2), np.int64)]
        for _, rows in parts:
            is_pair = _flags(rows, "is_pair")
            num_texts = int(np.count_nonzero(~is_pair))
            keys.append(integers(rows, "left")[:num_texts])
            encoded += map(unpack_utf8, rows.column("text").slice(0, num_texts).to_pylist())
            pairs.append(integers(rows, "left", "right")[num_texts:])
        found = np.searchsorted(np.concatenate(keys), np.concatenate(pairs))
        sets = shingle_sets_utf8(encoded, params)
        similarity = jaccard(sets, found[:, 0].copy(), found[:, 1].copy())
        yield _pairs(np.concatenate(pairs), similarity, params.floor, is_exact=True)


def _answered(batches: Batches) -> Iterator[tuple[pa.RecordBatch, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield rows, with the numbers of the rows that ask and, for each of them, of the row that answers.

    Args: batches: together by key, sorted by key and asks.
    """
    carried: pa.RecordBatch | None = None
    for batch in batches:
        rows = batch if carried is None else pa.concat_batches([carried, batch])
        asks = _flags(rows, "asks")
        told = np.maximum.accumulate(np.where(asks, -1, np.arange(len(rows))))
        keys = integers(rows, "key")
        asked = np.flatnonzero(asks & (told >= 0) & (keys == keys[told]))
        yield rows, told[asked], asked
        # The next batch may go on asking for the same content.
        carried = rows.slice(int(told[-1]), 1) if told[-1] >= 0 else None


def _parts(batches: Batches, count: int) -> Iterator[pa.RecordBatch]:
    """Yield the same rows, `count` or more at a time."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(map(len, held)) >= count:
            yield pa.concat_batches(held)
            held = []
    if sum(map(len, held)):
        yield pa.concat_batches(held)


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


def _flags(batch: pa.RecordBatch, name: str) -> NDArray[Any]:
    return np.asarray(batch.column(name).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _lengths(column: pa.Array) -> NDArray[np.int64]:
    """Return the bytes of each value of a binary column, int64, shape (n,); 0 for a null."""
    offsets = np.frombuffer(column.buffers()[1], np.int32)[column.offset : column.offset + len(column) + 1]
    return np.diff(offsets).astype(np.int64)
