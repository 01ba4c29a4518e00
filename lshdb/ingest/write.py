"""Writes to the index what is at hand, one transaction a call."""

from __future__ import annotations

from collections.abc import Sequence

from lshdb.errors import DocumentUnknown
from lshdb.ingest.removal import remove, retire
from lshdb.model.values import Counts, Document
from lshdb.sketch.sketch import sketch
from lshdb.store.store import Store
from lshdb.store.tables import answers, documents, runs
from lshdb.store.transaction import Transaction

__all__ = ["add_documents", "remove_documents"]


def add_documents(store: Store, added: Sequence[Document], run_key: int, collection: str) -> Counts:
    """Adds or refreshes documents that come from no file. Returns: what was done.

    Raises: BadDocument: a document does not suit the index, and none of them is stored; StoreError.
    """
    sketches, place = sketch(added, store.params), documents.Place(run_key, collection, {})

    def write(transaction: Transaction) -> Counts:
        outcome = documents.put(transaction, added, sketches, place)
        retire(transaction, outcome.released, store.params)
        runs.record(transaction, run_key, outcome.counts)
        return outcome.counts

    return store.write(write, run_key)


def remove_documents(store: Store, doc_ids: Sequence[str], run_key: int, collection: str) -> int:
    """Removes documents by their ids. Returns: how many.

    Raises: DocumentUnknown: one of them is not there, and none of them is removed; StoreError.
    """

    def write(transaction: Transaction) -> int:
        doc_keys: list[int] = []
        for doc_id in doc_ids:
            found = answers.doc_keys(transaction, collection, doc_id)
            if not found:
                raise DocumentUnknown(doc_id=doc_id, collection=collection, url=store.url)
            doc_keys += found
        runs.record(transaction, run_key, remove(transaction, doc_keys, store.params))
        return len(doc_keys)

    return store.write(write, run_key)
