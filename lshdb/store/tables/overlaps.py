"""Queries for the texts of collections that are searched for shared runs of words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Exists, and_, bindparam, exists, func, select

from lshdb.store.given import given
from lshdb.store.schema import content, content_text, document
from lshdb.store.statements.collections import within
from lshdb.store.transaction import Transaction

__all__ = ["first_ids", "holders", "kept_texts", "num_contents"]

# Texts fetched at a time. They may have 10 MB each, before compression.
FETCHED_TEXTS = 500


def kept_texts(transaction: Transaction, collection_keys: Sequence[int]) -> Iterator[tuple[int, bytes]]:
    """Yield (content_key, zstd frame) of the contents of some collections whose text is kept, ascending."""
    statement = (
        select(content_text.c.content_key, content_text.c.text)
        .where(_is_held(content_text.c.content_key))
        .order_by(content_text.c.content_key)
    )
    for block in transaction.stream(statement, {"collections": list(collection_keys)}, rows=FETCHED_TEXTS):
        yield from ((key, frame) for key, frame in block)


def num_contents(transaction: Transaction, collection_keys: Sequence[int]) -> int:
    """Return the number of contents that some collections have."""
    statement = select(func.count()).select_from(content).where(_is_held(content.c.content_key))
    return int(transaction.execute(statement, {"collections": list(collection_keys)}).scalar_one())


def holders(
    transaction: Transaction, collection_keys: Sequence[int], content_keys: NDArray[np.int64]
) -> dict[int, int]:
    """Return the number of documents of each content in some collections."""
    mine = and_(document.c.content_key == given.c.value, within(document.c.collection_key))
    statement = select(given.c.value, func.count()).join_from(given, document, mine).group_by(given.c.value)
    return {
        key: number
        for part in transaction.parts(content_keys, collections=list(collection_keys))
        for key, number in transaction.execute(statement, part)
    }


def first_ids(transaction: Transaction, collection_keys: Sequence[int], content_key: int, count: int) -> list[str]:
    """Return the ids of the first `count` documents of a content in some collections."""
    statement = (
        select(document.c.doc_id)
        .where(document.c.content_key == bindparam("content_key"), within(document.c.collection_key))
        .order_by(document.c.doc_key)
        .limit(bindparam("count"))
    )
    parameters = {"collections": list(collection_keys), "content_key": content_key, "count": count}
    return list(transaction.execute(statement, parameters).scalars())


def _is_held(content_key: ColumnElement[int]) -> Exists:
    return exists().where(document.c.content_key == content_key, within(document.c.collection_key))
