"""Write ``sample_data/truth.csv``: every pair of pages with Jaccard >= 0.3, found by the oracle.

python -m benchmarks.corpora.truth
"""

from __future__ import annotations

import csv
import sys
from fractions import Fraction
from pathlib import Path
from typing import Final, TextIO

from benchmarks.corpora.extraction import folder_texts
from benchmarks.corpora.oracle import Pair, all_pairs

SAMPLE_DATA: Final = Path(__file__).parents[2] / "sample_data"
MIN_SIM: Final = Fraction("0.3")


def true_pairs(sample_data: Path = SAMPLE_DATA) -> list[Pair]:
    """Return the pairs of pages, most similar first, with ids relative to `sample_data`."""
    pairs = all_pairs(folder_texts(sample_data / "crawl", base=sample_data), MIN_SIM)
    return sorted(pairs, key=lambda pair: (-pair.similarity, pair.left, pair.right))


def write_truth(pairs: list[Pair], out: TextIO) -> None:
    """Write the pairs as CSV. Reading a similarity gives the same float64."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(Pair._fields)
    writer.writerows(pairs)


def read_truth(path: Path = SAMPLE_DATA / "truth.csv") -> list[Pair]:
    """Return the pairs of a truth file."""
    with path.open(encoding="utf-8", newline="") as lines:
        return [Pair(row["left"], row["right"], float(row["similarity"])) for row in csv.DictReader(lines)]


def main() -> int:
    """Write ``sample_data/truth.csv``."""
    pairs = true_pairs()
    with (SAMPLE_DATA / "truth.csv").open("w", encoding="utf-8", newline="") as out:
        write_truth(pairs, out)
    print(f"{len(pairs)} pairs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
