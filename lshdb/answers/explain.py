"""Explain why two documents are a pair, or why not.

Recomputes everything that decides it and shows it side by side, but links and stores nothing. A name is a document id,
or else a file. The text of a document is the one kept for its content, which came from the first document with that
content. If no text is kept, the source is read again.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from typing import Literal

import numpy as np
from msgspec import Struct, structs

from lshdb.answers.query import only_document
from lshdb.answers.worddiff import WordDiff, diff
from lshdb.errors import DocumentUnknown, UsageError
from lshdb.linking.jaccard import intersections, min_agreement
from lshdb.linking.rereading import spool_lost
from lshdb.model.params import Params
from lshdb.model.passages import CommonRun
from lshdb.model.reports import StoredPair
from lshdb.model.values import BandKeys, Signatures
from lshdb.passages.runs import shared_runs
from lshdb.readers import STDIN_NAME, ReadOptions
from lshdb.sketch.banding import band_keys
from lshdb.sketch.minhash import estimate
from lshdb.sketch.sketch import shingle_sets, sketch_encoded, text_of
from lshdb.sketch.texts import decode, encode, unpack
from lshdb.sketch.words import ngrams, words
from lshdb.store.store import Store
from lshdb.store.tables import answers, graph, identities, inspection, oversized
from lshdb.store.tables.buckets import buckets_of
from lshdb.store.transaction import Transaction

__all__ = [
    "Comparison",
    "Explaining",
    "Explanation",
    "Named",
    "Side",
    "Status",
]


class Named(Struct, frozen=True):
    """A named document. `text` is None if it is not kept, `content_key` if the index does not have the content.

    Args: signatures: shape (1, num_perm); (0, num_perm) for an empty document.
    """

    name: str
    is_file: bool
    content_key: int | None
    signatures: Signatures
    text: str | None

    @property
    def is_empty(self) -> bool:
        """Whether it has no shingles and therefore no duplicates."""
        return not len(self.signatures)


class Explaining:
    """Explains pairs of documents of one index.

    Args:
        options: how to read files, and the sources of texts that are not kept.
        files: names are files, even if documents have these ids.
        ids: names are ids, and no file is opened.
    """

    def __init__(self, store: Store, options: ReadOptions, *, files: bool = False, ids: bool = False) -> None:
        self._store = store
        self._params: Params = store.params
        self._options = options
        self._files = files
        self._ids = ids

    def explain(self, names: tuple[str, str], collections: tuple[str, str], *, with_diff: bool) -> Explanation:
        """Return what makes the two documents a pair, or not.

        Args: collections: where to look up each name as an id.
        Raises: DocumentUnknown: a name is neither an id nor a file; UsageError: both are standard input; as `query`.
        """
        if names == (STDIN_NAME, STDIN_NAME) and not self._ids:
            raise UsageError(reason="both documents are standard input (-); name a file or an id for one of them")
        with self._store.reading() as snapshot:
            found = [self._named(snapshot, *one) for one in zip(names, collections, strict=True)]
            left, right = self._with_texts(snapshot, found)
            explanation = self._compared(snapshot, left, right)
            if with_diff and left.text is not None and right.text is not None:
                explanation = replace(explanation, word_diff=self._diff(left.text, right.text))
            if self._params.passages and left.text is not None and right.text is not None:
                runs = _shared_runs([encode(left.text), encode(right.text)], self._params)
                explanation = replace(explanation, shared_runs=runs)
        return explanation

    def _named(self, snapshot: Transaction, name: str, collection: str) -> Named:
        if self._files or (name == STDIN_NAME and not self._ids):
            return self._read(snapshot, name)
        is_there, content_key = answers.content_of(snapshot, collection, name)
        if is_there:
            return self._stored(snapshot, name, content_key)
        if not self._ids and os.path.lexists(name):
            return self._read(snapshot, name)
        raise DocumentUnknown(doc_id=name, collection=collection, url=self._store.url)

    def _stored(self, snapshot: Transaction, name: str, content_key: int | None) -> Named:
        keys = np.asarray([] if content_key is None else [content_key], dtype=np.int64)
        signatures = Signatures.read(graph.signatures(snapshot, keys).signatures, self._params.permutations)
        texts = [unpack(frame) for _, frame in graph.texts(snapshot, keys)]
        kept = None if content_key is not None and not texts else "".join(texts)
        return Named(name, False, content_key, signatures, kept)

    def _read(self, snapshot: Transaction, name: str) -> Named:
        text = text_of(only_document(name, self._options), self._params)
        # Not `sketch`, which would also compress the text for storage.
        sketched = sketch_encoded([encode(text)], self._params)
        minima = sketched.signatures.minima[sketched.num_shingles > 0]
        content_key = identities.content_with(snapshot, sketched.digests[0].tobytes()) if len(minima) else None
        signatures = Signatures(minima, self._params.scheme)
        return Named(name, True, content_key, signatures, text)

    def _with_texts(self, snapshot: Transaction, found: list[Named]) -> list[Named]:
        """Return the same with texts that are not kept but can be read again."""
        lost = np.unique(np.asarray([one.content_key for one in found if one.text is None], dtype=np.int64))
        if self._ids or not len(lost):
            return found
        spool = spool_lost(snapshot, self._params, self._options, lost)
        read = {key: unpack(frame) for key, frame in spool.texts(lost)}
        return [structs.replace(one, text=read.get(one.content_key or 0)) if one.text is None else one for one in found]

    def _compared(self, snapshot: Transaction, left: Named, right: Named) -> Explanation:
        shared, hot = self._shared_bands(snapshot, left, right)
        explanation = Explanation(
            params=self._params,
            left=_side(snapshot, left),
            right=_side(snapshot, right),
            comparison=self._comparison(left, right),
            estimate=_estimated(left, right),
            shared_bands=shared,
            hot_bands=hot,
            status="missing",
            pair=_pair(snapshot, left, right),
            word_diff=None,
        )
        return replace(explanation, status=_status(snapshot, explanation, left.is_empty or right.is_empty))

    def _comparison(self, left: Named, right: Named) -> Comparison | None:
        if left.text is None or right.text is None:
            return None
        sets = shingle_sets([left.text, right.text], self._params)
        (shared,), (num_left, num_right) = (
            found.tolist() for found in intersections(sets, np.array([0]), np.array([1]))
        )
        return Comparison(
            left_shingles=num_left,
            right_shingles=num_right,
            shared_shingles=shared,
            similarity=_share(shared, num_left + num_right - shared),
            left_in_right=_share(shared, num_left),
            right_in_left=_share(shared, num_right),
        )

    def _shared_bands(
        self, snapshot: Transaction, left: Named, right: Named
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the bands in which both share a bucket, and those of them whose bucket is hot."""
        if left.is_empty or right.is_empty:
            return (), ()
        keys: list[BandKeys] = [band_keys(one.signatures, self._params.banding) for one in (left, right)]
        shared = np.flatnonzero(keys[0].keys[0] == keys[1].keys[0]).tolist()
        skipped = oversized.among(snapshot, buckets_of(keys[0]))
        return tuple(shared), tuple(band for band in shared if band in skipped)

    def _diff(self, left: str, right: str) -> WordDiff:
        return diff(_printable(left), _printable(right), by_line=self._params.shingling.kind == "set")


def _share(shared: int, of: int) -> float:
    return shared / of if of else 0.0


def _shared_runs(texts: list[bytes], params: Params) -> tuple[CommonRun, ...]:
    """Return the runs of at least `params.passages` words that two texts share, in the order of the first text."""
    size, found = params.passages, words(texts, params.seed)
    if np.diff(found.offsets).min() < size:
        return ()
    grams = ngrams(found.forms, size, params.seed)
    left, right = np.split(grams.hashes, [grams.offsets[1]])
    runs = []
    for start, stop in shared_runs(left, right, size).tolist():
        first, last = found.places[start, 0], found.places[stop - 1, 1]
        runs.append(CommonRun(decode(texts[0][first:last]), start, stop - start))
    return tuple(runs)


def _side(snapshot: Transaction, named: Named) -> Side:
    first = None
    if not named.is_file and named.content_key is not None:
        first = inspection.first_document(snapshot, named.content_key)
    kept_of = first if first != named.name else None
    return Side(named.name, named.is_file, named.content_key, kept_of, named.text is None)


def _estimated(left: Named, right: Named) -> float:
    return 0.0 if left.is_empty or right.is_empty else float(estimate(left.signatures, right.signatures)[0])


def _pair(snapshot: Transaction, left: Named, right: Named) -> StoredPair | None:
    if left.content_key is None or right.content_key is None:
        return None
    return inspection.stored_pair(snapshot, left.content_key, right.content_key)


def _status(snapshot: Transaction, explanation: Explanation, some_empty: bool) -> Status:
    """Return the first reason that applies, in the order in which linking checks them."""
    params, keys = explanation.params, [explanation.left.content_key, explanation.right.content_key]
    contents = [key for key in keys if key is not None]
    floor = params.floor
    least = min_agreement(params.num_perm, floor) / params.num_perm if params.keep_text else floor
    reasons: dict[Status, bool] = {
        "empty": some_empty,
        "same_content": len(contents) == 2 and contents[0] == contents[1],
        "pair": explanation.pair is not None,
        "not_in_index": len(contents) < 2,
        "not_linked": bool(inspection.unlinked_among(snapshot, sorted(set(contents)))),
        "below_floor": explanation.similarity < floor,
        "no_shared_band": not explanation.shared_bands,
        "ruled_out": explanation.estimate < least,
        "hot_bucket": explanation.shared_bands == explanation.hot_bands,
    }
    return next((status for status, holds in reasons.items() if holds), "missing")


def _printable(text: str) -> str:
    """Return the text without lone surrogates, which cannot be written."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


# The relation of the two documents. All but the first two say why they are not a pair.
Status = Literal[
    "same_content",
    "pair",
    "empty",
    "not_in_index",
    "not_linked",
    "below_floor",
    "no_shared_band",
    "ruled_out",
    "hot_bucket",
    "missing",
]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two documents.

    Args:
        name: its id, or the file.
        content_key: None if it is empty, or a file whose content is not in the index.
        kept_of: the first document with the same content, whose text is shown, if that is another document.
        is_gone: its text is not available: it is neither kept nor still in its source.
    """

    name: str
    is_file: bool
    content_key: int | None
    kept_of: str | None
    is_gone: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of the texts: their distinct shingles, those they share, and the similarity."""

    left_shingles: int
    right_shingles: int
    shared_shingles: int
    similarity: float
    left_in_right: float
    right_in_left: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that decides whether two documents are a pair.

    Args:
        comparison: None if a text is not available.
        estimate: the similarity estimated from the signatures.
        shared_bands: the bands in which both share a bucket; hot_bands: those of them whose bucket is hot.
        pair: the stored pair; None if it is not stored.
        word_diff: None if it was not requested, or a text is not available.
        shared_runs: the passages that both have, if the index has passages and the texts are available.
    """

    params: Params
    left: Side
    right: Side
    comparison: Comparison | None
    estimate: float
    shared_bands: tuple[int, ...]
    hot_bands: tuple[int, ...]
    status: Status
    pair: StoredPair | None
    word_diff: WordDiff | None
    shared_runs: tuple[CommonRun, ...] = ()

    @property
    def similarity(self) -> float:
        """The exact similarity, or the estimate if a text is not available."""
        return self.estimate if self.comparison is None else self.comparison.similarity

    @property
    def probability(self) -> float:
        """The probability that two documents of this similarity share a band."""
        return self.params.banding.candidate_probability(self.similarity)

    def as_json(self) -> dict[str, object]:
        """Return the object that ``explain --json`` prints."""
        runs = {"shared_runs": [asdict(run) for run in self.shared_runs]} if self.params.passages else {}
        return {
            "left": asdict(self.left),
            "right": asdict(self.right),
            "status": self.status,
            "pair": None if self.pair is None else asdict(self.pair),
            "estimate": self.estimate,
            "comparison": None if self.comparison is None else asdict(self.comparison),
            "bands": {"number": self.params.bands, "shared": self.shared_bands, "hot": self.hot_bands},
            "probability": self.probability,
            "diff": None if self.word_diff is None else asdict(self.word_diff),
            **runs,
        }
