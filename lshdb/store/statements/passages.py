"""SQL of the passage index, one function for each query. Nothing here executes SQL."""

from __future__ import annotations

from functools import cache

from sqlalchemy import bindparam, select

from lshdb.store.given import given
from lshdb.store.schema import fingerprint_block
from lshdb.store.statements.statements import Rows

__all__ = ["block_page", "blocks"]


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
