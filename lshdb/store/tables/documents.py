"""Writes documents and contents, and deletes contents that no document refers to any more.

Limitation: the caller must hold the write lock. Keys are allocated and digests looked up without a second check.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, and_, case, delete, exists, or_, select, update

from lshdb.model.values import BandKeys, Conflicts, Counts, Document, Sketches
from lshdb.store.given import given, has_given
from lshdb.store.schema import content, content_text, document, new_digest, pair, unlinked
from lshdb.store.staging import staged_document
from lshdb.store.tables import collections, fingerprints, identities, runs
from lshdb.store.tables.buckets import bucket_rows, delete_rows, joined, put_rows
from lshdb.store.tables.claims import Place, claim
from lshdb.store.tables.held_buckets import HeldBuckets
from lshdb.store.transaction import Transaction

__all__ = [
    "Place",
    "PutOutcome",
    "confirm",
    "delete_buckets",
    "delete_contents",
    "orphans",
    "put",
    "put_known",
    "remove",
    "some_of",
    "stale",
]


class PutOutcome(Struct, frozen=True):
    """What a batch changed.

    Args:
        conflicts: documents whose id belonged to a different text.
        released: contents that documents no longer refer to, including texts that were replaced within the batch.
    """

    counts: Counts
    conflicts: Conflicts
    released: NDArray[np.int64]


def put(
    transaction: Transaction,
    documents: Sequence[Document],
    sketches: Sketches,
    place: Place,
    held: HeldBuckets | None = None,
) -> PutOutcome:
    """Add or update documents.

    If a doc_id occurs twice in a source, the later document stays. If both are dated, the newer one stays, in whatever
    order they come. If two sources bring a doc_id, see `claims`.

    Args:
        sketches: of the documents, in the same order.
        held: collects the buckets and digests of new contents. The caller must write them before the transaction ends.

    Raises: IdConflict: two sources bring one id, and `place` calls that an error.
    """
    content_keys, num_contents = _put_contents(transaction, sketches, held)
    outcome = put_known(transaction, documents, content_keys, place)
    return replace(outcome, counts=outcome.counts + Counts(num_contents=num_contents))


def put_known(
    transaction: Transaction, documents: Sequence[Document], content_keys: Sequence[int | None], place: Place
) -> PutOutcome:
    """Add or update documents whose contents are in the index, as `put` does.

    Args: content_keys: of the documents, in the same order; None for an empty document.
    """
    collection_key = collections.ensure(transaction, place.collection)
    claimed = claim(transaction, documents, content_keys, place, collection_key)
    documents, known, last = claimed.documents, claimed.known, claimed.last
    fresh = [index for doc_id, index in last.items() if doc_id not in known]
    seen = [index for doc_id, index in last.items() if doc_id in known]
    if seen:
        _stage_documents(transaction, documents, content_keys, place, seen)
        _update_documents(transaction, place, collection_key)
    if claimed.outdated:
        _stage_documents(transaction, documents, content_keys, place, claimed.outdated)
        _see_outdated(transaction, place, collection_key)
    _insert_documents(transaction, documents, content_keys, place, collection_key, fresh)
    before = {index: known[documents[index].doc_id].content_key for index in seen}
    released = {key for index, key in before.items() if key != content_keys[index]}
    released |= {content_keys[index] for index in set(range(len(documents))).difference(last.values())}
    num_stored = len(documents) - claimed.conflicts.num_left_out
    counts = Counts(
        num_added=len(fresh),
        num_updated=claimed.num_updated,
        num_unchanged=num_stored - len(fresh) - claimed.num_updated,
        num_empty=sum(key is None for key in content_keys),
    )
    return PutOutcome(
        counts,
        claimed.conflicts,
        released=np.asarray(sorted(key for key in released if key is not None), dtype=np.int64),
    )


def confirm(transaction: Transaction, captures: Sequence[Document], place: Place) -> None:
    """Give documents the dates at which a crawler found them unchanged, if these are newer than their own.

    Their source stays the file that holds the text.
    """
    collection_key = collections.ensure(transaction, place.collection)
    by_date = sorted(range(len(captures)), key=lambda index: captures[index].dated_at or 0)
    newest = {captures[index].doc_id: index for index in by_date}
    _stage_documents(transaction, captures, [None] * len(captures), place, list(newest.values()))
    date = staged_document.c.dated_at
    is_newer = or_(document.c.dated_at.is_(None), document.c.dated_at < date)
    statement = update(document).values(dated_at=date).where(date.is_not(None), is_newer)
    transaction.execute(statement.where(_is_staged(collection_key)))


def remove(transaction: Transaction, doc_keys: Sequence[int]) -> NDArray[np.int64]:
    """Delete documents. Returns: the contents that they referred to, int64, ascending."""
    mine, asked = has_given(document.c.doc_key), {"given": doc_keys}
    statement = select(document.c.content_key).where(mine, document.c.content_key.is_not(None)).distinct()
    released = sorted(transaction.execute(statement, asked).scalars())
    transaction.execute(delete(document).where(mine), asked)
    return np.asarray(released, dtype=np.int64)


def some_of(transaction: Transaction, collection: str, count: int) -> list[int]:
    """Return the keys of `count` documents of a collection, or of all if there are fewer."""
    mine = document.c.collection_key == collections.key_of(transaction, collection)
    # In the order of the index on (collection_key, doc_id).
    statement = select(document.c.doc_key).where(mine).order_by(document.c.doc_id).limit(count)
    return list(transaction.execute(statement).scalars())


def stale(transaction: Transaction, collection: str, last_run: int) -> list[int]:
    """Return the keys of documents that a program added, and that no run after `last_run` added again."""
    mine = document.c.collection_key == collections.key_of(transaction, collection)
    given = (document.c.source_key.is_(None), document.c.last_seen_run <= last_run)
    return list(transaction.execute(select(document.c.doc_key).where(mine, *given)).scalars())


def orphans(transaction: Transaction, content_keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[bytes]]:
    """Return the given contents that no document refers to: their keys, int64, ascending, and their signatures."""
    statement = (
        select(content.c.content_key, content.c.signature)
        .join_from(given, content, content.c.content_key == given.c.value)
        .where(~exists().where(document.c.content_key == content.c.content_key))
        # Ordered by position, so that SQLite starts with the given keys instead of scanning the contents.
        .order_by(given.c.key)
    )
    rows = [row for block in transaction.keyed(statement, np.sort(content_keys)) for row in block]
    return np.asarray([row.content_key for row in rows], dtype=np.int64), [row.signature for row in rows]


def delete_contents(transaction: Transaction, content_keys: NDArray[np.int64], band_keys: BandKeys) -> None:
    """Delete contents with their texts, pairs and buckets. Args: band_keys: their buckets, shape (n, bands)."""
    digests = identities.of_contents(transaction, content_keys)
    others = (table.c.content_key for table in (content_text, unlinked, new_digest, content))
    for key in (pair.c.left_key, pair.c.right_key, *others):
        for part in transaction.parts(content_keys):
            transaction.execute(delete(key.table).where(has_given(key)), part)
    delete_rows(transaction, joined(bucket_rows(content_keys, band_keys), identities.rows_by_key(digests)))


def delete_buckets(transaction: Transaction, content_keys: NDArray[np.int64], band_keys: BandKeys) -> None:
    """Delete the rows of contents in these buckets. Rows that do not exist are ignored."""
    delete_rows(transaction, bucket_rows(content_keys, band_keys))


def _put_contents(
    transaction: Transaction, sketches: Sketches, held: HeldBuckets | None
) -> tuple[list[int | None], int]:
    """Return the content_key of each sketch (None if it is empty), and the number of new contents."""
    filled = np.flatnonzero(sketches.num_shingles)
    digests, first, which = np.unique(_as_bytes(sketches.digests[filled]), return_index=True, return_inverse=True)
    keys = identities.known(transaction, digests, held)
    fresh = np.flatnonzero(keys == 0)
    # In reading order, so that keys ascend in the order of reading and not of the digests.
    fresh = fresh[np.argsort(first[fresh])]
    keys[fresh] = transaction.allocate(content, len(fresh))
    _insert_contents(transaction, sketches, filled[first[fresh]], keys[fresh], held)
    content_keys: list[int | None] = [None] * len(sketches)
    for index, key in zip(filled.tolist(), keys[which].tolist(), strict=True):
        content_keys[index] = key
    return content_keys, len(fresh)


def _as_bytes(rows: NDArray[np.generic]) -> NDArray[np.void]:
    """Return the bytes of each row, shape (n,). Args: rows: contiguous, shape (n, columns)."""
    return rows.view(f"V{rows.shape[1] * rows.itemsize}").ravel()


def _insert_contents(
    transaction: Transaction,
    sketches: Sketches,
    rows: NDArray[np.int64],
    keys: NDArray[np.int64],
    held: HeldBuckets | None,
) -> None:
    digests = _as_bytes(sketches.digests[rows])
    transaction.bulk_insert(
        content,
        {
            "content_key": keys,
            "digest": digests,
            "num_shingles": sketches.num_shingles[rows],
            "signature": _as_bytes(sketches.signatures.stored[rows]),
        },
    )
    if sketches.texts is not None:
        transaction.bulk_insert(
            content_text, {"content_key": keys.tolist(), "text": [sketches.texts[row] for row in rows]}
        )
    made = replace(sketches.band_keys, keys=sketches.band_keys.keys[rows])
    prints = None if sketches.fingerprints is None else sketches.fingerprints.chosen(rows)
    if held is not None:
        held.add(keys, made, identities.buckets_of(digests), prints)
    else:
        put_rows(transaction, joined(bucket_rows(keys, made), identities.rows_of(keys, digests)))
        if prints is not None:
            fingerprints.put(transaction, keys, prints)
    transaction.bulk_insert(unlinked, {"content_key": keys})


def _stage_documents(
    transaction: Transaction,
    documents: Sequence[Document],
    content_keys: Sequence[int | None],
    place: Place,
    indices: Sequence[int],
) -> None:
    transaction.stage(staged_document, _document_columns(documents, content_keys, place, indices))


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


def _update_documents(transaction: Transaction, place: Place, collection_key: int) -> None:
    """Update the staged documents, which the index already has."""
    statement = (
        update(document)
        .values(
            source_key=staged_document.c.source_key,
            locator=staged_document.c.locator,
            content_key=staged_document.c.content_key,
            dated_at=staged_document.c.dated_at,
            last_seen_run=runs.latest(document, place.run_key),
        )
        .where(_is_staged(collection_key))
    )
    transaction.execute(statement)


def _see_outdated(transaction: Transaction, place: Place, collection_key: int) -> None:
    """Record as seen the documents whose own file holds an older record of them.

    A revisit has made such a document newer than the record of its text. Without this, `prune` would remove it as soon
    as the file is read again.
    """
    is_same_text = document.c.content_key == staged_document.c.content_key
    moved = case((is_same_text, staged_document.c.locator), else_=document.c.locator)
    statement = (
        update(document)
        .values(locator=moved, last_seen_run=runs.latest(document, place.run_key))
        .where(staged_document.c.dated_at < document.c.dated_at)
        .where(_is_staged(collection_key), document.c.source_key == staged_document.c.source_key)
    )
    transaction.execute(statement)


def _is_staged(collection_key: int) -> ColumnElement[bool]:
    return and_(document.c.collection_key == collection_key, document.c.doc_id == staged_document.c.doc_id)
