"""SQL about captures: documents of one address at different dates, whose ids are a range."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from lshdb.store.schema import document
from lshdb.store.staging import staged_range
from lshdb.store.statements.statements import Rows

__all__ = ["last_in_ranges"]


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
