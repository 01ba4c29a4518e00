"""Records each run that writes to the index: its state, its counts, and the items that it rejected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import ColumnElement, Table, bindparam, case, delete, func, insert, select, update

from lshdb.model.values import Counts, Rejection
from lshdb.store.given import has_given
from lshdb.store.schema import rejected, run
from lshdb.store.statements.clock import now
from lshdb.store.tables import collections
from lshdb.store.transaction import Transaction

__all__ = ["begin", "counts", "finish", "last_before", "latest", "record", "reject", "state", "take_back"]

# Statements that every small addition needs are made once: making one takes longer than running it.
_NAMES: Final = tuple(field.name for field in fields(Counts))
_IS_THIS: Final = run.c.run_key == bindparam("run")
_BEGIN: Final = insert(run).values(started_at=now())
_COUNTS: Final = select(*(run.c[name] for name in _NAMES)).where(_IS_THIS)
_RECORD: Final = update(run).where(_IS_THIS).values({name: run.c[name] + bindparam(f"more_{name}") for name in _NAMES})
_FINISH: Final = update(run).where(_IS_THIS).values(state=bindparam("ended"), finished_at=now())
_CHANGES: Final = ("num_added", "num_updated", "num_removed", "num_rejected")
_STATE: Final = select(
    func.max(run.c.run_key), func.count(run.c.finished_at), *(func.sum(run.c[name]) for name in _CHANGES)
)


def begin(transaction: Transaction, verb: str, collection: str, version: str) -> int:
    """Create a run in state ``running``. Returns: its run_key."""
    (key,) = transaction.allocate(run, 1).tolist()
    values = {
        "run_key": key,
        "verb": verb,
        "collection_key": collections.ensure(transaction, collection) if collection else None,
        "state": "running",
        "lshdb_version": version,
    }
    transaction.execute(_BEGIN, values | asdict(Counts()))
    return int(key)


def record(transaction: Transaction, run_key: int, batch: Counts) -> None:
    """Add the counts of a batch to its run. Call it in the transaction that writes the batch."""
    if batch != Counts():
        transaction.execute(_RECORD, {"run": run_key} | {f"more_{name}": more for name, more in asdict(batch).items()})


def counts(transaction: Transaction, run_key: int) -> Counts:
    """Return the counts of a run so far."""
    return Counts(*transaction.execute(_COUNTS, {"run": run_key}).one())


def state(transaction: Transaction) -> tuple[object, ...]:
    """Return a value that is another one after each run, and after each change that one of them has made so far."""
    return tuple(transaction.execute(_STATE).one())


def last_before(transaction: Transaction, moment: datetime) -> int:
    """Return the key of the last run that started before `moment` (with a time zone), or 0 if there is none."""
    began = run.c.started_at < _written(moment)
    return int(transaction.execute(select(func.coalesce(func.max(run.c.run_key), 0)).where(began)).scalar_one())


def finish(transaction: Transaction, run_key: int, state: str) -> None:
    """Record the end of a run as ``finished``, ``interrupted`` or ``failed``."""
    transaction.execute(_FINISH, {"run": run_key, "ended": state})


def latest(table: Table, run_key: int) -> ColumnElement[int]:
    """Return the later of this run and the last that saw a row: overlapping runs may write in any order."""
    return case((table.c.last_seen_run > run_key, table.c.last_seen_run), else_=run_key)


def take_back(transaction: Transaction, rejected_keys: Sequence[int]) -> int:
    """Delete records of items that could not be ingested. Returns: how many there were."""
    mine = has_given(rejected.c.rejected_key)
    return transaction.execute(delete(rejected).where(mine), {"given": rejected_keys}).rowcount


def reject(transaction: Transaction, run_key: int, items: Sequence[Rejection]) -> list[int]:
    """Record items that could not be ingested. Returns: the keys of their records."""
    keys: list[int] = transaction.allocate(rejected, len(items)).tolist()
    columns: dict[str, Sequence[object]] = {
        "rejected_key": keys,
        "run_key": [run_key] * len(items),
        "source": [item.source for item in items],
        "locator": [item.locator for item in items],
        "reason": [item.reason for item in items],
    }
    transaction.bulk_insert(rejected, columns)
    return keys


def _written(moment: datetime) -> str:
    """Return the moment as text in UTC. All such texts have the same length, so they sort by time."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")
