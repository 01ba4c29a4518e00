"""Holds the digests that an upgrade computes, and replaces the old ones once every content has a new one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from sqlalchemy import delete, select, update

from lshdb.model.choices import TableVersion
from lshdb.store.schema import content, decision, index_params, new_digest
from lshdb.store.tables import graph, identities
from lshdb.store.transaction import Transaction

__all__ = ["num_left", "put", "replace", "without"]

_IS_LEFT = ~select(new_digest.c.content_key).where(new_digest.c.content_key == content.c.content_key).exists()


def without(transaction: Transaction, position: int, count: int) -> dict[int, bytes]:
    """Return the old digests of the first `count` contents after `position` without a new one, by content key."""
    columns = (content.c.content_key, content.c.digest)
    later = select(*columns).where(content.c.content_key > position, _IS_LEFT).order_by(content.c.content_key)
    return dict(tuple(row) for row in transaction.execute(later.limit(count)))


def num_left(transaction: Transaction) -> int:
    """Return the number of contents without a new digest."""
    return transaction.num_rows(content, _IS_LEFT)


def put(transaction: Transaction, digests: Mapping[int, bytes]) -> None:
    """Store new digests by content key. Contents that have one, or that were deleted since, are left out."""
    keys = graph.existing(transaction, np.asarray(sorted(digests), dtype=np.int64)).tolist()
    transaction.insert_absent(new_digest, {"content_key": keys, "digest": [digests[key] for key in keys]})


def replace(transaction: Transaction, version: TableVersion) -> None:
    """Give all contents their new digests, and the index the version that they are of."""
    mine = content.c.content_key == new_digest.c.content_key
    for digest in (decision.c.digest, decision.c.other_digest):
        olds = list(transaction.execute(select(digest).where(digest.is_not(None)).distinct()).scalars())
        for old, key in zip(olds, identities.known(transaction, identities.as_digests(olds)).tolist(), strict=True):
            if key:
                new = select(new_digest.c.digest).where(new_digest.c.content_key == key).scalar_subquery()
                transaction.execute(update(decision).where(digest == old).values({digest: new}))
    transaction.execute(update(content).values(digest=new_digest.c.digest).where(mine))
    identities.rewrite(transaction)
    transaction.execute(update(index_params).values(table_version=version))
    transaction.execute(delete(new_digest))
