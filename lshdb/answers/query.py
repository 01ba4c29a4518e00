"""Find all near-duplicates of one document that share a bucket with it.

The document need not be in the index. Its buckets supply the candidates, and the texts their similarities. If a content
has the same normalised text and all its pairs are stored, they are the answer: reading twenty buckets of an index that
is larger than the memory takes milliseconds. A pair is lost that way with a probability of at most 1 in 100,000, as
when contents are linked.

For a document of the index, the stored pairs are the answer, unless it has oversized buckets, of which linking expanded
only a part. Their other contents are compared when the question is asked. That takes time in proportion to the size of
the buckets. The keys of the candidates take 8 bytes each; their texts are read a few at a time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from lshdb.errors import SourceUnreadable, UsageError
from lshdb.linking.comparison import contents_of, encoded_texts, text_groups
from lshdb.linking.jaccard import jaccard_with_first
from lshdb.model.choices import Outcome
from lshdb.model.params import Params
from lshdb.model.values import Document, Signatures
from lshdb.readers import STDIN_NAME, Reading, ReadOptions, read_stream, source_file, stdin_source
from lshdb.readers.bytes.streams import BLOCK_BYTES, ByteStream
from lshdb.sketch.banding import band_keys
from lshdb.sketch.minhash import estimate
from lshdb.sketch.normalization import digests
from lshdb.sketch.sketch import shingle_sets_utf8, signed, text_of
from lshdb.sketch.texts import encode
from lshdb.store.tables import answers, graph, identities, lookups, measurements, oversized
from lshdb.store.transaction import Snapshot, Transaction

__all__ = [
    "MAX_ASKED_TEXT",
    "Arrival",
    "Match",
    "load_kernels",
    "matches",
    "matches_among",
    "nearest",
    "only_document",
    "standard_input",
    "stored_matches",
]

# The largest text of a document that can be asked about, in bytes. An ingest accepts less by default.
MAX_ASKED_TEXT = 1_000_000_000

# Comparing this many texts of 5 kB takes a millisecond.
QUICK_CANDIDATES = 20
# Signatures that are held of candidates whose text is not kept: 2 * 25,000 of 400 bytes.
SIGNATURES_AT_A_TIME = 25_000


@dataclass(frozen=True, slots=True)
class Match:
    """A near-duplicate of the query document."""

    id: str
    similarity: float
    exact: bool
    collection: str = "default"


@dataclass(frozen=True, slots=True)
class Arrival:
    """What became of a document that arrived, and the near-duplicates that the index had of it, without itself.

    Args: outcome: ``added``, ``updated``, ``unchanged``, or ``refused``, because it has near-duplicates.
    """

    outcome: Outcome
    matches: tuple[Match, ...]


def load_kernels(params: Params) -> None:
    """Load what a question of an index needs, which takes a third of a second."""
    band_keys(signed([b"a text"], params)[-1], params.banding)
    jaccard_with_first(shingle_sets_utf8([b"a text", b"another text"], params))


def matches(snapshot: Snapshot, document: Document, min_sim: float, params: Params) -> list[Match]:
    """Return every document at `min_sim` or more, the most similar first; an empty document has no matches.

    Raises: BadDocument: the document does not fit the index.
    """
    found = matches_among(snapshot, document, min_sim, params, None)
    assert found is not None
    return found


def matches_among(
    snapshot: Snapshot, document: Document, min_sim: float, params: Params, most: int | None
) -> list[Match] | None:
    """Return what `matches` returns, or None if more than `most` contents share a bucket with the document."""
    text = encode(text_of(document, params))
    forms, sets, signatures = signed([text], params)
    if not len(sets.hashes):
        return []
    keys = band_keys(signatures, params.banding)
    is_whole = False
    # A text of the index has its pairs already.
    if params.keep_text and min_sim >= params.floor:
        digest = digests(forms, params.table_version)[0].tobytes()
        its_bucket = identities.buckets_of(identities.as_digests([digest]))
        young, filtered, is_whole = lookups.first_possible(snapshot, params.scheme, its_bucket, keys)
        # A server is asked only where a filter has the digest: another statement takes longer than young generations.
        places = young + filtered if snapshot.dialect.is_local else filtered
        if (known := answers.settled(snapshot, digest, places, keys, min_sim)) is not None:
            if most is not None and len({key for key, *_ in known}) > most:
                return None
            return nearest(Match(doc_id, near, exact, collection) for _, near, exact, doc_id, collection in known)
    if not is_whole:
        young, filtered = lookups.possible(snapshot, params.scheme, keys)
    candidates = graph.candidates_at(snapshot, young + filtered, None if most is None else most + 1)
    if most is not None and len(candidates) > most:
        return None
    return nearest(_compared(snapshot, text, signatures, candidates, min_sim, params))


def stored_matches(
    transaction: Transaction, doc_id: str, collection: str, min_sim: float, params: Params, url: str
) -> list[Match]:
    """Return the near-duplicates of a document of the index at `url`, the most similar first, without itself.

    Raises: DocumentUnknown.
    """
    content_key = answers.require_content(transaction, collection, doc_id, url)
    if content_key is None:
        return []
    found = [Match(*row) for row in answers.neighbours(transaction, content_key, min_sim)]
    found += _oversized(transaction, content_key, min_sim, params)
    return nearest(match for match in found if (match.id, match.collection) != (doc_id, collection))


def nearest(found: Iterable[Match]) -> list[Match]:
    """Return the most similar matches first; equally similar ones stay in their order."""
    return sorted(found, key=lambda match: -match.similarity)


def _oversized(transaction: Transaction, content_key: int, min_sim: float, params: Params) -> list[Match]:
    """Return the near-duplicates in a content's oversized buckets that are not stored as pairs."""
    if not oversized.exist(transaction):
        return []
    key = np.asarray([content_key])
    signatures = contents_of(transaction, key, params).signatures
    mates = oversized.mates(transaction, band_keys(signatures, params.banding))
    stored, _ = measurements.pairs_of(transaction, key)
    candidates = mates[~np.isin(mates, np.append(stored[:, 1], content_key))]
    _, texts = encoded_texts(transaction, key)
    return _compared(transaction, texts[0] if texts else None, signatures, candidates, min_sim, params)


def _compared(
    snapshot: Snapshot,
    text: bytes | None,
    signatures: Signatures,
    candidates: NDArray[np.int64],
    min_sim: float,
    params: Params,
) -> list[Match]:
    """Return the documents of those candidates, int64, ascending, that are similar enough to one content.

    Args: text: of the content; None if it is not kept. signatures: its signature alone.
    """
    similarity, exact = _similarities(snapshot, text, signatures, candidates, params)
    near = similarity >= min_sim
    scores = zip(similarity[near].tolist(), exact[near].tolist(), strict=True)
    return _named(snapshot, dict(zip(candidates[near].tolist(), scores, strict=True)))


def _named(snapshot: Snapshot, scores: Mapping[int, tuple[float, bool]]) -> list[Match]:
    """Return the documents of contents, by their keys. Args: scores: (similarity, exact) by content key."""
    keys = np.asarray(sorted(scores), dtype=np.int64)
    return [Match(doc_id, *scores[key], collection) for key, doc_id, collection in answers.documents_of(snapshot, keys)]


def only_document(path: str | Path, options: ReadOptions) -> Document:
    """Return the only document in a file; ``-`` is standard input. It may be larger than an ingest accepts by default.

    Raises: PathMissing; SourceUnreadable: the file contains no document; UsageError: it contains several.
    """
    options = replace(options, max_text=MAX_ASKED_TEXT)
    if str(path) == STDIN_NAME:
        items = read_stream(stdin_source(), standard_input(), options)
    else:
        items = iter(Reading(source_file(path), options))
    found = list(islice(items, 2))
    if not found:
        raise SourceUnreadable(path=path, reason="it contains no document")
    if not isinstance(found[0], Document):
        raise SourceUnreadable(path=path, reason=found[0].reason)
    if len(found) > 1:
        raise UsageError(reason=f"{path} contains several documents. Ingest it, then name one of them by its id")
    return found[0]


def standard_input() -> ByteStream:
    """Return the stream that Python has as standard input."""
    # read1 returns what a pipe has; read would wait for a whole block.
    read = cast(BufferedReader, sys.stdin.buffer).read1
    return ByteStream(iter(partial(read, BLOCK_BYTES), b""))


def _similarities(
    snapshot: Snapshot,
    text: bytes | None,
    signatures: Signatures,
    candidates: NDArray[np.int64],
    params: Params,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the candidates' similarities to one content, NaN for deleted contents, and whether they are exact."""
    similarity = np.full(len(candidates), np.nan)
    exact = np.zeros(len(candidates), dtype=np.bool_)
    if text is not None:
        for keys, texts in text_groups(snapshot, candidates):
            rows = np.searchsorted(candidates, keys)
            similarity[rows] = jaccard_with_first(shingle_sets_utf8([text, *texts], params))
            exact[rows] = True
    estimated = candidates[~exact]
    for begin in range(0, len(estimated), SIGNATURES_AT_A_TIME):
        contents = contents_of(snapshot, estimated[begin : begin + SIGNATURES_AT_A_TIME], params)
        repeated = Signatures(np.repeat(signatures.minima, len(contents.keys), axis=0), params.scheme)
        similarity[np.searchsorted(candidates, contents.keys)] = estimate(repeated, contents.signatures)
    return similarity, exact
