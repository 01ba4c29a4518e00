"""From sketches to contents, and from their buckets to candidate pairs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lshdb.linking.buckets import Piece, expand_piece, pieces
from lshdb.model.expansion import Expansion
from lshdb.stages.columns import batch_of, integers, matrix, runs
from lshdb.stages.schemas import BUCKETS, CONTENTS, OCCURRENCES

__all__ = ["bucket_rows", "contents", "filled", "occurrences"]

DIGEST_BYTES = 16


def filled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the documents among sketches that have shingles, as rows of `CONTENTS` without a content."""
    for batch in batches:
        num_shingles = batch.column("num_shingles").fill_null(0).to_numpy()
        rows = batch.take(pa.array(np.flatnonzero(num_shingles)))
        names = {name: rows.column(name) for name in ("place", "digest", "buckets")}
        yield batch_of(CONTENTS, len(rows), **names)


def contents(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield each document with its content: the first document that has the same digest.

    Only the first document keeps its digest and buckets. Args: batches: together by digest, sorted by digest and place.
    """
    last_digest, last_content = b"", -1
    for batch in batches:
        digests = matrix(batch.column("digest"), DIGEST_BYTES, np.uint8)
        is_first = np.append(digests[0].tobytes() != last_digest, (digests[1:] != digests[:-1]).any(axis=1))
        place = integers(batch, "place")
        known = np.append(last_content, place)
        content = known[np.maximum.accumulate(np.where(is_first, np.arange(1, len(place) + 1), 0))]
        last_digest, last_content = digests[-1].tobytes(), int(content[-1])
        first = pa.array(np.where(is_first, np.arange(len(place)), -1), mask=~is_first)
        columns = {name: batch.column(name).take(first) for name in ("digest", "buckets")}
        yield batch_of(CONTENTS, len(place), place=place, content=content, **columns)


def bucket_rows(batches: Iterator[pa.RecordBatch], num_bands: int) -> Iterator[pa.RecordBatch]:
    """Yield the buckets of the contents, one row for each band."""
    for batch in batches:
        rows = batch.filter(batch.column("buckets").is_valid())
        hashes = matrix(rows.column("buckets"), num_bands, np.int64)
        bands = np.repeat(np.arange(num_bands, dtype=np.int16), len(rows))
        content = np.tile(integers(rows, "content"), num_bands)
        yield batch_of(BUCKETS, len(content), band=bands, bucket_hash=hashes.T.ravel(), content=content)


def occurrences(batches: Iterator[pa.RecordBatch], expansion: Expansion, first_new: int) -> Iterator[pa.RecordBatch]:
    """Yield the candidate pairs that have a new content, once for each bucket that they share, and oversized buckets.

    Memory does not grow with the size of a bucket.

    Args:
        batches: together by bucket, sorted by all three columns.
        first_new: the first place that is new.
    """
    for band, group in groupby(_by_band(batches), key=lambda part: part[0]):
        for piece in pieces((rows for _, rows in group), expansion):
            for keys in expand_piece(piece, piece.rows[:, 1] >= first_new, expansion):
                yield batch_of(OCCURRENCES, len(keys), left=keys[:, 0], right=keys[:, 1])
            yield from _oversized(piece, band, expansion)


def _by_band(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    for batch in batches:
        bands, rows = integers(batch, "band"), integers(batch, "bucket_hash", "content")
        for begin, end in runs(bands[:, None]):
            yield int(bands[begin]), rows[begin:end]


def _oversized(piece: Piece, band: int, expansion: Expansion) -> Iterator[pa.RecordBatch]:
    hot = piece.oversized(expansion)
    if len(hot):
        bands = np.full(len(hot), band, dtype=np.int16)
        yield batch_of(OCCURRENCES, len(hot), band=bands, bucket_hash=hot[:, 0], num_contents=hot[:, 1])
