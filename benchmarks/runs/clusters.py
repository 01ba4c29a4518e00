"""Measure the time and memory of clustering.

    python -m benchmarks.runs.clusters [--pairs 10000000] [--contents 10000000]

The pairs are synthetic, and each text has one document. 99 % of the pairs are within a group of 32 texts, the others
connect a group to the first of 3,000 groups. Keys are shuffled. The pairs are clustered twice, including the choice of
the kept document and the order of the clusters: from a sorted array in memory, and from the table `pair` of a SQLite
index. Each is a separate process, whose peak memory includes the pairs.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.runs.ingest import machine
from lshdb.clusters.arrange import Clusters, Ranked, arrange
from lshdb.clusters.keep import best_of_component, ranks
from lshdb.linking.candidates import Occurrences, connected
from lshdb.model.params import Params
from lshdb.store.schema import pair
from lshdb.store.store import Store
from lshdb.store.tables import clusters

MAX_SECONDS: Final = 10.0
MAX_BYTES: Final = 2e9

BLOCK_PAIRS: Final = 500_000
MIN_SIM: Final = 0.8
GROUP: Final = 32
JOINED: Final = 3_000


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one process."""

    name: str
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    num_clusters: int
    largest: int


def synthetic_pairs(num_pairs: int, num_contents: int) -> NDArray[np.int64]:
    """Return about `num_pairs` distinct pairs of content keys, int64, shape (m, 2), left < right, sorted."""
    chance = np.random.default_rng(4)
    left = chance.integers(0, num_contents, num_pairs)
    right = left // GROUP * GROUP + chance.integers(0, GROUP, num_pairs)
    far = chance.random(num_pairs) < 0.01
    right[far] = left[far] // (GROUP * JOINED) * GROUP * JOINED
    keys = chance.permutation(num_contents) + 1
    left, right = keys[left], keys[np.minimum(right, num_contents - 1)]
    packed = np.unique((np.minimum(left, right) * 2**32 + np.maximum(left, right))[left != right])
    return np.column_stack([packed // 2**32, packed % 2**32])


def clustered(num_contents: int, blocks: Iterator[NDArray[np.int64]]) -> Clusters:
    """Do what `lshdb clusters` does between the database and the names."""
    with Occurrences(num_contents) as pairs:
        for block in blocks:
            pairs.add(block)
        keys, labels = connected(pairs)
    none = np.zeros(len(keys), dtype=np.int64)
    rank = ranks(none, none, keys)
    kept = best_of_component(labels, rank)
    return arrange(kept, keys, Ranked(np.arange(len(keys)), keys, rank, rank), 2, None)


def from_memory(num_pairs: int, num_contents: int, _: Path) -> Row:
    """Cluster an array of pairs."""
    pairs = synthetic_pairs(num_pairs, num_contents)
    clustered(2, iter([pairs[:0]]))  # Load the compiled kernels.
    started = time.perf_counter(), time.process_time()
    found = clustered(num_contents, (pairs[begin : begin + BLOCK_PAIRS] for begin in range(0, len(pairs), BLOCK_PAIRS)))
    return _row(f"{len(pairs):,} pairs in memory", started, found)


def from_sqlite(_: int, num_contents: int, folder: Path) -> Row:
    """Cluster the pairs of a table that another process has filled."""
    clustered(2, iter([np.empty((0, 2), dtype=np.int64)]))
    with Store.open(str(folder / "pairs.db")) as store, store.reading() as snapshot:
        started = time.perf_counter(), time.process_time()
        found = clustered(num_contents, clusters.near_pairs(snapshot, MIN_SIM))
        return _row("the same pairs in SQLite", started, found)


def fill(num_pairs: int, num_contents: int, folder: Path) -> None:
    """Create the index whose pairs are clustered."""
    pairs = synthetic_pairs(num_pairs, num_contents)
    with Store.create(str(folder / "pairs.db"), Params(), "benchmark") as store:
        for begin in range(0, len(pairs), BLOCK_PAIRS):
            left, right = pairs[begin : begin + BLOCK_PAIRS].T
            others = {"similarity": np.full(len(left), 0.9), "exact": np.ones(len(left), dtype=np.bool_)}
            # There are no contents that they could refer to.
            with store.writing(refers_safely=True) as transaction:
                transaction.bulk_insert(pair, {"left_key": left, "right_key": right, **others})


def _row(name: str, started: tuple[float, float], found: Clusters) -> Row:
    seconds, cpu_seconds = time.perf_counter() - started[0], time.process_time() - started[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return Row(name, seconds, cpu_seconds, peak, len(found), int(np.diff(found.offsets)[0]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.clusters", description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=10_000_000, metavar="N")
    parser.add_argument("--contents", type=int, default=10_000_000, metavar="N")
    asked = parser.parse_args(arguments)
    print(f"{machine()}\n\n{'':32}{'seconds':>9}{'CPU s':>9}{'peak MB':>9}{'clusters':>12}{'largest':>12}", flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for way in (from_memory, fill, from_sqlite):
            # One process each, because the peak of a process never falls.
            with get_context("spawn").Pool(1) as processes:
                row = processes.apply(way, (asked.pairs, asked.contents, Path(folder)))
            if row is not None:
                rows.append(row)
                print(
                    f"{row.name:32}{row.seconds:>9.2f}{row.cpu_seconds:>9.2f}{row.peak_bytes / 1e6:>9.0f}"
                    f"{row.num_clusters:>12,}{row.largest:>12,}",
                    flush=True,
                )
    print(f"\ntarget for pairs in memory: {MAX_SECONDS:g} s, {MAX_BYTES / 1e6:g} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
