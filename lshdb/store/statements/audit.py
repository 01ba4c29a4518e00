"""SQL for the recomputations of an audit, one function for each query. Nothing here executes SQL."""

from __future__ import annotations

from functools import cache

from sqlalchemy import and_, bindparam, func, select

from lshdb.store.given import given, given_member, is_given
from lshdb.store.schema import band_bucket, content, document, oversized_bucket, source
from lshdb.store.statements.generations import in_use
from lshdb.store.statements.statements import Rows, in_bucket

__all__ = [
    "audited_contents",
    "audited_page",
    "audited_sources",
    "band_rows",
    "documents_read_from",
    "last_in_bucket",
    "missing_buckets",
    "oversized_counts",
    "source_sizes",
    "sourced_documents",
]

# The columns of a source, in the order of the fields of `tables.provenance.AuditedSource`.
_SOURCE = ("uri", "size", "mtime_ns", "digest", "state", "position", "num_documents", "options", "reading_run",
           "source_key", "collection_key")  # fmt: skip
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
        in_use(),
        band_bucket.c.band == given_member.c.band,
        band_bucket.c.bucket_hash == given_member.c.bucket_hash,
        band_bucket.c.content_key == given_member.c.content_key,
    )
    columns = (given_member.c.band, given_member.c.bucket_hash, given_member.c.content_key)
    is_there = select(band_bucket.c.content_key).where(same).correlate(given_member).exists()
    return select(*columns).where(~is_there).order_by(given_member.c.key)


@cache
def band_rows() -> Rows:
    """Select (bucket_hash, content_key) of ``:band``, sorted."""
    columns = (band_bucket.c.bucket_hash, band_bucket.c.content_key)
    return select(*columns).where(in_use(), band_bucket.c.band == bindparam("band")).order_by(*columns)


@cache
def last_in_bucket() -> Rows:
    """Select the greatest content_key of the bucket (``:band``, ``:bucket_hash``); NULL if the bucket is empty."""
    return select(func.max(band_bucket.c.content_key)).where(in_bucket())


@cache
def oversized_counts() -> Rows:
    """Select (band, bucket_hash, num_contents, num_pairs) of the buckets that were too hot to expand, sorted."""
    return select(*oversized_bucket.c).order_by(*oversized_bucket.primary_key.columns)


@cache
def source_sizes() -> Rows:
    """Select (source_key, num_documents, how many of them the index has) of the sources read to their end, by key."""
    read = and_(document.c.source_key == source.c.source_key, document.c.last_seen_run >= source.c.reading_run)
    columns = (source.c.source_key, source.c.num_documents)
    sizes = select(*columns, func.count(document.c.doc_key).label("num_stored")).outerjoin_from(source, document, read)
    return sizes.where(source.c.state == "done").group_by(*columns).order_by(source.c.source_key)


@cache
def audited_sources() -> Rows:
    """Select the sources with the given keys, in the given order."""
    joined = select(*(source.c[name] for name in _SOURCE)).join_from(
        given, source, source.c.source_key == given.c.value
    )
    return joined.order_by(given.c.key)


@cache
def sourced_documents() -> Rows:
    """Select the documents of ``:collection_key`` that have one of the given ids, with the digest of their text.

    The digest of an empty document is NULL.
    """
    columns = (document.c[name] for name in ("doc_id", "doc_key", "source_key", "locator", "dated_at", "last_seen_run"))
    joined = select(*columns, content.c.digest).outerjoin_from(
        document, content, content.c.content_key == document.c.content_key
    )
    return joined.where(document.c.collection_key == bindparam("collection_key"), is_given(document.c.doc_id))


@cache
def documents_read_from() -> Rows:
    """Select the doc_key of the documents that the run ``:since``, or a later one, read from the source."""
    mine = (document.c.source_key == bindparam("source_key"), document.c.last_seen_run >= bindparam("since"))
    return select(document.c.doc_key).where(*mine).order_by(document.c.doc_key)
