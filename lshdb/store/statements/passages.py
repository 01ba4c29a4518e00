"""SQL of the passage index, one function for each query. Nothing here executes SQL."""

from __future__ import annotations

from functools import cache

from sqlalchemy import ColumnElement, bindparam, func, select

from lshdb.store.given import given
from lshdb.store.schema import document, fingerprint_block
from lshdb.store.statements.collections import bound_key
from lshdb.store.statements.statements import Rows

__all__ = ["block_page", "blocks", "documents_in_scope"]


@cache
def blocks() -> Rows:
    """Select all columns of the blocks of the given prefixes."""
    return select(*fingerprint_block.c).join_from(given, fingerprint_block, fingerprint_block.c.prefix == given.c.value)


@cache
def block_page() -> Rows:
    """Select all columns of the first ``:count`` blocks from the prefix ``:first`` on, in the order of the table."""
    from_first = fingerprint_block.c.prefix >= bindparam("first")
    ordered = select(*fingerprint_block.c).where(from_first).order_by(*fingerprint_block.primary_key.columns)
    return ordered.limit(bindparam("count"))


@cache
def documents_in_scope(*, is_within: bool = True, has_prefix: bool = True) -> Rows:
    """Select (content_key, number of documents), ordered by content_key.

    Args:
        is_within: count only documents of ``:collection``.
        has_prefix: count only documents whose ids begin with ``:prefix``.
    """
    conditions: list[ColumnElement[bool]] = [document.c.content_key.is_not(None)]
    if is_within:
        conditions.append(document.c.collection_key == bound_key("collection"))
    if has_prefix:
        prefix = bindparam("prefix", type_=document.c.doc_id.type)
        conditions.append(func.substr(document.c.doc_id, 1, func.length(prefix)) == prefix)
    counted = select(document.c.content_key, func.count().label("num_documents")).where(*conditions)
    return counted.group_by(document.c.content_key).order_by(document.c.content_key)
