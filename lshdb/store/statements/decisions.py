"""SQL for decisions, one function for each query. Nothing here executes SQL.

A decision names its documents by their collections and ids. Without such a document, the decision finds nothing.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from sqlalchemy import ColumnElement, CompoundSelect, FromClause, and_, bindparam, select, union_all

from lshdb.store.schema import content, decision, document
from lshdb.store.statements.collections import bound_key, name_of
from lshdb.store.statements.statements import Rows

__all__ = ["apart_from", "chosen_documents", "decisions", "different_contents"]

_Names = tuple[ColumnElement[Any], ColumnElement[Any]]
# The collection and the id of the first document of a decision, and of the other one.
_FIRST: Final[_Names] = (decision.c.collection_key, decision.c.doc_id)
_OTHER: Final[_Names] = (decision.c.other_collection_key, decision.c.other_id)


@cache
def decisions() -> Rows:
    """Select all columns of decisions, with the names of collections, and the documents and texts of today.

    The last four columns are (doc_key, digest) of the document and of the other one, NULL if there is none.
    """
    one, other, text, other_text = (
        document.alias("one"), document.alias("other"), content.alias("one_text"), content.alias("other_text"),
    )  # fmt: skip
    return (
        select(
            decision.c.decision_key,
            decision.c.kind,
            decision.c.doc_id,
            name_of(decision.c.collection_key),
            decision.c.other_id,
            name_of(decision.c.other_collection_key, "other_collection"),
            decision.c.who,
            decision.c.reason,
            decision.c.decided_at,
            decision.c.digest,
            decision.c.other_digest,
            one.c.doc_key.label("one_key"),
            text.c.digest.label("one_text"),
            other.c.doc_key.label("other_key"),
            other_text.c.digest.label("other_text"),
        )
        .outerjoin_from(decision, one, _is(_FIRST, one))
        .outerjoin(other, _is(_OTHER, other))
        .outerjoin(text, text.c.content_key == one.c.content_key)
        .outerjoin(other_text, other_text.c.content_key == other.c.content_key)
    )


@cache
def different_contents() -> Rows:
    """Select (left_key, right_key), in any order, of the contents that are decided to be different."""
    one, other = document.alias("one"), document.alias("other")
    return (
        select(one.c.content_key.label("left_key"), other.c.content_key.label("right_key"))
        .join_from(decision, one, _is(_FIRST, one))
        .join(other, _is(_OTHER, other))
        .where(one.c.content_key != other.c.content_key)
    )


@cache
def chosen_documents() -> Rows:
    """Select the doc_key of the documents to keep, those decided last at the end."""
    one = document.alias("one")
    return (
        select(one.c.doc_key)
        .join_from(decision, one, _is(_FIRST, one))
        .where(decision.c.kind == "keep")
        .order_by(decision.c.decided_at, decision.c.decision_key)
    )


@cache
def apart_from() -> CompoundSelect[*tuple[Any, ...]]:
    """Select (collection, doc_id) of the documents with a text that ``:doc_id`` of ``:collection`` is different from.

    The document itself need not be in the index.
    """
    return union_all(_apart(_FIRST, _OTHER), _apart(_OTHER, _FIRST))


def _apart(mine: _Names, theirs: _Names) -> Rows:
    named, same = document.alias("named"), document.alias("same")
    return (
        select(name_of(same.c.collection_key), same.c.doc_id)
        .join_from(decision, named, _is(theirs, named))
        .join(same, same.c.content_key == named.c.content_key)
        .where(mine[0] == bound_key("collection"), mine[1] == bindparam("doc_id"))
    )


def _is(names: _Names, one: FromClause) -> ColumnElement[bool]:
    return and_(one.c.collection_key == names[0], one.c.doc_id == names[1])
