"""Measure the stages that one task or one process completes, on generated rows, without Spark.

    python -m benchmarks.runs.skew

- ``bucket``: all contents in one bucket, expanded into candidates.
- ``family``: all pairs of one family, as the bucket expands, put into groups.
- ``forest``: as many pairs as named, of a tenth as many contents, in tasks of 10 million pairs; then the forests of
  the tasks, merged.

Each case is a process of its own. Its memory is the largest resident set, less that of a process that only imports.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from lshdb.model.expansion import EXPANSION
from lshdb.stages import buckets, forests, groups
from lshdb.stages.columns import batch_of
from lshdb.stages.schemas import BUCKETS, GROUPING, PAIRS

BATCH_ROWS: Final = 2_000
TASK_PAIRS: Final = 10_000_000
SIZES: Final = {"bucket": 10_000_000, "family": 1_000_000, "forest": 100_000_000}
NUM_SHINGLES: Final = 300


def bucket(size: int) -> int:
    """Return the number of candidates of a bucket with so many contents."""
    return sum(map(len, buckets.occurrences(_bucket(size), EXPANSION, 0)))


def _bucket(size: int) -> Iterator[pa.RecordBatch]:
    for begin in range(0, size, BATCH_ROWS):
        content = np.arange(begin, min(begin + BATCH_ROWS, size))
        same = np.zeros(len(content), np.int64)
        yield batch_of(BUCKETS, len(content), band=same.astype(np.int16), bucket_hash=same, content=content)


def family(size: int) -> int:
    """Return the number of groups of a family with so many contents."""
    return sum(1 for _ in groups.grouped(_pairs_of_family(size)))


def _pairs_of_family(size: int) -> Iterator[pa.RecordBatch]:
    """Yield the pairs sorted by right and left content: those of the first contents, then those with a hub."""
    for begin in range(1, size, BATCH_ROWS):
        right = np.arange(begin, min(begin + BATCH_ROWS, size))
        lefts = np.where(right < EXPANSION.cap, right, EXPANSION.hubs)
        repeated = np.repeat(right, lefts)
        left = np.arange(len(repeated)) - np.repeat(np.cumsum(lefts) - lefts, lefts)
        size_of = np.full(len(left), NUM_SHINGLES)
        none = np.zeros(len(left), np.int64)
        yield batch_of(
            GROUPING, len(left), family=none, left=left, right=repeated, left_size=size_of, right_size=size_of
        )


def forest(size: int) -> int:
    """Return the number of contents in the components of so many pairs."""
    num_tasks = max(1, size // TASK_PAIRS)
    trees = (tree for task in range(num_tasks) for tree in forests.forest(_pairs(task, size // num_tasks, size // 10)))
    return len(forests.merged(trees)[0])


def _pairs(task: int, count: int, num_contents: int) -> Iterator[pa.RecordBatch]:
    """Yield pairs of contents that are near each other, as in a crawl, so that there are many components."""
    chance = np.random.default_rng(task)
    for begin in range(0, count, BATCH_ROWS):
        number = min(BATCH_ROWS, count - begin)
        left = chance.integers(0, num_contents // 16, number) * 16 + chance.integers(0, 8, number)
        right = left + chance.integers(1, 8, number)
        yield batch_of(PAIRS, number, left=left, right=right, similarity=np.ones(number), exact=np.ones(number, bool))


CASES: Final[dict[str, Callable[[int], int]]] = {"bucket": bucket, "family": family, "forest": forest}


def main() -> None:
    if len(sys.argv) == 3:
        result = CASES[sys.argv[1]](int(sys.argv[2])) if sys.argv[1] in CASES else 0
        used = resource.getrusage(resource.RUSAGE_SELF)
        print(result, used.ru_utime + used.ru_stime, used.ru_maxrss)
        return
    before = measured("none", 0)
    for name, size in SIZES.items():
        found, seconds, peak = measured(name, size)
        row = f"{found:>13,.0f}  cpu {seconds - before[1]:7.1f} s  peak {(peak - before[2]) / 1e3:,.0f} MB"
        print(f"{name:8}{size:>15,} -> {row}", flush=True)


def measured(name: str, size: int) -> tuple[float, float, float]:
    """Return the result of a case, processor seconds, and the largest resident set in kB."""
    call = [sys.executable, "-m", "benchmarks.runs.skew", name, str(size)]
    found, seconds, peak = map(float, subprocess.run(call, check=True, capture_output=True).stdout.split())
    return found, seconds, peak


if __name__ == "__main__":
    main()
