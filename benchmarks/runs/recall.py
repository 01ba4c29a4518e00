"""Compare pairs with the true ones: recall, precision, and errors of the similarities.

    python -m benchmarks.runs.recall PAIRS_FROM_ORACLE PAIRS_FROM_LSHDB

Both files have one line ``{"left", "right", "similarity"}`` per pair of documents, for the same --min-sim. The first
comes from ``python -m benchmarks.corpora.oracle``, the second from ``lshdb dupes --min-sim 0.8 --expand --format
jsonl``. The order within a pair does not matter. Exits with status 1 if the recall is below ``--min-recall``, a
similarity differs by more than 1e-12, or a pair is wrong.

Limitation: both files are held in memory, about 300 bytes per pair.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

MAX_DIFFERENCE: Final = 1e-12
BIN_WIDTH: Final = 0.02
MAX_EXAMPLES: Final = 5

Pairs = Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of a comparison.

    Args:
        num_true, num_found: pairs in each file.
        missed: true pairs that were not found, with their similarity.
        invented: pairs that are not true, with the similarity that was reported.
        max_difference: largest absolute difference between two similarities of a pair.
    """

    num_true: int
    num_found: int
    missed: Pairs
    invented: Pairs
    max_difference: float

    @property
    def recall(self) -> float:
        """The share of the true pairs that were found; 1 if there are no true pairs."""
        return 1 - len(self.missed) / self.num_true if self.num_true else 1.0

    @property
    def precision(self) -> float:
        """The share of the found pairs that are true; 1 if none were found."""
        return 1 - len(self.invented) / self.num_found if self.num_found else 1.0

    def passes(self, min_recall: float) -> bool:
        """Return whether enough pairs were found, all of them are right, and every similarity is exact."""
        return self.recall >= min_recall and not self.invented and self.max_difference <= MAX_DIFFERENCE


class Record(msgspec.Struct):
    """A line of a file of pairs. Other fields are ignored."""

    left: str
    right: str
    similarity: float


def read_pairs(path: Path) -> Pairs:
    """Return the pairs of a file, each with the smaller id first.

    Raises:
        ValueError: A pair is repeated, or pairs a document with itself.
    """
    decoder, pairs = msgspec.json.Decoder(Record), dict[tuple[str, str], float]()
    with path.open("rb") as lines:
        for record in map(decoder.decode, lines):
            pair = (min(record.left, record.right), max(record.left, record.right))
            if pair in pairs or record.left == record.right:
                raise ValueError(f"{path}: repeated, or paired with itself: {pair}")
            pairs[pair] = record.similarity
    return pairs


def compare(true: Pairs, found: Pairs) -> Comparison:
    """Compare the found pairs with the true ones."""
    return Comparison(
        num_true=len(true),
        num_found=len(found),
        missed={pair: similarity for pair, similarity in true.items() if pair not in found},
        invented={pair: similarity for pair, similarity in found.items() if pair not in true},
        max_difference=max((abs(found[pair] - true[pair]) for pair in true.keys() & found.keys()), default=0.0),
    )


def histogram(similarities: Iterable[float]) -> list[str]:
    """Return a line for each non-empty range of similarities: from, to, count."""
    counts = Counter(int(similarity / BIN_WIDTH + 1e-9) for similarity in similarities)
    return [f"  {each * BIN_WIDTH:.2f} - {(each + 1) * BIN_WIDTH:.2f}  {counts[each]:>8}" for each in sorted(counts)]


def report(comparison: Comparison) -> str:
    """Return the comparison as text."""
    lines = [
        f"true pairs      {comparison.num_true:>10}",
        f"found pairs     {comparison.num_found:>10}",
        f"recall          {comparison.recall:>10.6f}  ({len(comparison.missed)} missed)",
        f"precision       {comparison.precision:>10.6f}  ({len(comparison.invented)} invented)",
        f"max difference  {comparison.max_difference:>10.1e}  between similarities",
    ]
    if comparison.missed:
        lines += ["similarities of missed pairs", *histogram(comparison.missed.values())]
    lines += examples("missed", comparison.missed) + examples("invented", comparison.invented)
    return "\n".join(lines)


def examples(what: str, pairs: Pairs) -> list[str]:
    """Return a few of the pairs, most similar first."""
    most_similar = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:MAX_EXAMPLES]
    return [f"{what}: {left} {right} {similarity:.6f}" for (left, right), similarity in most_similar]


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.recall", description=__doc__.split("\n")[0])
    parser.add_argument("true", type=Path, metavar="PAIRS_FROM_ORACLE")
    parser.add_argument("found", type=Path, metavar="PAIRS_FROM_LSHDB")
    parser.add_argument("--min-recall", type=float, default=0.999, help="default 0.999")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the comparison. Return 1 if it does not pass."""
    asked = parsed(arguments)
    comparison = compare(read_pairs(asked.true), read_pairs(asked.found))
    print(report(comparison))
    return 0 if comparison.passes(asked.min_recall) else 1


if __name__ == "__main__":
    sys.exit(main())
