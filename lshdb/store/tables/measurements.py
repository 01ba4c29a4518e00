"""Stored measurements of recall on the index's own contents, and the queries that measuring needs."""

from __future__ import annotations

from dataclasses import asdict

import msgspec
import numpy as np
from numpy.typing import NDArray
from sqlalchemy import insert, select

from lshdb.model.reports import Measurement, Point
from lshdb.store.given import given
from lshdb.store.schema import content, measurement, pair
from lshdb.store.transaction import Transaction

__all__ = ["content_keys", "last", "pairs_of", "put"]


def put(transaction: Transaction, measured: Measurement) -> None:
    """Store a measurement."""
    values = asdict(measured)
    written = {name: _encoded(values.pop(name)) for name in ("neighbours", "points")}
    transaction.execute(insert(measurement).values(run_key=values.pop("run"), **values, **written))


def _encoded(value: object) -> str:
    return msgspec.json.encode(value, order="sorted").decode()


def last(transaction: Transaction) -> Measurement | None:
    """Return the newest measurement, or None."""
    statement = select(measurement).order_by(measurement.c.run_key.desc()).limit(1)
    row = transaction.execute(statement).one_or_none()
    if row is None:
        return None
    values = {column.key: row._mapping[column] for column in measurement.columns}
    return Measurement(
        run=values.pop("run_key"),
        neighbours=tuple(msgspec.json.decode(values.pop("neighbours"))),
        points=tuple(Point(**point) for point in msgspec.json.decode(values.pop("points"))),
        **values,
    )


def content_keys(transaction: Transaction) -> NDArray[np.int64]:
    """Return the keys of all contents, int64, ascending."""
    return np.sort(transaction.integers(select(content.c.content_key)), axis=None)


def pairs_of(
    transaction: Transaction, content_keys: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the stored pairs of contents: (content_key, other_key), int64, shape (m, 2), and their similarities.

    A pair of two of the given contents is returned twice, once in each order.
    """
    keys, similarities = [np.empty((0, 2), dtype=np.int64)], [np.empty(0)]
    for mine, other in ((pair.c.left_key, pair.c.right_key), (pair.c.right_key, pair.c.left_key)):
        joined = select(mine, other, pair.c.similarity).join_from(given, pair, mine == given.c.value)
        # Ordered by the given key, so that SQLite starts there instead of scanning the pairs.
        for block in transaction.keyed(joined.order_by(given.c.value), content_keys):
            keys.append(np.asarray([row[:2] for row in block], dtype=np.int64).reshape(-1, 2))
            similarities.append(np.asarray([row[2] for row in block]))
    return np.concatenate(keys), np.concatenate(similarities)
