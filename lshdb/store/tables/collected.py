"""Collections: which there are, and the documents of one that are like those of another.

Limitation: the first document of a content in a collection is looked for among all its documents, one by one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, and_, bindparam, func, literal, select, true

from lshdb.errors import CollectionUnknown
from lshdb.model.values import BandKeys
from lshdb.store.schema import band_bucket, document, pair, skipped_bucket
from lshdb.store.staging import staged_bucket, staged_key
from lshdb.store.statements.document_pairs import first_document
from lshdb.store.statements.statements import Rows
from lshdb.store.tables.buckets import bucket_rows
from lshdb.store.transaction import Transaction

__all__ = [
    "document_pages",
    "has_hot_buckets",
    "hot_contents",
    "hot_mates",
    "mates",
    "named",
    "names",
    "require",
    "sizes",
]

_COLLECTION: ColumnElement[str] = bindparam("collection", type_=document.c.collection.type)


def names(transaction: Transaction) -> list[str]:
    """The collections that have documents, in the order of their names."""
    # From name to next name: the index has them by the million, and a DISTINCT would read them all.
    first = select(func.min(document.c.collection).label("name")).cte("names", recursive=True)
    following = select(func.min(document.c.collection)).where(document.c.collection > first.c.name).scalar_subquery()
    found = first.union_all(select(following).where(first.c.name.is_not(None)))
    return list(transaction.execute(select(found.c.name).where(found.c.name.is_not(None))).scalars())


def require(transaction: Transaction, url: str, *wanted: str) -> None:
    """Raises: CollectionUnknown: one of the collections has no document in the index at `url`."""
    known = names(transaction)
    for name in wanted:
        if name not in known:
            raise CollectionUnknown(collection=name, url=url, known=", ".join(map(repr, known)) or "no documents")


def sizes(transaction: Transaction) -> dict[str, int]:
    """The number of documents of each collection."""
    statement = select(document.c.collection, func.count()).group_by(document.c.collection)
    return {name: int(number) for name, number in transaction.execute(statement.order_by(document.c.collection))}


def document_pages(transaction: Transaction, collection: str, rows: int) -> Iterator[list[tuple[str, int | None]]]:
    """(doc_id, content_key) of a collection's documents, in the order of their ids, `rows` at a time."""
    statement = (
        select(document.c.doc_id, document.c.content_key)
        .where(document.c.collection == collection)
        .order_by(document.c.doc_id)
    )
    for block in transaction.stream(statement, rows=rows):
        yield [(doc_id, content_key) for doc_id, content_key in block]


def mates(
    transaction: Transaction, content_keys: NDArray[np.int64], collection: str, min_sim: float
) -> Iterator[tuple[int, int, float, bool]]:
    """(content_key, doc_key, similarity, exact) of the contents' near-duplicates, themselves among them.

    The document is the first one of the near-duplicate in the collection; those that have none there are left out.
    """
    transaction.stage(staged_key, {"staged_key": content_keys})
    key = staged_key.c.staged_key
    itself = select(key, first_document(key, _COLLECTION), literal(1.0), true())
    for statement in (itself, _paired(pair.c.left_key, pair.c.right_key), _paired(pair.c.right_key, pair.c.left_key)):
        for block in transaction.stream(statement, {"min_sim": min_sim, "collection": collection}):
            yield from ((key, doc, near, bool(exact)) for key, doc, near, exact in block if doc is not None)


def has_hot_buckets(transaction: Transaction) -> bool:
    """Whether any bucket was too hot to expand."""
    return transaction.execute(select(skipped_bucket.c.band).limit(1)).first() is not None


def hot_contents(transaction: Transaction, content_keys: NDArray[np.int64], band_keys: BandKeys) -> NDArray[np.int64]:
    """Those of the contents that have a bucket too hot to expand, int64, ascending; their buckets stay staged."""
    transaction.stage(staged_bucket, bucket_rows(content_keys, band_keys))
    mine = select(staged_bucket.c.content_key).join_from(staged_bucket, skipped_bucket, _is_skipped())
    return np.sort(np.asarray(transaction.execute(mine.distinct()).scalars().all(), dtype=np.int64))


def hot_mates(transaction: Transaction, collection: str) -> Iterator[NDArray[np.int64]]:
    """Blocks of (content_key, doc_key), int64, shape (n, 2): what the hot ones of the staged buckets hold.

    Only contents with a document in the collection, each once, with the first of those documents.
    """
    hot = (
        select(staged_bucket.c.band, staged_bucket.c.bucket_hash)
        .join_from(staged_bucket, skipped_bucket, _is_skipped())
        .distinct()
        .subquery("hot")
    )
    same = and_(band_bucket.c.band == hot.c.band, band_bucket.c.bucket_hash == hot.c.bucket_hash)
    held = select(band_bucket.c.content_key).join_from(hot, band_bucket, same).distinct().subquery("held")
    statement = select(held.c.content_key, first_document(held.c.content_key, _COLLECTION))
    for block in transaction.stream(statement, {"collection": collection}):
        rows = [(content_key, doc_key) for content_key, doc_key in block if doc_key is not None]
        yield np.asarray(rows, dtype=np.int64).reshape(-1, 2)


def named(transaction: Transaction, doc_keys: NDArray[np.int64]) -> dict[int, str]:
    """The ids of documents by their keys."""
    transaction.stage(staged_key, {"staged_key": doc_keys})
    statement = select(document.c.doc_key, document.c.doc_id).join_from(
        staged_key, document, document.c.doc_key == staged_key.c.staged_key
    )
    statement = statement.order_by(staged_key.c.staged_key)  # SQLite then begins there.
    return {row.doc_key: row.doc_id for row in transaction.execute(statement)}


def _paired(mine: ColumnElement[int], theirs: ColumnElement[int]) -> Rows:
    key = staged_key.c.staged_key
    return (
        select(key, first_document(theirs, _COLLECTION), pair.c.similarity, pair.c.exact)
        .join_from(staged_key, pair, and_(mine == key, pair.c.similarity >= bindparam("min_sim")))
        # By the staged key: SQLite then begins there, and not with a scan of the pairs.
        .order_by(key)
    )


def _is_skipped() -> ColumnElement[bool]:
    return and_(
        skipped_bucket.c.band == staged_bucket.c.band, skipped_bucket.c.bucket_hash == staged_bucket.c.bucket_hash
    )
