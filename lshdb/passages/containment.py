"""Find the texts that contain a text, or that it contains, and all such pairs of an index.

The fingerprints of passages supply the candidates, and the texts their containments. Containment is the share of the
distinct shingles of one text that the other one has too.

Limitation: two texts without a shared run of N words are no candidates, however many shingles they share. A text in
which every run is shorter than N words keeps at most (N - k) / (N - 1) of its shingles of k words, unless its parts
also stand elsewhere in the other text. For N = 13 and k = 5 that is 0.67.

Source: Broder 1997, On the resemblance and containment of documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.errors import TextTooShort
from lshdb.linking.comparison import encoded_texts
from lshdb.linking.jaccard import containment
from lshdb.model.arrays import distinct
from lshdb.model.expansion import Expansion
from lshdb.model.params import Params
from lshdb.model.passages import Contained, Containing
from lshdb.model.values import Document
from lshdb.passages.candidates import candidates_among
from lshdb.sketch.sketch import shingle_sets_utf8, sketch_encoded, text_of
from lshdb.sketch.texts import encode
from lshdb.store.tables import answers, fingerprints
from lshdb.store.transaction import Transaction

__all__ = ["Found", "contained_pairs", "containing"]

# Texts of candidates held at a time, and pairs whose texts are held at a time.
TEXTS_AT_A_TIME: Final = 500
PAIRS_AT_A_TIME: Final = 2_000


@dataclass(frozen=True, slots=True)
class Found:
    """The documents that contain a text, or that it contains, and how many texts were not compared with it."""

    documents: tuple[Containing, ...]
    num_left_out: int


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
    for begin in range(0, len(found.keys), TEXTS_AT_A_TIME):
        keys, texts = encoded_texts(transaction, found.keys[begin : begin + TEXTS_AT_A_TIME])
        sets = shingle_sets_utf8([text, *texts], params)
        others, asked = np.arange(1, len(texts) + 1), np.zeros(len(texts), np.int64)
        share = containment(sets, others, asked) if reverse else containment(sets, asked, others)
        shares |= {key: one for key, one in zip(keys.tolist(), share.tolist(), strict=True) if one >= min_containment}
    near = np.asarray(sorted(shares), np.int64)
    named = [Containing(doc_id, shares[key], name) for key, doc_id, name in answers.documents_of(transaction, near)]
    return Found(tuple(sorted(named, key=lambda one: -one.containment)), found.num_left_out)


def contained_pairs(
    transaction: Transaction, min_containment: float, params: Params, left_out: Callable[[int], None]
) -> Iterator[Contained]:
    """Yield the pairs of texts of which one contains the other, in the order of their keys.

    The text with fewer distinct shingles is the small one. Each text is named by its first document. A fingerprint in
    more contents than the cap of a bucket pairs all of them with the first ones only, as a bucket does.

    Args: left_out: is called first with the number of pairs that this leaves out, if there are any.

    Limitation: the candidate pairs are in memory, 16 bytes each.
    """
    pairs, num_skipped = _candidate_pairs(transaction)
    if num_skipped:
        left_out(num_skipped)
    for begin in range(0, len(pairs), PAIRS_AT_A_TIME):
        part = pairs[begin : begin + PAIRS_AT_A_TIME]
        keys, texts = encoded_texts(transaction, distinct(part))
        part = part[np.isin(part, keys).all(axis=1)]
        sets = shingle_sets_utf8(texts, params)
        rows = np.searchsorted(keys, part)
        turned = sets.sizes[rows[:, 0]] > sets.sizes[rows[:, 1]]
        rows[turned] = rows[turned][:, ::-1]
        shares = containment(sets, rows[:, 0], rows[:, 1])
        near = shares >= min_containment
        yield from _named(transaction, keys[rows[near]], shares[near])


def _named(transaction: Transaction, pairs: NDArray[np.int64], shares: NDArray[np.float64]) -> Iterator[Contained]:
    names: dict[int, tuple[str, str]] = {}
    for key, doc_id, collection in answers.documents_of(transaction, distinct(pairs)):
        names.setdefault(key, (doc_id, collection))
    for (small, large), share in zip(pairs.tolist(), shares.tolist(), strict=True):
        (small_id, small_in), (large_id, large_in) = names[small], names[large]
        yield Contained(small_id, large_id, share, True, small_in, large_in)


def _candidate_pairs(transaction: Transaction) -> tuple[NDArray[np.int64], int]:
    """Return the pairs of contents that share a fingerprint: int64, shape (m, 2), left < right, sorted, distinct.

    Also return how many pairs were left out, counted once for each of their frequent fingerprints.
    """
    found, num_skipped = np.empty((0, 2), np.int64), 0
    for entries in fingerprints.all_entries(transaction):
        ordered = entries.chosen(np.lexsort((entries.content_keys, entries.hashes)))
        sizes = np.unique(ordered.hashes, return_counts=True)[1]
        num_skipped += int(transaction.expansion.num_skipped(sizes)[transaction.expansion.is_oversized(sizes)].sum())
        found = _distinct_pairs(np.concatenate([found, _pairs_of(ordered.content_keys, sizes, transaction.expansion)]))
    return found, num_skipped


def _pairs_of(keys: NDArray[np.int64], sizes: NDArray[np.int64], expansion: Expansion) -> NDArray[np.int64]:
    """Return the pairs within groups of these sizes, which follow each other."""
    starts = np.cumsum(sizes) - sizes
    ranks = np.arange(len(keys)) - np.repeat(starts, sizes)
    mates = expansion.num_mates(ranks)
    nth = np.arange(mates.sum()) - np.repeat(np.cumsum(mates) - mates, mates)
    left = np.repeat(np.arange(len(keys)) - ranks, mates) + nth
    return np.column_stack([keys[left], np.repeat(keys, mates)])


def _distinct_pairs(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the pairs without repeats, sorted."""
    if len(pairs) and int(pairs.max()) >= 2**31:
        return np.unique(pairs, axis=0)
    codes = distinct(pairs[:, 0] << 32 | pairs[:, 1])
    return np.column_stack([codes >> 32, codes & (2**32 - 1)])
