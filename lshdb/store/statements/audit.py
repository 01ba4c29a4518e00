"""SQL for the recomputations of an audit, one function for each query. Nothing here executes SQL."""

from __future__ import annotations

from functools import cache

from sqlalchemy import ColumnElement, and_, bindparam, func, select

from lshdb.store.given import given, given_member
from lshdb.store.schema import band_bucket, content, oversized_bucket
from lshdb.store.statements.statements import Rows

__all__ = ["audited_contents", "audited_page", "band_rows", "last_in_bucket", "missing_buckets", "oversized_counts"]

_AUDITED = tuple(content.c[name] for name in ("content_key", "digest", "num_shingles", "signature"))


@cache
def audited_page() -> Rows:
    """Select (content_key, digest, num_shingles, signature) of the first ``:count`` contents after ``:position``."""
    behind = content.c.content_key > bindparam("position")
    return select(*_AUDITED).where(behind).order_by(content.c.content_key).limit(bindparam("count"))


@cache
def audited_contents() -> Rows:
    """Select (content_key, digest, num_shingles, signature) of the given keys, ascending."""
    joined = select(*_AUDITED).join_from(given, content, content.c.content_key == given.c.value)
    return joined.order_by(given.c.value)


@cache
def missing_buckets() -> Rows:
    """Select (band, bucket_hash, content_key) of the given rows that are not in the table, in the given order."""
    same = and_(
        band_bucket.c.band == given_member.c.band,
        band_bucket.c.bucket_hash == given_member.c.bucket_hash,
        band_bucket.c.content_key == given_member.c.content_key,
    )
    columns = (given_member.c.band, given_member.c.bucket_hash, given_member.c.content_key)
    missing = select(*columns).outerjoin_from(given_member, band_bucket, same)
    return missing.where(band_bucket.c.content_key.is_(None)).order_by(given_member.c.key)


@cache
def band_rows() -> Rows:
    """Select (bucket_hash, content_key) of ``:band``, sorted."""
    columns = (band_bucket.c.bucket_hash, band_bucket.c.content_key)
    return select(*columns).where(band_bucket.c.band == bindparam("band")).order_by(*columns)


@cache
def last_in_bucket() -> Rows:
    """Select the greatest content_key of the bucket (``:band``, ``:bucket_hash``); NULL if the bucket is empty."""
    return select(func.max(band_bucket.c.content_key)).where(*_bucket())


@cache
def oversized_counts() -> Rows:
    """Select (band, bucket_hash, num_contents, num_pairs) of the buckets that were too hot to expand, sorted."""
    return select(*oversized_bucket.c).order_by(*oversized_bucket.primary_key.columns)


def _bucket() -> tuple[ColumnElement[bool], ...]:
    return band_bucket.c.band == bindparam("band"), band_bucket.c.bucket_hash == bindparam("bucket_hash")
