"""Clusters of an index, and which document is kept for each.

Reads one snapshot; writes nothing. Memory is some 32 bytes a content and 40 a document of a cluster; pairs pass by.

Single linkage: a cluster is a component of contents by their pairs. Complete-to-keep: every document of a cluster is
itself similar to the one kept for it; a pair that is not stored (linking may have skipped it in a hot bucket, or
missed it) is computed. Limitation: a component that is cut into more than `keep.ROUNDS` clusters follows the stored
pairs alone from there on; what is missing there costs a cluster too many, never a document dropped for an unlike one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from lshdb.clusters import keep
from lshdb.clusters.arrange import Clusters, Ranked, arrange, repeated
from lshdb.linking.comparison import compare, contents_of, promising
from lshdb.linking.components import Rows, components
from lshdb.model.arrays import distinct
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.model.values import CandidatePairs, Keep, VerifiedPairs
from lshdb.store.tables import clusters, graph
from lshdb.store.transaction import Transaction

__all__ = ["ClusterOptions", "Deduplication", "Linkage", "similarities"]

Linkage = Literal["single", "complete-to-keep"]

# Pairs whose similarity is looked up or computed at a time: 2 * 100,000 signatures of 400 bytes.
PART_PAIRS: Final = 100_000

# Contents whose stored pairs are held at a time when a long chain is cut.
SWEPT_CONTENTS: Final = 10_000


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """What a cluster is, and which document is kept for it.

    Args:
        keep: the policy; a tie goes to the document that came first.
        prefer: regular expressions; of the documents of a cluster whose ids match the first one that any matches, the
            policy decides. Found anywhere in the id.
        linkage: ``single``, or ``complete-to-keep``: each document is itself similar to the one kept for it. By default
            single, but complete-to-keep for an export.
        within: only documents of this collection.
        min_size: the least number of documents, 2 or more.
        limit: at most so many clusters, the largest.

    Raises: UsageError: `prefer` holds what is no regular expression.
    """

    keep: Keep = "first"
    prefer: tuple[str, ...] = ()
    linkage: Linkage | None = None
    within: str | None = None
    min_size: int = 2
    limit: int | None = None

    def __post_init__(self) -> None:
        keep.compiled(self.prefer)


class Deduplication:
    """The clusters of an index at a similarity."""

    def __init__(
        self, snapshot: Transaction, params: Params, min_sim: float, options: ClusterOptions, progress: Progress
    ) -> None:
        self._snapshot = snapshot
        self._params = params
        self._min_sim = min_sim
        self._options = options
        self._patterns = keep.compiled(options.prefer)
        self._progress = progress

    def clusters(self) -> Clusters:
        """The clusters, the largest first."""
        keys, labels = self._clustered()
        documents = self._ranked(keys)
        if self._options.linkage == "complete-to-keep":
            kept = self._kept_near(keys, labels, documents.best)
        else:
            kept = keep.best_of_component(labels, documents.best)
        self._progress.advanced("cluster", 1.0)
        return arrange(kept, keys, documents, max(2, self._options.min_size), self._options.limit)

    def _clustered(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Keys and component of the contents that are in a component of two documents or more."""
        keys, sizes = clusters.content_sizes(self._snapshot, self._options.within).T.copy()
        labels = components(Rows(keys), len(keys), self._pairs())
        is_repeated, labels = repeated(labels, sizes)
        return keys[is_repeated], labels

    def _pairs(self) -> Iterator[NDArray[np.int64]]:
        total, seen = max(1, graph.num_pairs(self._snapshot)), 0
        for block in clusters.near_pairs(self._snapshot, self._min_sim):
            yield block
            seen += len(block)
            self._progress.advanced("cluster", seen / total)

    def _ranked(self, keys: NDArray[np.int64]) -> Ranked:
        """The documents of the contents, in the order in which they would be kept."""
        blocks = [np.empty((4, 0), dtype=np.int64)]
        for some in clusters.merits(self._snapshot, keys, self._options.keep, self._options.within):
            merit = [keep.NO_MERIT if one is None else one for one in some.merits]
            preference = keep.preferences(some.doc_ids, self._patterns)
            blocks.append(np.stack([np.searchsorted(keys, some.content_keys), some.doc_keys, preference, merit]))
        rows, doc_keys, preferences, merits = np.concatenate(blocks, axis=1)
        ranks = keep.ranks(preferences, merits, doc_keys)
        best = np.minimum.reduceat(ranks, np.searchsorted(rows, np.arange(len(keys)))) if len(keys) else keys
        return Ranked(rows, doc_keys, ranks, best)

    def _kept_near(
        self, keys: NDArray[np.int64], labels: NDArray[np.int64], best: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        def near(pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
            parts = [keys[pairs[begin : begin + PART_PAIRS]] for begin in range(0, len(pairs), PART_PAIRS)]
            found = [similarities(self._snapshot, part, self._params, self._min_sim) for part in parts]
            return np.concatenate([pairs.similarity for pairs in found]) >= self._min_sim

        kept = keep.keep_near(labels, best, near)
        keep.sweep(kept, self._mates(keys, kept, best))
        return kept

    def _mates(
        self, keys: NDArray[np.int64], kept: NDArray[np.int64], best: NDArray[np.int64]
    ) -> Iterator[tuple[int, list[int]]]:
        """The rows that are not settled yet, in the order of their ranks, each with those it has a stored pair with."""
        rows = Rows(keys)
        left = np.flatnonzero(kept < 0)
        left = left[np.argsort(best[left])]
        for begin in range(0, len(left), SWEPT_CONTENTS):
            mates_of: dict[int, list[int]] = {row: [] for row in left[begin : begin + SWEPT_CONTENTS].tolist()}
            mates = rows.of(clusters.mates(self._snapshot, keys[list(mates_of)], self._min_sim))
            for row, mate in mates.tolist():
                # Not one of the documents that were asked for: of another collection alone.
                if mate >= 0:
                    mates_of[row].append(mate)
            yield from mates_of.items()


def similarities(snapshot: Transaction, pairs: NDArray[np.int64], params: Params, least: float) -> VerifiedPairs:
    """The similarity of each of these pairs of contents: the stored one, else computed.

    Args:
        pairs: int64, shape (m, 2), in any order; no pair twice, and none of a content with itself.
        least: pairs that are ruled out to be so similar by their signatures have similarity 0, not exact.

    Returns: the pairs, in the order of the argument.
    """
    keys = np.sort(pairs, axis=1)
    similarity, exact = np.zeros(len(keys)), np.zeros(len(keys), dtype=np.bool_)
    place = _Places(keys)
    known = clusters.known_pairs(snapshot, CandidatePairs(keys))
    is_missing = np.ones(len(keys), dtype=np.bool_)
    is_missing[place.of(known.keys)] = False
    for found in (known, _computed(snapshot, CandidatePairs(keys[is_missing]), params, least)):
        places = place.of(found.keys)
        similarity[places], exact[places] = found.similarity, found.exact
    return VerifiedPairs(pairs, similarity, exact)


def _computed(snapshot: Transaction, pairs: CandidatePairs, params: Params, least: float) -> VerifiedPairs:
    """Those of the pairs that are not ruled out, compared by their texts where these are kept."""
    contents = contents_of(snapshot, pairs.keys, params)
    return compare(snapshot, contents, promising(contents, pairs, replace(params, floor=least)), params)


class _Places:
    """Where pairs are in an array of pairs."""

    def __init__(self, pairs: NDArray[np.int64]) -> None:
        self._keys = distinct(pairs)
        packed = self._packed(pairs)
        self._order = np.argsort(packed)
        self._packed_pairs = packed[self._order]

    def of(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place of each pair, all of which are there."""
        return self._order[np.searchsorted(self._packed_pairs, self._packed(pairs))]

    def _packed(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        rows = np.searchsorted(self._keys, pairs)
        packed: NDArray[np.int64] = rows[:, 0] * len(self._keys) + rows[:, 1]
        return packed
