"""Writes new bands to `band_bucket` next to the current ones, and replaces these in one transaction.

The band numbers of one set start at 0; those of the other end at -1. Both sets fit in one table, so nothing is copied
when the new bands take over, and a reader sees either set but never a mixture.
"""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from sqlalchemy import and_, delete, func, insert, select, update

from lshdb.model.banding import Banding
from lshdb.model.values import BandKeys
from lshdb.store.schema import (
    DIGEST_BAND,
    band_bucket,
    content,
    index_params,
    oversized_bucket,
    pair,
    rebanding,
    unlinked,
)
from lshdb.store.statements.generations import in_use
from lshdb.store.tables import filters, generations
from lshdb.store.tables.buckets import bucket_rows, put_rows
from lshdb.store.tables.graph import StoredSignatures, stored_signatures
from lshdb.store.transaction import Transaction

__all__ = ["Coming", "begin", "coming", "delete_other", "give_up", "last_content", "next_contents"]
__all__ += ["promise", "put", "take_over"]


class Coming(Struct, frozen=True):
    """Bands that are being written, and the last content_key whose rows exist."""

    banding: Banding
    position: int


def coming(transaction: Transaction) -> Coming | None:
    """Return the bands that are being written, or None."""
    columns = (rebanding.c[name] for name in ("bands", "rows", "first_band", "position"))
    row = transaction.execute(select(*columns)).one_or_none()
    return None if row is None else Coming(Banding(*row[:3]), row.position)


def begin(transaction: Transaction, banding: Banding) -> None:
    """Record that these bands are being written. None of their rows may exist yet."""
    transaction.execute(insert(rebanding).values(rebanding_key=1, position=0, **asdict(banding)))


def give_up(transaction: Transaction) -> None:
    """Forget the bands that were being written. `delete_other` deletes their rows."""
    transaction.execute(delete(rebanding))


def next_contents(transaction: Transaction, position: int, count: int) -> StoredSignatures:
    """Return the first `count` contents with keys greater than `position`."""
    columns = (content.c.content_key, content.c.num_shingles, content.c.signature)
    statement = select(*columns).where(content.c.content_key > position).order_by(content.c.content_key).limit(count)
    return stored_signatures(transaction.execute(statement).all())


def last_content(transaction: Transaction) -> int | None:
    """Return the greatest content_key, or None if there are no contents."""
    greatest: int | None = transaction.execute(select(func.max(content.c.content_key))).scalar_one()
    return greatest


def put(transaction: Transaction, content_keys: NDArray[np.int64], band_keys: BandKeys) -> None:
    """Write the rows of the next contents. Args: content_keys: int64, ascending, not empty."""
    put_rows(transaction, bucket_rows(content_keys, band_keys))
    transaction.execute(update(rebanding).values(position=int(content_keys[-1])))


def take_over(transaction: Transaction, banding: Banding) -> None:
    """Make the new bands the current ones. All pairs are deleted, and all contents are marked to be linked again."""
    transaction.execute(update(index_params).values(asdict(banding)))
    generations.forget_loads(transaction)
    for table in (rebanding, pair, oversized_bucket, unlinked):
        transaction.execute(delete(table))
    transaction.execute(insert(unlinked).from_select(["content_key"], select(content.c.content_key)))


def promise(transaction: Transaction, min_sim: float, recall: float, floor: float) -> None:
    """Store the recall that the bands promise, the similarity it holds for, and the floor of the pairs."""
    transaction.execute(update(index_params).values(min_sim=min_sim, recall=recall, floor=floor))


def delete_other(transaction: Transaction, banding: Banding) -> bool:
    """Delete a band that does not belong to this banding. Returns: whether there was one."""
    for number in generations.numbers(transaction):
        mine = and_(band_bucket.c.generation == number, band_bucket.c.band < DIGEST_BAND)
        for order in (band_bucket.c.band.asc(), band_bucket.c.band.desc()):
            first = select(band_bucket.c.band).where(mine).order_by(order).limit(1)
            outermost = transaction.execute(first).scalar_one_or_none()
            if outermost is not None and outermost not in banding.numbers:
                transaction.execute(delete(band_bucket).where(in_use(), band_bucket.c.band == outermost))
                filters.delete_band(transaction, outermost)
                return True
    return False
