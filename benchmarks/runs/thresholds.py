"""Compare the pairs and clusters of an index with the oracle's, at several similarities.

    python -m benchmarks.corpora.oracle CORPUS --base BASE --min-sim 0.5 --out true.jsonl
    lshdb --db crawl.db ingest --base BASE --min-sim 0.5 --recall 0.999 CORPUS
    python -m benchmarks.runs.thresholds crawl.db true.jsonl

For each similarity, it prints:

- the recall, and the recall that the bands promise for these pairs (the mean over the pairs, with its standard error;
  exact copies are always found),
- the number of wrong pairs and wrong similarities,
- the number of connected components of the oracle's pairs (by networkx) that equal a cluster of the index.

Exits with status 1 if the recall is more than 3 standard errors below the promise, or if a pair is wrong.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import networkx

from benchmarks.runs.recall import read_pairs
from lshdb import ClusterOptions, Index
from lshdb.model.params import Banding

SIMILARITIES: Final = (0.5, 0.6, 0.7, 0.8, 0.9)

Pairs = Mapping[tuple[str, str], float]
Sets = set[frozenset[str]]


@dataclass(frozen=True, slots=True)
class Row:
    """The figures at one similarity."""

    min_sim: float
    true: int
    found: int
    promised: float
    error: float
    wrong: int
    clusters: int
    same_clusters: int

    @property
    def recall(self) -> float:
        """The share of the oracle's pairs that the index has."""
        return self.found / self.true

    @property
    def passes(self) -> bool:
        """Whether the promise is kept and nothing is wrong."""
        return not self.wrong and self.recall >= self.promised - 3 * self.error


def compared(index: Index, true: Pairs, min_sim: float) -> Row:
    """Compare the index with the oracle at one similarity."""
    wanted = {pair: one for pair, one in true.items() if one >= min_sim}
    answers = {
        (min(one.left, one.right), max(one.left, one.right)): one.similarity
        for one in index.pairs(min_sim, expand=True)
    }
    promised, error = promise(wanted.values(), index.params.banding)
    components, clusters = components_of(wanted), clusters_of(index, min_sim)
    return Row(
        min_sim=min_sim,
        true=len(wanted),
        found=len(wanted.keys() & answers.keys()),
        promised=promised,
        error=error,
        wrong=sum(wanted.get(pair) != similarity for pair, similarity in answers.items()),
        clusters=len(components | clusters),
        same_clusters=len(components & clusters),
    )


def promise(similarities: Iterable[float], banding: Banding) -> tuple[float, float]:
    """Return the expected recall of independent pairs with these similarities, and its standard error."""
    chances = [1.0 if one == 1.0 else banding.candidate_probability(one) for one in similarities]
    variance = sum(chance * (1 - chance) for chance in chances)
    return sum(chances) / len(chances), math.sqrt(variance) / len(chances)


def components_of(pairs: Iterable[tuple[str, str]]) -> Sets:
    """Return the connected components of the pairs."""
    return set(map(frozenset, networkx.connected_components(networkx.Graph(list(pairs)))))


def clusters_of(index: Index, min_sim: float) -> Sets:
    """Return the clusters of the index."""
    return {frozenset(cluster.members) for cluster in index.clusters(min_sim, ClusterOptions(linkage="single"))}


def printed(row: Row) -> Row:
    """Print a row and return it."""
    print(
        f"{row.min_sim:>6}{row.true:>9}{row.found:>9}{row.recall:>10.5f}{row.promised:>10.5f}{row.error:>10.5f}"
        f"{row.wrong:>7}{row.clusters:>10}{row.same_clusters:>10}",
        flush=True,
    )
    return row


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table. Return 1 if a row does not pass."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.thresholds", description=__doc__.split("\n")[0])
    parser.add_argument("db", help="an index of the documents that the oracle read")
    parser.add_argument("true", type=Path, help="pairs of the oracle")
    asked = parser.parse_args(arguments)
    true = read_pairs(asked.true)
    with Index.open(asked.db) as index:
        banding = index.params.banding
        print(f"{banding.bands} bands of {banding.rows} rows, floor {index.params.floor}")
        print("   s >=     true    found    recall  promised  st.error  wrong  clusters     equal")
        rows = [printed(compared(index, true, s)) for s in SIMILARITIES if s >= index.params.floor]
    return 0 if all(row.passes for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
