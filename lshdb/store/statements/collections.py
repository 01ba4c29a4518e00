"""SQL expressions that translate between the names and the keys of collections, and the contents of one.

Names and keys are scalar subqueries, not joins, so that no query planner starts with the collections.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, func, select

from lshdb.store.schema import collection, document

__all__ = ["bound_key", "contents_of", "name_of", "repeated_contents_of", "within"]


def name_of(collection_key: ColumnElement[Any], label: str = "collection") -> ColumnElement[str]:
    """Return an expression for the name of the collection with this key."""
    statement = select(collection.c.name).where(collection.c.collection_key == collection_key)
    return statement.scalar_subquery().label(label)


def bound_key(parameter: str) -> ColumnElement[int]:
    """Return an expression for the key of the collection that the parameter names; NULL if there is none."""
    mine = collection.c.name == bindparam(parameter, type_=collection.c.name.type)
    return select(collection.c.collection_key).where(mine).scalar_subquery()


def within(collection_key: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return the condition that a collection is one of those whose keys the parameter ``collections`` lists."""
    return collection_key.in_(bindparam("collections", expanding=True))


def contents_of(collection_key: ColumnElement[int] | None) -> Select[int]:
    """Select the contents that have documents; of a collection, if given. One pass over an index."""
    statement = select(document.c.content_key).where(document.c.content_key.is_not(None))
    mine = statement if collection_key is None else statement.where(document.c.collection_key == collection_key)
    return mine.group_by(document.c.content_key)


def repeated_contents_of(collection_key: ColumnElement[int] | None) -> Select[int]:
    """Select the contents that have two or more documents; of a collection, if given. One pass over an index."""
    return contents_of(collection_key).having(func.count() > 1)
