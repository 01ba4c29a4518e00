"""SQL for clusters and exports, one function for each query. Nothing here executes SQL.

Statements with the parameter ``:within`` select documents of that collection, or of all collections if it is NULL.
"""

from __future__ import annotations

from functools import cache

from sqlalchemy import BigInteger, ColumnElement, and_, bindparam, cast, func, null, or_, select

from lshdb.model.choices import Keep
from lshdb.store.given import given, given_pair
from lshdb.store.schema import collection, content, document, pair, source
from lshdb.store.statements.collections import bound_key, contents_of, name_of, repeated_contents_of
from lshdb.store.statements.statements import Rows

__all__ = [
    "contents",
    "dates",
    "document_counts",
    "documents_of_run",
    "earlier_mates",
    "from_sources",
    "holding",
    "known_pairs",
    "later_mates",
    "merits",
    "names",
    "near_pairs",
    "repeated_contents",
    "scope",
]


def contents(*, chosen: bool = False) -> Rows:
    """Select the content_key of every content that has documents, ascending. Args: chosen: in the collection."""
    return contents_of(bound_key("within") if chosen else None).order_by(document.c.content_key)


def repeated_contents(*, chosen: bool = False) -> Rows:
    """Select the content_key of every content that has two or more documents, ascending. Args: chosen: as above."""
    return repeated_contents_of(bound_key("within") if chosen else None).order_by(document.c.content_key)


@cache
def near_pairs() -> Rows:
    """Select (left_key, right_key) of the pairs at ``:min_sim`` or more."""
    return select(pair.c.left_key, pair.c.right_key).where(pair.c.similarity >= bindparam("min_sim"))


def merits(keep: Keep) -> Rows:
    """Select (content_key, doc_key, doc_id, merit) of the given contents' documents, in the order of the contents.

    A greater merit is better. It is the number of shingles for `longest`, a time in microseconds for `newest`, and the
    negative length of the id for `shortest-id`. For `first` it is always NULL; for `newest` it is NULL without a date.
    """
    merit: dict[Keep, ColumnElement[int]] = {
        "first": cast(null(), BigInteger),
        "longest": content.c.num_shingles,
        # In microseconds, because the date of a record may be too far from 1970 for 64 bits of nanoseconds.
        "newest": func.coalesce(document.c.dated_at, source.c.mtime_ns // 1000),
        "shortest-id": -func.length(document.c.doc_id),
    }
    statement = select(
        document.c.content_key, document.c.doc_key, document.c.doc_id, merit[keep].label("merit")
    ).join_from(given, document, document.c.content_key == given.c.value)
    if keep == "longest":
        statement = statement.join(content, content.c.content_key == given.c.value)
    if keep == "newest":
        statement = statement.outerjoin(source, source.c.source_key == document.c.source_key)
    # Ordered by position. Ordered by value, a Postgres cursor would walk all documents in the order of their contents.
    return statement.where(_within()).order_by(given.c.key, document.c.doc_key)


@cache
def known_pairs() -> Rows:
    """Select (left_key, right_key, similarity, exact) of the given pairs that are stored, at any similarity."""
    same = and_(pair.c.left_key == given_pair.c.left_key, pair.c.right_key == given_pair.c.right_key)
    columns = (pair.c.left_key, pair.c.right_key, pair.c.similarity, pair.c.exact)
    return select(*columns).join_from(given_pair, pair, same)


@cache
def later_mates() -> Rows:
    """Select (content_key, mate_key): pairs of the given contents with later contents, at ``:min_sim`` or more."""
    return _mates(pair.c.left_key, pair.c.right_key)


@cache
def earlier_mates() -> Rows:
    """Select (content_key, mate_key): pairs of the given contents with earlier contents, at ``:min_sim`` or more."""
    return _mates(pair.c.right_key, pair.c.left_key)


@cache
def names() -> Rows:
    """Select (doc_key, collection, doc_id) of the given documents."""
    return (
        select(document.c.doc_key, name_of(document.c.collection_key), document.c.doc_id)
        .join_from(given, document, document.c.doc_key == given.c.value)
        .order_by(given.c.value)
    )


@cache
def dates() -> Rows:
    """Select (doc_key, dated_at) of the given documents that have a date."""
    return (
        select(document.c.doc_key, document.c.dated_at)
        .join_from(given, document, document.c.doc_key == given.c.value)
        .where(document.c.dated_at.is_not(None))
    )


def holding(text: str) -> Rows:
    """Select the doc_key of the documents whose ids contain a text."""
    return select(document.c.doc_key).where(document.c.doc_id.contains(text, autoescape=True))


def from_sources(text: str) -> Rows:
    """Select the doc_key of the documents from sources whose URIs contain a text."""
    mine = select(source.c.source_key).where(source.c.uri.contains(text, autoescape=True))
    return select(document.c.doc_key).where(document.c.source_key.in_(mine))


@cache
def scope() -> Rows:
    """Select (doc_key, collection, doc_id, content_key) of every document, in the order in which they were added."""
    columns = (document.c.doc_key, name_of(document.c.collection_key), document.c.doc_id, document.c.content_key)
    return select(*columns).where(_within()).order_by(document.c.doc_key)


@cache
def documents_of_run() -> Rows:
    """Select the doc_key of documents that ``:run`` added, or that have a text with which it found a new pair."""
    paired = select(pair.c.right_key).where(pair.c.run_key == bindparam("run"))
    mine = or_(document.c.first_seen_run == bindparam("run"), document.c.content_key.in_(paired))
    return select(document.c.doc_key).where(mine)


@cache
def document_counts() -> Rows:
    """Select the number of documents and the number of those that are not empty."""
    return select(func.count().label("num_documents"), func.count(document.c.content_key).label("num_full")).where(
        _within()
    )


def _mates(mine: ColumnElement[int], mate: ColumnElement[int]) -> Rows:
    return (
        select(mine.label("content_key"), mate.label("mate_key"))
        .join_from(given, pair, mine == given.c.value)
        .where(pair.c.similarity >= bindparam("min_sim"))
        # Ordered by position, both databases start with the given keys. Ordered by value, they might scan all pairs.
        .order_by(given.c.key)
    )


def _within() -> ColumnElement[bool]:
    # Postgres needs a type to compare the parameter with NULL.
    within = bindparam("within", type_=collection.c.name.type)
    return or_(within.is_(None), document.c.collection_key == bound_key("within"))
