"""Compare the predictions of `tune` with the facts: recall, its interval, candidates and bytes, on a crawl.

    python -m benchmarks.runs.tuning CRAWL [--seeds 100]

Ingests the folder, then rebands the index for several promises. For each promise, it checks that

- the recall, measured by the brute-force oracle, keeps the promise,
- at least 95 % of the intervals that `tune --measure` prints contain that recall,
- the candidates and bytes per text that `tune` predicts are within 15 % of the measured ones,
- a measurement takes less than 10 % of the time of the ingest.

Exits with status 1 if a check fails. Limitation: needs SQLite with dbstat.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora.extraction import folder_texts
from benchmarks.corpora.oracle import all_pairs
from lshdb import Index, IngestOptions, Params
from lshdb.linking.buckets import expand
from lshdb.linking.candidates import Occurrences
from lshdb.model.banding import SQLITE_SIZES
from lshdb.model.expansion import EXPANSION
from lshdb.model.values import Signatures
from lshdb.readers import ReadOptions
from lshdb.sketch.banding import band_keys

PROMISES: Final = ((0.8, 0.999), (0.5, 0.9), (0.6, 0.9), (0.7, 0.99), (0.9, 0.9))
LEAST: Final = Fraction(1, 2)
# How long a measurement may add to its sample.
SECONDS: Final = 2.0

# (smaller content key, larger content key) -> similarity.
Truth = dict[tuple[int, int], float]


@dataclass(frozen=True, slots=True)
class Line:
    """The predictions and the facts for one promise."""

    min_sim: float
    promised: float
    bands: str
    recall: float
    num_pairs: int
    covered: int
    num_seeds: int
    candidates: tuple[float, float]
    bytes: tuple[float, float]
    seconds: float

    def passes(self, ingest_seconds: float) -> bool:
        """Return whether all checks pass."""
        allowed = 3 * (self.promised * (1 - self.promised) / max(1, self.num_pairs)) ** 0.5
        near = [abs(reckoned / found - 1) <= 0.15 for reckoned, found in (self.candidates, self.bytes)]
        enough = self.covered >= 0.95 * self.num_seeds
        return self.recall >= self.promised - allowed and enough and all(near) and self.seconds < ingest_seconds / 10

    def __str__(self) -> str:
        return (
            f"{self.min_sim:7.2f}  {self.promised:8.4f}  {self.bands:>6}  {self.recall:8.5f}  {self.num_pairs:7}  "
            f"{self.covered:3} of {self.num_seeds:3}  {self.candidates[0]:10.2f}  {self.candidates[1]:8.2f}  "
            f"{self.bytes[0]:8.0f}  {self.bytes[1]:6.0f}  {self.seconds:7.2f}"
        )


HEADER: Final = (
    "min_sim  promised   bands    recall    pairs  intervals   candidates   measured     bytes   measured  seconds"
)


def truth_of(crawl: Path, database: Path) -> Truth:
    """Return the pairs of contents at `LEAST` or above, found by the oracle."""
    with sqlite3.connect(database) as connection:
        keys = dict(connection.execute("SELECT doc_id, content_key FROM document WHERE content_key IS NOT NULL"))
    truth: Truth = {}
    for pair in all_pairs(folder_texts(crawl, crawl), LEAST):
        left, right = sorted((keys[pair.left], keys[pair.right]))
        if left != right:
            truth[left, right] = pair.similarity
    return truth


def recall_of(database: Path, truth: Truth, min_sim: float) -> tuple[float, int]:
    """Return (the share of the true pairs that the index has, the number of true pairs)."""
    with sqlite3.connect(database) as connection:
        found = set(connection.execute("SELECT left_key, right_key FROM pair"))
    near = [pair for pair, similarity in truth.items() if similarity >= min_sim]
    return sum(pair in found for pair in near) / len(near), len(near)


def candidates_of(database: Path, params: Params) -> float:
    """Return the mean number of other contents that share a bucket with a content."""
    with sqlite3.connect(database) as connection:
        rows = connection.execute("SELECT signature FROM content ORDER BY content_key").fetchall()
    signatures = Signatures.read(b"".join(row[0] for row in rows), params.permutations)
    keys = band_keys(signatures, params.banding).keys
    with Occurrences(len(keys)) as candidates:
        for block in _occurrences(keys):
            candidates.add(block)
        return 2 * sum(map(len, candidates.parts())) / len(keys)


def _occurrences(keys: NDArray[np.uint64]) -> Iterator[NDArray[np.int64]]:
    yield np.empty((0, 2), np.int64)
    for band in keys.T:
        order = np.argsort(band, kind="stable")
        rows = np.column_stack([band[order].view(np.int64), order])
        yield from expand(rows, np.ones(len(rows), np.bool_), EXPANSION)


def bytes_of(database: Path) -> float:
    """Return the bytes per content of signatures and buckets in the file."""
    with sqlite3.connect(database) as connection:
        tables = "('content', 'sqlite_autoindex_content_1', 'band_bucket')"
        (size,) = connection.execute(f"SELECT sum(pgsize) FROM dbstat WHERE name IN {tables}").fetchone()  # noqa: S608
        (count,) = connection.execute("SELECT count(*) FROM content").fetchone()
    return float(size) / float(count)


def look_at(index: Index, database: Path, truth: Truth, promise: tuple[float, float], num_seeds: int) -> Line:
    """Reband the index for a promise, and compare predictions and facts."""
    min_sim, promised = promise
    index.reband(min_sim, promised)
    recall, num_pairs = recall_of(database, truth, min_sim)
    started, covered = time.perf_counter(), 0
    for seed in range(num_seeds):
        measured = index.measure(seed=seed, seconds=SECONDS)
        covered += measured.low <= recall <= measured.high
    seconds = (time.perf_counter() - started) / num_seeds
    params, outlook = index.params, index.outlook()
    return Line(
        min_sim=min_sim,
        promised=promised,
        bands=f"{params.bands}x{params.rows}",
        recall=recall,
        num_pairs=num_pairs,
        covered=covered,
        num_seeds=num_seeds,
        candidates=(outlook.similarities.candidates(params.banding), candidates_of(database, params)),
        bytes=(SQLITE_SIZES.of(params.banding, params.num_perm), bytes_of(database)),
        seconds=seconds,
    )


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.tuning", description=__doc__.split("\n")[0])
    parser.add_argument("crawl", type=Path, metavar="CRAWL")
    parser.add_argument("--seeds", type=int, default=100, help="measurements per promise (default 100)")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row per promise. Return 1 if one does not pass."""
    asked = parsed(arguments)
    with tempfile.TemporaryDirectory() as folder:
        database, passes = Path(folder) / "crawl.db", True
        with Index.create(str(database)) as index:
            options = IngestOptions(read=ReadOptions(base=asked.crawl), workers=2)
            report = index.ingest([asked.crawl], options)
            truth = truth_of(asked.crawl, database)
            print(f"{report.counts.num_added} documents in {report.seconds:.1f} s; {len(truth)} pairs of contents")
            print(HEADER)
            for promise in PROMISES:
                line = look_at(index, database, truth, promise, asked.seeds)
                passes &= line.passes(report.seconds)
                print(line, "" if line.passes(report.seconds) else "  MISSED", flush=True)
    return 0 if passes else 1


if __name__ == "__main__":
    sys.exit(main())
