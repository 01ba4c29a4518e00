"""Reads and writes `fingerprint_block`, and records the building of a passage index.

The entries of a deleted content stay until `sweep`, because deleting them at once would change a hundred blocks for
each content. Keys are never reused, so the entries belong to no other content, and a candidate without a text is
ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from sqlalchemy import Row, delete, insert, select, update

from lshdb.model.arrays import among, distinct
from lshdb.model.values import Fingerprints
from lshdb.store.dialect import Columns
from lshdb.store.schema import content, content_text, fingerprint_block, index_params, passage_build
from lshdb.store.statements import passages
from lshdb.store.tables.entries import Entries, packed, unpacked
from lshdb.store.transaction import Transaction

__all__ = ["Build", "advance", "all_entries", "begin", "building", "clear", "contents", "entries_of", "finish"]
__all__ += ["documents_in", "frequent", "next_contents", "occurrences", "put", "replace", "sweep"]

NUM_PREFIXES: Final = 65_536
# Blocks that are held at a time when all are read: 15 MB.
PAGE_BLOCKS: Final = 10_000


class Build(Struct, frozen=True):
    """Passages that are being added: their number of words, and the last content whose fingerprints exist."""

    passages: int
    position: int


def put(transaction: Transaction, content_keys: NDArray[np.int64], fingerprints: Fingerprints) -> None:
    """Write the fingerprints of new contents. Args: content_keys: int64, shape (n,)."""
    transaction.bulk_insert(fingerprint_block, packed(entries_of(content_keys, fingerprints)))


def entries_of(content_keys: NDArray[np.int64], fingerprints: Fingerprints) -> Entries:
    """Return the entries of contents."""
    return Entries(fingerprints.hashes, np.repeat(content_keys, fingerprints.sizes))


def occurrences(transaction: Transaction, hashes: NDArray[np.uint32]) -> Entries:
    """Return the entries with these fingerprints, sorted by both, perhaps also of deleted contents.

    Args: hashes: uint32, ascending, distinct.
    """
    prefixes = distinct(hashes >> np.uint32(16)).astype(np.int64)
    found = map(_unpacked, transaction.keyed(passages.blocks(), prefixes, 1_000))
    entries = Entries.concatenate([some.chosen(among(some.hashes, hashes)) for some in found])
    return entries.chosen(np.lexsort((entries.content_keys, entries.hashes)))


def all_entries(transaction: Transaction) -> Iterator[Entries]:
    """Yield all entries, those of each fingerprint together, in the order of the fingerprints' high 16 bits."""
    for _, rows in _pages(transaction):
        yield _unpacked(rows)


def contents(transaction: Transaction) -> NDArray[np.int64]:
    """Return the keys of all contents, int64, ascending."""
    return transaction.integers(select(content.c.content_key).order_by(content.c.content_key)).ravel()


def frequent(transaction: Transaction) -> tuple[int, int]:
    """Return how many fingerprints more contents have than the cap of a bucket, and how many pairs that leaves out.

    A pair counts for each such fingerprint. Deleted contents count until `sweep`. Reads the whole table.
    """
    number = num_skipped = 0
    for entries in all_entries(transaction):
        sizes = np.unique(entries.hashes, return_counts=True)[1]
        sizes = sizes[transaction.expansion.is_oversized(sizes)]
        number += len(sizes)
        num_skipped += int(transaction.expansion.num_skipped(sizes).sum())
    return number, num_skipped


def sweep(transaction: Transaction) -> None:
    """Delete the entries of deleted contents, and merge small blocks."""
    alive = contents(transaction)
    for bounds, rows in _pages(transaction):
        entries = _unpacked(rows)
        columns = packed(entries.chosen(among(entries.content_keys, alive)))
        if sum(map(len, columns["entries"])) < 6 * len(entries) or len(columns["prefix"]) < len(rows):
            _rewrite(transaction, bounds, columns)


def replace(transaction: Transaction, content_keys: NDArray[np.int64], fingerprints: Fingerprints) -> None:
    """Correct the entries of some contents. Reads the whole table.

    Args: content_keys: int64, ascending. fingerprints: theirs, in the same order.
    """
    correct = entries_of(content_keys, fingerprints)
    for bounds, rows in _pages(transaction):
        entries = _unpacked(rows)
        others = entries.chosen(~among(entries.content_keys, content_keys))
        prefixes = correct.hashes >> np.uint32(16)
        mine = correct.chosen((prefixes >= bounds["first"]) & (prefixes <= bounds["last"]))
        if len(mine) or len(others) < len(entries):
            _rewrite(transaction, bounds, packed(Entries.concatenate([others, mine])))


def documents_in(transaction: Transaction, within: str | None, prefix: str | None) -> NDArray[np.int64]:
    """Return (content_key, number of documents), int64, shape (n, 2), by key.

    Args:
        within: count only documents of this collection.
        prefix: count only documents whose ids begin with this.
    """
    statement = passages.documents_in_scope(is_within=within is not None, has_prefix=prefix is not None)
    return transaction.integers(statement, {"collection": within, "prefix": prefix})


def building(transaction: Transaction) -> Build | None:
    """Return the passages that are being added, or None."""
    row = transaction.execute(select(passage_build.c.passages, passage_build.c.last_content_key)).one_or_none()
    return None if row is None else Build(*row)


def begin(transaction: Transaction, num_words: int) -> None:
    """Begin to add passages of this many words, and drop all others."""
    clear(transaction)
    transaction.execute(update(index_params).values(passages=0))
    transaction.execute(insert(passage_build).values(build_key=1, passages=num_words, last_content_key=0))


def clear(transaction: Transaction) -> None:
    """Delete all fingerprints."""
    for table in (fingerprint_block, passage_build):
        transaction.execute(delete(table))


def advance(transaction: Transaction, position: int) -> None:
    """Record the last content whose fingerprints exist."""
    transaction.execute(update(passage_build).values(last_content_key=position))


def finish(transaction: Transaction, num_words: int) -> None:
    """Make the passages a parameter of the index: every content has its fingerprints."""
    transaction.execute(delete(passage_build))
    transaction.execute(update(index_params).values(passages=num_words))


def next_contents(transaction: Transaction, position: int, count: int) -> NDArray[np.int64]:
    """Return the first `count` contents with a text and with keys greater than `position`: int64, ascending."""
    key = content_text.c.content_key
    return transaction.integers(select(key).where(key > position).order_by(key).limit(count)).ravel()


def _unpacked(rows: Sequence[Row[*tuple[Any, ...]]]) -> Entries:
    prefixes, first_keys, blocks = zip(*rows, strict=True) if rows else ((), (), ())
    return unpacked(prefixes, first_keys, blocks)


def _rewrite(transaction: Transaction, bounds: dict[str, int], columns: Columns) -> None:
    within = fingerprint_block.c.prefix.between(bounds["first"], bounds["last"])
    transaction.execute(delete(fingerprint_block).where(within))
    transaction.bulk_insert(fingerprint_block, columns)


def _pages(transaction: Transaction) -> Iterator[tuple[dict[str, int], Sequence[Row[*tuple[Any, ...]]]]]:
    """Yield all blocks in the order of the table, those of a prefix together; each page with its range of prefixes."""
    first, count = 0, PAGE_BLOCKS
    while first < NUM_PREFIXES:
        rows = transaction.execute(passages.block_page(), {"first": first, "count": count}).all()
        last = rows[-1].prefix - 1 if len(rows) == count else NUM_PREFIXES - 1
        if last < first:
            # One prefix alone fills the page.
            count *= 2
            continue
        yield {"first": first, "last": last}, [row for row in rows if row.prefix <= last]
        first, count = last + 1, PAGE_BLOCKS
