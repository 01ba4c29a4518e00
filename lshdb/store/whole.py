"""Work on an index as a whole: back it up, copy it, upgrade it, and free unused space.

An upgrade is one transaction, which a dry run rolls back; `lshdb.store.upgrade` knows the necessary steps.

A copy transfers an index row by row to an empty place in SQLite or Postgres. It is read back before it appears there.
Keys and counters do not change, so you can continue with the copy where the original stopped. After a table is copied,
both sides are streamed in the order of its key and compared row by row. Only one block of rows is in memory at a time.

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
from sqlalchemy import Connection, Row, Table, select
from sqlalchemy.types import BigInteger, Integer, SmallInteger

from lshdb.errors import CopyDiffers, IndexExists
from lshdb.model.progress import Progress
from lshdb.model.upkeep import BackupReport, CopiedTable, CopyReport, Upgrade, VacuumReport
from lshdb.store import upgrade
from lshdb.store.dialect import Columns
from lshdb.store.files import require_free
from lshdb.store.merging import hold_filters, merge, unite_filters
from lshdb.store.schema import bucket_filter, content, content_text, fingerprint_block, metadata
from lshdb.store.store import Store
from lshdb.store.tables import fingerprints
from lshdb.store.transaction import Transaction
from lshdb.store.url import masked, parse

__all__ = [
    "back_up",
    "compare",
    "copy",
    "copy_to",
    "perform",
    "rehearse",
    "vacuum",
]


def back_up(store: Store, path: Path, progress: Progress, *, force: bool) -> BackupReport:
    """Copy the file of an index of any revision while others use it.

    Raises: IndexMissing; OutputExists, OutputFailed; IndexDamaged; UsageError: the index is in Postgres.
    """
    started = time.monotonic()
    with store.whole() as engine:
        taken = frozenset(file.resolve() for file in store.files)
        require_free(path, force=force, taken=taken, for_database=True)
        revision = store.dialect.back_up(engine, path, partial(progress.advanced, "copy"))
    progress.done()
    return BackupReport(str(path), revision, path.stat().st_size, time.monotonic() - started)


def copy_to(store: Store, destination: str, progress: Progress) -> CopyReport:
    """Copy an open index to an empty place, in either database.

    Raises: IndexExists, NotAnIndex: the place is not empty; CopyDiffers; OutputFailed; StoreError.
    """
    started = time.monotonic()
    tables = copy(store, destination, partial(progress.advanced, "copy"))
    progress.done()
    return CopyReport(store.url, masked(parse(destination)), tuple(tables), time.monotonic() - started)


def vacuum(store: Store, *, full: bool) -> VacuumReport:
    """Merge the generations of the buckets, and free unused space.

    Args: full: on Postgres, also return the space to the system; nobody can use the index meanwhile.
    Raises: IndexBusy: another process is writing; IndexReadOnly, AccessDenied.
    """
    started = time.monotonic()
    with store.sole_work("a vacuum", wait=False):
        before = _size(store)
        store.write(fingerprints.sweep)
        merge(store)
        unite_filters(store)
        hold_filters(store)
        with store.whole() as engine:
            store.dialect.vacuum(engine, full=full)
        return VacuumReport(before, _size(store), time.monotonic() - started)


def _size(store: Store) -> int:
    with store.reading() as transaction:
        return transaction.dialect.size(transaction.connection)


def perform(store: Store) -> Upgrade:
    """Upgrade the schema to the newest revision, after waiting for any upgrade or ingest that is running.

    Returns: the revisions before and after, and the copy that was made first.
    """
    with store.whole() as engine, engine.connect() as connection:
        planned = _planned(connection, store)
    if planned.is_current:
        return planned
    with store.sole_work("an upgrade", wait=True), store.changing() as transaction:
        planned = _planned(transaction.connection, store)  # another process may have been faster
        if planned.is_current:
            return planned
        copy = store.dialect.before_upgrade(transaction.connection.engine.url)
        upgrade.to_head(transaction.connection, store.dialect)
    return replace(planned, copy=copy)


def rehearse(store: Store) -> Upgrade:
    """Return what `perform` would do, with its SQL, by doing it in a transaction that is rolled back."""
    with store.whole(), store.changing() as transaction:
        planned = _planned(transaction.connection, store)
        statements = upgrade.recorded_to_head(transaction.connection, store.dialect)
        transaction.connection.rollback()
    return replace(planned, statements=statements)


def _planned(connection: Connection, store: Store) -> Upgrade:
    return Upgrade(upgrade.known(connection, upgrade.current(connection), store.url), upgrade.REVISIONS[-1])


# Rows in memory: a text may take megabytes, a signature hundreds of bytes.
BLOCK_ROWS: Final = 50_000
LARGE_ROWS: Final[dict[str, int]] = {
    content_text.name: 100,
    content.name: 5_000,
    fingerprint_block.name: 5_000,
    bucket_filter.name: 5_000,
}

_Block = list[Row[*tuple[Any, ...]]]


def copy(source: Store, destination: str, copied: Callable[[float], None]) -> list[CopiedTable]:
    """Copy the current state of an index to an empty place. Others may write to the index meanwhile.

    Args:
        destination: a SQLAlchemy URL or a plain path.
        copied: is called with the share that is done.

    Raises: IndexExists, NotAnIndex: the place is not empty; CopyDiffers: a row of the copy is wrong; StoreError.
    """
    with Store.at(destination) as place:
        if place.exists():
            raise IndexExists(url=place.url)
        with (
            place.dialect.making(parse(destination)) as url,
            Store(url) as target,
            source.reading() as snapshot,
            target.creating(unseen=True) as transaction,
        ):
            tables = _copy_all(snapshot, transaction, place.url, copied)
    return tables


def _copy_all(
    snapshot: Transaction, target: Transaction, url: str, copied: Callable[[float], None]
) -> list[CopiedTable]:
    tables = metadata.sorted_tables
    sizes = [snapshot.num_rows(table) for table in tables]
    num_done = 0
    for table in tables:
        for step in (_send(snapshot, target, table), compare(snapshot, target, table, url)):
            for num_rows in step:
                num_done += num_rows
                copied(num_done / (2 * sum(sizes)))
        target.dialect.analyse(target.connection, table)
    return [CopiedTable(table.name, size) for table, size in zip(tables, sizes, strict=True)]


def _send(snapshot: Transaction, target: Transaction, table: Table) -> Iterator[int]:
    """Copy the rows of a table. Yields: the number of rows in each block."""
    for block in _blocks(snapshot, table):
        target.bulk_insert(table, _columns(table, block))
        yield len(block)


def compare(snapshot: Transaction, target: Transaction, table: Table, url: str) -> Iterator[int]:
    """Compare the rows of a table in the order of their keys. Yields: how many rows per block. Raises: CopyDiffers."""
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
    """Yield the rows of a table in blocks, in the order of its key; as arrays if they are integers."""
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
