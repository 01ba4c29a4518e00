"""Show the largest buckets and their documents. The usual cause is boilerplate that many pages share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Final

import numpy as np

from lshdb.model.params import Params
from lshdb.sketch.texts import unpack
from lshdb.store.tables import graph, inspection
from lshdb.store.tables.buckets import first_in
from lshdb.store.tables.inspection import OversizedBucket
from lshdb.store.transaction import Transaction

__all__ = ["Hottest", "hottest"]

EXAMPLES: Final = 3

# The longest common beginning shown, in characters.
SHOWN_TEXT: Final = 80


@dataclass(frozen=True, slots=True)
class Hottest:
    """Buckets of several bands whose first contents are the same.

    Args:
        num_contents, num_skipped: contents of the largest bucket, and its pairs that were skipped.
        num_bands: the number of these buckets.
        documents: ids of the first documents of its first contents.
        beginning: the text that all these contents begin with, if texts are kept.
    """

    num_contents: int
    num_skipped: int
    num_bands: int
    documents: tuple[str, ...]
    beginning: str


def hottest(transaction: Transaction, params: Params, count: int) -> list[Hottest]:
    """Return the largest buckets first; only hot buckets, if there are any."""
    alike: dict[tuple[int, ...], list[OversizedBucket]] = {}
    # Many pages of one template fill a bucket in every band.
    for bucket in inspection.hottest(transaction, params.banding.numbers, count * params.bands):
        first = first_in(transaction, bucket.band, bucket.bucket_hash, EXAMPLES)
        alike.setdefault(tuple(first.tolist()), []).append(bucket)
    return [_described(transaction, first, buckets) for first, buckets in islice(alike.items(), count)]


def _described(transaction: Transaction, contents: tuple[int, ...], buckets: Sequence[OversizedBucket]) -> Hottest:
    names = tuple(inspection.first_document(transaction, key) or "" for key in contents)
    kept = graph.texts(transaction, np.asarray(contents, dtype=np.int64))
    columns = zip(*(" ".join(unpack(frame).split())[:SHOWN_TEXT] for _, frame in kept), strict=False)
    beginning = "".join(column[0] for column in takewhile(lambda column: len(set(column)) == 1, columns))
    return Hottest(buckets[0].num_contents, buckets[0].num_skipped, len(buckets), names, beginning)
