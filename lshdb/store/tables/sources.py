"""Records the files that documents came from, and finds those that no longer exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct
from sqlalchemy import ColumnElement, and_, bindparam, delete, func, select, update

from lshdb.model.reports import HalfRead
from lshdb.store.given import has_given, is_given
from lshdb.store.schema import document, removal, source
from lshdb.store.staging import staged_source
from lshdb.store.statements.collections import name_of
from lshdb.store.tables import collections, runs
from lshdb.store.transaction import Transaction

__all__ = [
    "DONE",
    "READING",
    "Origin",
    "Put",
    "SourceState",
    "add_documents",
    "all_of",
    "documents_of",
    "forget",
    "forget_all",
    "gone",
    "half_read",
    "holding",
    "known",
    "may_hold_qualified",
    "origins",
    "put",
    "remove",
    "see",
    "see_under",
    "seen",
    "spared",
    "stale",
    "vanished",
]

READING = "reading"
DONE = "done"


class SourceState(Struct, frozen=True):
    """The recorded state of one file.

    Args:
        size, mtime_ns: size in bytes and time of the last change in nanoseconds, at the time of reading.
        digest: 16 bytes; None until the file has been read to its end, and if it is damaged.
        state: ``reading`` until the file has been read to its end, then ``done``.
        position: the number of its items that are committed, including rejected and skipped ones.
        num_documents: the number of documents among these items.
        options: the options that the file was read with, as written by `readers.record`.
        reading_run: the run in which this reading of the file started.
    """

    uri: str
    size: int
    mtime_ns: int
    digest: bytes | None
    state: str
    position: int
    num_documents: int
    options: str
    reading_run: int

    @property
    def is_complete(self) -> bool:
        """Whether it was read to its end."""
        return self.state == DONE


class Put(NamedTuple):
    """The keys of sources by URI, and those of them that are new to the index."""

    keys: dict[str, int]
    fresh: frozenset[int]


class Origin(NamedTuple):
    """A source, and when it was changed last."""

    uri: str
    mtime_ns: int


_unread = update(source).values(state=READING, position=0, num_documents=0, digest=None)
_COLUMNS = tuple(SourceState.__struct_fields__)
_KNOWN = select(*(source.c[name] for name in _COLUMNS)).where(
    source.c.collection_key == bindparam("collection"), is_given(source.c.uri)
)


def known(transaction: Transaction, collection: str, uris: Sequence[str]) -> Mapping[str, SourceState]:
    """Return the recorded states of these files by URI, without files that were never recorded."""
    parts = transaction.parts(uris, collection=collections.key_of(transaction, collection))
    return {row.uri: SourceState(*row) for part in parts for row in transaction.execute(_KNOWN, part)}


def half_read(transaction: Transaction, count: int) -> tuple[int, list[HalfRead]]:
    """Return the number of files that were not read to their end, and the first `count` of them."""
    is_reading = source.c.state == READING
    statement = select(source.c.uri, name_of(source.c.collection_key), source.c.position).where(is_reading)
    rows = transaction.execute(statement.order_by(source.c.source_key).limit(count))
    return transaction.num_rows(source, is_reading), [HalfRead(*row) for row in rows]


def origins(transaction: Transaction, source_keys: Sequence[int]) -> dict[int, Origin]:
    """Return the origins of sources by their keys."""
    statement = select(source.c.source_key, source.c.uri, source.c.mtime_ns).where(has_given(source.c.source_key))
    found = transaction.execute(statement, {"given": source_keys})
    return {row.source_key: Origin(row.uri, row.mtime_ns) for row in found}


def may_hold_qualified(transaction: Transaction, source_keys: Sequence[int]) -> set[int]:
    """Return which of these sources have documents whose ids may be qualified; see `claims`.

    An id that only looks qualified costs time, but changes no answer.
    """
    looks_qualified = document.c.doc_id.like("%@/%") | document.c.doc_id.like("%@-")
    statement = select(document.c.source_key).where(has_given(document.c.source_key), looks_qualified).distinct()
    return set(transaction.execute(statement, {"given": source_keys}).scalars())


def see(transaction: Transaction, collection: str, states: Sequence[SourceState], run_key: int) -> None:
    """Record that the run has seen these files, and their size and time of change. Nothing else changes."""
    if not states:
        return
    _stage(transaction, states)
    changed = update(source).values(
        size=staged_source.c.size, mtime_ns=staged_source.c.mtime_ns, last_seen_run=runs.latest(source, run_key)
    )
    transaction.execute(changed.where(_same(collections.key_of(transaction, collection))))


def see_under(transaction: Transaction, collection: str, root: str, run_key: int) -> None:
    """Record all files at or under `root` as seen. If a root cannot be walked, its files must not count as gone."""
    seen = update(source).values(last_seen_run=runs.latest(source, run_key)).where(_is_of(transaction, collection))
    # Two statements: for an UPDATE with an OR of the two conditions, SQLite scans all sources of the collection.
    transaction.execute(seen.where(_inside(root)))
    transaction.execute(seen.where(source.c.uri == root))


def put(transaction: Transaction, collection: str, states: Sequence[SourceState], run_key: int) -> Put:
    """Write the states of files, whether new or known. Returns: their keys."""
    collection_key = collections.ensure(transaction, collection)
    _stage(transaction, states)
    keys = _keys(transaction, collection_key)
    if keys:
        changes = {name: staged_source.c[name] for name in _COLUMNS if name != "uri"}
        transaction.execute(
            update(source).values(**changes, last_seen_run=runs.latest(source, run_key)).where(_same(collection_key))
        )
    fresh = [state for state in states if state.uri not in keys]
    fresh_keys = transaction.allocate(source, len(fresh)).tolist()
    columns = {
        "source_key": fresh_keys,
        "collection_key": [collection_key] * len(fresh),
        **_values(fresh),
        "last_seen_run": [run_key] * len(fresh),
    }
    transaction.bulk_insert(source, columns)
    return Put(keys | {state.uri: key for state, key in zip(fresh, fresh_keys, strict=True)}, frozenset(fresh_keys))


def add_documents(transaction: Transaction, numbers: Mapping[int, int]) -> None:
    """Record that sources have more documents. Args: numbers: how many, by the key of the source."""
    grown = source.c.num_documents + bindparam("more")
    statement = update(source).where(source.c.source_key == bindparam("one")).values(num_documents=grown)
    for source_key, number in numbers.items():
        transaction.execute(statement, {"one": source_key, "more": number})


def gone(transaction: Transaction, collection: str, root: str, run_key: int) -> list[int]:
    """Return the keys of the sources at or under a root's URI that neither this run nor a later one has seen."""
    return _keys_of(transaction, _under(transaction, collection, root), source.c.last_seen_run < run_key)


def stale(transaction: Transaction, collection: str, last_run: int) -> list[int]:
    """Return the keys of the sources that no run after `last_run` has seen."""
    return _keys_of(transaction, _is_of(transaction, collection), source.c.last_seen_run <= last_run)


def seen(transaction: Transaction, collection: str, root: str, run_key: int) -> list[int]:
    """Return the keys of the sources at or under a root's URI that this run or a later one has seen."""
    return _keys_of(transaction, _under(transaction, collection, root), source.c.last_seen_run >= run_key)


def vanished(transaction: Transaction, source_keys: Sequence[int], count: int) -> list[int]:
    """Return the keys of at most `count` documents that the last reading of these sources no longer found.

    Only of sources that were read to their end, and are neither damaged nor empty.
    """
    # IN, not another join: SQLite then looks up the documents by source instead of scanning all of them.
    statement = (
        select(document.c.doc_key)
        .join_from(document, source, source.c.source_key == document.c.source_key)
        .where(has_given(document.c.source_key))
        .where(document.c.last_seen_run < source.c.reading_run, _tells_what_is_gone())
        .limit(count)
    )
    return list(transaction.execute(statement, {"given": source_keys}).scalars())


def spared(transaction: Transaction, source_keys: Sequence[int]) -> int:
    """Return how many of these sources are damaged or empty, so that documents missing from them do not count as gone.

    Only sources that were read to their end.
    """
    mine = has_given(source.c.source_key)
    older = select(document.c.doc_key).where(
        document.c.source_key == source.c.source_key, document.c.last_seen_run < source.c.reading_run
    )
    statement = select(func.count()).where(mine, source.c.state == DONE, ~_tells_what_is_gone(), older.exists())
    return int(transaction.execute(statement, {"given": source_keys}).scalar_one())


def documents_of(transaction: Transaction, source_keys: Sequence[int]) -> list[int]:
    """Return the keys of the documents of these sources."""
    statement = select(document.c.doc_key).where(has_given(document.c.source_key))
    return list(transaction.execute(statement, {"given": source_keys}).scalars())


def remove(transaction: Transaction, source_keys: Sequence[int]) -> None:
    """Delete sources. They must not have documents any more."""
    for table in (removal, source):
        transaction.execute(delete(table).where(has_given(table.c.source_key)), {"given": source_keys})


def forget(transaction: Transaction, source_keys: Sequence[int]) -> None:
    """Let the next ingest read sources from their beginning."""
    transaction.execute(_unread.where(has_given(source.c.source_key)), {"given": source_keys})


def forget_all(transaction: Transaction, collection: str) -> None:
    """Let the next ingest read all sources of a collection from their beginning."""
    transaction.execute(_unread.where(_is_of(transaction, collection)))


def holding(transaction: Transaction, doc_keys: Sequence[int]) -> dict[int, str]:
    """Return the URIs of the sources of documents, by their keys."""
    statement = (
        select(source.c.source_key, source.c.uri)
        .join_from(document, source, source.c.source_key == document.c.source_key)
        .where(has_given(document.c.doc_key))
        .distinct()
    )
    return {row.source_key: row.uri for row in transaction.execute(statement, {"given": doc_keys})}


def all_of(transaction: Transaction, collection: str) -> list[int]:
    """Return the keys of all sources of a collection."""
    return _keys_of(transaction, _is_of(transaction, collection))


def _keys_of(transaction: Transaction, *conditions: ColumnElement[bool]) -> list[int]:
    statement = select(source.c.source_key).where(*conditions).order_by(source.c.source_key)
    return list(transaction.execute(statement).scalars())


def _stage(transaction: Transaction, states: Sequence[SourceState]) -> None:
    transaction.stage(staged_source, _values(states))


def _values(states: Sequence[SourceState]) -> dict[str, Sequence[object]]:
    return {name: [getattr(state, name) for state in states] for name in _COLUMNS}


def _keys(transaction: Transaction, collection_key: int) -> dict[str, int]:
    statement = select(source.c.uri, source.c.source_key).join_from(staged_source, source, _same(collection_key))
    return {row.uri: row.source_key for row in transaction.execute(statement)}


def _tells_what_is_gone() -> ColumnElement[bool]:
    """Return the condition that a source was read to its end, and is neither damaged nor empty."""
    return source.c.digest.is_not(None) & (source.c.position > 0)


def _is_of(transaction: Transaction, collection: str) -> ColumnElement[bool]:
    # The key is queried first: for a subquery inside an OR, SQLite scans all sources.
    return source.c.collection_key == collections.key_of(transaction, collection)


def _same(collection_key: int | None) -> ColumnElement[bool]:
    return and_(source.c.collection_key == collection_key, source.c.uri == staged_source.c.uri)


def _under(transaction: Transaction, collection: str, root: str) -> ColumnElement[bool]:
    """Return the condition that a source is at or under `root`, which may itself be a file."""
    return and_(_is_of(transaction, collection), _inside(root) | (source.c.uri == root))


def _inside(root: str) -> ColumnElement[bool]:
    """Return the condition that a source is under `root`: a range of URIs, because "0" follows "/" in byte order."""
    folder = root.rstrip("/")
    return and_(source.c.uri >= f"{folder}/", source.c.uri < f"{folder}0")
