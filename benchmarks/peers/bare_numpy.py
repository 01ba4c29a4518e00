"""Textbook MinHash in sixty lines of NumPy, in memory: universal hashing, then one sort per band. Lists candidates."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.figures import read_records
from benchmarks.peers.protocol import BANDS, NUM_PERM, ROWS, SEED, Answer, Task, run
from benchmarks.peers.shingles import hashes

# Shingles hashed at a time: 100 rows of them fit into the second-level cache.
CHUNK: Final = 1_024


def sign(hashed: NDArray[np.uint64], factors: NDArray[np.uint64], summands: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return the upper halves of the minima of ``a * x + b`` mod 2^64, uint32, shape (num_perm,)."""
    minima = np.full(NUM_PERM, np.iinfo(np.uint64).max, np.uint64)
    for begin in range(0, len(hashed), CHUNK):
        rows = factors * hashed[begin : begin + CHUNK] + summands
        np.minimum(minima, rows.min(axis=1), out=minima)
    return (minima >> np.uint64(32)).astype(np.uint32)


def buckets(signatures: NDArray[np.uint32]) -> Iterator[list[int]]:
    """Yield the rows of each bucket with two or more."""
    for band in range(BANDS):
        part = np.ascontiguousarray(signatures[:, band * ROWS : (band + 1) * ROWS])
        keys = part.view(np.dtype((np.void, part.itemsize * ROWS))).ravel()
        _, numbers, counts = np.unique(keys, return_inverse=True, return_counts=True)
        order = np.argsort(numbers, kind="stable")
        for bucket in np.split(order, np.cumsum(counts)[:-1]):
            if len(bucket) > 1:
                yield bucket.tolist()


def duplicates(task: Task) -> Iterator[Answer]:
    """Yield the candidates with their estimates. Documents without words have none."""
    chance = np.random.default_rng(SEED)
    factors, summands = chance.integers(0, 2**64, (2, NUM_PERM, 1), np.uint64)
    factors |= np.uint64(1)
    ids, signed = list[str](), list[NDArray[np.uint32]]()
    for record in read_records(task.file):
        if len(hashed := hashes(record.text)):
            ids.append(record.id)
            signed.append(sign(hashed, factors, summands))
    signatures = np.array(signed).reshape(-1, NUM_PERM)
    pairs = {pair for bucket in buckets(signatures) for pair in combinations(bucket, 2)}
    for left, right in pairs:
        yield Answer(ids[left], ids[right], float((signatures[left] == signatures[right]).mean()))


if __name__ == "__main__":
    run(duplicates)
