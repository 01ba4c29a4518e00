"""Write the truth of the sample crawl: every pair of its pages with Jaccard >= 0.3, by the oracle.

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
    """The pairs of pages of the crawl in it, the most similar ones first; ids are relative to `sample_data`."""
    pairs = all_pairs(folder_texts(sample_data / "crawl", base=sample_data), MIN_SIM)
    return sorted(pairs, key=lambda pair: (-pair.similarity, pair.left, pair.right))


def write_truth(pairs: list[Pair], out: TextIO) -> None:
    """Write the pairs as CSV; a similarity is written so that reading it gives the same float64."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(Pair._fields)
    writer.writerows(pairs)


def read_truth(path: Path = SAMPLE_DATA / "truth.csv") -> list[Pair]:
    """The pairs of a truth file."""
    with path.open(encoding="utf-8", newline="") as lines:
        return [Pair(row["left"], row["right"], float(row["similarity"])) for row in csv.DictReader(lines)]


def main() -> int:
    """Write ``sample_data/truth.csv`` anew."""
    pairs = true_pairs()
    with (SAMPLE_DATA / "truth.csv").open("w", encoding="utf-8", newline="") as out:
        write_truth(pairs, out)
    print(f"{len(pairs)} pairs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
