"""From candidate pairs to promising ones: those whose signatures do not rule out the floor."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from lshdb.linking.jaccard import min_agreement
from lshdb.model.arrays import distinct
from lshdb.model.params import Params
from lshdb.stages.asking import Batches, answered
from lshdb.stages.columns import batch_of, integers, minima, runs
from lshdb.stages.listed import ListedContents
from lshdb.stages.schemas import PROMISING, SIDES, SIGNED

__all__ = ["asking_for_signatures", "distinct_sides", "promising", "sides", "signatures", "with_left_signature"]


def sides(batches: Batches) -> Batches:
    """Yield the left and the right contents of candidate pairs, each once in a batch."""
    for batch in batches:
        rows = batch.filter(batch.column("left").is_valid())
        for name in ("left", "right"):
            content = distinct(integers(rows, name))
            yield batch_of(SIDES, len(content), content=content, is_left=np.full(len(content), name == "left"))


def distinct_sides(batches: Batches) -> Batches:
    """Yield each row once in a batch. Args: batches: together by content, sorted by both columns."""
    for batch in batches:
        begins = [begin for begin, _ in runs(integers(batch, "content", "is_left"))]
        yield batch.take(pa.array(begins))


def signatures(batches: Batches, contents: Path) -> Batches:
    """Yield the signatures and sizes of some contents. Args: contents: the folder of their list."""
    listed = ListedContents(contents)
    for batch in batches:
        rows = listed.among(batch)
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
    for rows, told, asked in answered(batches):
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
    for rows, told, asked in answered(batches):
        left, right = rows.take(pa.array(asked)), rows.take(pa.array(told))
        equal = np.count_nonzero(minima(left, params) == minima(right, params), axis=1)
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
