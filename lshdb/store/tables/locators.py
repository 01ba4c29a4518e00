"""Queries for the places of documents in their sources, and for the recorded state of sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from sqlalchemy import exists, select

from lshdb.store.schema import document
from lshdb.store.statements import locators as statements
from lshdb.store.tables.sources import SourceState
from lshdb.store.transaction import Transaction

__all__ = [
    "EarlierRejection",
    "FiledDocument",
    "IndexedSource",
    "KeptDocument",
    "any_in_archive",
    "doc_keys",
    "documents_like",
    "kept_documents",
    "named_records",
    "numbered_records",
    "rejected_before",
    "rejected_records",
    "sources_at",
    "whole_files",
]

# Sources in a statement. Each is a parameter; SQLite accepts 32,766.
GIVEN_SOURCES = 1_000

# Of all readers, only that of WARC names the places of documents by offsets.
_ANY_IN_ARCHIVE = select(exists().where(document.c.locator.like("offset %")))


class IndexedSource(SourceState, frozen=True):
    """The recorded state of a file, and its key."""

    source_key: int


class EarlierRejection(Struct, frozen=True):
    """An item that a run rejected, and the state of its file now, as in `SourceState`."""

    uri: str
    state: str
    position: int
    num_documents: int
    run_key: int
    locator: str
    reason: str


class FiledDocument(Struct, frozen=True):
    """A document that is in a file. The digest of an empty one is None."""

    source_key: int
    digest: bytes | None


class KeptDocument(Struct, frozen=True):
    """A document, and the recorded state of its source.

    Args:
        uri, size, mtime_ns, digest: None if a program added the document.
        is_there: whether the last reading of the source found the document.
    """

    doc_key: int
    doc_id: str
    uri: str | None
    size: int | None
    mtime_ns: int | None
    digest: bytes | None
    is_there: bool | None
    locator: str


def kept_documents(transaction: Transaction, doc_keys: NDArray[np.int64]) -> dict[int, KeptDocument]:
    """Return documents by their keys."""
    blocks = transaction.keyed(statements.kept_documents(), doc_keys)
    return {row.doc_key: KeptDocument(*row) for block in blocks for row in block}


def any_in_archive(transaction: Transaction) -> bool:
    """Return whether any document is a record of a WARC. Reads all documents if there is none."""
    return bool(transaction.execute(_ANY_IN_ARCHIVE).scalar_one())


def sources_at(transaction: Transaction, collection: str, uris: Sequence[str]) -> Iterator[IndexedSource]:
    """Yield the sources of a collection that have these URIs, in any order."""
    for part in transaction.parts(uris, collection=collection):
        yield from (IndexedSource(*row) for row in transaction.execute(statements.sources_at(), part))


def whole_files(transaction: Transaction, source_keys: Sequence[int]) -> dict[int, int]:
    """Return doc_key by source_key for the sources that were one document each when they were read last."""
    blocks = transaction.keyed(statements.whole_files(), np.asarray(source_keys, dtype=np.int64))
    return {source_key: doc_key for block in blocks for source_key, doc_key in block}


def numbered_records(transaction: Transaction, found: IndexedSource, unit: str) -> Iterator[NDArray[np.int64]]:
    """Yield (doc_key, number) of the documents that a source had when it was read last: int64, shape (n, 2), unordered.

    Args: unit: the word before the number in a locator, such as ``line``. Other documents are left out.
    """
    parameters = {"source_key": found.source_key, "since": found.reading_run, "unit": unit}
    return transaction.stream_integers(statements.numbered_records(), parameters)


def named_records(
    transaction: Transaction, found: IndexedSource
) -> Iterator[tuple[NDArray[np.int64], tuple[str, ...]]]:
    """Yield the keys, int64, and the locators of the documents that a source had when it was read last, unordered."""
    parameters = {"source_key": found.source_key, "since": found.reading_run}
    for block in transaction.stream(statements.named_records(), parameters):
        doc_keys, places = zip(*block, strict=True)
        yield np.asarray(doc_keys, dtype=np.int64), places


def rejected_records(transaction: Transaction, sources: Sequence[IndexedSource]) -> Iterator[tuple[str, str]]:
    """Yield (URI, locator) of the items of these sources that their last reading could not ingest."""
    for begin in range(0, len(sources), GIVEN_SOURCES):
        some = sources[begin : begin + GIVEN_SOURCES]
        parameters = {
            "since": min(one.reading_run for one in some),
            "source_keys": [one.source_key for one in some],
        }
        for block in transaction.stream(statements.rejected_records(), parameters):
            yield from ((uri, locator) for uri, locator in block)


def rejected_before(transaction: Transaction, collection: str, run_key: int, since: int) -> Iterator[EarlierRejection]:
    """Yield what earlier runs, from `since` on, rejected of the files that a run has seen, but not read again."""
    parameters = {"collection": collection, "run": run_key, "since": since}
    for block in transaction.stream(statements.rejected_before(), parameters):
        yield from (EarlierRejection(*row) for row in block)


def doc_keys(transaction: Transaction, collection: str, doc_ids: Sequence[str]) -> dict[str, int]:
    """Return doc_key by doc_id for the documents of a collection that have these ids."""
    parts = transaction.parts(doc_ids, collection=collection)
    rows = (row for part in parts for row in transaction.execute(statements.named_documents(), part))
    return {row.doc_id: row.doc_key for row in rows}


def documents_like(transaction: Transaction, source_key: int, doc_ids: Sequence[str]) -> dict[str, FiledDocument]:
    """Return by id the documents of the collection of a source that have these ids.

    Only those that the last reading of their file found.
    """
    parts = transaction.parts(doc_ids, source_key=source_key)
    rows = (row for part in parts for row in transaction.execute(statements.documents_like(), part))
    return {doc_id: FiledDocument(*others) for doc_id, *others in rows}
