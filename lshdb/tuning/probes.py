"""Compare a sample of contents, the probes, with all contents by their signatures.

A pair belongs to the later of its contents. Each pair of the index then has one chance to be in the sample, and the
first contents of an oversized bucket, which are paired with all others in it, do not distort it.

Memory is the same for any index: of the contents that a probe may be similar to, at most a few hundred are kept, chosen
at random. All of them are counted, so each of the kept ones stands for several.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.linking.comparison import contents_of
from lshdb.linking.jaccard import min_agreement
from lshdb.model.params import Params
from lshdb.model.values import Signatures
from lshdb.sketch import kernels
from lshdb.sketch.kernels.constants import GOLDEN, SPLITMIX_1, SPLITMIX_2
from lshdb.store.tables import bands
from lshdb.store.transaction import Transaction

__all__ = ["Compared", "compared"]

# Minima that are compared with the probes at a time.
BLOCK_MINIMA: Final = 2_000_000


@dataclass(frozen=True, slots=True)
class Compared:
    """Probes that were compared with all contents.

    Args:
        keys: of the probes, int64, shape (n,).
        neighbours: how many others have each number of equal minima, int64, shape (num_perm + 1,).
        num_likely: for each probe, the earlier contents that may be at the floor or above, int64, shape (n,).
        probe, other, equal: some of those: the number of the probe, the content, and their equal minima; int64, shape
            (m,).
    """

    keys: NDArray[np.int64]
    neighbours: NDArray[np.int64]
    num_likely: NDArray[np.int64]
    probe: NDArray[np.int64]
    other: NDArray[np.int64]
    equal: NDArray[np.int64]

    @property
    def weights(self) -> NDArray[np.float64]:
        """For how many contents each kept one stands, float64, shape (m,)."""
        num_kept = np.bincount(self.probe, minlength=len(self.keys))
        return self.num_likely[self.probe] / num_kept[self.probe]


def compared(
    transaction: Transaction,
    probes: NDArray[np.int64],
    params: Params,
    most: int,
    advanced: Callable[[int], None],
    block_minima: int = BLOCK_MINIMA,
) -> Compared:
    """Return the probes, compared with all contents.

    Args:
        most: how many contents are kept for each probe.
        advanced: receives the number of contents compared so far.
    """
    found = contents_of(transaction, probes, params)
    minima = found.signatures.minima[found.rows(probes)]
    likely = _Likely(probes, most)
    neighbours = np.zeros(params.num_perm + 1, np.int64)
    least, position, done = min_agreement(params.num_perm, params.floor), 0, 0
    while len((block := bands.next_contents(transaction, position, max(1, block_minima // params.num_perm))).keys):
        counts, near = kernels.agreements(minima, Signatures.read(block.signatures, params.permutations).minima, least)
        neighbours += counts
        likely.add(near[:, 0], block.keys[near[:, 1]], near[:, 2])
        position, done = int(block.keys[-1]), done + len(block.keys)
        advanced(done)
    neighbours[-1] -= len(probes)  # each probe with itself
    return Compared(probes, neighbours, *likely.kept())


class _Likely:
    """Keeps a random sample of the contents that each probe may be similar to."""

    def __init__(self, probes: NDArray[np.int64], most: int) -> None:
        self._probes = probes
        self._most = most
        self._counts = np.zeros(len(probes), np.int64)
        # (number of the probe, content, equal minima)
        self._rows = np.empty((0, 3), np.int64)
        self._waiting: list[NDArray[np.int64]] = []
        self._num_waiting = 0

    def add(self, probe: NDArray[np.int64], other: NDArray[np.int64], equal: NDArray[np.int64]) -> None:
        """Add some of the contents. Only those before the probe count."""
        rows = np.column_stack([probe, other, equal])[other < self._probes[probe]]
        self._counts += np.bincount(rows[:, 0], minlength=len(self._counts))
        self._waiting.append(rows)
        self._num_waiting += len(rows)
        if self._num_waiting > self._most * len(self._probes):
            self._thin()

    def kept(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the number of contents of each probe; and of those that are kept, probe, content and equal minima."""
        self._thin()
        return self._counts, self._rows[:, 0], self._rows[:, 1], self._rows[:, 2]

    def _thin(self) -> None:
        """Keep those with the smallest hashes: a sample that does not depend on the order in which they came.

        Source: Cohen, Kaplan 2007, Summarizing data using bottom-k sketches.
        """
        rows = np.concatenate([self._rows, *self._waiting])
        rows = rows[np.lexsort((_mixed(self._probes[rows[:, 0]], rows[:, 1]), rows[:, 0]))]
        first = np.searchsorted(rows[:, 0], rows[:, 0])
        self._rows = rows[np.arange(len(rows)) - first < self._most]
        self._waiting, self._num_waiting = [], 0


def _mixed(probes: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a hash of each pair, uint64.

    Source: the finaliser of SplitMix64: Steele, Lea, Flood 2014, Fast splittable pseudorandom number generators.
    """
    mixed = probes.astype(np.uint64) * GOLDEN + others.astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * SPLITMIX_1
    mixed = (mixed ^ (mixed >> np.uint64(27))) * SPLITMIX_2
    return mixed ^ (mixed >> np.uint64(31))
