"""How many of the true pairs were found, and whether their similarities are the true ones.

    python -m benchmarks.runs.recall PAIRS_FROM_ORACLE PAIRS_FROM_LSHDB

Both files hold one ``{"left", "right", "similarity"}`` a line for pairs of documents, made with one --min-sim:
the first by ``python -m benchmarks.corpora.oracle``, the second by ``lshdb dupes --min-sim 0.8 --expand --format
jsonl``.
Which document of a pair stands left does not matter. Exit code 1 where the recall is below ``--min-recall``, a
similarity differs by more than 1e-12, or a pair was found that is none.

Limitation: both files are held in memory, some 300 bytes a pair.
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
    """The found pairs against the true ones.

    Args:
        num_true, num_found: pairs in each file.
        missed: the true pairs that were not found, with their similarity.
        invented: the found pairs that are no true ones, with the similarity that was claimed.
        max_difference: the largest absolute difference of a similarity over the pairs in both.
    """

    num_true: int
    num_found: int
    missed: Pairs
    invented: Pairs
    max_difference: float

    @property
    def recall(self) -> float:
        """The share of the true pairs that was found; 1 where there are none."""
        return 1 - len(self.missed) / self.num_true if self.num_true else 1.0

    @property
    def precision(self) -> float:
        """The share of the found pairs that is true; 1 where there are none."""
        return 1 - len(self.invented) / self.num_found if self.num_found else 1.0

    def passes(self, min_recall: float) -> bool:
        """Whether enough was found, nothing was invented and every similarity is exact."""
        return self.recall >= min_recall and not self.invented and self.max_difference <= MAX_DIFFERENCE


class Record(msgspec.Struct):
    """One line of a file of pairs; other fields are ignored."""

    left: str
    right: str
    similarity: float


def read_pairs(path: Path) -> Pairs:
    """The pairs of a file with the smaller id first.

    Raises: ValueError: a pair is listed twice, or a document with itself.
    """
    decoder, pairs = msgspec.json.Decoder(Record), dict[tuple[str, str], float]()
    with path.open("rb") as lines:
        for record in map(decoder.decode, lines):
            pair = (min(record.left, record.right), max(record.left, record.right))
            if pair in pairs or record.left == record.right:
                raise ValueError(f"{path}: listed twice or with itself: {pair}")
            pairs[pair] = record.similarity
    return pairs


def compare(true: Pairs, found: Pairs) -> Comparison:
    """The found pairs against the true ones."""
    return Comparison(
        num_true=len(true),
        num_found=len(found),
        missed={pair: similarity for pair, similarity in true.items() if pair not in found},
        invented={pair: similarity for pair, similarity in found.items() if pair not in true},
        max_difference=max((abs(found[pair] - true[pair]) for pair in true.keys() & found.keys()), default=0.0),
    )


def histogram(similarities: Iterable[float]) -> list[str]:
    """One line for each stretch of similarities that has any: from, to, how many."""
    counts = Counter(int(similarity / BIN_WIDTH + 1e-9) for similarity in similarities)
    return [f"  {each * BIN_WIDTH:.2f} - {(each + 1) * BIN_WIDTH:.2f}  {counts[each]:>8}" for each in sorted(counts)]


def report(comparison: Comparison) -> str:
    """The comparison in words and figures."""
    lines = [
        f"true pairs      {comparison.num_true:>10}",
        f"found pairs     {comparison.num_found:>10}",
        f"recall          {comparison.recall:>10.6f}  ({len(comparison.missed)} missed)",
        f"precision       {comparison.precision:>10.6f}  ({len(comparison.invented)} invented)",
        f"max difference  {comparison.max_difference:>10.1e}  of a similarity",
    ]
    if comparison.missed:
        lines += ["similarities of the missed pairs", *histogram(comparison.missed.values())]
    lines += examples("missed", comparison.missed) + examples("invented", comparison.invented)
    return "\n".join(lines)


def examples(what: str, pairs: Pairs) -> list[str]:
    """A few of the pairs, the most similar ones first."""
    most_similar = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:MAX_EXAMPLES]
    return [f"{what}: {left} {right} {similarity:.6f}" for (left, right), similarity in most_similar]


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.recall", description=__doc__.split("\n")[0])
    parser.add_argument("true", type=Path, metavar="PAIRS_FROM_ORACLE")
    parser.add_argument("found", type=Path, metavar="PAIRS_FROM_LSHDB")
    parser.add_argument("--min-recall", type=float, default=0.999, help="default 0.999")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the comparison; 1 where it does not pass."""
    asked = parsed(arguments)
    comparison = compare(read_pairs(asked.true), read_pairs(asked.found))
    print(report(comparison))
    return 0 if comparison.passes(asked.min_recall) else 1


if __name__ == "__main__":
    sys.exit(main())
