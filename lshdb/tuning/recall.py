"""Measure an index on its own contents: how similar they are, and which of their pairs the buckets found.

A random sample of contents, the probes, is compared with all contents by brute force over the signatures. Pairs that
may reach the floor are computed exactly from the texts and looked up among the stored pairs. Limitations: without
kept texts, similarities are estimates, and a pair near the threshold may count on the wrong side of it. A pair that
both the signatures (1 in 100,000) and the buckets miss is also missed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.linking.comparison import compare, contents_of, signatures_of
from lshdb.linking.jaccard import min_agreement
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.model.reports import Measurement, Point
from lshdb.model.values import VerifiedPairs
from lshdb.sketch import kernels
from lshdb.store.store import Store
from lshdb.store.tables import bands, measurements
from lshdb.store.transaction import Transaction
from lshdb.tuning.intervals import recall_of

__all__ = ["Measuring"]

# Comparing a content with one probe takes 13 ns, and ingesting a short text 80 microseconds. A tenth of that is 600
# probes.
MIN_PROBES: Final = 400
# 1.3 seconds: a small index has time for more probes.
COMPARISONS: Final = 100_000_000

# Minima compared with the probes at a time, and pairs held at a time.
BLOCK_MINIMA: Final = 200_000
HELD_PAIRS: Final = 1_000_000

STEP: Final = 0.05


@dataclass(frozen=True, slots=True)
class _Compared:
    """Probes that were compared with all contents: their numbers of neighbours by equal minima, and possible pairs.

    Args: keys: int64, shape (n,). neighbours: int64, shape (num_perm + 1,).
        pairs: int64, shape (m, 2), (probe, other). equal: int64, shape (m,).
    """

    keys: NDArray[np.int64]
    neighbours: NDArray[np.int64]
    pairs: NDArray[np.int64]
    equal: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Judged:
    """Pairs of the probes. A pair of two probes occurs once from each.

    Args:
        probe: int64, shape (m,), the number of the probe.
        similarity: float64, shape (m,).
        is_found: bool, shape (m,).
    """

    probe: NDArray[np.int64]
    similarity: NDArray[np.float64]
    is_found: NDArray[np.bool_]


class Measuring:
    """One measurement of a linked index. The same seed draws the same probes from the same contents."""

    def __init__(self, store: Store, run_key: int, progress: Progress) -> None:
        self._store = store
        self._params: Params = store.params
        self._run_key = run_key
        self._progress = progress

    def measure(self, num_probes: int | None, seed: int) -> Measurement:
        """Measure the index and store the result. Args: num_probes: None for a number that suits the index."""
        with self._store.reading() as snapshot:
            keys = measurements.content_keys(snapshot)
            compared = self._compared(snapshot, keys, _probes(keys, num_probes, seed))
            judged = self._judged(snapshot, compared)
        measured = self._measurement(compared, judged, len(keys), seed)
        with self._store.writing() as transaction:
            measurements.put(transaction, measured)
        return measured

    def _compared(self, snapshot: Transaction, keys: NDArray[np.int64], probes: NDArray[np.int64]) -> _Compared:
        """Compare the probes, or as many of them as fit in memory, with all contents."""
        minima = contents_of(snapshot, probes, self._params)
        # In the order they were drawn, so that the first half is a random sample too.
        rows = minima.signatures.minima[minima.rows(probes)]
        while True:
            compared = self._within_memory(snapshot, keys, probes, rows)
            if compared is not None:
                return compared
            probes, rows = probes[: (len(probes) + 1) // 2], rows[: (len(rows) + 1) // 2]

    def _within_memory(
        self, snapshot: Transaction, keys: NDArray[np.int64], probes: NDArray[np.int64], rows: NDArray[np.uint32]
    ) -> _Compared | None:
        """Return None if several probes have more pairs than may be held."""
        least = min_agreement(self._params.num_perm, self._params.floor)
        neighbours, pairs, equals, held = np.zeros(self._params.num_perm + 1, np.int64), [], [], 0
        for others, minima in self._blocks(snapshot, keys):
            equal = kernels.agreements(rows, minima)
            neighbours += np.bincount(equal.ravel(), minlength=len(neighbours))
            probe, other = np.nonzero(equal >= least)
            pairs.append(np.column_stack([probes[probe], others[other]]))
            equals.append(equal[probe, other])
            held += len(probe)
            if held > HELD_PAIRS and len(probes) > 1:
                return None
        neighbours[-1] -= len(probes)  # each probe with itself
        found = np.concatenate([np.empty((0, 2), np.int64), *pairs])
        other_than_itself = found[:, 0] != found[:, 1]
        agreeing = np.concatenate([np.empty(0, np.uint32), *equals]).astype(np.int64)
        return _Compared(probes, neighbours, found[other_than_itself], agreeing[other_than_itself])

    def _blocks(
        self, snapshot: Transaction, keys: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint32]]]:
        count, position, done = max(1, BLOCK_MINIMA // self._params.num_perm), 0, 0
        while len((contents := bands.next_contents(snapshot, position, count)).keys):
            yield contents.keys, signatures_of(contents.signatures, self._params).minima
            position, done = int(contents.keys[-1]), done + len(contents.keys)
            self._progress.advanced("measure", done / len(keys))

    def _judged(self, snapshot: Transaction, compared: _Compared) -> _Judged:
        """Return the probes' pairs at the floor or above, and whether the index has them."""
        order = np.argsort(compared.keys)
        stored, similarity = measurements.pairs_of(snapshot, compared.keys[order])
        is_stored = np.isin(_packed(compared.pairs), _packed(stored))
        missed, equal = compared.pairs[~is_stored], compared.equal[~is_stored]
        exact = self._similarities(snapshot, missed, equal / self._params.num_perm)
        kept = exact >= self._params.floor
        probes = np.concatenate([stored[:, 0], missed[kept, 0]])
        return _Judged(
            probe=order[np.searchsorted(compared.keys[order], probes)],
            similarity=np.concatenate([similarity, exact[kept]]),
            is_found=np.repeat([True, False], [len(stored), int(kept.sum())]),
        )

    def _similarities(
        self, snapshot: Transaction, pairs: NDArray[np.int64], estimates: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the similarities of (probe, other) pairs, exact if texts are kept."""
        if not len(pairs):
            return np.empty(0)
        ordered = np.sort(pairs, axis=1)
        keys, first, which = np.unique(ordered, axis=0, return_index=True, return_inverse=True)
        unsure = VerifiedPairs.estimated(keys, estimates[first])
        exact = compare(snapshot, contents_of(snapshot, keys, self._params), unsure, self._params)
        return exact.similarity[which.ravel()]

    def _measurement(self, compared: _Compared, judged: _Judged, num_contents: int, seed: int) -> Measurement:
        params, num_probes = self._params, len(compared.keys)
        near = judged.similarity >= params.min_sim
        there = np.bincount(judged.probe[near], minlength=num_probes)
        found = np.bincount(judged.probe[near & judged.is_found], minlength=num_probes)
        estimate = recall_of(found, there, num_contents)
        return Measurement(
            run=self._run_key,
            bands=params.bands,
            rows=params.rows,
            seed=seed,
            num_contents=num_contents,
            num_probes=num_probes,
            min_sim=params.min_sim,
            num_pairs=int(there.sum()),
            num_found=int(found.sum()),
            recall=estimate.share,
            low=estimate.low,
            high=estimate.high,
            neighbours=tuple(compared.neighbours.tolist()),
            points=_points(judged),
        )


def _probes(keys: NDArray[np.int64], num_probes: int | None, seed: int) -> NDArray[np.int64]:
    """Return a random sample of the keys, in random order."""
    affordable = max(MIN_PROBES, COMPARISONS // max(1, len(keys)))
    return np.random.default_rng(seed).choice(keys, min(len(keys), num_probes or affordable), replace=False)


def _packed(pairs: NDArray[np.int64]) -> NDArray[np.void]:
    """Return each row as one value."""
    return np.ascontiguousarray(pairs).view(np.dtype((np.void, 16))).ravel()


def _points(judged: _Judged) -> tuple[Point, ...]:
    """Return recall by steps of similarity."""
    steps = np.minimum(judged.similarity / STEP + 1e-9, 1 / STEP - 1).astype(np.int64)
    points = []
    for step in np.unique(steps):
        similarity, found = judged.similarity[steps == step], judged.is_found[steps == step]
        points.append(Point(round(float(similarity.mean()), 4), len(found), int(found.sum())))
    return tuple(points)
