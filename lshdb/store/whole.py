"""What is done to an index as a whole: a backup of it, a copy elsewhere, and giving up space that nothing takes.

Upgrades an index in one transaction, or only rehearses it; `lshdb.store.upgrade` knows what there is to do.

Copies an index, row by row, to an empty place in SQLite or Postgres, and reads it back before it can be found there.

Keys and counters stay what they are, so that the copy goes on where the original was. What is compared of a table is
the number of its rows and the sum of their hashes, which depends on no order. A block of rows is in memory at a time.

Limitation: rows are read twice more than they are copied: to be counted, and where they arrived.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Row, Table, func, select
from sqlalchemy.types import BigInteger, Integer, SmallInteger
from xxhash import xxh3_128_intdigest

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
        upgrade.to_head(transaction.connection)
    return replace(planned, copy=copy)


def rehearse(store: Store) -> Upgrade:
    """What `perform` would do, with its SQL: done in a transaction that is rolled back."""
    with store.whole(), store.changing() as transaction:
        planned = upgrade.plan(transaction.connection, store.url)
        statements = upgrade.recorded_to_head(transaction.connection)
        transaction.connection.rollback()
    return replace(planned, statements=statements)


# Rows in memory: a text may have megabytes, a signature hundreds of bytes.
BLOCK_ROWS: Final = 50_000
LARGE_ROWS: Final[dict[str, int]] = {content_text.name: 100, content.name: 5_000}

_MODULUS: Final = 2**128
# Odd constants of splitmix64. Source: Steele, Lea, Flood 2014, Fast splittable pseudorandom number generators.
_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_MIXERS: Final = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))
_LAST_SHIFT: Final = np.uint64(31)
_HALF: Final = np.uint64(32)
_LOW: Final = np.uint64(2**32 - 1)

_Block = list[Row[*tuple[Any, ...]]]


@dataclass(slots=True)
class _Summary:
    """The number of rows that went by, and the sum of their hashes."""

    num_rows: int = 0
    total: int = 0

    def add(self, values: NDArray[np.int64] | _Block) -> None:
        """Adds rows: an array of shape (n, columns), or tuples."""
        if isinstance(values, np.ndarray):
            self.total += _exact_sum(_mixed(values))
        else:
            self.total += sum(xxh3_128_intdigest(msgspec.msgpack.encode(tuple(row))) for row in values)
        self.num_rows += len(values)

    def __str__(self) -> str:
        return f"{self.num_rows} rows with digest {self.digest}"

    @property
    def digest(self) -> str:
        """The sum, in hexadecimal digits."""
        return f"{self.total % _MODULUS:032x}"


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
    num_rows = sum(snapshot.execute(select(func.count()).select_from(table)).scalar_one() for table in tables)
    num_done, done = 0, []
    for table in tables:
        sent, arrived = _Summary(), _Summary()
        for block in _blocks(snapshot, table):
            sent.add(block)
            target.bulk_insert(table, _columns(table, block))
            num_done += len(block)
            copied(num_done / (2 * num_rows))
        for block in _blocks(target, table):
            arrived.add(block)
            num_done += len(block)
            copied(num_done / (2 * num_rows))
        if arrived != sent:
            raise CopyDiffers(table=table.name, url=url, original=sent, copied=arrived)
        target.dialect.analyse(target.connection, table)
        done.append(CopiedTable(table.name, sent.num_rows, sent.digest))
    return done


def _blocks(transaction: Transaction, table: Table) -> Iterator[NDArray[np.int64] | _Block]:
    """The rows of a table, in the order of its key; as arrays where they are integers."""
    statement = select(*table.columns).order_by(*table.primary_key.columns)
    stream = transaction.stream_integers if _is_of_integers(table) else transaction.stream
    yield from stream(statement, rows=LARGE_ROWS.get(table.name, BLOCK_ROWS))


def _columns(table: Table, block: NDArray[np.int64] | _Block) -> Columns:
    if isinstance(block, np.ndarray):
        values = zip(table.columns, block.T, strict=True)
        return {column.name: value.astype(np.dtype(_width(column.type))) for column, value in values}
    return dict(zip(table.columns.keys(), zip(*block, strict=True), strict=True))


def _is_of_integers(table: Table) -> bool:
    kinds = (BigInteger, Integer, SmallInteger)
    return all(isinstance(column.type, kinds) and not column.nullable for column in table.columns)


def _width(kind: object) -> type[np.signedinteger[Any]]:
    if isinstance(kind, SmallInteger):
        return np.int16
    return np.int64 if isinstance(kind, BigInteger) else np.int32


def _exact_sum(hashes: NDArray[np.uint64]) -> int:
    # In halves: the sum of up to 2**32 of them fits 64 bits.
    return (int((hashes >> _HALF).sum()) << 32) + int((hashes & _LOW).sum())


def _mixed(rows: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A hash of each row, uint64, shape (n,)."""
    mixed = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.view(np.uint64).T:
        mixed = (mixed ^ column) + _STEP
        for shift, factor in _MIXERS:
            mixed = (mixed ^ (mixed >> shift)) * factor
        mixed ^= mixed >> _LAST_SHIFT
    return mixed
