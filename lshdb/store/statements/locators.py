"""SQL for the places of documents in their sources, one function for each query. Nothing here executes SQL."""

from __future__ import annotations

from functools import cache

from sqlalchemy import BigInteger, ColumnElement, Join, and_, bindparam, cast, func, select

from lshdb.store.given import given, is_given
from lshdb.store.schema import content, document, rejected, run, source
from lshdb.store.statements.collections import bound_key
from lshdb.store.statements.statements import Rows

__all__ = [
    "documents_like",
    "kept_documents",
    "named_documents",
    "named_records",
    "numbered_records",
    "rejected_before",
    "rejected_records",
    "sources_at",
    "whole_files",
]

# The columns of a source, in the order of the fields of `tables.locators.IndexedSource`.
_SOURCE = ("uri", "size", "mtime_ns", "digest", "state", "position", "num_documents", "options", "reading_run",
           "source_key")  # fmt: skip


@cache
def sources_at() -> Rows:
    """Select the sources of the collection ``:collection`` that have one of the given URIs."""
    mine = source.c.collection_key == bound_key("collection")
    return select(*(source.c[name] for name in _SOURCE)).where(mine, is_given(source.c.uri))


@cache
def whole_files() -> Rows:
    """Select (source_key, doc_key) of the given sources that are one document each."""
    return (
        select(document.c.source_key, document.c.doc_key)
        .join_from(given, document, document.c.source_key == given.c.value)
        .join(source, source.c.source_key == document.c.source_key)
        .where(document.c.locator == "", document.c.last_seen_run >= source.c.reading_run)
        .order_by(given.c.key)
    )


@cache
def numbered_records() -> Rows:
    """Select (doc_key, number) of a source's documents whose locator is ``:unit`` and a number, such as ``line 7``.

    Documents that the run ``:since``, which read the source last, did not find any more are left out.
    """
    unit = bindparam("unit", type_=document.c.locator.type)
    number = cast(func.substr(document.c.locator, func.length(unit) + 2), BigInteger)
    is_numbered = func.substr(document.c.locator, 1, func.length(unit)) == unit
    return select(document.c.doc_key, number.label("number")).where(_found_in_source(), is_numbered)


@cache
def named_records() -> Rows:
    """Select (doc_key, locator) of a source's documents that the run ``:since``, which read it last, has found."""
    return select(document.c.doc_key, document.c.locator).where(_found_in_source())


@cache
def rejected_records() -> Rows:
    """Select (source, locator) of the items that the last readings of the sources ``:source_keys`` rejected.

    No run before ``:since`` counts.
    """
    return (
        select(rejected.c.source, rejected.c.locator)
        .select_from(_rejections())
        .where(
            rejected.c.run_key >= bindparam("since"),
            rejected.c.run_key >= source.c.reading_run,
            source.c.source_key.in_(bindparam("source_keys", expanding=True)),
        )
    )


@cache
def rejected_before() -> Rows:
    """Select what the runs from ``:since`` on, but before ``:run``, rejected of the files that ``:run`` has seen.

    Only rejections by the last reading of a file count, which may have taken several runs, and only those in the
    collection ``:collection``. The first ones come first.
    """
    seen_by = bindparam("run", type_=source.c.last_seen_run.type)
    columns = source.c.uri, source.c.state, source.c.position, source.c.num_documents
    return (
        select(*columns, rejected.c.run_key, rejected.c.locator, rejected.c.reason)
        .select_from(_rejections())
        .where(
            rejected.c.run_key >= bindparam("since"),
            rejected.c.run_key < seen_by,
            rejected.c.run_key >= source.c.reading_run,
            run.c.collection_key == bound_key("collection"),
            source.c.last_seen_run >= seen_by,
            # The rejections of runs that could not open the file stay in the table when a later run can.
            source.c.position > source.c.num_documents,
        )
        .order_by(rejected.c.rejected_key)
    )


@cache
def kept_documents() -> Rows:
    """Select (doc_key, doc_id, uri, size, mtime_ns, digest, whether it is still there, locator) of the given documents.

    The columns of the source are NULL for a document that has none.
    """
    columns = (source.c[name] for name in ("uri", "size", "mtime_ns", "digest"))
    is_there = (document.c.last_seen_run >= source.c.reading_run).label("is_there")
    return (
        select(document.c.doc_key, document.c.doc_id, *columns, is_there, document.c.locator)
        .join_from(given, document, document.c.doc_key == given.c.value)
        .outerjoin(source, source.c.source_key == document.c.source_key)
        .order_by(given.c.key)
    )


@cache
def named_documents() -> Rows:
    """Select (doc_id, doc_key) of the documents of ``:collection`` that have one of the given ids."""
    mine = document.c.collection_key == bound_key("collection")
    return select(document.c.doc_id, document.c.doc_key).where(mine, is_given(document.c.doc_id))


@cache
def documents_like() -> Rows:
    """Select (doc_id, source_key, digest) of the documents with one of the given ids that are in a file.

    They are in the collection of the source ``:source_key``. The digest of an empty document is NULL.
    """
    of_source = source.alias("of_source")
    mine = select(of_source.c.collection_key).where(of_source.c.source_key == bindparam("source_key"))
    return (
        select(document.c.doc_id, document.c.source_key, content.c.digest)
        .join_from(document, source, source.c.source_key == document.c.source_key)
        .outerjoin(content, content.c.content_key == document.c.content_key)
        .where(document.c.collection_key == mine.scalar_subquery())
        .where(is_given(document.c.doc_id))
        .where(document.c.last_seen_run >= source.c.reading_run)
    )


def _found_in_source() -> ColumnElement[bool]:
    mine = document.c.source_key == bindparam("source_key")
    return and_(mine, document.c.last_seen_run >= bindparam("since"))


def _rejections() -> Join:
    """Return the rejected items with the sources that they are of."""
    is_of = and_(source.c.collection_key == run.c.collection_key, source.c.uri == rejected.c.source)
    return rejected.join(run, run.c.run_key == rejected.c.run_key).join(source, is_of)
