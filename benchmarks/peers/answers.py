"""Compare the answers of a peer with the true pairs: recall, precision, and recall by range of similarity.

A pair is a number, ``left * num_documents + right``, so that millions of them fit into memory. A cluster counts as all
pairs of its members. They are not listed, because ten thousand documents in a cluster are fifty million pairs.
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
    """The pairs or clusters that a peer found."""

    @property
    def num_pairs(self) -> int:
        """The number of pairs."""

    @property
    def num_redundant(self) -> int:
        """The number of documents to drop if one of each connected component is kept."""

    def contains(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each pair was found, bool, shape (m,)."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Distinct pairs, ascending.

    Args:
        pairs: int64, shape (m,).
        similarities: float64, shape (m,); NaN if unknown.
    """

    pairs: NDArray[np.int64]
    similarities: NDArray[np.float64]
    num_documents: int

    @property
    def num_pairs(self) -> int:
        """The number of pairs."""
        return len(self.pairs)

    @property
    def num_redundant(self) -> int:
        """The number of documents to drop if one of each connected component is kept."""
        rows = np.column_stack([self.pairs // self.num_documents, self.pairs % self.num_documents])
        labels = components(Rows(np.arange(self.num_documents)), self.num_documents, [rows])
        return self.num_documents - len(np.unique(labels))

    def contains(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each pair was found, bool, shape (m,)."""
        return np.isin(pairs, self.pairs)

    def at_least(self, min_sim: float) -> Pairs | None:
        """Return the pairs that the peer itself estimates at `min_sim` or above, or None if it has no estimates."""
        if len(self.pairs) and np.isnan(self.similarities).all():
            return None
        near = self.similarities >= min_sim
        return Pairs(self.pairs[near], self.similarities[near], self.num_documents)


@dataclass(frozen=True, slots=True)
class Clusters:
    """The cluster of each document, int64, shape (num_documents,). Documents outside any cluster have unique labels."""

    labels: NDArray[np.int64]

    @property
    def num_pairs(self) -> int:
        """The number of pairs with both documents in the same cluster."""
        sizes = np.unique(self.labels, return_counts=True)[1]
        return int((sizes * (sizes - 1) // 2).sum())

    @property
    def num_redundant(self) -> int:
        """The number of documents to drop if one of each cluster is kept."""
        return len(self.labels) - len(np.unique(self.labels))

    def contains(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each pair is within a cluster, bool, shape (m,)."""
        size = len(self.labels)
        together: NDArray[np.bool_] = self.labels[pairs // size] == self.labels[pairs % size]
        return together


class Stretch(msgspec.Struct, frozen=True):
    """The true pairs with ``low <= similarity < high`` (the last range includes 1.0), and how many were found."""

    low: float
    high: float
    num_true: int
    num_found: int


class Quality(msgspec.Struct, frozen=True):
    """The quality of an answer. Precision counts every pair that is not a true pair as wrong."""

    num_pairs: int
    recall: float
    precision: float
    num_redundant: int
    stretches: list[Stretch] = []


def read_answers(path: Path, rows: Mapping[str, int]) -> Pairs | Clusters:
    """Return the answers in a file. Raises: KeyError: a document is not in the corpus; ValueError: see `found_of`."""
    with path.open("rb") as lines:
        return found_of(map(msgspec.json.Decoder(Answer).decode, lines), rows)


def found_of(answers: Iterable[Answer], rows: Mapping[str, int]) -> Pairs | Clusters:
    """Return the answers as pairs, or as clusters if the first one is a cluster. Raises: ValueError: both occur."""
    listed = list(answers)
    if not (listed and listed[0].cluster):
        return pairs_of(listed, rows)
    labels = np.arange(len(rows))
    for answer in listed:
        if not answer.cluster:
            raise ValueError("a peer must answer with pairs or with clusters, not with both")
        members = [rows[each] for each in answer.cluster]
        labels[members] = min(members)
    return Clusters(labels)


def pairs_of(answers: Iterable[Answer], rows: Mapping[str, int]) -> Pairs:
    """Return the pairs of the answers. Raises: KeyError: a document is not in the corpus, or an answer is a cluster."""
    size, pairs, similarities = len(rows), list[int](), list[float]()
    for answer in answers:
        left, right = sorted((rows[answer.left], rows[answer.right]))
        pairs.append(left * size + right)
        similarities.append(float("nan") if answer.similarity is None else answer.similarity)
    unique, first = np.unique(np.array(pairs, np.int64), return_index=True)
    return Pairs(unique, np.array(similarities, np.float64)[first], size)


def compare(true: Pairs, found: Found, edges: Iterable[float]) -> Quality:
    """Compare an answer with the truth. `edges` are the ascending bounds of the ranges of similarity."""
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
