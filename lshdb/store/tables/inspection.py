"""Queries for `explain` and ``stats --hot``: two contents and their buckets, and the largest buckets."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest
from itertools import chain

from msgspec import Struct
from sqlalchemy import ColumnElement, Integer, cast, exists, func, select

from lshdb.model.reports import StoredPair
from lshdb.store.given import given
from lshdb.store.schema import document, oversized_bucket, pair, source, unlinked
from lshdb.store.statements import statements
from lshdb.store.statements.collections import bound_key
from lshdb.store.transaction import Transaction

__all__ = [
    "Origin",
    "OversizedBucket",
    "first_document",
    "hottest",
    "num_documents",
    "num_pairs_by_similarity",
    "origin",
    "stored_pair",
    "unlinked_among",
]


class Origin(Struct, frozen=True):
    """Where a document came from. `source` is None if a program added it; `content_key` is None if it is empty."""

    content_key: int | None
    source: str | None
    locator: str
    dated_at: int | None


class OversizedBucket(Struct, frozen=True):
    """A bucket and the number of contents in it; `num_skipped` of its pairs were not expanded."""

    num_contents: int
    num_skipped: int
    band: int
    bucket_hash: int


def stored_pair(transaction: Transaction, one: int, other: int) -> StoredPair | None:
    """Return the stored pair of two contents, given in either order, or None if there is none."""
    mine = (pair.c.left_key == min(one, other), pair.c.right_key == max(one, other))
    row = transaction.execute(select(pair.c.similarity, pair.c.exact, pair.c.run_key).where(*mine)).one_or_none()
    return None if row is None else StoredPair(row.similarity, bool(row.exact), row.run_key)


def num_pairs_by_similarity(transaction: Transaction, within: str | None = None) -> dict[int, int]:
    """Return the number of stored pairs for each thousandth of similarity that has some.

    Args: within: only pairs of contents that both have a document in this collection.
    """
    # Postgres rounds, and SQLite cuts off.
    thousandth = cast(pair.c.similarity * 1_000, Integer)
    statement = select(thousandth, func.count()).group_by(thousandth)
    if within is None:
        rows = transaction.execute(statement)
    else:
        mine = [_is_in("within", key) for key in (pair.c.left_key, pair.c.right_key)]
        rows = transaction.execute(statement.where(*mine), {"within": within})
    return {int(step): int(number) for step, number in rows}


def first_document(transaction: Transaction, content_key: int) -> str | None:
    """Return the doc_id of the first document of a content, or None if it has no documents."""
    mine = select(document.c.doc_id).where(document.c.content_key == content_key)
    return transaction.execute(mine.order_by(document.c.doc_key).limit(1)).scalar_one_or_none()


def unlinked_among(transaction: Transaction, content_keys: Sequence[int]) -> list[int]:
    """Return the given contents whose pairs have not been computed yet."""
    mine = select(unlinked.c.content_key).join_from(given, unlinked, unlinked.c.content_key == given.c.value)
    return list(transaction.execute(mine, {"given": list(content_keys)}).scalars())


def _is_in(collection: str, content_key: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that a content has a document in the collection that the parameter names."""
    here = (document.c.collection_key == bound_key(collection), document.c.content_key == content_key)
    return exists().where(*here)


def num_documents(transaction: Transaction) -> int:
    """Return the number of documents of all collections."""
    return transaction.num_rows(document)


def origin(transaction: Transaction, doc_key: int) -> Origin:
    """Return where a document came from."""
    columns = (document.c.content_key, source.c.uri, document.c.locator, document.c.dated_at)
    came_from = document.outerjoin(source, source.c.source_key == document.c.source_key)
    statement = select(*columns).select_from(came_from).where(document.c.doc_key == doc_key)
    return Origin(*transaction.execute(statement).one())


def hottest(transaction: Transaction, bands: range, count: int) -> list[OversizedBucket]:
    """Return the `count` largest of the buckets that were too hot to expand, or of all buckets if there are none.

    Args: bands: the numbers of the bands in `band_bucket`.
    """
    found = [OversizedBucket(*row) for row in transaction.execute(_largest_oversized(count))]
    if found:
        return found
    each = (_largest(transaction, band, count) for band in bands)
    return nlargest(count, chain.from_iterable(each), key=lambda bucket: bucket.num_contents)


def _largest(transaction: Transaction, band: int, count: int) -> list[OversizedBucket]:
    parameters = {"band": band, "count": count}
    return [OversizedBucket(*row) for row in transaction.execute(statements.largest_buckets(), parameters)]


def _largest_oversized(count: int) -> statements.Rows:
    table = oversized_bucket.c
    columns = (table.num_contents, table.num_pairs, table.band, table.bucket_hash)
    return select(*columns).order_by(table.num_contents.desc(), table.band, table.bucket_hash).limit(count)
