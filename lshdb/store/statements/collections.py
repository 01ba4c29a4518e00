"""SQL expressions that translate between the names and the keys of collections.

They are scalar subqueries, not joins, so that no query planner starts with the collections.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, bindparam, select

from lshdb.store.schema import collection

__all__ = ["bound_key", "name_of", "within"]


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
