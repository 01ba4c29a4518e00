"""Find the clusters of an index and the document to keep from each.

Reads one snapshot and writes nothing. Memory is about 32 bytes per content and 40 per document of a cluster, and a byte
per content of the index. Pairs beyond some millions wait in a temporary file.

With single linkage, a cluster is a connected component. With complete-to-keep, every document of a cluster is similar
to the kept document itself. Pairs that are not stored, because linking skipped them in a hot bucket or missed them, are
then computed. Limitation: if a component is split into more than `keep.ROUNDS` clusters, the rest of it follows the
stored pairs alone. A missing pair then costs an additional cluster, but never drops a document for a dissimilar one.

With containment, a cluster is a kept document and documents that it contains; see `containers`.

A pair of texts that somebody decided to be different does not count, with either linkage and with containment. A
document that somebody decided to keep precedes all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from lshdb.clusters import keep
from lshdb.clusters.arrange import Clusters, Ranked, arrange
from lshdb.clusters.containers import containers
from lshdb.clusters.overrides import Overrides
from lshdb.errors import UsageError
from lshdb.linking.candidates import Occurrences, connected
from lshdb.linking.comparison import compare, contents_of, promising
from lshdb.linking.components import Rows
from lshdb.model import arguments
from lshdb.model.arrays import PairPlaces, distinct
from lshdb.model.choices import Comparing, Keep, Linkage
from lshdb.model.params import Params, check_choice
from lshdb.model.progress import Progress
from lshdb.model.values import CandidatePairs, VerifiedPairs
from lshdb.passages.containment import ContainedPairs, contained_contents
from lshdb.store.tables import bands, clusters, graph
from lshdb.store.transaction import Transaction

__all__ = ["ClusterOptions", "Deduplication", "similarities"]

# Pairs whose similarity is looked up or computed at a time: 2 * 100,000 signatures of 400 bytes.
PART_PAIRS: Final = 100_000

# Contents whose stored pairs are held at a time while a long chain is split.
SWEPT_CONTENTS: Final = 10_000


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """What a cluster is, and which of its documents is kept.

    Args:
        keep: the policy. Among equals, the document that was added first is kept.
        prefer: regular expressions, searched anywhere in the id. If one matches in a cluster, the policy chooses among
            the documents that match the first such expression.
        linkage: ``single``, or ``complete-to-keep``: each document is similar to the kept one itself. The default is
            single, but complete-to-keep for an export or a filter.
        measure: ``jaccard``, or ``containment``: each document is contained in the kept one. A text is then kept unless
            a longer kept one contains it, so `keep` and `prefer` only choose among texts of the same length, and among
            documents with the same text.
        within: only documents of this collection.
        min_size: the least number of documents, at least 2.
        limit: return only this many clusters, the largest.

    Raises: InvalidParams: a choice does not exist, or a number is too small; UsageError: `prefer` is a single string or
        holds an invalid regular expression, or a linkage is given with containment.
    """

    keep: Keep = "first"
    prefer: tuple[str, ...] = ()
    linkage: Linkage | None = None
    within: str | None = None
    min_size: int = 2
    limit: int | None = None
    measure: Comparing = "jaccard"

    def __post_init__(self) -> None:
        check_choice("keep", self.keep, Keep)
        check_choice("measure", self.measure, Comparing)
        if self.linkage is not None:
            check_choice("linkage", self.linkage, Linkage)
        arguments.count("min_size", self.min_size, least=2)
        arguments.limit("limit", self.limit)
        object.__setattr__(self, "prefer", arguments.several("prefer", self.prefer))
        keep.compiled(self.prefer)
        if self.measure == "containment" and self.linkage is not None:
            raise UsageError(reason="--linkage is for --measure jaccard")

    def close_to_kept(self) -> ClusterOptions:
        """Return the options of an export: unless a linkage is chosen, drop no document for a dissimilar one."""
        if self.linkage is not None or self.measure == "containment":
            return self
        return replace(self, linkage="complete-to-keep")


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
        self._overrides = Overrides.of(snapshot)
        self._there = None if options.within is None else Rows(clusters.contents(snapshot, options.within))

    def clusters(self) -> Clusters:
        """Return the clusters, the largest first. Raises: SpillFailed: no disk space for the pairs."""
        if self._options.measure == "containment":
            return self._contained()
        keys, labels = self._clustered()
        documents = self._ranked(keys)
        if self._options.linkage == "complete-to-keep":
            kept = self._kept_near(keys, labels, documents.best)
        else:
            kept = keep.best_of_component(labels, documents.best)
        return self._arranged(kept, keys, documents)

    def _arranged(self, kept: NDArray[np.int64], keys: NDArray[np.int64], documents: Ranked) -> Clusters:
        self._progress.advanced("cluster", 1.0)
        options = self._options
        return arrange(kept, keys, documents, options.min_size, options.limit, options.measure)

    def _contained(self) -> Clusters:
        """Return the clusters of kept documents and those that they contain."""
        parts = contained_contents(self._snapshot, self._min_sim, self._params, self._progress)
        found = ContainedPairs.joined(parts)
        pairs = found.chosen(self._counts(found.keys))
        keys = self._with_repeated(pairs.keys.ravel())
        documents = self._ranked(keys)
        of_rows = structs.replace(pairs, keys=np.searchsorted(keys, pairs.keys))
        return self._arranged(containers(of_rows, documents.best), keys, documents)

    def _clustered(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the keys and components of the contents that are in a component of two or more documents."""
        total, seen = max(1, graph.num_pairs(self._snapshot)), 0
        with Occurrences(bands.last_content(self._snapshot) or 0) as pairs:
            for block in clusters.near_pairs(self._snapshot, self._min_sim):
                pairs.add(block[self._counts(block)])
                seen += len(block)
                self._progress.advanced("cluster", seen / total)
            paired, first = connected(pairs)
        keys = self._with_repeated(paired)
        labels, rows = np.arange(len(keys)), np.searchsorted(keys, paired)
        labels[rows] = rows[first]
        return keys, labels

    def _with_repeated(self, content_keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the keys of these contents, and of those of two or more documents, int64, shape (n,), ascending."""
        repeated = clusters.repeated_contents(self._snapshot, self._options.within)
        return distinct(np.concatenate([content_keys, repeated]))

    def _counts(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which pairs of contents count: both are in the collection, and nobody decided that they differ."""
        counts = self._overrides.counts(pairs)
        return counts if self._there is None else counts & self._there.have(pairs).all(axis=1)

    def _ranked(self, keys: NDArray[np.int64]) -> Ranked:
        """Return the documents of the contents, in the order of preference."""
        blocks = [np.empty((4, 0), dtype=np.int64)]
        for some in clusters.merits(self._snapshot, keys, self._options.keep, self._options.within):
            merit = [keep.NO_MERIT if one is None else one for one in some.merits]
            preference = self._overrides.preferred(some.doc_keys, keep.preferences(some.doc_ids, self._patterns))
            blocks.append(np.stack([np.searchsorted(keys, some.content_keys), some.doc_keys, preference, merit]))
        rows, doc_keys, preferences, merits = np.concatenate(blocks, axis=1)
        ranks = keep.ranks(preferences, merits, doc_keys)
        best = np.minimum.reduceat(ranks, np.searchsorted(rows, np.arange(len(keys))))
        return Ranked(rows, doc_keys, ranks, best)

    def _kept_near(
        self, keys: NDArray[np.int64], labels: NDArray[np.int64], best: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        def near(pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
            parts = [keys[pairs[begin : begin + PART_PAIRS]] for begin in range(0, len(pairs), PART_PAIRS)]
            found = [similarities(self._snapshot, part, self._params, self._min_sim) for part in parts]
            is_near = np.concatenate([pairs.similarity for pairs in found]) >= self._min_sim
            return is_near & self._overrides.counts(keys[pairs])

        kept = keep.keep_near(labels, best, near)
        keep.sweep(kept, self._mates(keys, kept, best))
        return kept

    def _mates(
        self, keys: NDArray[np.int64], kept: NDArray[np.int64], best: NDArray[np.int64]
    ) -> Iterator[tuple[int, list[int]]]:
        """Yield the unsettled rows in the order of their ranks, each with the rows it has a stored pair with."""
        rows = Rows(keys)
        left = np.flatnonzero(kept < 0)
        left = left[np.argsort(best[left])]
        for begin in range(0, len(left), SWEPT_CONTENTS):
            mates_of: dict[int, list[int]] = {row: [] for row in left[begin : begin + SWEPT_CONTENTS].tolist()}
            mates = clusters.mates(self._snapshot, keys[list(mates_of)], self._min_sim)
            for row, mate in rows.of(mates[self._overrides.counts(mates)]).tolist():
                # Its documents are all in other collections.
                if mate >= 0:
                    mates_of[row].append(mate)
            yield from mates_of.items()


def similarities(snapshot: Transaction, pairs: NDArray[np.int64], params: Params, least: float) -> VerifiedPairs:
    """Return the similarity of each pair of contents: the stored one, or else the computed one.

    Args:
        pairs: int64, shape (m, 2), in any order, without repetition and without pairs of a content with itself.
        least: a pair whose signatures rule out this similarity gets similarity 0, not exact.

    Returns: the pairs, in the order of the argument.
    """
    keys = np.sort(pairs, axis=1)
    similarity, exact = np.zeros(len(keys)), np.zeros(len(keys), dtype=np.bool_)
    place = PairPlaces(keys)
    known = clusters.known_pairs(snapshot, CandidatePairs(keys))
    missing = CandidatePairs(keys[place.without(known.keys)])
    for found in (known, _computed(snapshot, missing, params, least)):
        places = place.of(found.keys)
        similarity[places], exact[places] = found.similarity, found.exact
    return VerifiedPairs(pairs, similarity, exact)


def _computed(snapshot: Transaction, pairs: CandidatePairs, params: Params, least: float) -> VerifiedPairs:
    """Return the pairs that their signatures do not rule out, compared by their texts if these are kept."""
    contents = contents_of(snapshot, pairs.keys, params)
    return compare(snapshot, contents, promising(contents, pairs, replace(params, floor=least)), params)
