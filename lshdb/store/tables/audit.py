"""Queries of an audit. The rules for single rows are in `statements.rules`; repairs are in `tables.repairs`.

Limitation: queries fail if a table or column is missing, so call `schema_faults` first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from sqlalchemy import Constraint, Inspector, Row, Table, func, inspect, select

from lshdb.model.choices import FaultKind
from lshdb.model.expansion import Expansion
from lshdb.model.params import Params
from lshdb.model.values import BandKeys
from lshdb.store.dialect import Dialect
from lshdb.store.schema import (
    UNENFORCED,
    band_bucket,
    collection,
    content,
    decision,
    document,
    index_params,
    key_counter,
    metadata,
    rejected,
    run,
    source,
)
from lshdb.store.statements import audit
from lshdb.store.statements.generations import in_use
from lshdb.store.statements.rules import RULES, Rule, breaches
from lshdb.store.tables import bands
from lshdb.store.tables.buckets import bucket_rows
from lshdb.store.tables.late_indexes import FIRST_INGEST, FIRST_LINK
from lshdb.store.transaction import Transaction
from lshdb.store.views import VIEWS

__all__ = ["AuditedContents", "Counter", "Missing", "band_rows", "breaches_of", "contents", "counters", "limits"]
__all__ += ["damages", "invalid_indexes"]
__all__ += ["missing_buckets", "next_contents", "num_band_rows", "oversized_counts", "rules", "schema_faults"]
__all__ += ["stored_recall"]

COUNTED: Final = (collection, content, document, source, run, rejected, decision)


class AuditedContents(Struct, frozen=True):
    """Contents exactly as stored, faults included. Keys are int64, ascending; the other fields align with them."""

    keys: NDArray[np.int64]
    digests: tuple[bytes, ...]
    num_shingles: NDArray[np.int64]
    signatures: tuple[bytes, ...]

    def __len__(self) -> int:
        return len(self.keys)


class Counter(Struct, frozen=True):
    """The last key that a table's counter has issued (None if it has no counter), and the greatest key in the table."""

    name: str
    last_key: int | None
    greatest: int


class Missing(Struct, frozen=True):
    """A part of the schema that the database lacks.

    Args:
        is_fatal: without it, the table cannot be queried.
        is_repairable: a repair can create it.
    """

    kind: FaultKind
    table: str
    name: str
    is_fatal: bool = False
    is_repairable: bool = False


def schema_faults(transaction: Transaction) -> list[Missing]:
    """Return the declared parts of the schema that the database lacks."""
    live = inspect(transaction.connection)
    names, seen = set(live.get_table_names()), set(live.get_view_names())
    missing = [Missing("table-missing", name, name, is_fatal=True) for name in metadata.tables if name not in names]
    tables = [table for table in metadata.sorted_tables if table.name in names]
    missing += _missing_of(live, tables, transaction.dialect)
    return missing + [Missing("view-missing", name, name, is_repairable=True) for name in VIEWS if name not in seen]


def _missing_of(live: Inspector, tables: Sequence[Table], dialect: Dialect) -> Iterator[Missing]:
    """Yield what tables lack."""
    late = {part.name for part in (*FIRST_INGEST, *FIRST_LINK)} if dialect.puts_off else set()
    unenforced = frozenset[Constraint]() if dialect.enforces_all else UNENFORCED
    # A server returns the parts of all tables at once.
    asked = [table.name for table in tables]
    columns, keys = live.get_multi_columns(filter_names=asked), live.get_multi_pk_constraint(filter_names=asked)
    indexes = live.get_multi_indexes(filter_names=asked)
    constraints: list[Any] = [
        live.get_multi_unique_constraints(filter_names=asked),
        live.get_multi_foreign_keys(filter_names=asked),
        live.get_multi_check_constraints(filter_names=asked),
    ]
    for table in tables:
        place = (None, table.name)
        there = {column["name"] for column in columns[place]}
        for column in table.columns:
            if column.name not in there:
                yield Missing("column-missing", table.name, column.name, is_fatal=True)
        key = [column.name for column in table.primary_key.columns]
        if keys[place]["constrained_columns"] != key:
            name = str(table.primary_key.name)
            yield Missing("key-missing", table.name, name, is_repairable=name in late)
        named = {one["name"] for kind in constraints for one in kind[place]}
        for name in sorted(str(constraint.name) for constraint in table.constraints - {table.primary_key} - unenforced):
            if name not in named:
                yield Missing("constraint-missing", table.name, name)
        indexed = {index["name"] for index in indexes[place]}
        for index in sorted(table.indexes, key=lambda one: str(one.name)):
            if index.name not in indexed:
                yield Missing("index-missing", table.name, str(index.name), is_repairable=True)


def damages(transaction: Transaction, *, full: bool) -> Sequence[str]:
    """What the database itself finds wrong with its file. Args: full: compare indexes with their tables, too."""
    return transaction.dialect.damages(transaction.connection, full=full)


def invalid_indexes(transaction: Transaction) -> Sequence[tuple[str, str]]:
    """(table, index) of the indexes that the database does not use because they are unfinished."""
    return transaction.dialect.invalid_indexes(transaction.connection)


def rules(params: Params) -> Sequence[Rule]:
    """Return the rules that apply to an index with these parameters."""
    return [rule for rule in RULES if params.keep_text or rule.without_texts]


def limits(transaction: Transaction, params: Params, expansion: Expansion) -> dict[str, object]:
    """Return the values for the rules' conditions. Bands that are being written count as bands of the index."""
    numbers = list(params.banding.numbers)
    coming = bands.coming(transaction)
    known = numbers + (list(coming.banding.numbers) if coming else [])
    return {
        "cap": expansion.cap,
        "floor": params.floor,
        "first_band": numbers[0],
        "last_band": numbers[-1],
        "lowest": min(known),
        "highest": max(known),
    }


def breaches_of(transaction: Transaction, rule: Rule, parameters: dict[str, object]) -> Iterator[Row[*tuple[Any, ...]]]:
    """Yield the rows that break a rule."""
    for block in transaction.stream(breaches(rule), parameters):
        yield from block


def counters(transaction: Transaction) -> list[Counter]:
    """Return the counter and the greatest key of every table that has a key counter."""
    last: dict[str, int] = dict(
        tuple(row) for row in transaction.execute(select(key_counter.c.name, key_counter.c.last_key))
    )
    found = []
    for table in COUNTED:
        greatest = transaction.execute(select(func.max(*table.primary_key.columns))).scalar_one()
        found.append(Counter(table.name, last.get(table.name), greatest or 0))
    return found


def stored_recall(transaction: Transaction) -> float:
    """Return the promised recall that is stored in the index."""
    mine = index_params.c.params_key == 1
    return float(transaction.execute(select(index_params.c.recall).where(mine)).scalar_one())


def next_contents(transaction: Transaction, position: int, count: int) -> AuditedContents:
    """Return the first `count` contents with keys greater than `position`."""
    parameters = {"position": position, "count": count}
    return _audited(transaction.execute(audit.audited_page(), parameters).all())


def contents(transaction: Transaction, content_keys: NDArray[np.int64]) -> AuditedContents:
    """Return the given contents that exist."""
    return _audited([row for block in transaction.keyed(audit.audited_contents(), content_keys) for row in block])


def missing_buckets(
    transaction: Transaction, content_keys: NDArray[np.int64], band_keys: BandKeys
) -> NDArray[np.int64]:
    """Return the missing bucket rows of contents: (band, bucket_hash, content_key), int64, shape (m, 3), sorted."""
    rows = np.column_stack([np.asarray(column, np.int64) for column in bucket_rows(content_keys, band_keys).values()])
    found = [transaction.integers(audit.missing_buckets(), part) for part in transaction.parts(rows)]
    return np.concatenate([np.empty((0, 3), dtype=np.int64), *found])


def num_band_rows(transaction: Transaction, band: int) -> int:
    """Return the number of rows of a band."""
    return transaction.num_rows(band_bucket, in_use(), band_bucket.c.band == band)


def band_rows(transaction: Transaction, band: int, rows: int) -> Iterator[NDArray[np.int64]]:
    """Yield all rows of a band in sorted blocks of at most `rows`: (bucket_hash, content_key), int64, shape (n, 2)."""
    return transaction.stream_integers(audit.band_rows(), {"band": band}, rows)


def oversized_counts(transaction: Transaction) -> Iterator[NDArray[np.int64]]:
    """Yield sorted blocks of oversized buckets: (band, bucket_hash, num_contents, num_pairs), int64, shape (n, 4)."""
    return transaction.stream_integers(audit.oversized_counts())


def _audited(rows: Sequence[Row[*tuple[Any, ...]]]) -> AuditedContents:
    return AuditedContents(
        keys=np.asarray([row[0] for row in rows], dtype=np.int64),
        digests=tuple(row[1] or b"" for row in rows),
        num_shingles=np.asarray([row[2] for row in rows], dtype=np.int64),
        signatures=tuple(row[3] or b"" for row in rows),
    )
