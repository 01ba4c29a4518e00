"""The answers of a peer against the true pairs: recall, precision, and the recall of every stretch of similarities.

Pairs are numbers here, ``left * num_documents + right`` of the documents' rows, so that millions of them fit. A cluster
counts as all pairs of its members.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.protocol import Answer
from lshdb.clustering import Rows, components

__all__ = ["Found", "Quality", "Stretch", "Truth", "compare", "found_of", "read_answers", "truth_of"]


@dataclass(frozen=True, slots=True)
class Found:
    """The pairs of an answer, ascending, none twice: int64 and float64 (NaN where it has no estimate), shape (m,)."""

    pairs: NDArray[np.int64]
    similarities: NDArray[np.float64]
    num_documents: int

    def at_least(self, min_sim: float) -> Found | None:
        """The pairs that the peer itself holds for so similar; None where it does not say."""
        if len(self.pairs) and np.isnan(self.similarities).all():
            return None
        near = self.similarities >= min_sim
        return Found(self.pairs[near], self.similarities[near], self.num_documents)

    @property
    def num_redundant(self) -> int:
        """How many documents go if one of each connected component stays."""
        rows = np.column_stack([self.pairs // self.num_documents, self.pairs % self.num_documents])
        labels = components(Rows(np.arange(self.num_documents)), self.num_documents, [rows])
        return self.num_documents - len(np.unique(labels))


# The true pairs with their exact similarities have the same form.
Truth = Found


class Stretch(msgspec.Struct, frozen=True):
    """The true pairs with ``low <= similarity < high`` (1.0 itself is in the last), and how many of them were found."""

    low: float
    high: float
    num_true: int
    num_found: int


class Quality(msgspec.Struct, frozen=True):
    """What an answer is worth; precision counts every found pair that is no true one as wrong."""

    num_pairs: int
    recall: float
    precision: float
    num_redundant: int
    stretches: list[Stretch] = []


def read_answers(path: Path, rows: Mapping[str, int]) -> Found:
    """The pairs of a file of answers. Raises: KeyError: a document that the corpus does not have."""
    with path.open("rb") as lines:
        return found_of(map(msgspec.json.Decoder(Answer).decode, lines), rows)


def truth_of(path: Path, rows: Mapping[str, int], min_sim: float = 0.0) -> Truth:
    """The pairs of the oracle's file that are so similar."""
    with path.open("rb") as lines:
        answers = map(msgspec.json.Decoder(Answer).decode, lines)
        return found_of((each for each in answers if (each.similarity or 0.0) >= min_sim), rows)


def found_of(answers: Iterable[Answer], rows: Mapping[str, int]) -> Found:
    """The pairs of the answers, clusters expanded."""
    size, pairs, similarities = len(rows), list[int](), list[float]()
    parts = [np.empty(0, np.int64)]
    for answer in answers:
        if answer.cluster:
            parts.append(expanded(np.sort([rows[each] for each in answer.cluster]), size))
        else:
            left, right = sorted((rows[answer.left], rows[answer.right]))
            pairs.append(left * size + right)
            similarities.append(float("nan") if answer.similarity is None else answer.similarity)
    of_clusters = np.concatenate(parts)
    unique, first = np.unique(np.concatenate([np.array(pairs, np.int64), of_clusters]), return_index=True)
    known = np.concatenate([np.array(similarities, np.float64), np.full(len(of_clusters), np.nan)])
    return Found(unique, known[first], size)


def expanded(members: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """All pairs of the rows, ascending ones."""
    left, right = np.triu_indices(len(members), 1)
    pairs: NDArray[np.int64] = members[left] * size + members[right]
    return pairs


def compare(true: Truth, found: Found, edges: Iterable[float]) -> Quality:
    """The answer against the truth; `edges` are those of the stretches, ascending."""
    is_found = np.isin(true.pairs, found.pairs, assume_unique=True)
    bounds, stretches = list(edges), list[Stretch]()
    for low, high in pairwise(bounds):
        within = (true.similarities >= low) & ((true.similarities < high) | (high == bounds[-1]))
        stretches.append(Stretch(low, high, int(within.sum()), int(is_found[within].sum())))
    num_right = int(is_found.sum())
    return Quality(
        num_pairs=len(found.pairs),
        recall=num_right / len(true.pairs) if len(true.pairs) else 1.0,
        precision=num_right / len(found.pairs) if len(found.pairs) else 1.0,
        num_redundant=found.num_redundant,
        stretches=stretches,
    )
