"""Reads and writes of linking and verification: bucket mates, signatures, texts and pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from sqlalchemy import Row, bindparam, delete, func, insert, select, update

from lshdb.model.arrays import distinct
from lshdb.model.values import BandKeys, VerifiedPairs
from lshdb.store.dialect import Columns
from lshdb.store.given import given, has_given
from lshdb.store.returned import as_text, integers
from lshdb.store.schema import content, document, pair, unlinked
from lshdb.store.staging import staged_pair
from lshdb.store.statements import statements
from lshdb.store.tables import lookups
from lshdb.store.tables.buckets import buckets_of, contents_at
from lshdb.store.tables.lookups import BucketPlace
from lshdb.store.transaction import Snapshot, Transaction

__all__ = [
    "StoredSignatures",
    "analyse_contents",
    "analyse_pairs",
    "candidates_at",
    "change_pairs",
    "contents_in",
    "delete_pairs",
    "existing",
    "existing_between",
    "mark_linked",
    "mark_unlinked",
    "num_contents",
    "num_pairs",
    "num_unlinked",
    "pair_page",
    "pair_pages",
    "put_pairs",
    "sampled_pairs",
    "signatures",
    "stored_signatures",
    "texts",
    "unlinked_keys",
    "verified_pairs",
]


# Pairs inserted at a time. On their way into the table they are Python objects, which take much memory.
INSERTED_PAIRS: Final = 100_000

_BETWEEN: Final = select(as_text(content.c.content_key)).where(
    content.c.content_key.between(bindparam("first"), bindparam("last"))
)
_UNLINKED: Final = select(unlinked.c.content_key).order_by(unlinked.c.content_key)
_FIRST_UNLINKED: Final = _UNLINKED.limit(bindparam("count"))
_IS_THERE: Final = select(unlinked.c.content_key).where(unlinked.c.content_key == given.c.value).exists()
_MARK_UNLINKED: Final = insert(unlinked).from_select(["content_key"], select(given.c.value).where(~_IS_THERE))
_MARK_LINKED: Final = delete(unlinked).where(has_given(unlinked.c.content_key))


class StoredSignatures(Struct, frozen=True):
    """The stored signatures of contents.

    Args:
        keys, num_shingles: int64, shape (n,); keys ascending.
        signatures: n concatenated signatures, as `Signatures.stored` has them.
    """

    keys: NDArray[np.int64]
    num_shingles: NDArray[np.int64]
    signatures: bytes


def num_contents(transaction: Transaction) -> int:
    """Return the number of contents."""
    return transaction.num_rows(content)


def num_pairs(transaction: Transaction, since: int = 0) -> int:
    """Return the number of pairs. Args: since: leave out pairs that runs before this one wrote."""
    # All of them are counted by an index, which is half as large as the table.
    written = [func.coalesce(pair.c.run_key, since) >= since] if since else []
    return transaction.num_rows(pair, *written)


def num_unlinked(transaction: Transaction) -> int:
    """Return the number of contents whose pairs have not been computed yet."""
    return transaction.num_rows(unlinked)


def unlinked_keys(transaction: Transaction, count: int | None = None) -> NDArray[np.int64]:
    """Return the contents whose pairs have not been computed yet, int64, ascending. Args: count: at most this many."""
    if count is None:
        return transaction.integers(_UNLINKED)[:, 0]
    return transaction.few_integers(_FIRST_UNLINKED, {"count": count})[:, 0]


def candidates_at(snapshot: Snapshot, places: Sequence[BucketPlace], most: int | None = None) -> NDArray[np.int64]:
    """Return the contents in any of the places, int64, ascending. Args: most: any this many of them are enough."""
    found = islice(snapshot.rows(statements.contents_at(), {"places": places}) if places else (), most)
    # One by one, because an oversized bucket holds many: as a list, each would take 60 bytes instead of 8.
    return np.sort(np.fromiter((key for (key,) in found), dtype=np.int64))


def contents_in(transaction: Transaction, band_keys: BandKeys) -> Iterator[NDArray[np.int64]]:
    """Yield (row of a sketch, content_key) of the contents that share a bucket with it, int64, shape (n, 2).

    A pair occurs once for each band that it shares.
    """
    asked = buckets_of(band_keys)
    # In the order of the table, so that successive lookups go to the same page.
    order = np.lexsort((asked[:, 1], asked[:, 0]))
    asked = asked[order]
    for block in contents_at(transaction, asked, lookups.places(transaction, asked)):
        block[:, 0] = order[block[:, 0]] % len(band_keys)
        yield block


def signatures(snapshot: Snapshot, content_keys: NDArray[np.int64]) -> StoredSignatures:
    """Return the given contents that exist."""
    parts = snapshot.parts(content_keys)
    return stored_signatures([row for part in parts for row in snapshot.rows(statements.signatures(), part)])


def stored_signatures(rows: Sequence[Sequence[Any]]) -> StoredSignatures:
    """Return rows of (content_key, num_shingles, signature) as arrays."""
    keys, num_shingles, signatures = zip(*rows, strict=True) if rows else ((), (), ())
    return StoredSignatures(np.asarray(keys, np.int64), np.asarray(num_shingles, np.int64), b"".join(signatures))


def texts(snapshot: Snapshot, content_keys: NDArray[np.int64]) -> Iterator[tuple[int, bytes]]:
    """Yield (content_key, zstd frame) of the contents whose text is kept, ascending."""
    for part in snapshot.parts(content_keys, 1_000):
        yield from snapshot.rows(statements.kept_texts(), part)


def pair_page(transaction: Transaction, after: tuple[int, int], count: int, since: int = 0) -> VerifiedPairs:
    """Return the first `count` stored pairs after the pair `after`, sorted.

    Args: since: leave out pairs that runs before this one wrote.
    """
    parameters = {"left_key": after[0], "right_key": after[1], "count": count, "since": since}
    return verified_pairs(transaction.execute(statements.pair_page(), parameters).all())


def pair_pages(transaction: Transaction, count: int, since: int = 0) -> Iterator[VerifiedPairs]:
    """Yield all stored pairs, sorted, `count` at a time. Args: since: as of `pair_page`."""
    after = (-1, -1)
    while len(page := pair_page(transaction, after, count, since)):
        yield page
        after = (int(page.keys[-1, 0]), int(page.keys[-1, 1]))


def sampled_pairs(transaction: Transaction, count: int, since: int, chance: np.random.Generator) -> VerifiedPairs:
    """Return `count` random pairs, or all if there are fewer, sorted.

    Args: since: leave out pairs that runs before this one wrote.
    """
    a, b, c = chance.integers(1, 2**30, 3).tolist()
    parameters = {"a": a, "b": b, "c": c, "count": count, "since": since}
    return verified_pairs(sorted(transaction.execute(statements.pair_sample(), parameters).all()))


def verified_pairs(rows: Sequence[Row[*tuple[Any, ...]]]) -> VerifiedPairs:
    """Return rows of (left_key, right_key, similarity, exact) as arrays."""
    return VerifiedPairs(
        keys=np.asarray([(row.left_key, row.right_key) for row in rows], dtype=np.int64).reshape(-1, 2),
        similarity=np.asarray([row.similarity for row in rows], dtype=np.float64),
        exact=np.asarray([row.exact for row in rows], dtype=np.bool_),
    )


def put_pairs(transaction: Transaction, pairs: VerifiedPairs, run_key: int | None) -> int:
    """Store the pairs that are not stored yet, except pairs of contents that were deleted meanwhile.

    Returns: how many were stored.
    """
    there = np.isin(pairs.keys, existing(transaction, distinct(pairs.keys))).all(axis=1)
    # In the order of the primary key, so that successive rows go to the same page.
    order = np.lexsort((pairs.keys[:, 1], pairs.keys[:, 0]))
    chosen = order[np.take(there, order)]
    slices = (chosen[begin : begin + INSERTED_PAIRS] for begin in range(0, len(chosen), INSERTED_PAIRS))
    return sum(transaction.insert_absent(pair, _pair_columns(pairs, some, run_key)) for some in slices)


def _pair_columns(pairs: VerifiedPairs, chosen: NDArray[np.int64], run_key: int | None) -> Columns:
    return {
        "left_key": pairs.keys[chosen, 0],
        "right_key": pairs.keys[chosen, 1],
        "similarity": pairs.similarity[chosen],
        "exact": pairs.exact[chosen],
        **({} if run_key is None else {"run_key": np.full(len(chosen), run_key)}),
    }


def existing(transaction: Transaction, content_keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the given contents that exist, int64, ascending. Args: content_keys: int64, ascending."""
    blocks = transaction.keyed(statements.existing_contents(), content_keys)
    return np.asarray([key for block in blocks for (key,) in block], dtype=np.int64)


def existing_between(transaction: Transaction, first: int, last: int) -> NDArray[np.int64]:
    """Return the contents from one key to another, both included, int64, in any order."""
    return integers(transaction.execute(_BETWEEN, {"first": first, "last": last}).scalar_one())


def change_pairs(transaction: Transaction, pairs: VerifiedPairs) -> None:
    """Change the similarities of stored pairs."""
    staged = {"left_key": pairs.keys[:, 0], "right_key": pairs.keys[:, 1]}
    transaction.stage(staged_pair, {**staged, "similarity": pairs.similarity, "exact": pairs.exact})
    same = (pair.c.left_key == staged_pair.c.left_key) & (pair.c.right_key == staged_pair.c.right_key)
    values = {"similarity": staged_pair.c.similarity, "exact": staged_pair.c.exact}
    transaction.execute(update(pair).values(values).where(same))


def delete_pairs(transaction: Transaction, pairs: VerifiedPairs) -> None:
    """Delete stored pairs."""
    transaction.delete(pair, {"left_key": pairs.keys[:, 0], "right_key": pairs.keys[:, 1]})


def mark_unlinked(transaction: Transaction, content_keys: NDArray[np.int64]) -> None:
    """Add contents to the list of contents to link."""
    for part in transaction.parts(content_keys):
        transaction.execute(_MARK_UNLINKED, part)


def mark_linked(transaction: Transaction, content_keys: NDArray[np.int64]) -> None:
    """Remove contents from the list of contents to link."""
    for part in transaction.parts(content_keys):
        transaction.execute(_MARK_LINKED, part)


def analyse_contents(transaction: Transaction) -> None:
    """Give the planner statistics of what an ingest has filled."""
    for table in (content, document):
        transaction.dialect.analyse(transaction.connection, table)


def analyse_pairs(transaction: Transaction) -> None:
    """Give the planner statistics of what a link of many contents has filled."""
    transaction.dialect.analyse(transaction.connection, pair)
