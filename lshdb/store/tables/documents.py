"""Writes documents and contents, and takes away what no document points to any more.

Limitation: the caller holds the write lock; keys are counted and digests looked up without a second check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import and_, case, delete, exists, or_, select, tuple_, update

from lshdb.model.values import BandKeys, Counts, Document, Sketches
from lshdb.store.schema import band_bucket, content, content_text, document, pair, unlinked
from lshdb.store.staging import staged_bucket, staged_digest, staged_document, staged_key
from lshdb.store.tables import collections
from lshdb.store.tables.buckets import bucket_rows
from lshdb.store.tables.held_buckets import HeldBuckets
from lshdb.store.transaction import Transaction

__all__ = ["Place", "PutOutcome", "delete_buckets", "delete_contents", "orphans", "put", "remove", "stale"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a batch belongs: its run, its collection and the keys of its sources by URI; no other source is kept."""

    run_key: int
    collection: str
    source_keys: dict[str, int]


@dataclass(frozen=True, slots=True)
class PutOutcome:
    """What a batch changed; `released` are contents that documents moved away from, some within the batch.

    `num_displaced` documents took the place of another text with their id that was read from another source; a newer
    record of a dated one does not count, for that is what a second crawl is.
    """

    num_added: int
    num_updated: int
    num_unchanged: int
    num_contents: int
    num_empty: int
    num_displaced: int
    released: NDArray[np.int64]

    @property
    def counts(self) -> Counts:
        """What the batch did, as a run counts it."""
        return Counts(
            num_added=self.num_added,
            num_updated=self.num_updated,
            num_unchanged=self.num_unchanged,
            num_empty=self.num_empty,
            num_contents=self.num_contents,
        )


def put(
    transaction: Transaction,
    documents: Sequence[Document],
    sketches: Sketches,
    place: Place,
    held: HeldBuckets | None = None,
) -> PutOutcome:
    """Adds or refreshes documents, aligned with their sketches.

    Of two with one doc_id the later stays, or the newer where both are dated, whatever the order they come in.

    Args: held: takes the buckets of new contents, for the caller to write before the transaction ends.
    """
    content_keys, num_contents = _put_contents(transaction, sketches, held)
    last = _newest(documents)
    collection_key = collections.ensure(transaction, place.collection)
    _stage_documents(transaction, documents, content_keys, place, list(last.values()))
    known = _known_documents(transaction, collection_key)
    fresh = [index for index in last.values() if index not in known]
    if known:
        _update_documents(transaction, place, collection_key)
    _insert_documents(transaction, documents, content_keys, place, collection_key, fresh)
    outdated = {index for index, old in known.items() if _is_older(documents[index], old.dated_at)}
    moved = [index for index, old in known.items() if old.content_key != content_keys[index] and index not in outdated]
    replaced = set(range(len(documents))).difference(last.values()) | outdated
    released = {known[index].content_key for index in moved} | {content_keys[index] for index in replaced}
    return PutOutcome(
        num_added=len(fresh),
        # A second record with the same id in one batch is an update, as it is in two batches.
        num_updated=len(moved) + len(documents) - len(last),
        num_unchanged=len(known) - len(moved),
        num_contents=num_contents,
        num_empty=int((sketches.num_shingles == 0).sum()),
        num_displaced=_num_displaced_within(documents, content_keys, last)
        + sum(_displaces(documents[index], known[index], place) for index in moved),
        released=np.asarray(sorted(key for key in released if key is not None), dtype=np.int64),
    )


def remove(transaction: Transaction, doc_keys: Sequence[int]) -> NDArray[np.int64]:
    """Deletes documents. Returns: the contents they pointed to, int64, ascending."""
    transaction.stage(staged_key, {"staged_key": doc_keys})
    mine = document.c.doc_key.in_(select(staged_key.c.staged_key))
    statement = select(document.c.content_key).where(mine, document.c.content_key.is_not(None)).distinct()
    released = sorted(transaction.execute(statement).scalars())
    transaction.execute(delete(document).where(mine))
    return np.asarray(released, dtype=np.int64)


def stale(transaction: Transaction, collection: str, last_run: int) -> list[int]:
    """Keys of the documents that a program handed over, and that no run behind `last_run` did again."""
    mine = document.c.collection_key == collections.key_of(transaction, collection)
    given = (document.c.source_key.is_(None), document.c.last_seen_run <= last_run)
    return list(transaction.execute(select(document.c.doc_key).where(mine, *given)).scalars())


def orphans(transaction: Transaction, content_keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[bytes]]:
    """Those of the contents that no document points to: keys, int64, ascending, and their signature bytes."""
    transaction.stage(staged_key, {"staged_key": content_keys})
    statement = (
        select(content.c.content_key, content.c.signature)
        .join_from(staged_key, content, content.c.content_key == staged_key.c.staged_key)
        .where(~exists().where(document.c.content_key == content.c.content_key))
        # By the staged key: SQLite then begins there, and not with a scan of the contents in their order.
        .order_by(staged_key.c.staged_key)
    )
    rows = transaction.execute(statement).all()
    return np.asarray([row.content_key for row in rows], dtype=np.int64), [row.signature for row in rows]


def delete_contents(transaction: Transaction, content_keys: NDArray[np.int64], band_keys: BandKeys) -> None:
    """Deletes contents with their texts, pairs and buckets; `band_keys`, shape (n, bands), say which buckets."""
    transaction.stage(staged_key, {"staged_key": content_keys})
    mine = select(staged_key.c.staged_key)
    transaction.execute(delete(pair).where(pair.c.left_key.in_(mine)))
    transaction.execute(delete(pair).where(pair.c.right_key.in_(mine)))
    for table in (content_text, unlinked, content):
        transaction.execute(delete(table).where(table.c.content_key.in_(mine)))
    delete_buckets(transaction, content_keys, band_keys)


def delete_buckets(transaction: Transaction, content_keys: NDArray[np.int64], band_keys: BandKeys) -> None:
    """Deletes the rows that contents have, or may have, in these buckets."""
    transaction.stage(staged_bucket, bucket_rows(content_keys, band_keys))
    # A row value, not EXISTS: SQLite then seeks the primary key once a row instead of scanning the table.
    transaction.execute(delete(band_bucket).where(tuple_(*band_bucket.primary_key.columns).in_(select(staged_bucket))))


def _put_contents(
    transaction: Transaction, sketches: Sketches, held: HeldBuckets | None
) -> tuple[list[int | None], int]:
    """The content_key of each sketch (None where it is empty), and how many contents are new."""
    filled = np.flatnonzero(sketches.num_shingles)
    identities = np.ascontiguousarray(sketches.digests[filled]).view("V16").ravel()
    digests, first, which = np.unique(identities, return_index=True, return_inverse=True)
    keys = _known_contents(transaction, digests)
    fresh = np.flatnonzero(keys == 0)
    # In reading order, so that keys ascend with it whatever the digests are.
    fresh = fresh[np.argsort(first[fresh])]
    keys[fresh] = transaction.allocate(content, len(fresh))
    _insert_contents(transaction, sketches, filled[first[fresh]], keys[fresh], held)
    content_keys: list[int | None] = [None] * len(sketches)
    for index, key in zip(filled.tolist(), keys[which].tolist(), strict=True):
        content_keys[index] = key
    return content_keys, len(fresh)


def _known_contents(transaction: Transaction, digests: NDArray[np.void]) -> NDArray[np.int64]:
    """The content_key of each digest; 0 where there is none yet."""
    transaction.stage(staged_digest, {"ordinal": np.arange(len(digests)), "digest": [d.tobytes() for d in digests]})
    statement = select(staged_digest.c.ordinal, content.c.content_key).join_from(
        staged_digest, content, content.c.digest == staged_digest.c.digest
    )
    keys = np.zeros(len(digests), dtype=np.int64)
    for ordinal, key in transaction.execute(statement):
        keys[ordinal] = key
    return keys


def _insert_contents(
    transaction: Transaction,
    sketches: Sketches,
    rows: NDArray[np.int64],
    keys: NDArray[np.int64],
    held: HeldBuckets | None,
) -> None:
    minima = sketches.signatures.minima[rows].astype("<u4", copy=False)
    transaction.bulk_insert(
        content,
        {
            "content_key": keys.tolist(),
            "digest": [row.tobytes() for row in sketches.digests[rows]],
            "num_shingles": sketches.num_shingles[rows].tolist(),
            "signature": [row.tobytes() for row in minima],
        },
    )
    if sketches.texts is not None:
        transaction.bulk_insert(
            content_text, {"content_key": keys.tolist(), "text": [sketches.texts[row] for row in rows]}
        )
    made = replace(sketches.band_keys, keys=sketches.band_keys.keys[rows])
    if held is None:
        transaction.bulk_insert(band_bucket, bucket_rows(keys, made))
    else:
        held.add(keys, made)
    transaction.bulk_insert(unlinked, {"content_key": keys})


def _stage_documents(
    transaction: Transaction,
    documents: Sequence[Document],
    content_keys: Sequence[int | None],
    place: Place,
    indices: Sequence[int],
) -> None:
    transaction.stage(
        staged_document,
        {"ordinal": indices, **_document_columns(documents, content_keys, place, indices)},
    )


def _insert_documents(
    transaction: Transaction,
    documents: Sequence[Document],
    content_keys: Sequence[int | None],
    place: Place,
    collection_key: int,
    indices: Sequence[int],
) -> None:
    columns = {
        "doc_key": transaction.allocate(document, len(indices)).tolist(),
        "collection_key": [collection_key] * len(indices),
        **_document_columns(documents, content_keys, place, indices),
        "first_seen_run": [place.run_key] * len(indices),
        "last_seen_run": [place.run_key] * len(indices),
    }
    transaction.bulk_insert(document, columns)


def _document_columns(
    documents: Sequence[Document], content_keys: Sequence[int | None], place: Place, indices: Sequence[int]
) -> dict[str, Sequence[object]]:
    chosen = [documents[index] for index in indices]
    return {
        "doc_id": [one.doc_id for one in chosen],
        "source_key": [place.source_keys.get(one.source or "") for one in chosen],
        "locator": [one.locator for one in chosen],
        "content_key": [content_keys[index] for index in indices],
        "dated_at": [one.dated_at for one in chosen],
    }


def _newest(documents: Sequence[Document]) -> dict[str, int]:
    """By doc_id: the document that stays."""
    newest: dict[str, int] = {}
    for index, one in enumerate(documents):
        before = newest.get(one.doc_id)
        if before is None or not _is_older(one, documents[before].dated_at):
            newest[one.doc_id] = index
    return newest


def _is_older(one: Document, dated_at: int | None) -> bool:
    return one.dated_at is not None and dated_at is not None and one.dated_at < dated_at


class _Known(NamedTuple):
    """What the index has of a document."""

    content_key: int | None
    dated_at: int | None
    source_key: int | None


def _known_documents(transaction: Transaction, collection_key: int) -> dict[int, _Known]:
    """By ordinal: those staged documents that the index has."""
    columns = (document.c[name] for name in _Known._fields)
    statement = select(staged_document.c.ordinal, *columns).join_from(
        staged_document,
        document,
        and_(document.c.collection_key == collection_key, document.c.doc_id == staged_document.c.doc_id),
    )
    return {ordinal: _Known(*old) for ordinal, *old in transaction.execute(statement)}


def _displaces(one: Document, old: _Known, place: Place) -> bool:
    """Whether a document that moves another one's id to its own text comes from another source."""
    source_key = place.source_keys.get(one.source or "")
    is_dated = one.dated_at is not None and old.dated_at is not None
    return not is_dated and None not in (source_key, old.source_key) and source_key != old.source_key


def _num_displaced_within(
    documents: Sequence[Document], content_keys: Sequence[int | None], last: dict[str, int]
) -> int:
    """How many documents of a batch gave way to another text with their id from another source."""
    return sum(
        one.source != documents[kept].source
        and content_keys[index] != content_keys[kept]
        and None in (one.dated_at, documents[kept].dated_at)
        for index, one in enumerate(documents)
        if (kept := last[one.doc_id]) != index
    )


def _update_documents(transaction: Transaction, place: Place, collection_key: int) -> None:
    """Moves the known ones of the staged documents to what was read of them now, unless a newer record was read."""
    is_older = staged_document.c.dated_at < document.c.dated_at
    statement = (
        update(document)
        .values(
            source_key=staged_document.c.source_key,
            locator=staged_document.c.locator,
            content_key=staged_document.c.content_key,
            dated_at=staged_document.c.dated_at,
            # Of two runs at once, the earlier may come last.
            last_seen_run=case(
                (document.c.last_seen_run > place.run_key, document.c.last_seen_run), else_=place.run_key
            ),
        )
        .where(or_(staged_document.c.dated_at.is_(None), document.c.dated_at.is_(None), ~is_older))
        .where(document.c.collection_key == collection_key, document.c.doc_id == staged_document.c.doc_id)
    )
    transaction.execute(statement)
