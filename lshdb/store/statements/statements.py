"""SQL of the hot paths, one function for each query. Nothing here executes SQL.

The tests compare the compiled text with snapshots for both dialects, and check the query plans.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, TypeAlias

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Column,
    ColumnElement,
    CompoundSelect,
    FromClause,
    LargeBinary,
    Select,
    Subquery,
    and_,
    bindparam,
    case,
    func,
    literal,
    literal_column,
    null,
    or_,
    select,
    true,
    tuple_,
    union_all,
)

from lshdb.store.given import given, given_bucket, given_place
from lshdb.store.returned import as_text, contains
from lshdb.store.schema import (
    ENTRY_BITS,
    MANY_LABELS,
    POSITION_BITS,
    band_bucket,
    bucket_filter,
    bucket_generation,
    content,
    content_text,
    document,
    oversized_bucket,
    pair,
    unlinked,
)
from lshdb.store.statements.collections import name_of
from lshdb.store.statements.generations import in_use

__all__ = [
    "NO_LIMIT",
    "Rows",
    "bucket_members",
    "bucket_slice",
    "content_digests",
    "content_documents",
    "content_with_digest",
    "contents_at",
    "existing_contents",
    "filter_parts",
    "first_in_bucket",
    "hash_limits",
    "in_bucket",
    "kept_texts",
    "largest_buckets",
    "neighbours",
    "oversized_given",
    "pair_page",
    "pair_sample",
    "parts_at",
    "place_contents",
    "place_sizes",
    "settled_documents",
    "shared_buckets",
    "signatures",
]

# A statement whose rows are tuples.
Rows: TypeAlias = "Select[*tuple[Any, ...]]"

NO_LIMIT: Final = 2**63 - 1
_ASKED: Final[BindParameter[int]] = bindparam("content_key", type_=BigInteger)
# The sum of two products of a key below it and a number below 2**30 stays below 2**63.
SAMPLE_PRIME: Final = 2**31 - 1


@cache
def shared_buckets() -> Rows:
    """Select (bucket_hash, num_contents, contents) of the buckets of a slice with two or more contents.

    The contents are one text of keys, in any order.
    """
    return (
        select(band_bucket.c.bucket_hash, func.count(), as_text(band_bucket.c.content_key))
        .where(*_in_slice())
        .group_by(band_bucket.c.bucket_hash)
        .having(func.count() > 1)
        .order_by(band_bucket.c.bucket_hash)
    )


@cache
def hash_limits() -> Rows:
    """Select the least and the greatest bucket_hash of ``:band`` in each generation; NULL if it does not have it."""
    limits = (
        select(limit(band_bucket.c.bucket_hash))
        .where(band_bucket.c.generation == bucket_generation.c.generation, band_bucket.c.band == bindparam("band"))
        .scalar_subquery()
        for limit in (func.min, func.max)
    )
    return select(*limits).select_from(bucket_generation)


@cache
def bucket_slice() -> Rows:
    """Select the rows of a slice as two texts in the same order, of hashes and of contents."""
    return select(as_text(band_bucket.c.bucket_hash), as_text(band_bucket.c.content_key)).where(*_in_slice())


def _in_slice() -> tuple[ColumnElement[bool], ...]:
    """Return the condition that a row of the table is in ``:band``, from the hash ``:first`` to ``:last``."""
    hashes = band_bucket.c.bucket_hash.between(bindparam("first"), bindparam("last"))
    return in_use(), band_bucket.c.band == bindparam("band"), hashes


@cache
def bucket_members() -> Rows:
    """Select (position in ``:given``, content_key) of the contents in the given buckets, sorted."""
    members = select(given_bucket.c.key, band_bucket.c.content_key).join_from(given_bucket, band_bucket, _is_given())
    return members.order_by(given_bucket.c.key, band_bucket.c.content_key)


@cache
def place_sizes() -> Rows:
    """Select (position, num_contents) of the ``:places``, (generation, band, bucket_hash).

    Each place is counted in a subquery, because Postgres joins many places with the whole table if it has no
    statistics.
    """
    size = select(func.count()).select_from(band_bucket).where(_is_place())
    return select(given_place.c.key, size.correlate(given_place).scalar_subquery())


@cache
def place_contents() -> Rows:
    """Select (position, content_key) of the contents in the ``:places``, (generation, band, bucket_hash)."""
    return select(given_place.c.key, band_bucket.c.content_key).join_from(given_place, band_bucket, _is_place())


def _is_place() -> ColumnElement[bool]:
    """Return the condition that a row of the table is in a given place."""
    return and_(*(band_bucket.c[name] == given_place.c[name] for name in ("generation", "band", "bucket_hash")))


def in_bucket() -> ColumnElement[bool]:
    """Return the condition that a row of the table is in the bucket (``:band``, ``:bucket_hash``)."""
    same = (band_bucket.c.band == bindparam("band"), band_bucket.c.bucket_hash == bindparam("bucket_hash"))
    return and_(in_use(), *same)


def _is_given() -> ColumnElement[bool]:
    """Return the condition that a row of the table is in the given bucket."""
    same = (band_bucket.c[name] == given_bucket.c[name] for name in ("band", "bucket_hash"))
    return and_(in_use(), *same)


@cache
def filter_parts(*, first_alone: bool = False) -> CompoundSelect[*tuple[Any, ...]]:
    """Select (place in the list, filter, entries, NULL) for each position of ``:given`` and each filter.

    The entries are the part of the filter that has the position, if any has. If none does, they are those of the next
    part, or NULL. Each generation is a row (NULL, filter, NULL, generation), whose filter may be NULL.

    Args:
        first_alone: if a filter has the first position, ``:first``, leave the others out. Its entry is ``:plain`` in a
            filter without labels; in others, it begins with ``:few`` or ``:many``, by the bits of their labels.
    """
    used = _used("used")
    found = select(given.c.key, used.c.filter, _entries_from(_key(used, given.c.value), given, used), null())
    found = found.join_from(given, used, true())
    if first_alone:
        those = _used("those")
        number, entries = those.c.filter, _entries_from(_key(those, bindparam("first", type_=BigInteger)), those)
        plain, few, many = (bindparam(name, type_=LargeBinary) for name in ("plain", "few", "many"))
        entry = case((number % 2 == 0, plain), (number < MANY_LABELS, few), else_=many)
        found = found.where(or_(given.c.key == 0, ~select(number).where(contains(entries, entry)).exists()))
    members = select(null(), bucket_generation.c.filter, null(), bucket_generation.c.generation)
    return found.union_all(members)


def _used(name: str) -> Subquery:
    """Return the filters of generations."""
    return select(bucket_generation.c.filter).where(bucket_generation.c.filter.is_not(None)).distinct().subquery(name)


def _key(used: Subquery, position: ColumnElement[int]) -> ColumnElement[int]:
    """Return the key of a part of a filter that ends at a position."""
    # A sum, so that SQLite starts at the part: it compares columns of JSON by other rules than the key.
    return used.c.filter * literal_column(str(1 << POSITION_BITS)) + position


@cache
def parts_at() -> Rows:
    """Select (place in the list, entries) for each key of a part in ``:given``, as `filter_parts` does."""
    return select(given.c.key, _entries_from(given.c.value, given))


def _entries_from(part_key: ColumnElement[Any], *correlated: FromClause) -> ColumnElement[bytes]:
    """Return the entries of the first part that may have the position with this key, or NULL.

    Args: correlated: what the key is made of.
    """
    # Without an end, Postgres would go through the rest of the page of its index, which takes half of the look-up.
    last = part_key.bitwise_or(literal_column(str((1 << ENTRY_BITS) - 1)))
    after = select(bucket_filter.c.entries).where(bucket_filter.c.part_key.between(part_key, last))
    return after.order_by(bucket_filter.c.part_key).limit(1).correlate(*correlated).scalar_subquery()


@cache
def contents_at() -> Rows:
    """Select the contents in any of the ``:places``, without duplicates."""
    return select(band_bucket.c.content_key).join_from(given_place, band_bucket, _is_place()).distinct()


@cache
def content_with_digest() -> Rows:
    """Select the first content with the digest ``:digest`` in any of the ``:places``; NULL if there is none."""
    first = func.min(content.c.content_key).label("content_key")
    placed = select(first).join_from(given_place, band_bucket, _is_place())
    found = placed.join(content, content.c.content_key == band_bucket.c.content_key)
    return found.where(content.c.digest == bindparam("digest"))


def _is_in_band(rows: FromClause) -> ColumnElement[bool]:
    """Return the condition that a row has the band of a given hash, whose position is that after ``:first_band``."""
    same: ColumnElement[bool] = rows.c.band == given.c.key + bindparam("first_band", type_=BigInteger)
    return same


@cache
def oversized_given() -> Rows:
    """Select the positions, in ``:given``, of the buckets that were too hot to expand."""
    same = and_(
        oversized_bucket.c.band == given_bucket.c.band, oversized_bucket.c.bucket_hash == given_bucket.c.bucket_hash
    )
    return select(given_bucket.c.key).join_from(given_bucket, oversized_bucket, same)


@cache
def first_in_bucket() -> Rows:
    """Select the first ``:count`` contents of the bucket (``:band``, ``:bucket_hash``)."""
    return (
        select(band_bucket.c.content_key)
        .where(in_bucket())
        .order_by(band_bucket.c.content_key)
        .limit(bindparam("count"))
    )


@cache
def signatures() -> Rows:
    """Select (content_key, num_shingles, signature) of the given keys, ascending."""
    return _of_given(content.c.content_key, content.c.num_shingles, content.c.signature)


@cache
def kept_texts() -> Rows:
    """Select (content_key, text) of the given keys whose text is kept, ascending."""
    return _of_given(content_text.c.content_key, content_text.c.text)


@cache
def existing_contents() -> Rows:
    """Select the given keys that belong to contents, ascending."""
    return _of_given(content.c.content_key)


@cache
def content_digests() -> Rows:
    """Select (content_key, digest) of the given contents, ascending."""
    return _of_given(content.c.content_key, content.c.digest)


@cache
def content_documents() -> Rows:
    """Select (content_key, doc_id, collection) of the given contents' documents, by content key and document key."""
    columns = (document.c.content_key, document.c.doc_id, name_of(document.c.collection_key))
    return _of_given(*columns).order_by(document.c.doc_key)


def _of_given(key: Column[Any], *columns: ColumnElement[Any]) -> Rows:
    """Select the columns of the rows with the given keys, ordered by key."""
    joined = select(key, *columns).join_from(given, key.table, key == given.c.value)
    # Ordered by the given keys, so that SQLite starts there instead of scanning the table.
    return joined.order_by(given.c.value)


@cache
def pair_page() -> Rows:
    """Select the first ``:count`` pairs after (``:left_key``, ``:right_key``) written by run ``:since`` or later."""
    after = tuple_(pair.c.left_key, pair.c.right_key) > tuple_(bindparam("left_key"), bindparam("right_key"))
    columns = (pair.c.left_key, pair.c.right_key, pair.c.similarity, pair.c.exact)
    ordered = select(*columns).where(after, _written_since()).order_by(pair.c.left_key, pair.c.right_key)
    return ordered.limit(bindparam("count"))


@cache
def pair_sample() -> Rows:
    """Select a sample of ``:count`` pairs that run ``:since`` or a later one wrote.

    ``:a``, ``:b`` and ``:c`` are random numbers below 2**30. They define a hash function, and the sample is the pairs
    with the smallest hashes. Every pair is equally likely, both databases choose the same pairs, and the database
    never holds more than ``:count`` of them.

    Source: Carter, Wegman 1979, Universal classes of hash functions; bottom-k: Cohen, Kaplan 2007.
    """
    left, right = pair.c.left_key % SAMPLE_PRIME, pair.c.right_key % SAMPLE_PRIME
    line = (left * bindparam("a") + right * bindparam("b") + bindparam("c")) % SAMPLE_PRIME
    # Squared, because a linear function alone would choose pairs at regular distances.
    columns = (pair.c.left_key, pair.c.right_key, pair.c.similarity, pair.c.exact)
    drawn = select(*columns).where(_written_since()).order_by((line * line) % SAMPLE_PRIME, *columns[:2])
    return drawn.limit(bindparam("count"))


def _written_since() -> ColumnElement[bool]:
    """Return the condition that a pair was written by run ``:since`` or later, or outside any run."""
    return func.coalesce(pair.c.run_key, NO_LIMIT) >= bindparam("since")


@cache
def largest_buckets() -> Rows:
    """Select (num_contents, 0, band, bucket_hash) of the ``:count`` largest buckets of ``:band`` with mates in them."""
    band: BindParameter[int] = bindparam("band")
    num_contents = func.count().label("num_contents")
    grouped = select(band_bucket.c.bucket_hash, num_contents).where(in_use(), band_bucket.c.band == band)
    sizes = grouped.group_by(band_bucket.c.bucket_hash).having(func.count() > 1).subquery("sizes")
    columns = (sizes.c.num_contents, literal(0).label("num_skipped"), band.label("band"), sizes.c.bucket_hash)
    largest: Rows = select(*columns).order_by(sizes.c.num_contents.desc(), sizes.c.bucket_hash)
    return largest.limit(bindparam("count"))


@cache
def neighbours() -> Rows:
    """Select the documents of ``:content_key`` and its near-duplicates at ``:min_sim`` or more, best first.

    The columns are (doc_id, similarity, exact, collection).
    """
    mates = _mates(_ASKED)
    documents = _documents_of(mates, document.c.doc_id, mates.c.similarity, mates.c.exact)
    return documents.order_by(mates.c.similarity.desc(), document.c.doc_key)


@cache
def settled_documents() -> Rows:
    """Select the documents of a content and of its stored mates at ``:min_sim`` or more, by content and document key.

    The content is that with the digest ``:digest`` in any of the ``:places``. The columns are (content_key, similarity,
    exact, doc_id, collection). No rows if not every pair of it is stored: if a content is not linked, or if one of its
    buckets is oversized. ``:given`` lists their hashes in the order of the bands; ``:first_band`` is the first band.
    """
    hot = and_(_is_in_band(oversized_bucket), oversized_bucket.c.bucket_hash == given.c.value)
    is_hot = select(given.c.key).join_from(given, oversized_bucket, hot).exists()
    found = content_with_digest().where(~select(unlinked.c.content_key).exists(), ~is_hot).cte("found")
    mates = _mates(select(found.c.content_key).scalar_subquery())
    return _documents_of(mates, *mates.columns, document.c.doc_id).order_by(mates.c.content_key, document.c.doc_key)


def _mates(asked: ColumnElement[int]) -> Subquery:
    """Return (content_key, similarity, exact) of a content itself and of its stored mates."""
    least = pair.c.similarity >= bindparam("min_sim")
    itself: Rows = select(asked.label("content_key"), literal_column("1.0").label("similarity"), true().label("exact"))
    stored = (
        select(other, pair.c.similarity, pair.c.exact).where(mine == asked, least)
        for mine, other in ((pair.c.left_key, pair.c.right_key), (pair.c.right_key, pair.c.left_key))
    )
    return union_all(itself, *stored).subquery("mates")


def _documents_of(mates: Subquery, *columns: ColumnElement[Any]) -> Rows:
    """Select the columns, and then the collection, of the documents of contents."""
    named = select(*columns, name_of(document.c.collection_key))
    return named.join_from(mates, document, document.c.content_key == mates.c.content_key)
