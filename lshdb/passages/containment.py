"""Find the texts that contain a text, or that it contains, and all such pairs of an index.

The fingerprints of passages supply the candidates, and the texts their containments. Containment is the share of the
distinct shingles of one text that the other one also has.

Limitation: two texts without a shared run of N words are not candidates, however many shingles they share. A text in
which every shared run is shorter than N words keeps at most (N - k) / (N - 1) of its shingles of k words, unless its
parts also occur elsewhere in the other text. For N = 13 and k = 5 that is 0.67.

Source: Broder 1997, On the resemblance and containment of documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.errors import TextTooShort
from lshdb.linking.comparison import ShingledTexts, text_groups
from lshdb.linking.jaccard import containment, groups, intersections
from lshdb.model.arrays import distinct
from lshdb.model.params import Params
from lshdb.model.passages import Containing
from lshdb.model.progress import Progress
from lshdb.model.values import Document, ShingleSets
from lshdb.passages.candidates import candidate_pairs, candidates_among
from lshdb.sketch.sketch import shingle_sets_utf8, sketch_encoded, text_of
from lshdb.sketch.texts import encode
from lshdb.store.tables import answers, fingerprints, graph
from lshdb.store.transaction import Transaction

__all__ = ["ContainedPairs", "Found", "contained_contents", "containing", "containments"]

PAIRS_AT_A_TIME: Final = 2_000


class Found(Struct, frozen=True):
    """The documents that contain a text, or that it contains, and how many texts were not compared with it."""

    documents: tuple[Containing, ...]
    num_left_out: int


class ContainedPairs(Struct, frozen=True):
    """Pairs of contents of which the large one contains most of the small one.

    Args:
        keys: int64, shape (m, 2): small, large. The small one has fewer distinct shingles, or as many.
        containment: float64, shape (m,); exact.
        num_shingles: int64, shape (m, 2).
    """

    keys: NDArray[np.int64]
    containment: NDArray[np.float64]
    num_shingles: NDArray[np.int64]

    @classmethod
    def joined(cls, parts: Iterable[ContainedPairs]) -> ContainedPairs:
        """Return the pairs of all parts."""
        found = [cls(np.empty((0, 2), np.int64), np.empty(0), np.empty((0, 2), np.int64)), *parts]
        columns = zip(*((one.keys, one.containment, one.num_shingles) for one in found), strict=True)
        return cls(*map(np.concatenate, columns))

    def chosen(self, chosen: NDArray[np.bool_]) -> ContainedPairs:
        """Return some of the pairs. Args: chosen: which, bool, shape (m,)."""
        return ContainedPairs(self.keys[chosen], self.containment[chosen], self.num_shingles[chosen])


def containing(
    transaction: Transaction, document: Document, min_containment: float, params: Params, *, reverse: bool = False
) -> Found:
    """Return the documents that contain a document, those with the greatest containment first.

    Args:
        min_containment: the least share of its shingles.
        reverse: return those that it contains instead.

    Raises:
        BadDocument: the document does not fit the index.
        TextTooShort: it has fewer words than a passage.
    """
    text = encode(text_of(document, params))
    prints = sketch_encoded([text], params).fingerprints
    if prints is None or not len(prints.hashes):
        raise TextTooShort(doc_id=document.doc_id, passages=params.passages)
    found = candidates_among(fingerprints.occurrences(transaction, prints.hashes), transaction.expansion)
    shares: dict[int, float] = {}
    for keys, texts in text_groups(transaction, found.keys):
        sets = shingle_sets_utf8([text, *texts], params)
        others, asked = np.arange(1, len(texts) + 1), np.zeros(len(texts), np.int64)
        share = containment(sets, others, asked) if reverse else containment(sets, asked, others)
        shares |= {key: one for key, one in zip(keys.tolist(), share.tolist(), strict=True) if one >= min_containment}
    near = np.asarray(sorted(shares), np.int64)
    named = [Containing(doc_id, shares[key], name) for key, doc_id, name in answers.documents_of(transaction, near)]
    return Found(tuple(sorted(named, key=lambda one: -one.containment)), found.num_left_out)


def contained_contents(
    transaction: Transaction, min_containment: float, params: Params, progress: Progress
) -> Iterator[ContainedPairs]:
    """Yield the pairs of contents of which one contains the other, in parts.

    A fingerprint in more contents than the cap of a bucket pairs all of them with the first ones only, as a bucket
    does. `progress` is warned of the number of pairs that this leaves out.

    Limitation: the candidate pairs are in memory, up to 64 bytes each.
    """
    pairs, num_skipped = candidate_pairs(transaction, params)
    if num_skipped:
        progress.warned(
            f"up to {num_skipped:,} pairs share passages that more than {transaction.expansion.cap} texts have, and "
            "were not compared"
        )
    num_done = 0
    texts = ShingledTexts(transaction, params)
    for chosen in _groups(transaction, pairs):
        keys, sets, rows = _with_sets(texts, pairs[chosen])
        shared, sizes = intersections(sets, rows[:, 0], rows[:, 1])
        turned = sizes[rows[:, 0]] > sizes[rows[:, 1]]
        rows[turned] = rows[turned][:, ::-1]
        # No set is empty, because each has a passage.
        shares = shared / sizes[rows[:, 0]]
        near = shares >= min_containment
        yield ContainedPairs(keys[rows[near]], shares[near], sizes[rows[near]])
        num_done += len(chosen)
        progress.advanced("contain", num_done / len(pairs))


def containments(transaction: Transaction, pairs: NDArray[np.int64], params: Params) -> NDArray[np.float64]:
    """Return the containment of the first content of each pair in the second, float64; 0 if a text is missing.

    Args: pairs: int64, shape (m, 2), content keys.
    """
    shares, texts = np.zeros(len(pairs)), ShingledTexts(transaction, params)
    for chosen in _groups(transaction, pairs):
        keys, sets, rows = _with_sets(texts, pairs[chosen])
        known = np.isin(pairs[chosen], keys).all(axis=1)
        shares[chosen[known]] = containment(sets, rows[:, 0], rows[:, 1])
    return shares


def _groups(transaction: Transaction, pairs: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield which pairs to compare at a time, so that their texts fit in memory."""
    for begin in range(0, len(pairs), PAIRS_AT_A_TIME):
        part = pairs[begin : begin + PAIRS_AT_A_TIME]
        keys = distinct(part)
        sizes = np.zeros(len(keys), np.int64)
        stored = graph.signatures(transaction, keys)
        sizes[np.searchsorted(keys, stored.keys)] = stored.num_shingles
        for chosen in groups(sizes, np.searchsorted(keys, part)):
            yield begin + chosen


def _with_sets(
    texts: ShingledTexts, pairs: NDArray[np.int64]
) -> tuple[NDArray[np.int64], ShingleSets, NDArray[np.int64]]:
    """Return the contents of some pairs whose texts are there, ascending, their shingles, and the pairs as rows."""
    keys, sets = texts.sets(distinct(pairs))
    known = pairs[np.isin(pairs, keys).all(axis=1)]
    return keys, sets, np.searchsorted(keys, known)
