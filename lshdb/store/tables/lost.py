"""Finds the sources of texts that the index does not keep, so that they can be read again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, and_, exists, func, or_, select

from lshdb.store.given import given
from lshdb.store.schema import content, content_text, document, new_digest, pair, source
from lshdb.store.statements.collections import within
from lshdb.store.transaction import Transaction

__all__ = ["LostSource", "LostText", "sources", "sources_of_old_digests", "sources_within"]


class LostText(Struct, frozen=True):
    """A content whose text is not kept, and its place in the source of its first document that has one."""

    content_key: int
    digest: bytes
    locator: str


class LostSource(Struct, frozen=True):
    """A source from which lost texts can be read again, and the options it was read with."""

    uri: str
    options: str
    texts: tuple[LostText, ...]


def sources(transaction: Transaction, content_keys: NDArray[np.int64] | None = None) -> Iterator[LostSource]:
    """Yield the sources of the contents whose text is not kept.

    Args: content_keys: int64, shape (n,), ascending; None for all contents that have a pair.
    """
    if content_keys is None:
        return _lost(transaction, _is_paired(), {})
    # In one statement, so that each source occurs once and is read once.
    is_given = content.c.content_key.in_(select(given.c.value))
    return _lost(transaction, is_given, {"given": content_keys.tolist()})


def sources_within(transaction: Transaction, collection_keys: Sequence[int]) -> Iterator[LostSource]:
    """Yield the sources of the contents of some collections whose text is not kept."""
    held = document.alias("held")
    is_held = exists().where(held.c.content_key == content.c.content_key, within(held.c.collection_key))
    return _lost(transaction, is_held, {"collections": list(collection_keys)})


def sources_of_old_digests(transaction: Transaction) -> Iterator[LostSource]:
    """Yield the sources of the contents whose text is not kept, and for which an upgrade has no new digest."""
    mine = new_digest.c.content_key == content.c.content_key
    return _lost(transaction, ~select(new_digest.c.content_key).where(mine).exists(), {})


def _is_paired() -> ColumnElement[bool]:
    return or_(
        select(pair.c.left_key).where(pair.c.left_key == content.c.content_key).exists(),
        select(pair.c.left_key).where(pair.c.right_key == content.c.content_key).exists(),
    )


def _lost(
    transaction: Transaction, is_wanted: ColumnElement[bool], parameters: Mapping[str, object]
) -> Iterator[LostSource]:
    mine = document.alias("mine")
    first = (
        select(func.min(mine.c.doc_key))
        .where(mine.c.content_key == content.c.content_key, mine.c.source_key.is_not(None))
        .scalar_subquery()
    )
    statement = (
        select(source.c.uri, source.c.options, content.c.content_key, content.c.digest, document.c.locator)
        .join_from(content, document, document.c.doc_key == first)
        .join(source, source.c.source_key == document.c.source_key)
        .outerjoin(content_text, content_text.c.content_key == content.c.content_key)
        .where(and_(content_text.c.content_key.is_(None), is_wanted))
        .order_by(source.c.source_key, document.c.doc_key)
    )
    rows = (row for block in transaction.stream(statement, parameters) for row in block)
    for (uri, options), group in groupby(rows, key=lambda row: (row[0], row[1])):
        yield LostSource(uri, options, tuple(LostText(*row[2:]) for row in group))
