"""Queries for the answers that lshdb gives: near-duplicate pairs, documents of a content, figures, runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import merge
from itertools import chain, islice
from typing import Any, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from sqlalchemy import Row, func, select

from lshdb.errors import DocumentUnknown
from lshdb.model.choices import PairOrder
from lshdb.model.reports import Figures, RunRow
from lshdb.model.values import BandKeys, Rejection, VerifiedPairs
from lshdb.store.schema import (
    DIGEST_BAND,
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
from lshdb.store.statements.statements import Rows
from lshdb.store.tables import fingerprints, identities
from lshdb.store.tables.buckets import signed_hashes
from lshdb.store.tables.lookups import BucketPlace
from lshdb.store.transaction import Snapshot, Transaction

__all__ = [
    "Chosen",
    "PairRow",
    "content_of",
    "documents_of",
    "figures",
    "neighbours",
    "order_key",
    "pairs",
    "pairs_between",
    "pairs_of_documents",
    "rejections",
    "require_content",
    "runs",
    "settled",
]

_IN_COLLECTION: Final = document.c.collection_key == bound_key("collection")

# (left doc_id, right doc_id, similarity, exact, left's collection, right's collection)
PairRow = tuple[str, str, float, bool, str, str]

# Pairs whose documents are looked up at a time.
GIVEN_PAIRS: Final = 10_000


class Chosen(Struct, frozen=True):
    """Which pairs to read, and in which order.

    Args:
        min_sim, max_sim: the range of their similarity.
        order: None for the order in which the database has them: exact copies first, then by content.
        limit: how many to read at most; None for all.
    """

    min_sim: float
    max_sim: float = 1.0
    order: PairOrder | None = None
    limit: int | None = None


def pairs(
    transaction: Transaction,
    chosen: Chosen,
    *,
    expand: bool,
    within: str | None = None,
    more: Iterable[PairRow] = (),
) -> Iterator[PairRow]:
    """Yield pairs of documents: exact copies first, then pairs of contents, unless another order is chosen.

    Args:
        expand: yield every pair of documents, instead of one document for each content.
        within: the collection of both documents; None for all collections.
        more: pairs that are not stored, in the chosen order. By default they come last.
    """
    is_within = within is not None
    there = {"left_collection": within, "right_collection": within}
    repeated = document_pairs.identical_documents if expand else document_pairs.repeated_documents
    similar = document_pairs.expanded_pairs if expand else document_pairs.first_documents_pairs
    copies = _rows(transaction, repeated(chosen=is_within), chosen, there)
    return _ordered([copies, _similar(transaction, similar(chosen=is_within), chosen, there), more], chosen)


def pairs_between(
    transaction: Transaction,
    chosen: Chosen,
    left: str,
    right: str,
    *,
    expand: bool,
    more: Iterable[PairRow] = (),
) -> Iterator[PairRow]:
    """Yield the same pairs between two collections. The left document is from `left`, the right one from `right`.

    After the exact copies come the pairs in which the left document has the earlier content, then all others.
    """
    there = {"left_collection": left, "right_collection": right}
    back = {"left_collection": right, "right_collection": left}
    shared = document_pairs.shared_documents() if expand else document_pairs.shared_contents()
    similar = document_pairs.expanded_pairs if expand else document_pairs.first_documents_pairs
    statement = similar(chosen=True)
    turned = (
        (other, one, similarity, exact, others, ones)
        for one, other, similarity, exact, ones, others in _similar(transaction, statement, chosen, back, turned=True)
    )
    copies = _rows(transaction, shared, chosen, there)
    return _ordered([copies, _similar(transaction, statement, chosen, there), turned, more], chosen)


def pairs_of_documents(
    transaction: Transaction,
    found: VerifiedPairs,
    *,
    expand: bool,
    between: tuple[str, str] | None = None,
    both_ways: bool = True,
) -> Iterator[PairRow]:
    """Yield the documents of pairs of contents, pair by pair.

    Args:
        between: the collections of the left and the right document, which may be one; None for all collections.
        both_ways: with two collections, the documents of a left content may also be on the right.
    """
    given = found.keys
    if is_turned := both_ways and between is not None and between[0] != between[1]:
        # Each pair in both directions, one after the other.
        given = np.stack([found.keys, found.keys[:, ::-1]], axis=1).reshape(-1, 2)
    statement = document_pairs.given_documents_pairs(expand=expand, chosen=between is not None)
    left, right = between or (None, None)
    for begin, part in enumerate(transaction.parts(given, GIVEN_PAIRS, left_collection=left, right_collection=right)):
        for one, other, place, *names in transaction.execute(statement, part):
            row = (begin * GIVEN_PAIRS + place) // (1 + is_turned)
            yield (one, other, float(found.similarity[row]), bool(found.exact[row]), *names)


def _similar(
    transaction: Transaction, statement: Rows, chosen: Chosen, place: Mapping[str, object], *, turned: bool = False
) -> Iterator[PairRow]:
    """Yield pairs of contents in the range of similarities. Args: turned: their documents will change sides."""
    parameters = {**place, "min_sim": chosen.min_sim, "max_sim": chosen.max_sim}
    if chosen.max_sim < 1.0:
        statement = document_pairs.at_most(statement)
    return _pair_rows(transaction.stream(_arranged(statement, chosen, turned=turned), parameters))


def _rows(transaction: Transaction, statement: Rows, chosen: Chosen, place: Mapping[str, object]) -> Iterator[PairRow]:
    """Yield pairs of exact copies, if their similarity is wanted."""
    if chosen.max_sim < 1.0:
        return iter(())
    return _pair_rows(transaction.stream(_arranged(statement, chosen), place))


def _arranged(statement: Rows, chosen: Chosen, *, turned: bool = False) -> Rows:
    if chosen.order is not None:
        statement = document_pairs.sorted_by(statement, chosen.order, turned=turned)
    return statement if chosen.limit is None else statement.limit(chosen.limit)


def _ordered(parts: Sequence[Iterable[PairRow]], chosen: Chosen) -> Iterator[PairRow]:
    """Return the rows of several parts in the chosen order, up to the limit."""
    rows = chain.from_iterable(parts) if chosen.order is None else merge(*parts, key=order_key(chosen.order))
    return islice(rows, chosen.limit)


def order_key(order: PairOrder) -> Callable[[PairRow], Any]:
    """Return the key by which rows are sorted as the databases sort them: names by their code points."""
    return _SORTED_BY[order]


_SORTED_BY: Final[dict[PairOrder, Callable[[PairRow], Any]]] = {
    "similarity": lambda row: (-row[2], row[:2], row[4:]),
    "id": lambda row: (row[:2], row[4:]),
}


def documents_of(snapshot: Snapshot, content_keys: NDArray[np.int64]) -> Iterator[tuple[int, str, str]]:
    """Yield (content_key, doc_id, collection) of the contents' documents, ordered by content key and document key."""
    for part in snapshot.parts(content_keys):
        yield from snapshot.rows(statements.content_documents(), part)


def content_of(transaction: Transaction, collection: str, doc_id: str) -> tuple[bool, int | None]:
    """Return whether the document exists, and its content_key, which is None if the document is empty."""
    statement = select(document.c.content_key).where(_IN_COLLECTION, document.c.doc_id == doc_id)
    row = transaction.execute(statement, {"collection": collection}).one_or_none()
    return (False, None) if row is None else (True, row.content_key)


def require_content(transaction: Transaction, collection: str, doc_id: str, url: str) -> int | None:
    """Return the content_key of a document; None if it is empty. Raises: DocumentUnknown: the index lacks it."""
    is_there, content_key = content_of(transaction, collection, doc_id)
    if not is_there:
        raise DocumentUnknown(doc_id=doc_id, collection=collection, url=url)
    return content_key


def neighbours(transaction: Transaction, content_key: int, min_sim: float) -> list[tuple[str, float, bool, str]]:
    """Return (doc_id, similarity, exact, collection) of a content's documents and near-duplicates, best first."""
    statement = statements.neighbours()
    rows = transaction.execute(statement, {"content_key": content_key, "min_sim": min_sim})
    return [(doc_id, similarity, bool(exact), collection) for doc_id, similarity, exact, collection in rows]


def settled(
    snapshot: Snapshot, digest: bytes, places: Sequence[BucketPlace], band_keys: BandKeys, min_sim: float
) -> list[tuple[int, float, bool, str, str]] | None:
    """Return the documents of the content with a digest and of its stored mates, by content and document key.

    A row is (content_key, similarity, exact, doc_id, collection). None if there is no such content, or if not every
    pair of it is stored.

    Args: places: of the digest, and any others, as of `lookups.possible`. band_keys: shape (1, bands).
    """
    if not (mine := [place for place in places if place[1] == DIGEST_BAND]):
        return None
    hashes = {"given": signed_hashes(band_keys)[:, 0].tolist(), "first_band": band_keys.first_band}
    asked = {**hashes, "places": mine, "digest": digest, "min_sim": min_sim}
    found = snapshot.rows(statements.settled_documents(), asked)
    return [(key, similarity, bool(exact), *names) for key, similarity, exact, *names in found] or None


def figures(transaction: Transaction) -> Figures:
    """Return the number of documents, contents, pairs and so on in the index, and its size."""
    skipped = select(func.coalesce(func.sum(oversized_bucket.c.num_pairs), 0))
    num_frequent, num_skipped = fingerprints.frequent(transaction)
    return Figures(
        num_documents=transaction.num_rows(document),
        num_empty=transaction.num_rows(document, document.c.content_key.is_(None)),
        num_contents=identities.num_contents(transaction),
        num_sources=transaction.num_rows(source),
        num_unlinked=transaction.num_rows(unlinked),
        num_pairs=transaction.num_rows(pair),
        num_estimated_pairs=transaction.num_rows(pair, ~pair.c.exact),
        num_hot_buckets=transaction.num_rows(oversized_bucket),
        num_skipped_pairs=int(transaction.execute(skipped).scalar_one()),
        num_frequent_fingerprints=num_frequent,
        num_skipped_containments=num_skipped,
        num_bytes=transaction.dialect.size(transaction.connection),
    )


def runs(transaction: Transaction, count: int, before: int | None = None) -> list[RunRow]:
    """Return the last `count` runs, newest first. Args: before: only runs with a smaller key."""
    special = {"run": run.c.run_key, "collection": func.coalesce(name_of(run.c.collection_key), "")}
    columns = [special[name] if name in special else run.c[name] for name in RunRow.__dataclass_fields__]
    statement = select(*columns).order_by(run.c.run_key.desc()).limit(count)
    if before is not None:
        statement = statement.where(run.c.run_key < before)
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
