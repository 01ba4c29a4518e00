"""The SQL of the hot paths, one function a question; nothing here is executed.

The tests keep its compiled text for both dialects and assert its query plans.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from sqlalchemy import (
    BindParameter,
    ScalarSelect,
    Select,
    and_,
    bindparam,
    case,
    func,
    insert,
    literal,
    or_,
    select,
    true,
    tuple_,
    union_all,
)
from sqlalchemy.sql.dml import Insert

from lshdb.store.schema import band_bucket, content, content_text, document, pair, skipped_bucket, unlinked
from lshdb.store.staging import staged_bucket, staged_key, staged_pair, staged_probe, staged_text

__all__ = [
    "NO_LIMIT",
    "Rows",
    "bucket_mates",
    "candidate_contents",
    "expanded_pairs",
    "first_documents_pairs",
    "first_in_bucket",
    "hot_buckets",
    "identical_documents",
    "kept_texts",
    "neighbours",
    "pair_page",
    "probes",
    "repeated_documents",
    "shared_buckets",
    "signatures",
    "skipped_among",
    "spooled_texts",
    "surviving_pairs",
]

# A statement whose rows are tuples.
Rows: TypeAlias = "Select[*tuple[Any, ...]]"

NO_LIMIT: Final = 2**63 - 1


def shared_buckets() -> Rows:
    """(bucket_hash, content_key) of the buckets of ``:band`` with two contents or more, in that order."""
    shared = (
        select(band_bucket.c.bucket_hash)
        .where(band_bucket.c.band == bindparam("band"))
        .group_by(band_bucket.c.bucket_hash)
        .having(func.count() > 1)
        .subquery("shared")
    )
    return (
        select(band_bucket.c.bucket_hash, band_bucket.c.content_key)
        .join_from(shared, band_bucket, band_bucket.c.bucket_hash == shared.c.bucket_hash)
        .where(band_bucket.c.band == bindparam("band"))
        .order_by(band_bucket.c.bucket_hash, band_bucket.c.content_key)
    )


def probes() -> Insert:
    """Fills staged_probe from staged_bucket: each bucket row with the key below which its mates are met.

    In a bucket of up to ``:cap`` contents all mates are met. In a hotter one the first ``:cap`` contents meet each
    other, and every later one meets the first ``:hubs`` only, which so meet all: linear, and the same whatever the
    order of linking.
    """
    cap_key, hub_key = _key_at(bindparam("cap")), _key_at(bindparam("hubs"))
    limit = case(
        (or_(cap_key.is_(None), staged_bucket.c.content_key < hub_key), literal(NO_LIMIT)),
        (staged_bucket.c.content_key < cap_key, cap_key),
        else_=hub_key,
    )
    return insert(staged_probe).from_select(
        ["band", "bucket_hash", "content_key", "limit_key"], select(*staged_bucket.c, limit.label("limit_key"))
    )


def _key_at(offset: Any) -> ScalarSelect[int]:
    mate = band_bucket.alias("mate")
    return (
        select(mate.c.content_key)
        .where(mate.c.band == staged_bucket.c.band, mate.c.bucket_hash == staged_bucket.c.bucket_hash)
        .order_by(mate.c.content_key)
        .limit(1)
        .offset(offset)
        .correlate(staged_bucket)
        .scalar_subquery()
    )


def bucket_mates() -> Rows:
    """(content_key, mate_key) for the staged probes: mates that are linked already, or come earlier.

    Of two unlinked mates only the later one's probe meets the earlier one, so no pair is met from both ends.
    """
    return (
        select(staged_probe.c.content_key, band_bucket.c.content_key.label("mate_key"))
        .join_from(
            staged_probe,
            band_bucket,
            and_(
                band_bucket.c.band == staged_probe.c.band,
                band_bucket.c.bucket_hash == staged_probe.c.bucket_hash,
                band_bucket.c.content_key < staged_probe.c.limit_key,
            ),
        )
        .outerjoin(unlinked, unlinked.c.content_key == band_bucket.c.content_key)
        .where(
            band_bucket.c.content_key != staged_probe.c.content_key,
            or_(unlinked.c.content_key.is_(None), band_bucket.c.content_key < staged_probe.c.content_key),
        )
    )


def hot_buckets() -> Rows:
    """(band, bucket_hash, num_contents) of the staged probes' buckets that are beyond the cap."""
    hot = (
        select(staged_probe.c.band, staged_probe.c.bucket_hash)
        .where(staged_probe.c.limit_key != NO_LIMIT)
        .distinct()
        .subquery("hot")
    )
    return (
        select(hot.c.band, hot.c.bucket_hash, func.count().label("num_contents"))
        .join_from(
            hot, band_bucket, and_(band_bucket.c.band == hot.c.band, band_bucket.c.bucket_hash == hot.c.bucket_hash)
        )
        .group_by(hot.c.band, hot.c.bucket_hash)
    )


def candidate_contents() -> Rows:
    """content_key of every content in one of the staged buckets, once."""
    return (
        select(band_bucket.c.content_key)
        .join_from(
            staged_bucket,
            band_bucket,
            and_(band_bucket.c.band == staged_bucket.c.band, band_bucket.c.bucket_hash == staged_bucket.c.bucket_hash),
        )
        .distinct()
    )


def skipped_among() -> Rows:
    """(band, bucket_hash, number of staged rows) of those of the staged buckets that were too hot to expand."""
    same = and_(
        skipped_bucket.c.band == staged_bucket.c.band, skipped_bucket.c.bucket_hash == staged_bucket.c.bucket_hash
    )
    return (
        select(staged_bucket.c.band, staged_bucket.c.bucket_hash, func.count().label("num_staged"))
        .join_from(staged_bucket, skipped_bucket, same)
        .group_by(staged_bucket.c.band, staged_bucket.c.bucket_hash)
    )


def first_in_bucket() -> Rows:
    """The first ``:count`` contents of the bucket ``:band``, ``:bucket_hash``."""
    mine = (band_bucket.c.band == bindparam("band"), band_bucket.c.bucket_hash == bindparam("bucket_hash"))
    return select(band_bucket.c.content_key).where(*mine).order_by(band_bucket.c.content_key).limit(bindparam("count"))


def signatures() -> Rows:
    """(content_key, num_shingles, signature) of the staged keys, ascending."""
    return (
        select(content.c.content_key, content.c.num_shingles, content.c.signature)
        .join_from(staged_key, content, content.c.content_key == staged_key.c.staged_key)
        .order_by(staged_key.c.staged_key)
    )


def kept_texts() -> Rows:
    """(content_key, text) of the staged keys whose text is kept, ascending."""
    return (
        select(content_text.c.content_key, content_text.c.text)
        .join_from(staged_key, content_text, content_text.c.content_key == staged_key.c.staged_key)
        .order_by(staged_key.c.staged_key)
    )


def spooled_texts() -> Rows:
    """(content_key, text) of the staged keys whose text was read again, ascending."""
    return (
        select(staged_text.c.content_key, staged_text.c.text)
        .join_from(staged_key, staged_text, staged_text.c.content_key == staged_key.c.staged_key)
        .order_by(staged_key.c.staged_key)
    )


def surviving_pairs(run_key: int | None) -> Insert:
    """Fills pair from staged_pair, leaving out what another process removed meanwhile."""
    left, right = content.alias("left_content"), content.alias("right_content")
    rows = (
        select(*staged_pair.c, literal(run_key).label("run_key"))
        .join_from(staged_pair, left, left.c.content_key == staged_pair.c.left_key)
        .join(right, right.c.content_key == staged_pair.c.right_key)
    )
    return insert(pair).from_select([*staged_pair.c.keys(), "run_key"], rows)


def pair_page() -> Rows:
    """The ``:count`` pairs after (``:left_key``, ``:right_key``)."""
    after = tuple_(pair.c.left_key, pair.c.right_key) > tuple_(bindparam("left_key"), bindparam("right_key"))
    columns = (pair.c.left_key, pair.c.right_key, pair.c.similarity, pair.c.exact)
    return select(*columns).where(after).order_by(pair.c.left_key, pair.c.right_key).limit(bindparam("count"))


def first_documents_pairs() -> Rows:
    """(left, right, similarity, exact) at ``:min_sim`` or more, each content by its first document."""
    left, right = document.alias("left_document"), document.alias("right_document")
    return _at_least(
        select(left.c.doc_id.label("left"), right.c.doc_id.label("right"), pair.c.similarity, pair.c.exact)
        .join_from(pair, left, left.c.doc_key == _first_document(pair.c.left_key))
        .join(right, right.c.doc_key == _first_document(pair.c.right_key))
    )


def expanded_pairs() -> Rows:
    """(left, right, similarity, exact) at ``:min_sim`` or more, for every two documents of the two contents."""
    left, right = document.alias("left_document"), document.alias("right_document")
    return _at_least(
        select(left.c.doc_id.label("left"), right.c.doc_id.label("right"), pair.c.similarity, pair.c.exact)
        .join_from(pair, left, left.c.content_key == pair.c.left_key)
        .join(right, right.c.content_key == pair.c.right_key)
    )


def repeated_documents() -> Rows:
    """(left, right) for each content with several documents: its first one, and each other."""
    first, other = document.alias("first_document"), document.alias("other_document")
    return (
        select(first.c.doc_id.label("left"), other.c.doc_id.label("right"))
        .join_from(other, first, first.c.doc_key == _first_document(other.c.content_key))
        .where(other.c.content_key.is_not(None), other.c.doc_key != first.c.doc_key)
        .order_by(other.c.content_key, other.c.doc_key)
    )


def identical_documents() -> Rows:
    """(left, right) for every two documents of one content."""
    left, right = document.alias("left_document"), document.alias("right_document")
    return (
        select(left.c.doc_id.label("left"), right.c.doc_id.label("right"))
        .join_from(left, right, and_(left.c.content_key == right.c.content_key, left.c.doc_key < right.c.doc_key))
        .order_by(left.c.content_key, left.c.doc_key, right.c.doc_key)
    )


def neighbours() -> Rows:
    """(doc_id, similarity, exact) for ``:content_key`` at ``:min_sim`` or more, its own documents first."""
    key: BindParameter[int] = bindparam("content_key")
    least = pair.c.similarity >= bindparam("min_sim")
    mates = union_all(
        select(key.label("content_key"), literal(1.0).label("similarity"), true().label("exact")),
        select(pair.c.right_key, pair.c.similarity, pair.c.exact).where(pair.c.left_key == key, least),
        select(pair.c.left_key, pair.c.similarity, pair.c.exact).where(pair.c.right_key == key, least),
    ).subquery("mates")
    return (
        select(document.c.doc_id, mates.c.similarity, mates.c.exact)
        .join_from(mates, document, document.c.content_key == mates.c.content_key)
        .order_by(mates.c.similarity.desc(), document.c.doc_key)
    )


def _at_least(statement: Rows) -> Rows:
    return statement.where(pair.c.similarity >= bindparam("min_sim")).order_by(pair.c.left_key, pair.c.right_key)


def _first_document(content_key: Any) -> ScalarSelect[int]:
    first = document.alias("first")
    return select(func.min(first.c.doc_key)).where(first.c.content_key == content_key).scalar_subquery()
