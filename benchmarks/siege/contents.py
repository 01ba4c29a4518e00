"""What an index holds, independent of its keys and runs, which count how often it was interrupted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray
from sqlalchemy import text

from lshdb.store.store import Store

__all__ = ["Contents", "Difference", "contents_of", "differences"]

# Table -> the hashes of its rows, sorted.
Contents: TypeAlias = Mapping[str, NDArray[np.uint64]]

QUESTIONS: Final = {
    "document": (
        "SELECT doc_id, uri, locator, dated_at, content.digest FROM document"
        " LEFT JOIN source USING (source_key) LEFT JOIN content USING (content_key)"
    ),
    "content": "SELECT digest, num_shingles, signature FROM content",
    "content_text": "SELECT digest, text FROM content_text JOIN content USING (content_key)",
    "band_bucket": "SELECT band, bucket_hash, digest FROM band_bucket LEFT JOIN content USING (content_key)",
    # The key that is greater depends on the order of insertion; min and max of two values are not portable.
    "pair": (
        "SELECT CASE WHEN l.digest < r.digest THEN l.digest ELSE r.digest END,"
        " CASE WHEN l.digest < r.digest THEN r.digest ELSE l.digest END, similarity, exact"
        " FROM pair LEFT JOIN content l ON l.content_key = left_key LEFT JOIN content r ON r.content_key = right_key"
    ),
    "source": "SELECT uri, size, mtime_ns, digest, state, num_items, num_documents FROM source",
    "unlinked": "SELECT content_key FROM unlinked",
    "oversized_bucket": "SELECT band, bucket_hash, num_contents, num_pairs FROM oversized_bucket",
    "rejected": "SELECT source, locator, reason FROM rejected",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """How many rows of a table are lost, and how many should not exist."""

    table: str
    num_lost: int
    num_surplus: int


def contents_of(url: str) -> Contents:
    """Return what an index holds."""
    with Store.open(url) as store, store.reading() as transaction:
        return {
            table: _hashes(tuple(row) for rows in transaction.stream(text(question)) for row in rows)
            for table, question in QUESTIONS.items()
        }


def differences(expected: Contents, found: Contents) -> list[Difference]:
    """Return the tables whose rows differ. A row that occurs twice is not the same as one that occurs once."""
    compared = [_difference(table, expected[table], found[table]) for table in expected]
    return [each for each in compared if each.num_lost or each.num_surplus]


def _difference(table: str, expected: NDArray[np.uint64], found: NDArray[np.uint64]) -> Difference:
    values, places = np.unique(np.concatenate([expected, found]), return_inverse=True)
    before = np.bincount(places[: len(expected)], minlength=len(values))
    balance = before - np.bincount(places[len(expected) :], minlength=len(values))
    return Difference(table, int(balance[balance > 0].sum()), int(-balance[balance < 0].sum()))


def _hashes(rows: Iterator[tuple[object, ...]]) -> NDArray[np.uint64]:
    encode = msgspec.msgpack.Encoder().encode
    return np.sort(np.fromiter((xxhash.xxh3_64_intdigest(encode(row)) for row in rows), np.uint64))
