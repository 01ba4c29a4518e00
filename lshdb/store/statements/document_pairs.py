"""SQL for pairs of documents: of all documents, within one collection, and between two collections.

A content is represented by its first document, or by its first document in the chosen collection. Every statement
reads the pairs by key, or the documents by content, so the database has to sort them only if another order is wanted.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from sqlalchemy import ColumnElement, FromClause, ScalarSelect, and_, bindparam, func, literal, select, true

from lshdb.model.choices import PairOrder
from lshdb.store.given import given_pair
from lshdb.store.schema import document, pair
from lshdb.store.statements.collections import bound_key, name_of, repeated_contents_of
from lshdb.store.statements.statements import Rows

__all__ = [
    "at_most",
    "expanded_pairs",
    "first_document",
    "first_documents_pairs",
    "given_documents_pairs",
    "identical_documents",
    "repeated_documents",
    "shared_contents",
    "shared_documents",
    "sorted_by",
]

# The collections that the left and the right document are chosen from.
LEFT: Final = bound_key("left_collection")
RIGHT: Final = bound_key("right_collection")


def first_documents_pairs(*, chosen: bool = False) -> Rows:
    """Select the pairs at ``:min_sim`` or more, with the first document of each content.

    Args: chosen: take the earlier content's document from ``:left_collection``, the later one's from
        ``:right_collection``.
    """
    left, right = _aliases()
    return _at_least(_of_first_documents(_named(left, right), pair, left, right, chosen=chosen))


def expanded_pairs(*, chosen: bool = False) -> Rows:
    """Select every pair of documents of each pair at ``:min_sim`` or more. Args: chosen: as above."""
    left, right = _aliases()
    statement = _at_least(_of_all_documents(_named(left, right), pair, left, right, chosen=chosen))
    return statement.order_by(left.c.doc_key, right.c.doc_key)


def given_documents_pairs(*, expand: bool = False, chosen: bool = False) -> Rows:
    """Select the documents of the pairs of contents in ``:given``: (left, right, position, collections), in that order.

    Args: expand: every pair of documents, instead of the first documents of the contents. chosen: as above.
    """
    left, right = _aliases()
    documents_of = _of_all_documents if expand else _of_first_documents
    statement = documents_of(_named(left, right, given_pair.c.key), given_pair, left, right, chosen=chosen)
    return statement.order_by(given_pair.c.key, left.c.doc_key, right.c.doc_key)


def repeated_documents(*, chosen: bool = False) -> Rows:
    """Select the first document of each content together with each of its others; of one collection if `chosen`."""
    first, other = _aliases()
    statement = (
        _identical(first, other)
        .join_from(other, first, first.c.doc_key == first_document(other.c.content_key, LEFT if chosen else None))
        .where(
            other.c.content_key.in_(repeated_contents_of(RIGHT if chosen else None)), other.c.doc_key != first.c.doc_key
        )
        .order_by(other.c.content_key, other.c.doc_key)
    )
    return statement.where(_is_of(other, RIGHT)) if chosen else statement


def identical_documents(*, chosen: bool = False) -> Rows:
    """Select every pair of documents with the same content; of one collection if `chosen`."""
    left, right = _aliases()
    statement = (
        _identical(left, right)
        .join_from(left, right, and_(left.c.content_key == right.c.content_key, left.c.doc_key < right.c.doc_key))
        .where(left.c.content_key.in_(repeated_contents_of(RIGHT if chosen else None)))
        .order_by(left.c.content_key, left.c.doc_key, right.c.doc_key)
    )
    return _of_chosen(statement, left, right) if chosen else statement


@cache
def shared_contents() -> Rows:
    """Select the first document in each of the two chosen collections, for every content that both contain."""
    left, right = _aliases()
    return (
        _identical(left, right)
        .join_from(right, left, left.c.doc_key == first_document(right.c.content_key, LEFT))
        .where(right.c.doc_key == first_document(right.c.content_key, RIGHT))
        .order_by(right.c.content_key, right.c.doc_key)
    )


@cache
def shared_documents() -> Rows:
    """Select every pair of documents with the same content, one from each of the two chosen collections."""
    left, right = _aliases()
    statement = _identical(left, right).join_from(left, right, left.c.content_key == right.c.content_key)
    return _of_chosen(statement, left, right).order_by(left.c.content_key, left.c.doc_key, right.c.doc_key)


def at_most(statement: Rows) -> Rows:
    """Restrict a statement about pairs of contents to those at ``:max_sim`` or less."""
    return statement.where(pair.c.similarity <= bindparam("max_sim"))


def sorted_by(statement: Rows, order: PairOrder, *, turned: bool = False) -> Rows:
    """Sort the pairs of a statement. Only this makes the database sort them.

    Args: turned: left and right will change sides.
    """
    columns = statement.selected_columns
    sides = ("right", "left") if turned else ("left", "right")
    names = [columns[side] for side in sides] + [columns[f"{side}_collection"] for side in sides]
    nearest = [columns["similarity"].desc()] if order == "similarity" else []
    return statement.order_by(None).order_by(*nearest, *names)


def first_document(content_key: Any, collection_key: ColumnElement[int] | None = None) -> ScalarSelect[int]:
    """Return an expression for the key of a content's first document, in a collection if given; NULL if it has none."""
    first = document.alias("first")
    statement = select(func.min(first.c.doc_key)).where(first.c.content_key == content_key)
    mine = statement if collection_key is None else statement.where(first.c.collection_key == collection_key)
    return mine.scalar_subquery()


def _of_first_documents(
    columns: Rows, contents: FromClause, left: FromClause, right: FromClause, *, chosen: bool
) -> Rows:
    """Join pairs of contents, (left_key, right_key), with the first documents of both."""
    return columns.join_from(
        contents, left, left.c.doc_key == first_document(contents.c.left_key, LEFT if chosen else None)
    ).join(right, right.c.doc_key == first_document(contents.c.right_key, RIGHT if chosen else None))


def _of_all_documents(
    columns: Rows, contents: FromClause, left: FromClause, right: FromClause, *, chosen: bool
) -> Rows:
    """Join pairs of contents, (left_key, right_key), with all documents of both."""
    joined = columns.join_from(contents, left, left.c.content_key == contents.c.left_key).join(
        right, right.c.content_key == contents.c.right_key
    )
    # Expressions, not columns: otherwise SQLite would start with the collections and try every pair of documents.
    mine = (left.c.collection_key + 0 == LEFT, right.c.collection_key + 0 == RIGHT)
    return joined.where(*mine) if chosen else joined


def _aliases() -> tuple[FromClause, FromClause]:
    return document.alias("left_document"), document.alias("right_document")


def _named(left: FromClause, right: FromClause, *others: ColumnElement[Any]) -> Rows:
    """Select (left, right, similarity, exact, left_collection, right_collection), or `others` for the similarity."""
    return select(
        left.c.doc_id.label("left"),
        right.c.doc_id.label("right"),
        *(others or (pair.c.similarity, pair.c.exact)),
        name_of(left.c.collection_key, "left_collection"),
        name_of(right.c.collection_key, "right_collection"),
    )


def _identical(left: FromClause, right: FromClause) -> Rows:
    return _named(left, right, literal(1.0).label("similarity"), true().label("exact"))


def _of_chosen(statement: Rows, left: FromClause, right: FromClause) -> Rows:
    return statement.where(_is_of(left, LEFT), _is_of(right, RIGHT))


def _is_of(one: FromClause, collection_key: ColumnElement[int]) -> ColumnElement[bool]:
    return one.c.collection_key == collection_key


def _at_least(statement: Rows) -> Rows:
    return statement.where(pair.c.similarity >= bindparam("min_sim")).order_by(pair.c.left_key, pair.c.right_key)
