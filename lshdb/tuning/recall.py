"""Measure an index on its own contents: how similar they are, and which of their pairs are stored.

A random sample of contents, the probes, is compared with all contents by brute force over the signatures. Pairs that
may reach the floor are computed exactly from the texts and looked up among the stored pairs. Probes are added until the
confidence interval of recall is narrow enough, or the time is up. Pairs that oversized buckets left out count as
missed, and are also counted separately.

Limitations: without kept texts, similarities are estimates, and a pair near the threshold may count on the wrong side
of it. A pair that both the signatures (1 in 100,000) and the buckets miss is also missed here.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from functools import partial
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.linking.comparison import Contents, compare, contents_of
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.model.reports import Measurement, Point
from lshdb.model.values import VerifiedPairs
from lshdb.sketch.banding import band_keys
from lshdb.store.store import Store
from lshdb.store.tables import measurements
from lshdb.store.transaction import Transaction
from lshdb.tuning.intervals import Estimate, recall_of
from lshdb.tuning.probes import Compared, compared

__all__ = ["Measuring", "Sampling"]

STEP: Final = 0.05
NUM_STEPS: Final = round(1 / STEP)


class Sampling(Struct, frozen=True):
    """How probes are drawn.

    Args:
        min_probes: compared with all contents first, then twice as many, and so on.
        max_probes: the most at a time.
        mates: how many contents that may be similar to a probe are compared exactly.
        precision: the largest distance between recall and the ends of its interval.
    """

    min_probes: int = 500
    max_probes: int = 4_000
    mates: int = 200
    precision: float = 0.02

    def batches(self, probes: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Yield all probes, in their order."""
        begin, count = 0, self.min_probes
        while begin < len(probes):
            yield probes[begin : begin + count]
            begin, count = begin + count, min(2 * count, self.max_probes)


class _Judged(Struct, frozen=True):
    """Pairs of the probes with earlier contents.

    Args:
        probe: int64, shape (m,), the number of the probe.
        similarity: float64, shape (m,).
        weight: float64, shape (m,), for how many pairs it stands.
        is_found, is_left_out: bool, shape (m,): it is stored; it is not, although it shares a bucket.
    """

    probe: NDArray[np.int64]
    similarity: NDArray[np.float64]
    weight: NDArray[np.float64]
    is_found: NDArray[np.bool_]
    is_left_out: NDArray[np.bool_]


class _Tally:
    """What all probes so far have shown."""

    def __init__(self, params: Params, num_contents: int) -> None:
        self._min_sim = params.min_sim
        self._num_contents = num_contents
        self.neighbours = np.zeros(params.num_perm + 1, np.int64)
        # For each probe, its pairs at `min_sim` or more: those found, and all.
        self.found, self.there = np.empty(0), np.empty(0)
        self._is_thinned = False
        # By step of similarity, below `min_sim` and from there on: sum of similarities, pairs, found, left out.
        self._steps = np.zeros((4, NUM_STEPS * 2))

    @property
    def num_probes(self) -> int:
        """The number of probes."""
        return len(self.there)

    def add(self, compared: Compared, judged: _Judged) -> None:
        """Add some probes."""
        near, count = judged.similarity >= self._min_sim, len(compared.keys)
        there = np.bincount(judged.probe[near], judged.weight[near], count)
        found = np.bincount(judged.probe[near & judged.is_found], minlength=count)
        self.there, self.found = np.append(self.there, there), np.append(self.found, found)
        self.neighbours += compared.neighbours
        self._is_thinned |= bool((judged.weight > 1.0).any())
        steps = 2 * np.minimum(judged.similarity / STEP + 1e-9, NUM_STEPS - 1).astype(np.int64) + near
        of_pairs = (judged.similarity, np.ones(len(steps)), judged.is_found, judged.is_left_out)
        self._steps += [np.bincount(steps, judged.weight * value, NUM_STEPS * 2) for value in of_pairs]

    def estimate(self) -> Estimate:
        """Return the recall."""
        # The mates of a probe can be a sample too. Then not even all probes together leave no doubt.
        return recall_of(self.found, self.there, math.inf if self._is_thinned else self._num_contents)

    def points(self) -> tuple[Point, ...]:
        """Return recall by step of similarity."""
        # Rounded down, so that a step below `min_sim` stays below it.
        return tuple(
            Point(math.floor(1e4 * similarity / pairs + 1e-6) / 1e4, round(pairs), round(found), round(left_out))
            for similarity, pairs, found, left_out in self._steps.T.tolist()
            if pairs
        )


class Measuring:
    """One measurement of a linked index. The same seed draws the same probes from the same contents."""

    def __init__(self, store: Store, run_key: int, progress: Progress, sampling: Sampling | None = None) -> None:
        self._store = store
        self._params: Params = store.params
        self._run_key = run_key
        self._progress = progress
        self._sampling = sampling or Sampling()

    def measure(self, num_probes: int | None, seed: int, seconds: float) -> Measurement:
        """Measure the index and store the result.

        Args:
            num_probes: how many contents to compare; None for as many as a precise result takes.
            seconds: when to stop adding probes, if the result is not precise by then.
        """
        ends = math.inf if num_probes is not None else time.monotonic() + seconds
        with self._store.reading() as snapshot:
            keys = measurements.content_keys(snapshot)
            tally = _Tally(self._params, len(keys))
            order = np.random.default_rng(seed).permutation(keys)[:num_probes]
            for probes in self._sampling.batches(order):
                self._probe(snapshot, probes, len(keys), tally)
                if num_probes is None and (self._is_precise(tally.estimate()) or time.monotonic() > ends):
                    break
        if num_probes is None and tally.num_probes < len(keys) and not self._is_precise(tally.estimate()):
            self._progress.noticed(f"time ran out before recall was known to {self._sampling.precision}; allow more")
        measured = self._measurement(tally, len(keys), seed)
        with self._store.writing() as transaction:
            measurements.put(transaction, measured)
        return measured

    def _is_precise(self, estimate: Estimate) -> bool:
        share, most = estimate.share, self._sampling.precision
        return share is not None and share - estimate.low <= most and estimate.high - share <= most

    def _probe(self, snapshot: Transaction, probes: NDArray[np.int64], num_contents: int, tally: _Tally) -> None:
        """Add some probes to the tally."""
        advanced = partial(self._advanced, num_contents)
        found = compared(snapshot, probes, self._params, self._sampling.mates, advanced)
        tally.add(found, self._judged(snapshot, found))

    def _advanced(self, num_contents: int, done: int) -> None:
        self._progress.advanced("measure", done / num_contents)

    def _judged(self, snapshot: Transaction, compared: Compared) -> _Judged:
        """Return the probes' pairs at the floor or above: those that are stored, and a sample of the others."""
        order = np.argsort(compared.keys)
        stored, similarity = measurements.pairs_of(snapshot, compared.keys[order])
        is_earlier = stored[:, 1] < stored[:, 0]
        stored, similarity = stored[is_earlier], similarity[is_earlier]
        pairs = np.column_stack([compared.keys[compared.probe], compared.other])
        missed = np.flatnonzero(~np.isin(_packed(pairs), _packed(stored)))
        exact, shares = self._similarities(snapshot, pairs[missed], compared.equal[missed] / self._params.num_perm)
        is_there = exact >= self._params.floor
        count, missed = len(stored), missed[is_there]
        return _Judged(
            probe=np.append(order[np.searchsorted(compared.keys[order], stored[:, 0])], compared.probe[missed]),
            similarity=np.append(similarity, exact[is_there]),
            weight=np.append(np.ones(count), compared.weights[missed]),
            is_found=np.append(np.ones(count, np.bool_), np.zeros(len(missed), np.bool_)),
            is_left_out=np.append(np.zeros(count, np.bool_), shares[is_there]),
        )

    def _similarities(
        self, snapshot: Transaction, pairs: NDArray[np.int64], estimates: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the similarities of (probe, other) pairs, exact if texts are kept, and whether they share a bucket."""
        if not len(pairs):
            return np.empty(0), np.empty(0, np.bool_)
        ordered = np.argsort(pairs[:, 1], kind="stable")
        keys = pairs[ordered][:, ::-1]
        contents = contents_of(snapshot, keys, self._params)
        exact = compare(snapshot, contents, VerifiedPairs.estimated(keys, estimates[ordered]), self._params)
        back = np.argsort(ordered)
        return exact.similarity[back], self._shares_bucket(contents, keys)[back]

    def _shares_bucket(self, contents: Contents, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        # A bucket that is not oversized is expanded in full. So a pair that shares one and is not stored was left out.
        keys, rows = band_keys(contents.signatures, self._params.banding).keys, contents.rows(pairs)
        shares: NDArray[np.bool_] = (keys[rows[:, 0]] == keys[rows[:, 1]]).any(axis=1)
        return shares

    def _measurement(self, tally: _Tally, num_contents: int, seed: int) -> Measurement:
        estimate, params = tally.estimate(), self._params
        return Measurement(
            run=self._run_key,
            bands=params.bands,
            rows=params.rows,
            seed=seed,
            num_contents=num_contents,
            num_probes=tally.num_probes,
            min_sim=params.min_sim,
            num_pairs=round(tally.there.sum()),
            num_found=round(tally.found.sum()),
            recall=estimate.share,
            low=estimate.low,
            high=estimate.high,
            neighbours=tuple(tally.neighbours.tolist()),
            points=tally.points(),
        )


def _packed(pairs: NDArray[np.int64]) -> NDArray[np.void]:
    """Return each row as one value."""
    return np.ascontiguousarray(pairs).view(np.dtype((np.void, 16))).ravel()
