"""Turns new bucket rows into pairs: candidates by SQL, a filter by estimate, then the exact similarity.

A small delta is joined with the table, so that its cost follows the delta; a large one scans each band once.
Candidates come in chunks of bounded size, whatever the buckets hold, and a chunk is one transaction. A link that
is broken off is done again from its start: the contents stay on the list until all their pairs are stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.banding import band_keys
from lshdb.comparison import compare, contents_of, promising
from lshdb.expansion import CAP, HUBS, complete_buckets, distinct_pairs, expand, hot_among, num_expanded
from lshdb.model import CandidatePairs, VerifiedPairs
from lshdb.params import Params
from lshdb.progress import Progress
from lshdb.store import HotBuckets, Store, Transaction, graph

__all__ = ["Linking"]

# A probe costs a B-tree descent (2.9 us), a scanned row a step (0.1 us): the scan pays from a share of 1 in 30 on.
SCAN_SHARE: Final = 1 / 30

# Contents whose bucket rows are joined at a time.
DELTA_CONTENTS: Final = 10_000

# Occurrences of candidates that are made unique together; 128 MB while they are sorted.
CHUNK_PAIRS: Final = 4_000_000

# Distinct candidates whose signatures are held at a time.
PART_PAIRS: Final = 400_000


class Linking:
    """Links all contents of an index that are not linked yet.

    Args:
        run_key: the run that the pairs are written for; None outside of a run.
    """

    def __init__(self, store: Store, run_key: int | None, progress: Progress) -> None:
        self._store = store
        self._params: Params = store.params
        self._run_key = run_key
        self._progress = progress

    def link(self) -> int:
        """Computes and stores the pairs of the unlinked contents. Returns: the number of pairs stored."""
        num_pairs = 0
        with self._store.reading() as snapshot:
            keys = graph.unlinked_keys(snapshot)
            if not len(keys):
                return 0
            for candidates in self._candidates(snapshot, keys):
                num_pairs += self._store_pairs(self._verified(snapshot, candidates))
        with self._store.writing() as transaction:
            graph.mark_linked(transaction, keys)
        self._progress.linked(1.0)
        return num_pairs

    def _candidates(self, snapshot: Transaction, keys: NDArray[np.int64]) -> Iterator[CandidatePairs]:
        if len(keys) < SCAN_SHARE * graph.num_contents(snapshot):
            return self._joined(snapshot, keys)
        return _chunks(self._scanned(snapshot, keys))

    def _joined(self, snapshot: Transaction, keys: NDArray[np.int64]) -> Iterator[CandidatePairs]:
        """The candidates of a small delta; all bands of a content in one chunk, so no pair is in two."""
        for begin in range(0, len(keys), DELTA_CONTENTS):
            self._progress.linked(begin / len(keys))
            contents = contents_of(snapshot, keys[begin : begin + DELTA_CONTENTS], self._params)
            buckets = band_keys(contents.signatures, self._params.banding)
            mates = graph.bucket_mates(snapshot, contents.keys, buckets, CAP, HUBS)
            yield from _chunks(mates)
            self._record_hot(_hot(graph.hot_buckets(snapshot)))

    def _scanned(self, snapshot: Transaction, keys: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Occurrences of the candidates of a large delta, from one ordered pass over each band."""
        for band in range(self._params.bands):
            self._progress.linked(band / self._params.bands)
            for rows in complete_buckets(graph.shared_buckets(snapshot, band)):
                yield from expand(rows, np.isin(rows[:, 1], keys))
                self._record_hot(_hot(hot_among(band, rows)))

    def _verified(self, snapshot: Transaction, candidates: CandidatePairs) -> Iterator[VerifiedPairs]:
        """The candidates that reach the floor, part by part."""
        for begin in range(0, len(candidates), PART_PAIRS):
            part = CandidatePairs(candidates.keys[begin : begin + PART_PAIRS])
            contents = contents_of(snapshot, part.keys, self._params)
            pairs = compare(snapshot, contents, promising(contents, part, self._params), self._params)
            yield _at_least(pairs, self._params.floor)

    def _store_pairs(self, parts: Iterator[VerifiedPairs]) -> int:
        num_pairs = 0
        for pairs in parts:
            with self._store.writing() as transaction:
                num_pairs += graph.put_pairs(transaction, pairs, self._run_key)
        return num_pairs

    def _record_hot(self, hot: HotBuckets) -> None:
        if len(hot.bands):
            with self._store.writing() as transaction:
                graph.put_skipped(transaction, hot)


def _chunks(occurrences: Iterator[NDArray[np.int64]]) -> Iterator[CandidatePairs]:
    """The occurrences, made unique CHUNK_PAIRS at a time."""
    held: list[NDArray[np.int64]] = []
    for block in occurrences:
        held.append(block)
        if sum(map(len, held)) >= CHUNK_PAIRS:
            yield distinct_pairs(np.concatenate(held))
            held = []
    if held:
        yield distinct_pairs(np.concatenate(held))


def _hot(rows: NDArray[np.int64]) -> HotBuckets:
    """The accounts of hot buckets, from (band, bucket_hash, num_contents) of shape (m, 3)."""
    sizes = rows[:, 2]
    return HotBuckets(rows[:, 0].astype(np.int16), rows[:, 1], sizes, sizes * (sizes - 1) // 2 - num_expanded(sizes))


def _at_least(pairs: VerifiedPairs, floor: float) -> VerifiedPairs:
    kept = pairs.similarity >= floor
    return VerifiedPairs(pairs.keys[kept], pairs.similarity[kept], pairs.exact[kept])
