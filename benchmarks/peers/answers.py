"""The answers of a peer against the true pairs: recall, precision, and the recall of every stretch of similarities.

Pairs are numbers here, ``left * num_documents + right`` of the documents' rows, so that millions of them fit. A cluster
counts as all pairs of its members, which are never written out: ten thousand documents in one are fifty million pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.protocol import Answer
from lshdb.linking.components import Rows, components

__all__ = ["Clusters", "Found", "Pairs", "Quality", "Stretch", "compare", "found_of", "pairs_of", "read_answers"]


class Found(Protocol):
    """What a peer found, in either form."""

    @property
    def num_pairs(self) -> int:
        """How many pairs that are."""

    @property
    def num_redundant(self) -> int:
        """How many documents go if one of each connected component stays."""

    def contains(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each pair is among them, bool, shape (m,)."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs, ascending, none twice: int64 and float64 (NaN where there is no similarity), shape (m,)."""

    pairs: NDArray[np.int64]
    similarities: NDArray[np.float64]
    num_documents: int

    @property
    def num_pairs(self) -> int:
        """How many there are."""
        return len(self.pairs)

    @property
    def num_redundant(self) -> int:
        """How many documents go if one of each connected component stays."""
        rows = np.column_stack([self.pairs // self.num_documents, self.pairs % self.num_documents])
        labels = components(Rows(np.arange(self.num_documents)), self.num_documents, [rows])
        return self.num_documents - len(np.unique(labels))

    def contains(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each pair is among them, bool, shape (m,)."""
        return np.isin(pairs, self.pairs)

    def at_least(self, min_sim: float) -> Pairs | None:
        """The pairs that the peer itself holds for so similar; None where it does not say."""
        if len(self.pairs) and np.isnan(self.similarities).all():
            return None
        near = self.similarities >= min_sim
        return Pairs(self.pairs[near], self.similarities[near], self.num_documents)


@dataclass(frozen=True, slots=True)
class Clusters:
    """The cluster of each document, int64, shape (num_documents,): a number of its own where it is in none."""

    labels: NDArray[np.int64]

    @property
    def num_pairs(self) -> int:
        """How many pairs have both documents in one cluster."""
        sizes = np.unique(self.labels, return_counts=True)[1]
        return int((sizes * (sizes - 1) // 2).sum())

    @property
    def num_redundant(self) -> int:
        """How many documents go if one of each cluster stays."""
        return len(self.labels) - len(np.unique(self.labels))

    def contains(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each pair is within a cluster, bool, shape (m,)."""
        size = len(self.labels)
        together: NDArray[np.bool_] = self.labels[pairs // size] == self.labels[pairs % size]
        return together


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


def read_answers(path: Path, rows: Mapping[str, int]) -> Pairs | Clusters:
    """What a file of answers says. Raises: KeyError: a document that the corpus does not have; and as `found_of`."""
    with path.open("rb") as lines:
        return found_of(map(msgspec.json.Decoder(Answer).decode, lines), rows)


def found_of(answers: Iterable[Answer], rows: Mapping[str, int]) -> Pairs | Clusters:
    """Pairs, or clusters where the first answer is one. Raises: ValueError: there are both."""
    listed = list(answers)
    if not (listed and listed[0].cluster):
        return pairs_of(listed, rows)
    labels = np.arange(len(rows))
    for answer in listed:
        if not answer.cluster:
            raise ValueError("a peer answers with pairs or with clusters, not with both")
        members = [rows[each] for each in answer.cluster]
        labels[members] = min(members)
    return Clusters(labels)


def pairs_of(answers: Iterable[Answer], rows: Mapping[str, int]) -> Pairs:
    """The pairs of the answers. Raises: KeyError: a document that the corpus does not have, or a cluster."""
    size, pairs, similarities = len(rows), list[int](), list[float]()
    for answer in answers:
        left, right = sorted((rows[answer.left], rows[answer.right]))
        pairs.append(left * size + right)
        similarities.append(float("nan") if answer.similarity is None else answer.similarity)
    unique, first = np.unique(np.array(pairs, np.int64), return_index=True)
    return Pairs(unique, np.array(similarities, np.float64)[first], size)


def compare(true: Pairs, found: Found, edges: Iterable[float]) -> Quality:
    """The answer against the truth; `edges` are those of the stretches, ascending."""
    is_found = found.contains(true.pairs)
    bounds, stretches = list(edges), list[Stretch]()
    for low, high in pairwise(bounds):
        within = (true.similarities >= low) & ((true.similarities < high) | (high == bounds[-1]))
        stretches.append(Stretch(low, high, int(within.sum()), int(is_found[within].sum())))
    num_right, num_pairs = int(is_found.sum()), found.num_pairs
    return Quality(
        num_pairs=num_pairs,
        recall=num_right / len(true.pairs) if len(true.pairs) else 1.0,
        precision=num_right / num_pairs if num_pairs else 1.0,
        num_redundant=found.num_redundant,
        stretches=stretches,
    )
