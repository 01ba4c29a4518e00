"""What is done to an index as a whole: a backup of it, a copy elsewhere, and giving up space that nothing takes.

Upgrades an index in one transaction, or only rehearses it; `lshdb.store.upgrade` knows what there is to do.

Copies an index, row by row, to an empty place in SQLite or Postgres, and reads it back before it can be found there.

Keys and counters stay what they are, so that the copy goes on where the original was. When a table is copied, both
sides stream in the order of its key and are compared row by row. A block of rows is in memory at a time.

Limitation: the rows of the original are read twice, to be copied and to be compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Row, Table, func, select
from sqlalchemy.types import BigInteger, Integer, SmallInteger

from lshdb.errors import CopyDiffers, IndexExists
from lshdb.model.progress import Progress
from lshdb.model.upkeep import BackupReport, CopiedTable, CopyReport, Upgrade, VacuumReport
from lshdb.store import upgrade
from lshdb.store.dialect import Columns
from lshdb.store.files import require_free
from lshdb.store.schema import content, content_text, metadata
from lshdb.store.store import Store
from lshdb.store.transaction import Transaction
from lshdb.store.url import masked, parse

__all__ = [
    "back_up",
    "copy",
    "copy_to",
    "perform",
    "rehearse",
    "vacuum",
]


def back_up(store: Store, path: Path, progress: Progress, *, force: bool) -> BackupReport:
    """Copies the file of an index, of whatever revision, while others go on using it.

    Raises: IndexMissing; OutputExists, OutputFailed; IndexDamaged; UsageError: the index is in Postgres.
    """
    started = time.monotonic()
    with store.whole() as engine:
        require_free(path, force=force, taken=frozenset(file.resolve() for file in store.files))
        revision = store.dialect.back_up(engine, path, partial(progress.advanced, "copy"))
    progress.done()
    return BackupReport(str(path), revision, path.stat().st_size, time.monotonic() - started)


def copy_to(store: Store, destination: str, progress: Progress) -> CopyReport:
    """Copies an open index to a place where there is none, in either database.

    Raises: IndexExists, NotAnIndex: something is there; CopyDiffers; OutputFailed; StoreError.
    """
    started = time.monotonic()
    tables = copy(store, destination, partial(progress.advanced, "copy"))
    progress.done()
    return CopyReport(store.url, masked(parse(destination)), tuple(tables), time.monotonic() - started)


def vacuum(store: Store, *, full: bool) -> VacuumReport:
    """Gives up the space that nothing takes any more.

    Args: full: on Postgres, give it back to the system too, while nobody can use the index.
    Raises: IndexBusy: an ingest runs; IndexReadOnly, AccessDenied.
    """
    started = time.monotonic()
    with store.sole_ingest(wait=False):
        before = _size(store)
        with store.whole() as engine:
            store.dialect.vacuum(engine, full=full)
        return VacuumReport(before, _size(store), time.monotonic() - started)


def _size(store: Store) -> int:
    with store.reading() as transaction:
        return transaction.dialect.size(transaction.connection)


def perform(store: Store) -> Upgrade:
    """Brings the schema to the newest revision; an upgrade or ingest that goes on is waited for.

    Returns: from, to, and the copy made before.
    """
    with store.whole() as engine, engine.connect() as connection:
        planned = upgrade.plan(connection, store.url)
    if planned.is_current:
        return planned
    with store.sole_ingest(wait=True), store.changing() as transaction:
        planned = upgrade.plan(transaction.connection, store.url)  # another process may have been first
        if planned.is_current:
            return planned
        copy = store.dialect.before_upgrade(transaction.connection.engine.url)
        upgrade.to_head(transaction.connection, store.dialect)
    return replace(planned, copy=copy)


def rehearse(store: Store) -> Upgrade:
    """What `perform` would do, with its SQL: done in a transaction that is rolled back."""
    with store.whole(), store.changing() as transaction:
        planned = upgrade.plan(transaction.connection, store.url)
        statements = upgrade.recorded_to_head(transaction.connection, store.dialect)
        transaction.connection.rollback()
    return replace(planned, statements=statements)


# Rows in memory: a text may have megabytes, a signature hundreds of bytes.
BLOCK_ROWS: Final = 50_000
LARGE_ROWS: Final[dict[str, int]] = {content_text.name: 100, content.name: 5_000}

_Block = list[Row[*tuple[Any, ...]]]


def copy(source: Store, destination: str, copied: Callable[[float], None]) -> list[CopiedTable]:
    """Copies an index, as it is at this moment, to a place where there is none; others may go on writing to it.

    Args:
        destination: a SQLAlchemy URL or a plain path.
        copied: hears the share that is done.

    Raises: IndexExists, NotAnIndex: something is there; CopyDiffers: what arrived is not what was sent; StoreError.
    """
    with Store.at(destination) as place:
        if place.is_born():
            raise IndexExists(url=place.url)
        with (
            place.dialect.making(parse(destination)) as url,
            Store(url) as target,
            source.reading() as snapshot,
            target.bearing(unseen=True) as transaction,
        ):
            tables = _copy_all(snapshot, transaction, place.url, copied)
    return tables


def _copy_all(
    snapshot: Transaction, target: Transaction, url: str, copied: Callable[[float], None]
) -> list[CopiedTable]:
    tables = metadata.sorted_tables
    sizes = [snapshot.execute(select(func.count()).select_from(table)).scalar_one() for table in tables]
    num_done = 0
    for table in tables:
        for step in (_send(snapshot, target, table), _compare(snapshot, target, table, url)):
            for num_rows in step:
                num_done += num_rows
                copied(num_done / (2 * sum(sizes)))
        target.dialect.analyse(target.connection, table)
    return [CopiedTable(table.name, size) for table, size in zip(tables, sizes, strict=True)]


def _send(snapshot: Transaction, target: Transaction, table: Table) -> Iterator[int]:
    """Copies the rows of a table. Yields: how many."""
    for block in _blocks(snapshot, table):
        target.bulk_insert(table, _columns(table, block))
        yield len(block)


def _compare(snapshot: Transaction, target: Transaction, table: Table, url: str) -> Iterator[int]:
    """Compares the rows of a table, in the order of their keys. Yields: how many. Raises: CopyDiffers."""
    for sent, arrived in zip_longest(_blocks(snapshot, table), _blocks(target, table), fillvalue=()):
        if not np.array_equal(sent, arrived) if isinstance(sent, np.ndarray) else sent != arrived:
            pairs = zip_longest(map(tuple, sent), map(tuple, arrived), fillvalue=())
            one, other = next((one, other) for one, other in pairs if one != other)
            raise CopyDiffers(table=table.name, url=url, key=_key(table, one or other))
        yield len(sent)


def _key(table: Table, row: Sequence[object]) -> str:
    places = [table.columns.keys().index(column.key) for column in table.primary_key.columns]
    return ",".join(str(row[place]) for place in places)


def _blocks(transaction: Transaction, table: Table) -> Iterator[NDArray[np.int64] | _Block]:
    """The rows of a table, in the order of its key; as arrays where they are integers."""
    statement = select(*table.columns).order_by(*table.primary_key.columns)
    stream = transaction.stream_integers if _is_of_integers(table) else transaction.stream
    yield from stream(statement, rows=LARGE_ROWS.get(table.name, BLOCK_ROWS))


def _columns(table: Table, block: NDArray[np.int64] | _Block) -> Columns:
    if isinstance(block, np.ndarray):
        values = zip(table.columns, block.T, strict=True)
        return {column.key: value.astype(np.dtype(_width(column.type))) for column, value in values}
    return dict(zip(table.columns.keys(), zip(*block, strict=True), strict=True))


def _is_of_integers(table: Table) -> bool:
    kinds = (BigInteger, Integer, SmallInteger)
    return all(isinstance(column.type, kinds) and not column.nullable for column in table.columns)


def _width(kind: object) -> type[np.signedinteger[Any]]:
    if isinstance(kind, SmallInteger):
        return np.int16
    return np.int64 if isinstance(kind, BigInteger) else np.int32
