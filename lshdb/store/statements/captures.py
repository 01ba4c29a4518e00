"""SQL about captures: documents of one address at different dates, whose ids are a range."""

from __future__ import annotations

from functools import cache

from sqlalchemy import bindparam, select

from lshdb.store.schema import document, source
from lshdb.store.staging import staged_range
from lshdb.store.statements.collections import bound_key
from lshdb.store.statements.statements import Rows

__all__ = ["dated", "dated_in_range", "last_in_ranges"]


@cache
def last_in_ranges() -> Rows:
    """Select (ordinal, doc_id, content_key, dated_at) of the last document in each staged range of ids.

    ``:collection_key`` is the collection. Ranges without a document have no row.
    """
    within = document.alias("within")
    last = (
        select(within.c.doc_key)
        .where(within.c.collection_key == bindparam("collection_key"))
        .where(within.c.doc_id >= staged_range.c.first_id, within.c.doc_id < staged_range.c.end_id)
        .order_by(within.c.doc_id.desc())
        .limit(1)
        .correlate(staged_range)
        .scalar_subquery()
    )
    columns = (document.c.doc_id, document.c.content_key, document.c.dated_at)
    return select(staged_range.c.ordinal, *columns).join_from(staged_range, document, document.c.doc_key == last)


@cache
def dated() -> Rows:
    """Select (doc_id, content_key, dated_at, uri, locator) of the documents of ``:collection`` with a date, by id."""
    uri = select(source.c.uri).where(source.c.source_key == document.c.source_key).scalar_subquery()
    columns = (document.c.doc_id, document.c.content_key, document.c.dated_at, uri.label("uri"), document.c.locator)
    mine = (document.c.collection_key == bound_key("collection"), document.c.dated_at.is_not(None))
    return select(*columns).where(*mine).order_by(document.c.doc_id)


@cache
def dated_in_range() -> Rows:
    """Select the same, with the ids from ``:first_id`` to before ``:end_id`` only."""
    first, end = (bindparam(name, type_=document.c.doc_id.type) for name in ("first_id", "end_id"))
    return dated().where(document.c.doc_id >= first, document.c.doc_id < end)
