"""The passages of a document that also occur in other documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.linking.comparison import encoded_texts, text_groups
from lshdb.model.params import Params
from lshdb.model.passages import Passage
from lshdb.model.values import ShingleSets
from lshdb.passages.candidates import Candidates, candidates_among
from lshdb.passages.runs import shared_runs
from lshdb.sketch.shingling import shingle
from lshdb.sketch.texts import decode
from lshdb.sketch.winnowing import fingerprints_of_shingles, gram_shingling
from lshdb.sketch.words import Words, ngrams, words
from lshdb.store.tables import answers, fingerprints
from lshdb.store.transaction import Transaction

__all__ = ["NAMED_DOCUMENTS", "passages_of"]

# Other documents that are named with a passage.
NAMED_DOCUMENTS: Final = 10


def passages_of(transaction: Transaction, doc_id: str, collection: str, params: Params, url: str) -> list[Passage]:
    """Return the passages of a document that other documents contain, in reading order.

    They are the runs that cannot be extended in some other document. Passages may overlap: one document may share a
    paragraph, and another one a sentence of it.

    Raises: DocumentUnknown.
    """
    content_key = answers.require_content(transaction, collection, doc_id, url)
    _, texts = encoded_texts(transaction, np.asarray([] if content_key is None else [content_key], np.int64))
    if not texts or content_key is None:
        return []
    asked = _Asked(texts[0], words(texts, params.seed), params)
    found = candidates_among(fingerprints.occurrences(transaction, asked.fingerprints(0)), transaction.expansion)
    runs = [*asked.runs_in(transaction, found.keys[found.keys != content_key])]
    if asked.num_words >= params.passages:
        runs.append((content_key, np.array([[0, asked.num_words]])))
    holders = _holders(transaction, [key for key, _ in runs], (doc_id, collection))
    held = sorted((one for one in runs if holders[one[0]]), key=itemgetter(0))
    return asked.passages(held, holders, found)


def _holders(
    transaction: Transaction, keys: Sequence[int], without: tuple[str, str]
) -> dict[int, list[tuple[str, str]]]:
    """Return the documents of contents, except for one document."""
    holders: dict[int, list[tuple[str, str]]] = {key: [] for key in keys}
    for key, doc_id, collection in answers.documents_of(transaction, np.asarray(sorted(keys), np.int64)):
        if (doc_id, collection) != without:
            holders[key].append((doc_id, collection))
    return holders


class _Asked(Struct, frozen=True):
    """The text that was asked about, and its words."""

    text: bytes
    words: Words
    params: Params

    @property
    def num_words(self) -> int:
        return len(self.words.hashes)

    def fingerprints(self, start: int, stop: int | None = None) -> NDArray[np.uint32]:
        """Return the fingerprints of the words [start, stop), ascending."""
        shingling = gram_shingling(self.params.shingling, self.params.passages)
        grams = shingle(self.words.forms, shingling).hashes
        chosen = grams[start : None if stop is None else stop - shingling.size + 1]
        sets = ShingleSets(chosen, np.array([0, len(chosen)]))
        return fingerprints_of_shingles(sets, self.params.shingling, self.params.passages).hashes

    def runs_in(self, transaction: Transaction, keys: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield each content that shares runs with the text, and these runs."""
        size = self.params.passages
        mine = ngrams(self.words.forms, size, self.params.seed).hashes
        for found, texts in text_groups(transaction, keys):
            others = words(texts, self.params.seed)
            grams = ngrams(others.forms, size, self.params.seed)
            for row, key in enumerate(found.tolist()):
                runs = shared_runs(mine, grams.hashes[grams.offsets[row] : grams.offsets[row + 1]], size)
                if len(runs) and others.offsets[row + 1] - others.offsets[row] >= size:
                    yield key, runs

    def passages(
        self,
        runs: Sequence[tuple[int, NDArray[np.int64]]],
        holders: dict[int, list[tuple[str, str]]],
        candidates: Candidates,
    ) -> list[Passage]:
        """Return the passages that these runs are, each with all documents that contain it."""
        if not runs:
            return []
        spans = np.unique(np.concatenate([some for _, some in runs]), axis=0)
        covers = np.column_stack([_covered(spans, some) for _, some in runs])
        passages = []
        for (start, stop), row in zip(spans.tolist(), covers, strict=True):
            named = [one for number in np.flatnonzero(row).tolist() for one in holders[runs[number][0]]]
            passages.append(self._passage(start, stop, named, is_exact=self._is_exact(start, stop, candidates)))
        return passages

    def _passage(self, start: int, stop: int, named: list[tuple[str, str]], *, is_exact: bool) -> Passage:
        first, last = int(self.words.places[start, 0]), int(self.words.places[stop - 1, 1])
        text = decode(self.text[first:last])
        return Passage(text, start, stop, first, last, len(named), is_exact, tuple(named[:NAMED_DOCUMENTS]))

    def _is_exact(self, start: int, stop: int, candidates: Candidates) -> bool:
        """Return whether all contents with the passage are among the candidates: they share all its fingerprints."""
        return not candidates.num_left_out or not np.isin(self.fingerprints(start, stop), candidates.frequent).all()


def _covered(spans: NDArray[np.int64], runs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which spans are within a run. Args: runs: in order; none contains another."""
    # Of those that begin before a span, the last one reaches furthest.
    last = np.searchsorted(runs[:, 0], spans[:, 0], "right") - 1
    covered: NDArray[np.bool_] = (last >= 0) & (runs[last, 1] >= spans[:, 1])
    return covered
