"""The passages that many documents share.

One pass over all fingerprints counts the documents of each. From the most frequent fingerprint on, its first places in
the first text are extended to the longest run of words that at least half of a sample of its texts have around it, and
as many documents as a passage must have. Then the texts that contain this run are counted.

Limitation: a passage in more than 1,000 texts is not looked up in each of them. Instead, lshdb counts the documents
that have the rarest of its fingerprints, and says so. That is never too few.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.linking.comparison import encoded_texts, text_groups
from lshdb.model.arrays import distinct
from lshdb.model.params import Params, Shingling
from lshdb.model.passages import Boilerplate
from lshdb.model.values import ShingleSets
from lshdb.passages.runs import shared_runs
from lshdb.sketch.shingling import shingle
from lshdb.sketch.texts import decode
from lshdb.sketch.winnowing import fingerprints_of_shingles, gram_shingling
from lshdb.sketch.words import Words, ngrams, words
from lshdb.store.tables import answers, fingerprints
from lshdb.store.tables.entries import Entries
from lshdb.store.transaction import Transaction

__all__ = ["boilerplate"]

SAMPLED_TEXTS: Final = 32
# In a text of repetitions, a fingerprint has thousands of places.
TRIED_PLACES: Final = 16
COUNTED_TEXTS: Final = 1_000
# The most frequent fingerprints that are kept.
KEPT_FINGERPRINTS: Final = 200_000


def boilerplate(
    transaction: Transaction,
    params: Params,
    min_documents: int,
    limit: int,
    within: str | None = None,
    prefix: str | None = None,
) -> list[Boilerplate]:
    """Return the passages that many documents share, the most frequent first.

    Args:
        min_documents: the least number of documents of a passage.
        limit: how many passages.
        within: count the documents of this collection only.
        prefix: count the documents whose ids begin with this only.
    """
    scope = _Scope(fingerprints.documents_in(transaction, within, prefix), within, prefix or "")
    seen, found = set[int](), list[Boilerplate]()
    for fingerprint in _frequent(transaction, scope, min_documents):
        if len(found) == limit:
            break
        if fingerprint in seen:
            continue
        seen.add(fingerprint)
        passage = _Searched(transaction, params, scope, fingerprint).passage(min_documents, seen)
        if passage is not None and passage.num_documents >= min_documents:
            found.append(passage)
    return sorted(found, key=lambda one: -one.num_documents)


class _Scope(Struct, frozen=True):
    """The contents of the documents that count. Args: rows: (content_key, number of documents), int64, by key."""

    rows: NDArray[np.int64]
    within: str | None
    prefix: str

    def first_document(self, transaction: Transaction, content_key: NDArray[np.int64]) -> tuple[str, str]:
        """Return the id and the collection of the first document of a content that counts."""
        return next(
            (doc_id, collection)
            for _, doc_id, collection in answers.documents_of(transaction, content_key)
            if doc_id.startswith(self.prefix) and self.within in (None, collection)
        )

    def weights(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many documents each content has, int64; 0 if none of them counts."""
        if not len(self.rows):
            return np.zeros(len(keys), np.int64)
        places = np.minimum(np.searchsorted(self.rows[:, 0], keys), len(self.rows) - 1)
        return np.where(self.rows[places, 0] == keys, self.rows[places, 1], 0)


def _frequent(transaction: Transaction, scope: _Scope, min_documents: int) -> list[int]:
    """Return the fingerprints of at least this many documents, the most frequent first."""
    kept = np.empty((0, 2), np.int64)
    for entries in fingerprints.all_entries(transaction):
        kept = np.concatenate([kept, _counted(entries, scope, min_documents)])
        kept = kept[np.argsort(-kept[:, 1], kind="stable")[:KEPT_FINGERPRINTS]]
    found: list[int] = kept[:, 0].tolist()
    return found


def _counted(entries: Entries, scope: _Scope, min_documents: int) -> NDArray[np.int64]:
    """Return (fingerprint, number of documents), int64, of the frequent ones."""
    weights = scope.weights(entries.content_keys)
    hashes, which = np.unique(entries.hashes, return_inverse=True)
    numbers = np.zeros(len(hashes), np.int64)
    np.add.at(numbers, which, weights)
    # Two documents with one text are no boilerplate of two texts.
    num_texts = np.bincount(which[weights > 0], minlength=len(hashes))
    is_frequent = (numbers >= min_documents) & (num_texts > 1)
    return np.column_stack([hashes[is_frequent].astype(np.int64), numbers[is_frequent]])


class _Searched(Struct, frozen=True):
    """A frequent fingerprint, and the passage around it."""

    transaction: Transaction
    params: Params
    scope: _Scope
    fingerprint: int

    def passage(self, min_documents: int, seen: set[int]) -> Boilerplate | None:
        """Return the passage; None if so many documents share less than a passage there.

        Args: seen: receives the fingerprints of the passage.
        """
        keys = self._holders(np.array([self.fingerprint], np.uint32))
        sample = keys[np.unique(np.linspace(0, len(keys) - 1, SAMPLED_TEXTS).astype(np.int64))]
        _, texts = encoded_texts(self.transaction, sample[:1])
        first = words(texts, self.params.seed)
        grams = shingle(first.forms, self._grams).hashes
        places = np.flatnonzero(grams.astype(np.uint32) == self.fingerprint)[:TRIED_PLACES]
        if not len(places):
            return None
        weights = self.scope.weights(sample)
        least = min_documents * weights.sum() / self.scope.weights(keys).sum()
        start, stop = self._span(self._runs(first, sample[1:]), weights, places, least)
        if stop - start < self.params.passages:
            return None
        shared = grams[start : stop - self._grams.size + 1]
        seen.update(shared.astype(np.uint32).tolist())
        run = int(ngrams(first.forms, stop - start, self.params.seed).hashes[start])
        number, is_exact = self._num_documents(shared, stop - start, run)
        bounds = first.places[[start, stop - 1], [0, 1]].tolist()
        doc_id, collection = self.scope.first_document(self.transaction, sample[:1])
        return Boilerplate(decode(texts[0][bounds[0] : bounds[1]]), stop - start, number, is_exact, doc_id, collection)

    def _holders(self, hashes: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the contents in scope that have the rarest of these fingerprints, int64, ascending."""
        entries = fingerprints.occurrences(self.transaction, hashes)
        entries = entries.chosen(self.scope.weights(entries.content_keys) > 0)
        found, counts = np.unique(entries.hashes, return_counts=True)
        keys: NDArray[np.int64] = entries.content_keys[entries.hashes == found[np.argmin(counts)]]
        return keys

    @property
    def _grams(self) -> Shingling:
        return gram_shingling(self.params.shingling, self.params.passages)

    def _runs(self, first: Words, others: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return the runs of words of a text that each of these contents has, too."""
        size, runs = self.params.passages, list[NDArray[np.int64]]()
        mine = ngrams(first.forms, size, self.params.seed).hashes
        for _, texts in text_groups(self.transaction, others):
            grams = ngrams(words(texts, self.params.seed).forms, size, self.params.seed)
            runs += [shared_runs(mine, grams.hashes[start:stop], size) for start, stop in pairwise(grams.offsets)]
        return runs

    def _span(
        self, runs: list[NDArray[np.int64]], weights: NDArray[np.int64], places: NDArray[np.int64], least: float
    ) -> tuple[int, int]:
        """Return the longest run of words around a k-gram of the first text that enough of the others have, too.

        Args:
            runs: the runs of words of the first text that each of the others has.
            weights: the number of documents of each text, that of the first before the others.
            places: where the first text has the k-gram.
            least: the number of documents that must have the run; also, half of the others must.
        """
        longest = (0, 0)
        for place in places.tolist():
            around = [one[(one[:, 0] <= place) & (one[:, 1] >= place + self._grams.size)] for one in runs]
            for start in distinct(np.concatenate([one[:, 0] for one in around])).tolist() if around else []:
                # How far each of the others has the same words from here on.
                stops = np.array([one[one[:, 0] <= start, 1].max(initial=0) for one in around])
                furthest = np.argsort(-stops, kind="stable")
                is_enough = weights[0] + np.cumsum(weights[1:][furthest]) >= least
                needed = max(int(np.argmax(is_enough)) + 1, len(weights) // 2)
                stop = int(stops[furthest[needed - 1]]) if is_enough.any() else 0
                longest = max(longest, (start, stop), key=lambda span: span[1] - span[0])
        return longest

    def _num_documents(self, shared: NDArray[np.uint64], size: int, run: int) -> tuple[int, bool]:
        """Return how many documents contain a passage, and whether that is exact.

        Args: shared: the hashes of its k-grams; size, run: its number of words, and the hash of all of them.
        """
        sets = ShingleSets(shared, np.array([0, len(shared)]))
        keys = self._holders(fingerprints_of_shingles(sets, self._grams, self.params.passages).hashes)
        if len(keys) > COUNTED_TEXTS:
            return int(self.scope.weights(keys).sum()), False
        number = 0
        for found, texts in text_groups(self.transaction, keys):
            grams = ngrams(words(texts, self.params.seed).forms, size, self.params.seed)
            which = np.searchsorted(grams.offsets, np.flatnonzero(grams.hashes == run), "right") - 1
            number += int(self.scope.weights(found[distinct(which)]).sum())
        return number, True
