"""Queries for the answers that lshdb gives: near-duplicate pairs, documents of a content, figures, runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Row, Table, func, select

from lshdb.model.reports import Figures, RunRow
from lshdb.model.values import Rejection
from lshdb.store.schema import (
    band_bucket,
    content,
    content_text,
    document,
    oversized_bucket,
    pair,
    rejected,
    run,
    source,
    unlinked,
)
from lshdb.store.statements import document_pairs, statements
from lshdb.store.statements.collections import bound_key, name_of
from lshdb.store.transaction import Transaction

__all__ = [
    "content_of",
    "doc_keys",
    "documents_of",
    "figures",
    "neighbours",
    "pairs",
    "pairs_between",
    "rejections",
    "runs",
]

_IN_COLLECTION: Final = document.c.collection_key == bound_key("collection")

# (left doc_id, right doc_id, similarity, exact, left's collection, right's collection)
PairRow = tuple[str, str, float, bool, str, str]


def pairs(transaction: Transaction, min_sim: float, *, expand: bool, within: str | None = None) -> Iterator[PairRow]:
    """Yield pairs of documents with a similarity of at least `min_sim`: exact copies first, then pairs of contents.

    Args:
        expand: yield every pair of documents, instead of one document for each content.
        within: the collection of both documents; None for all collections.
    """
    chosen = within is not None
    parameters = {"left_collection": within, "right_collection": within} if chosen else {}
    repeated = document_pairs.identical_documents if expand else document_pairs.repeated_documents
    yield from _pair_rows(transaction.stream(repeated(chosen=chosen), parameters))
    similar = document_pairs.expanded_pairs if expand else document_pairs.first_documents_pairs
    yield from _pair_rows(transaction.stream(similar(chosen=chosen), {**parameters, "min_sim": min_sim}))


def pairs_between(
    transaction: Transaction, min_sim: float, left: str, right: str, *, expand: bool
) -> Iterator[PairRow]:
    """Yield the same pairs between two collections. The left document is from `left`, the right one from `right`.

    After the exact copies come the pairs in which the left document has the earlier content, then all others.
    """
    there = {"left_collection": left, "right_collection": right}
    back = {"left_collection": right, "right_collection": left, "min_sim": min_sim}
    shared = document_pairs.shared_documents() if expand else document_pairs.shared_contents()
    yield from _pair_rows(transaction.stream(shared, there))
    similar = document_pairs.expanded_pairs if expand else document_pairs.first_documents_pairs
    statement = similar(chosen=True)
    yield from _pair_rows(transaction.stream(statement, {**there, "min_sim": min_sim}))
    for one, other, similarity, exact, *collections in _pair_rows(transaction.stream(statement, back)):
        yield other, one, similarity, exact, collections[1], collections[0]


def documents_of(transaction: Transaction, content_keys: NDArray[np.int64]) -> Iterator[tuple[int, str, str]]:
    """Yield (content_key, doc_id, collection) of the contents' documents, ordered by content key and document key."""
    for block in transaction.keyed(statements.content_documents(), content_keys):
        yield from ((key, doc_id, collection) for key, doc_id, collection in block)


def content_of(transaction: Transaction, collection: str, doc_id: str) -> tuple[bool, int | None]:
    """Return whether the document exists, and its content_key, which is None if the document is empty."""
    statement = select(document.c.content_key).where(_IN_COLLECTION, document.c.doc_id == doc_id)
    row = transaction.execute(statement, {"collection": collection}).one_or_none()
    return (False, None) if row is None else (True, row.content_key)


def neighbours(transaction: Transaction, content_key: int, min_sim: float) -> list[tuple[str, float, bool, str]]:
    """Return (doc_id, similarity, exact, collection) of a content's documents and near-duplicates, best first."""
    statement = statements.neighbours()
    rows = transaction.execute(statement, {"content_key": content_key, "min_sim": min_sim})
    return [(doc_id, similarity, bool(exact), collection) for doc_id, similarity, exact, collection in rows]


def doc_keys(transaction: Transaction, collection: str, doc_id: str) -> list[int]:
    """Return a list with the key of the document, or an empty list if there is no such document."""
    statement = select(document.c.doc_key).where(_IN_COLLECTION, document.c.doc_id == doc_id)
    return list(transaction.execute(statement, {"collection": collection}).scalars())


def figures(transaction: Transaction) -> Figures:
    """Return the number of documents, contents, pairs and so on in the index, and its size."""
    skipped = select(func.coalesce(func.sum(oversized_bucket.c.num_pairs), 0))
    return Figures(
        num_documents=_count(transaction, document),
        num_empty=_count(transaction, document, document.c.content_key.is_(None)),
        num_contents=_count(transaction, content),
        num_texts=_count(transaction, content_text),
        num_sources=_count(transaction, source),
        num_unlinked=_count(transaction, unlinked),
        num_buckets=_count(transaction, band_bucket),
        num_pairs=_count(transaction, pair),
        num_estimated_pairs=_count(transaction, pair, ~pair.c.exact),
        num_hot_buckets=_count(transaction, oversized_bucket),
        num_skipped_pairs=int(transaction.execute(skipped).scalar_one()),
        num_bytes=transaction.dialect.size(transaction.connection),
    )


def runs(transaction: Transaction, count: int) -> list[RunRow]:
    """Return the last `count` runs, newest first."""
    special = {"run": run.c.run_key, "collection": func.coalesce(name_of(run.c.collection_key), "")}
    columns = [special[name] if name in special else run.c[name] for name in RunRow.__dataclass_fields__]
    statement = select(*columns).order_by(run.c.run_key.desc()).limit(count)
    rows = [RunRow(*row) for row in transaction.execute(statement)]
    return _settled(rows, transaction.dialect.is_ingesting(transaction.connection))


def _settled(rows: Sequence[RunRow], is_ingesting: bool | None) -> list[RunRow]:
    """Return the runs with their actual states. A killed run is still recorded as "running"."""
    settled = []
    for row in rows:
        state = row.state
        if state == "running" and (row.verb != "ingest" or is_ingesting is None):
            state = "running or killed"
        elif state == "running":
            # Only the newest can still be running, because the lock admits one ingest at a time.
            state, is_ingesting = ("running" if is_ingesting else "killed"), False
        settled.append(replace(row, state=state))
    return settled


def rejections(transaction: Transaction, run_key: int) -> Iterator[Rejection]:
    """Yield the items that a run could not ingest, in the order in which it read them."""
    statement = (
        select(rejected.c.source, rejected.c.locator, rejected.c.reason)
        .where(rejected.c.run_key == run_key)
        .order_by(rejected.c.rejected_key)
    )
    for block in transaction.stream(statement):
        yield from (Rejection(*row) for row in block)


def _pair_rows(blocks: Iterable[list[Row[*tuple[Any, ...]]]]) -> Iterator[PairRow]:
    for block in blocks:
        yield from ((left, right, near, bool(exact), *names) for left, right, near, exact, *names in block)


def _count(transaction: Transaction, table: Table, condition: object = None) -> int:
    statement = select(func.count()).select_from(table)
    if condition is not None:
        statement = statement.where(condition)  # type: ignore[arg-type]
    return int(transaction.execute(statement).scalar_one())
