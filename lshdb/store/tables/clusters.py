"""Queries for clusters: contents, their documents and pairs, and the merits that decide which document to keep."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.model.arrays import distinct
from lshdb.model.choices import Keep
from lshdb.model.values import CandidatePairs, VerifiedPairs
from lshdb.store.statements import clusters as statements
from lshdb.store.tables.graph import verified_pairs
from lshdb.store.transaction import Transaction

__all__ = [
    "DocumentCounts",
    "DocumentRow",
    "Merits",
    "contents",
    "dates",
    "document_counts",
    "documents_of_run",
    "from_sources",
    "holding",
    "known_pairs",
    "mates",
    "merits",
    "names",
    "near_pairs",
    "repeated_contents",
    "scope",
]


class Merits(Struct, frozen=True):
    """Documents and their merits, which decide which of them to keep. A merit is None if nothing is known."""

    content_keys: NDArray[np.int64]
    doc_keys: NDArray[np.int64]
    doc_ids: tuple[str, ...]
    merits: tuple[int | None, ...]


class DocumentRow(Struct, frozen=True):
    """A document and its content. The content is None for an empty document."""

    doc_key: int
    collection: str
    doc_id: str
    content_key: int | None


class DocumentCounts(Struct, frozen=True):
    """The number of documents, and the number of those that are not empty."""

    num_documents: int
    num_full: int


def contents(transaction: Transaction, within: str | None) -> NDArray[np.int64]:
    """Return the keys of the contents that have documents, int64, shape (n,), ascending."""
    return transaction.integers(statements.contents(chosen=within is not None), {"within": within})[:, 0]


def repeated_contents(transaction: Transaction, within: str | None) -> NDArray[np.int64]:
    """Return the keys of the contents that have two or more documents, int64, shape (n,), ascending."""
    return transaction.integers(statements.repeated_contents(chosen=within is not None), {"within": within})[:, 0]


def near_pairs(transaction: Transaction, min_sim: float) -> Iterator[NDArray[np.int64]]:
    """Yield the pairs at `min_sim` or more: blocks of (left_key, right_key), int64, shape (m, 2)."""
    return transaction.stream_integers(statements.near_pairs(), {"min_sim": min_sim})


def merits(
    transaction: Transaction, content_keys: NDArray[np.int64], keep: Keep, within: str | None
) -> Iterator[Merits]:
    """Yield the documents of the contents in blocks, in the order of their contents and keys.

    Args: content_keys: int64, ascending.
    """
    for part in transaction.parts(content_keys, within=within):
        for block in transaction.stream(statements.merits(keep), part):
            keys, doc_keys, doc_ids, found = zip(*block, strict=True)
            yield Merits(np.asarray(keys, dtype=np.int64), np.asarray(doc_keys, dtype=np.int64), doc_ids, found)


def known_pairs(transaction: Transaction, pairs: CandidatePairs) -> VerifiedPairs:
    """Return the pairs that are stored, at any similarity, in any order."""
    return verified_pairs([row for block in transaction.keyed(statements.known_pairs(), pairs.keys) for row in block])


def mates(transaction: Transaction, content_keys: NDArray[np.int64], min_sim: float) -> NDArray[np.int64]:
    """Return the pairs of the contents at `min_sim` or more: (content_key, mate_key), int64, shape (m, 2)."""
    blocks = [
        transaction.integers(statement, part)
        for statement in (statements.later_mates(), statements.earlier_mates())
        for part in transaction.parts(content_keys, min_sim=min_sim)
    ]
    return np.concatenate([*blocks, np.empty((0, 2), dtype=np.int64)])


def names(transaction: Transaction, doc_keys: NDArray[np.int64]) -> dict[int, tuple[str, str]]:
    """Return (collection, doc_id) of the documents by their keys."""
    blocks = transaction.keyed(statements.names(), distinct(doc_keys))
    return {doc_key: (collection, doc_id) for block in blocks for doc_key, collection, doc_id in block}


def dates(transaction: Transaction, doc_keys: NDArray[np.int64]) -> dict[int, int]:
    """Return the dates of the documents by their keys, in microseconds since 1970 UTC, of those that have one."""
    return {key: date for block in transaction.keyed(statements.dates(), doc_keys) for key, date in block}


def holding(transaction: Transaction, text: str, most: int) -> NDArray[np.int64]:
    """Return the keys of at most `most` documents whose ids contain a text, int64, ascending."""
    return np.sort(transaction.integers(statements.holding(text).limit(most))[:, 0])


def from_sources(transaction: Transaction, text: str) -> NDArray[np.int64]:
    """Return the keys of the documents from sources whose URIs contain a text, int64."""
    return transaction.integers(statements.from_sources(text))[:, 0]


def documents_of_run(transaction: Transaction, run_key: int) -> NDArray[np.int64]:
    """Return the keys of documents that a run added, or with whose texts it found new pairs, int64."""
    return transaction.integers(statements.documents_of_run(), {"run": run_key})[:, 0]


def scope(transaction: Transaction, within: str | None, rows: int) -> Iterator[list[DocumentRow]]:
    """Yield all documents in the order in which they were added, `rows` at a time."""
    for block in transaction.stream(statements.scope(), {"within": within}, rows=rows):
        yield [DocumentRow(*row) for row in block]


def document_counts(transaction: Transaction, within: str | None) -> DocumentCounts:
    """Return the number of documents."""
    return DocumentCounts(*transaction.execute(statements.document_counts(), {"within": within}).one())
