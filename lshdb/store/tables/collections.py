"""Collections: their keys, names and sizes, and the near-duplicates that a collection contains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, and_, bindparam, exists, func, insert, literal, select, true

from lshdb.errors import CollectionUnknown
from lshdb.model.values import BandKeys
from lshdb.store.given import given
from lshdb.store.schema import collection, document, pair
from lshdb.store.statements import statements
from lshdb.store.statements.collections import bound_key
from lshdb.store.statements.document_pairs import first_document
from lshdb.store.statements.statements import Rows
from lshdb.store.tables import oversized
from lshdb.store.tables.buckets import buckets_of
from lshdb.store.transaction import Transaction

__all__ = [
    "document_pages",
    "ensure",
    "key_of",
    "mates",
    "names",
    "oversized_contents",
    "oversized_mates",
    "require",
    "sizes",
]

_COLLECTION: Final = bound_key("collection")
_KEY: Final = select(collection.c.collection_key).where(collection.c.name == bindparam("name"))


def key_of(transaction: Transaction, name: str) -> int | None:
    """Return the key of a collection, or None if nothing was ever added to it."""
    return transaction.execute(_KEY, {"name": name}).scalar_one_or_none()


def ensure(transaction: Transaction, name: str) -> int:
    """Return the key of a collection. Creates the collection if it does not exist."""
    if (known := key_of(transaction, name)) is not None:
        return known
    (key,) = transaction.allocate(collection, 1).tolist()
    transaction.execute(insert(collection).values(collection_key=key, name=name))
    return int(key)


def names(transaction: Transaction) -> list[str]:
    """Return the names of the collections that have documents, sorted."""
    has_documents = exists().where(document.c.collection_key == collection.c.collection_key)
    statement = select(collection.c.name).where(has_documents).order_by(collection.c.name)
    return list(transaction.execute(statement).scalars())


def require(transaction: Transaction, url: str, *wanted: str) -> None:
    """Check that each collection has documents. Raises: CollectionUnknown: one has none in the index at `url`."""
    known = names(transaction)
    for name in wanted:
        if name not in known:
            raise CollectionUnknown(collection=name, url=url, known=", ".join(map(repr, known)) or "no documents")


def sizes(transaction: Transaction) -> dict[str, int]:
    """Return the number of documents of each collection."""
    if len(known := names(transaction)) == 1:
        # Without grouping, this reads a smaller index.
        return {known[0]: transaction.num_rows(document)}
    numbers = select(document.c.collection_key, func.count().label("number")).group_by(document.c.collection_key)
    counted = numbers.subquery("counted")
    same = collection.c.collection_key == counted.c.collection_key
    statement = select(collection.c.name, counted.c.number).join_from(counted, collection, same)
    statement = statement.order_by(collection.c.name)
    return {name: int(number) for name, number in transaction.execute(statement)}


def document_pages(transaction: Transaction, within: str, rows: int) -> Iterator[list[tuple[str, int | None]]]:
    """Yield (doc_id, content_key) of a collection's documents, ordered by id, `rows` at a time."""
    statement = (
        select(document.c.doc_id, document.c.content_key)
        .where(document.c.collection_key == _COLLECTION)
        .order_by(document.c.doc_id)
    )
    for block in transaction.stream(statement, {"collection": within}, rows=rows):
        yield [(doc_id, content_key) for doc_id, content_key in block]


def mates(
    transaction: Transaction, content_keys: NDArray[np.int64], within: str, min_sim: float
) -> Iterator[tuple[int, int, float, bool]]:
    """Yield (content_key, doc_key, similarity, exact) of the contents' near-duplicates, including themselves.

    Each near-duplicate is represented by its first document in the collection. It is left out if it has none there.
    """
    itself = select(given.c.value, first_document(given.c.value, _COLLECTION), literal(1.0), true())
    for statement in (itself, _paired(pair.c.left_key, pair.c.right_key), _paired(pair.c.right_key, pair.c.left_key)):
        for part in transaction.parts(content_keys, min_sim=min_sim, collection=within):
            for block in transaction.stream(statement, part):
                yield from ((key, doc, near, bool(exact)) for key, doc, near, exact in block if doc is not None)


def oversized_contents(
    transaction: Transaction, content_keys: NDArray[np.int64], band_keys: BandKeys
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the contents that have a bucket too hot to expand, and those buckets.

    Args: content_keys: int64, shape (n,). band_keys: shape (n, bands).
    Returns: the contents, int64, ascending; (band, bucket_hash), int64, shape (m, 2), without duplicates.
    """
    buckets = buckets_of(band_keys)
    hot = oversized.among(transaction, buckets)
    # Buckets are listed band by band, so every n-th one belongs to the same content.
    return np.unique(content_keys[hot % max(1, len(content_keys))]), np.unique(buckets[hot], axis=0)


def oversized_mates(transaction: Transaction, buckets: NDArray[np.int64], within: str) -> Iterator[NDArray[np.int64]]:
    """Yield the contents in these buckets that have a document in the collection, without duplicates.

    Blocks of (content_key, doc_key), int64, shape (n, 2). doc_key is the content's first document in the collection.

    Args: buckets: (band, bucket_hash), int64, shape (m, 2).
    """
    # One statement for all buckets, because a content may be in several of them.
    held = select(statements.bucket_members().subquery().c.content_key).distinct().subquery("held")
    statement = select(held.c.content_key, first_document(held.c.content_key, _COLLECTION))
    for block in transaction.stream(statement, {"given": buckets.tolist(), "collection": within}):
        rows = [(content_key, doc_key) for content_key, doc_key in block if doc_key is not None]
        yield np.asarray(rows, dtype=np.int64).reshape(-1, 2)


def _paired(mine: ColumnElement[int], theirs: ColumnElement[int]) -> Rows:
    return (
        select(given.c.value, first_document(theirs, _COLLECTION), pair.c.similarity, pair.c.exact)
        .join_from(given, pair, and_(mine == given.c.value, pair.c.similarity >= bindparam("min_sim")))
        # Ordered by position, both databases start with the given keys. Ordered by value, they might scan all pairs.
        .order_by(given.c.key)
    )
