"""Queries that compare documents with the sources they were read from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.store.schema import source
from lshdb.store.statements import audit as statements
from lshdb.store.tables.locators import IndexedSource
from lshdb.store.tables.sources import READING
from lshdb.store.transaction import Transaction

__all__ = [
    "AuditedSource",
    "SourcedDocument",
    "documents",
    "documents_of",
    "num_unread",
    "sizes",
    "sources",
]

# Sources that are looked up at a time.
GIVEN_SOURCES = 1_000


class AuditedSource(IndexedSource, frozen=True):
    """The recorded state of a file, its key and that of its collection."""

    collection_key: int


class SourcedDocument(Struct, frozen=True):
    """A stored document and its place. The digest of an empty document is None."""

    doc_id: str
    doc_key: int
    source_key: int | None
    locator: str
    dated_at: int | None
    last_seen_run: int
    digest: bytes | None


def sizes(transaction: Transaction) -> Iterator[NDArray[np.int64]]:
    """Yield (source_key, num_documents, documents it has in the index), int64, shape (n, 3), sorted.

    Only sources that were read to their end, and documents that this reading found.
    """
    return transaction.stream_integers(statements.source_sizes())


def sources(transaction: Transaction, source_keys: NDArray[np.int64]) -> Iterator[AuditedSource]:
    """Yield the sources with these keys, in this order."""
    for block in transaction.keyed(statements.audited_sources(), source_keys, GIVEN_SOURCES):
        yield from (AuditedSource(*row) for row in block)


def documents(transaction: Transaction, collection_key: int, doc_ids: Sequence[str]) -> dict[str, SourcedDocument]:
    """Return the documents of a collection that have one of the ids, by id."""
    parts = transaction.parts(doc_ids, collection_key=collection_key)
    rows = (row for part in parts for row in transaction.execute(statements.sourced_documents(), part))
    return {row.doc_id: SourcedDocument(*row) for row in rows}


def documents_of(transaction: Transaction, found: AuditedSource) -> NDArray[np.int64]:
    """Return the keys of the documents that the last reading of a source found, int64, ascending."""
    parameters = {"source_key": found.source_key, "since": found.reading_run}
    return transaction.integers(statements.documents_read_from(), parameters)[:, 0]


def num_unread(transaction: Transaction) -> int:
    """Return the number of sources that were not read to their end."""
    return transaction.num_rows(source, source.c.state == READING)
