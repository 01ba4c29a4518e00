"""Find the near-duplicates of many documents that need not be in the index.

Documents are sketched and looked up in chunks, with a few read-only statements per chunk. Chunks bound the memory: if
the documents of a chunk share buckets with too many contents, the chunk is halved.

Limitations: questions are not compared with each other. In a chunk of several, a candidate is not read if its signature
rules out the similarity; a match is lost that way with a probability of at most 1 in 100,000, as when pairs are
linked. Every chunk sees the index as it is then.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.answers.query import Match, nearest
from lshdb.linking.comparison import contents_of, encoded_texts
from lshdb.linking.jaccard import jaccard, min_agreement
from lshdb.model.arrays import are_first, distinct, slices_within
from lshdb.model.batches import in_batches
from lshdb.model.calls import calls_ahead
from lshdb.model.params import Params
from lshdb.model.values import BandKeys, Document, Sketches, num_characters
from lshdb.sketch import kernels
from lshdb.sketch.sketch import shingle_sets_utf8, sketch_encoded, text_of
from lshdb.sketch.texts import encode
from lshdb.store.store import Store
from lshdb.store.tables import answers, graph
from lshdb.store.transaction import Transaction

__all__ = ["Answer", "Limits", "Question", "answered"]

# The number of pairs whose signatures are held at a time: 100,000 of 400 bytes.
ESTIMATED_PAIRS: Final = 100_000


class Question(Struct, frozen=True):
    """A document to look up, with its line, including the line end, if it came from one."""

    document: Document
    line: bytes | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The near-duplicates of one document, the most similar first.

    Args:
        question: the id of the document.
        matches: empty if nothing in the index is like it.
        locator: the place of the document in its file; empty if it is the whole file, or came from a program.
        line: its line, byte for byte, if lines were requested.
    """

    question: str
    matches: tuple[Match, ...]
    locator: str = ""
    line: bytes | None = None

    @property
    def is_new(self) -> bool:
        """Whether nothing in the index is like the document."""
        return not self.matches


class Limits(Struct, frozen=True):
    """How much is processed at a time.

    Args:
        documents, characters: of a chunk.
        candidates: pairs of a question and a content that shares a bucket with it: 32 MB.
        shingles: of the contents that are compared together, as in linking.
    """

    documents: int = 4_000
    characters: int = 8_000_000
    candidates: int = 4_000_000
    shingles: int = 8_000_000


class _Asked(Struct, frozen=True):
    """A chunk of questions, sketched. Args: encoded: their texts in UTF-8."""

    questions: Sequence[Question]
    encoded: Sequence[bytes]
    sketches: Sketches


def answered(
    store: Store, questions: Iterable[Question], min_sim: float, most: int | None, limits: Limits | None = None
) -> Generator[Answer, None, None]:
    """Yield the answer to each question, in order. Args: most: the largest number of matches of a question.

    Raises: BadDocument: a document does not fit the index.
    """
    chosen = limits or Limits()
    chunks = in_batches(questions, lambda one: num_characters(one.document), chosen.characters, chosen.documents)
    # One thread sketches the next chunk while this one queries the database.
    for asked in calls_ahead(partial(_sketched, params=store.params), chunks, threads=1):
        answer = partial(_answers, asked=asked, params=store.params, min_sim=min_sim, most=most, limits=chosen)
        yield from store.read(answer)


def _sketched(questions: Sequence[Question], params: Params) -> _Asked:
    encoded = [encode(text_of(question.document, params)) for question in questions]
    return _Asked(questions, encoded, sketch_encoded(encoded, params))


def _answers(
    snapshot: Transaction, asked: _Asked, params: Params, min_sim: float, most: int | None, limits: Limits
) -> list[Answer]:
    """Return the answers to a chunk."""
    near: list[_Near] = []
    for pairs in _candidates(snapshot, asked.sketches, limits):
        near += _compared(snapshot, asked, pairs, params, min_sim, limits)
    names = _names(snapshot, near, most)
    matches: list[list[Match]] = [[] for _ in asked.questions]
    for part in near:
        for row, key, similarity, exact in part.rows():
            matches[row] += (Match(doc_id, similarity, exact, where) for doc_id, where in names.get(key, ()))
    return [
        Answer(question.document.doc_id, tuple(nearest(found)[:most]), question.document.locator, question.line)
        for question, found in zip(asked.questions, matches, strict=True)
    ]


def _names(snapshot: Transaction, near: Sequence[_Near], most: int | None) -> dict[int, list[tuple[str, str]]]:
    """Return (id, collection) of the documents of all contents found, no more of each than may be shown."""
    keys = distinct(np.concatenate([np.empty(0, dtype=np.int64), *(part.keys for part in near)]))
    names: dict[int, list[tuple[str, str]]] = {}
    for key, doc_id, collection in answers.documents_of(snapshot, keys):
        mine = names.setdefault(key, [])
        if most is None or len(mine) < most:
            mine.append((doc_id, collection))
    return names


def _candidates(snapshot: Transaction, sketches: Sketches, limits: Limits) -> Iterator[NDArray[np.int64]]:
    """Yield (content_key, row of the question) that share a bucket, int64, shape (n, 2), sorted, without repeats."""
    ranges = [np.flatnonzero(sketches.num_shingles)]
    while ranges:
        rows = ranges.pop()
        buckets = BandKeys(sketches.band_keys.keys[rows], sketches.band_keys.first_band)
        found = _shared(snapshot, buckets, limits.candidates, must_end=len(rows) == 1)
        if found is None:
            middle = len(rows) // 2
            ranges += [rows[middle:], rows[:middle]]
        elif len(found):
            yield np.column_stack([found[:, 0], rows[found[:, 1]]])


def _shared(snapshot: Transaction, buckets: BandKeys, most: int, *, must_end: bool) -> NDArray[np.int64] | None:
    """Return (content_key, place of the question), or None if there are more than `most`, unless it `must_end`."""
    count = len(buckets)
    codes = np.empty(0, dtype=np.int64)
    waiting: list[NDArray[np.int64]] = []
    num_waiting = 0
    for block in graph.contents_in(snapshot, buckets):
        # Both in one integer, so that sorting is fast.
        waiting.append(block[:, 1] * count + block[:, 0])
        num_waiting += len(block)
        if num_waiting > most:
            # A content of an oversized bucket often occurs in every band.
            codes, waiting, num_waiting = distinct(np.concatenate([codes, *waiting])), [], 0
            if len(codes) > most and not must_end:
                return None
    codes = distinct(np.concatenate([codes, *waiting]))
    return np.column_stack(np.divmod(codes, count))


class _Near(Struct, frozen=True):
    """Pairs at the similarity or above.

    Args:
        keys: of the contents, int64, shape (n,), ascending. questions: their rows, int64, shape (n,).
        similarity: float64, shape (n,). exact: bool, shape (n,).
    """

    keys: NDArray[np.int64]
    questions: NDArray[np.int64]
    similarity: NDArray[np.float64]
    exact: NDArray[np.bool_]

    def rows(self) -> Iterator[tuple[int, int, float, bool]]:
        """Yield (row of the question, content_key, similarity, exact)."""
        return zip(
            self.questions.tolist(), self.keys.tolist(), self.similarity.tolist(), self.exact.tolist(), strict=True
        )


def _compared(
    snapshot: Transaction, asked: _Asked, pairs: NDArray[np.int64], params: Params, min_sim: float, limits: Limits
) -> Iterator[_Near]:
    """Yield the pairs that are similar enough, by their texts, or by their signatures where a text is not kept."""
    least_equal = min_agreement(params.num_perm, min_sim) if len(asked.questions) > 1 else 0
    for begin in range(0, len(pairs), ESTIMATED_PAIRS):
        some = pairs[begin : begin + ESTIMATED_PAIRS]
        contents = contents_of(snapshot, some[:, 0], params)
        some = some[np.isin(some[:, 0], contents.keys)]
        rows = contents.rows(some[:, 0])
        equal = kernels.equal_minima(
            contents.signatures.minima, asked.sketches.signatures.minima, np.stack([rows, some[:, 1]], axis=1)
        )
        likely = equal >= least_equal
        # Each content is read once, for all its pairs.
        sizes = contents.num_shingles[rows[likely]] * are_first(some[likely, 0])
        for group in slices_within(sizes, limits.shingles):
            yield _exact(snapshot, asked, some[likely][group], equal[likely][group] / params.num_perm, params, min_sim)


def _exact(
    snapshot: Transaction,
    asked: _Asked,
    pairs: NDArray[np.int64],
    estimates: NDArray[np.float64],
    params: Params,
    min_sim: float,
) -> _Near:
    """Return those of a group of pairs that are similar enough."""
    keys, texts = encoded_texts(snapshot, distinct(pairs[:, 0]))
    rows = distinct(pairs[:, 1])
    sets = shingle_sets_utf8([*(asked.encoded[row] for row in rows.tolist()), *texts], params)
    similarity, exact = estimates.copy(), np.isin(pairs[:, 0], keys)
    left = np.searchsorted(rows, pairs[exact, 1])
    similarity[exact] = jaccard(sets, left, len(rows) + np.searchsorted(keys, pairs[exact, 0]))
    near = similarity >= min_sim
    return _Near(pairs[near, 0], pairs[near, 1], similarity[near], exact[near])
