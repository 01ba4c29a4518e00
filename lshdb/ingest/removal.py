"""Remove documents from the index, and then the contents that no document has any more, with their buckets and pairs.

The cost depends only on the number of removed documents: signatures identify the bucket rows to delete, and filters the
generations that may have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lshdb.errors import DocumentUnknown, PruneRefused
from lshdb.model.params import Params
from lshdb.model.values import Counts, Signatures
from lshdb.readers import path_uri
from lshdb.sketch.banding import band_keys
from lshdb.store.store import Store
from lshdb.store.tables import (
    bands,
    collections,
    documents,
    late_indexes,
    locators,
    oversized,
    removals,
    runs,
    sources,
)
from lshdb.store.transaction import Transaction

__all__ = ["Removed", "expire", "prune", "prune_records", "remove", "remove_collection", "remove_documents", "retire"]


class Removed(NamedTuple):
    """The number of removed documents, and the URIs of the sources that they came from."""

    number: int
    sources: tuple[str, ...]


def remove_documents(
    store: Store, doc_ids: Sequence[str], run_key: int, collection: str, *, forget_sources: bool = False
) -> Removed:
    """Remove documents by their ids.

    Args: forget_sources: let the next ingest read their sources from their beginning. A name may then also be the path
        of a file or folder that was read: its documents stay.
    Raises: DocumentUnknown: one of them does not exist, and nothing is removed; StoreError.
    """

    def write(transaction: Transaction) -> Removed:
        doc_keys, files = list[int](), list[int]()
        known = locators.doc_keys(transaction, collection, doc_ids)
        for doc_id in doc_ids:
            if doc_id in known:
                doc_keys.append(known[doc_id])
                continue
            read = sources.seen(transaction, collection, path_uri(doc_id), 0) if forget_sources else []
            if not read:
                raise DocumentUnknown(doc_id=doc_id, collection=collection, url=store.url)
            files += read
        removals.count(transaction, doc_keys, run_key)
        origins = sources.holding(transaction, doc_keys)
        if forget_sources:
            sources.forget(transaction, [*origins, *files])
        runs.record(transaction, run_key, remove(transaction, doc_keys, store.params))
        return Removed(len(doc_keys), tuple(origins.values()))

    return store.write(write, run_key)


def remove_collection(store: Store, collection: str, run_key: int, batch_documents: int) -> int:
    """Remove all documents of a collection, and its sources, so that the next ingest reads them again.

    If it is interrupted, the same call continues. Returns: the number of documents.

    Args: batch_documents: documents that are removed in one transaction.
    Raises: CollectionUnknown: the collection has no documents; StoreError.
    """

    def begin(transaction: Transaction) -> None:
        collections.require(transaction, store.url, collection)
        # Otherwise an interrupted removal would leave sources that count as read, but whose documents are gone.
        sources.forget_all(transaction, collection)

    def write(transaction: Transaction) -> int:
        counts = remove(transaction, documents.some_of(transaction, collection, batch_documents), store.params)
        if not counts.num_removed:
            sources.remove(transaction, sources.all_of(transaction, collection))
        runs.record(transaction, run_key, counts)
        return counts.num_removed

    num_removed = 0
    store.write(begin, run_key)
    while number := store.write(write, run_key):
        num_removed += number
    return num_removed


def prune(
    transaction: Transaction, collection: str, root: str, run_key: int, params: Params, *, is_empty: bool
) -> Counts:
    """Remove the documents of sources at or under a root that neither this run nor a later one has found.

    Args: is_empty: the root contains no files now.
    Raises: PruneRefused: the root contains no files, but the index has sources from it.
    """
    gone = sources.gone(transaction, collection, root, run_key)
    if gone and is_empty:
        raise PruneRefused(path=root, num_sources=len(gone))
    counts = remove(transaction, sources.documents_of(transaction, gone), params)
    sources.remove(transaction, gone)
    runs.record(transaction, run_key, counts)
    return counts


def prune_records(
    transaction: Transaction, source_keys: Sequence[int], count: int, run_key: int, params: Params
) -> Counts:
    """Remove at most `count` documents of these sources that are no longer in their file."""
    counts = remove(transaction, sources.vanished(transaction, source_keys, count), params)
    runs.record(transaction, run_key, counts)
    return counts


def expire(transaction: Transaction, collection: str, moment: datetime, run_key: int, params: Params) -> Counts:
    """Remove the documents that no run has seen since the given time."""
    last_run = runs.last_before(transaction, moment)
    stale = sources.stale(transaction, collection, last_run)
    doc_keys = sources.documents_of(transaction, stale) + documents.stale(transaction, collection, last_run)
    counts = remove(transaction, doc_keys, params)
    sources.remove(transaction, stale)
    runs.record(transaction, run_key, counts)
    return counts


def remove(transaction: Transaction, doc_keys: Sequence[int], params: Params) -> Counts:
    """Remove documents, and the contents that only they had."""
    if doc_keys:
        retire(transaction, documents.remove(transaction, doc_keys), params)
    return Counts(num_removed=len(doc_keys))


def retire(transaction: Transaction, released: NDArray[np.int64], params: Params) -> None:
    """Delete the released contents that no document refers to any more."""
    if not len(released):
        return
    keys, stored = documents.orphans(transaction, released)
    if not len(keys):
        return
    late_indexes.build(transaction, late_indexes.FIRST_INGEST)
    signatures = Signatures.read(b"".join(stored), params.permutations)
    buckets = band_keys(signatures, params.banding)
    documents.delete_contents(transaction, keys, buckets)
    if (begun := bands.coming(transaction)) is not None:
        documents.delete_buckets(transaction, keys, band_keys(signatures, begun.banding))
    # If a hub was deleted, another content takes its place and has to be compared with all others.
    oversized.relink(transaction, buckets)
