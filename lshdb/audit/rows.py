"""Check the schema, the parameters, the counters and single rows, without reading texts or signatures."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lshdb.audit.faults import LOST, Fault
from lshdb.model.expansion import Expansion
from lshdb.model.params import Params
from lshdb.store.statements.rules import Rule
from lshdb.store.tables import audit, generations, lookups
from lshdb.store.transaction import Transaction

__all__ = ["database_faults", "miscounted", "row_faults", "schema_faults"]


def schema_faults(snapshot: Transaction) -> tuple[list[Fault], bool]:
    """Return the faults of the schema, and whether no other check is possible because of them."""
    missing = audit.schema_faults(snapshot)
    faults = [
        Fault(one.kind, one.table, one.name, "it is missing", "created" if one.is_repairable else LOST)
        for one in missing
    ]
    return faults, any(one.is_fatal for one in missing)


def database_faults(snapshot: Transaction, *, full: bool) -> Iterator[Fault]:
    """Yield the faults that the database itself finds. Args: full: also compare the indexes with their tables."""
    for message in audit.damages(snapshot, full=full):
        yield Fault("database-damaged", "", "", message, LOST)
    for table, index in audit.invalid_indexes(snapshot):
        yield Fault("index-invalid", table, index, "the database does not use it", "rebuilt")


def row_faults(snapshot: Transaction, params: Params) -> Iterator[Fault]:
    """Yield all faults that SQL can find in the rows."""
    yield from _params_faults(snapshot, params)
    yield from _counter_faults(snapshot)
    limits = audit.limits(snapshot, params, snapshot.expansion)
    for rule in audit.rules(params):
        for row in audit.breaches_of(snapshot, rule, limits):
            yield _breach(rule, row._mapping)
    yield from _oversized_faults(snapshot)
    for number in generations.numbers(snapshot):
        if lookups.wrong(snapshot, number):
            yield Fault(
                "filter-wrong", "bucket_filter", str(number), "it denies a bucket", "dropped; a merge builds it"
            )


def miscounted(rows: NDArray[np.int64], expansion: Expansion) -> NDArray[np.int64]:
    """Return the rows (band, bucket_hash, num_contents, num_pairs) whose num_pairs is wrong for their num_contents."""
    sizes = rows[:, 2]
    expected = np.where(expansion.is_oversized(sizes), expansion.num_skipped(sizes), -1)
    wrong: NDArray[np.int64] = rows[rows[:, 3] != expected]
    return wrong


def _params_faults(snapshot: Transaction, params: Params) -> Iterator[Fault]:
    recall = audit.stored_recall(snapshot)
    if not isclose(recall, params.recall, rel_tol=1e-9):
        detail = f"recall is {recall}; the bands promise {params.recall}"
        yield Fault("params-recall", "index_params", "1", detail, "set to what the bands promise")


def _counter_faults(snapshot: Transaction) -> Iterator[Fault]:
    for counter in audit.counters(snapshot):
        if (counter.last_key or 0) < counter.greatest:
            detail = f"counted to {counter.last_key}, and there is a key {counter.greatest}"
            yield Fault("counter-behind", "key_counter", counter.name, detail, "raised")


def _breach(rule: Rule, row: Any) -> Fault:
    key = ",".join(str(row[name]) for name in rule.key)
    return Fault(rule.kind, rule.table.name, key, rule.detail.format_map(row), rule.repair)


def _oversized_faults(snapshot: Transaction) -> Iterator[Fault]:
    for rows in audit.oversized_counts(snapshot):
        for band, bucket_hash, num_contents, num_pairs in miscounted(rows, snapshot.expansion).tolist():
            detail = f"{num_contents} contents do not leave {num_pairs} pairs that are not expanded"
            yield Fault(
                "skipped-count", "oversized_bucket", f"{band},{bucket_hash}", detail, "linked and counted again"
            )
