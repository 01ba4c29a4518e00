"""Temporary tables that pass many rows to a statement that writes.

They belong to one connection, which alone sees them, and hold the rows of the last `Transaction.stage`. Keys are passed
as a single value instead; see `given`.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
)

from lshdb.store.schema import Json, Key, Name

__all__ = [
    "staged_digest",
    "staged_document",
    "staged_pair",
    "staged_range",
    "staged_source",
]

_metadata = MetaData()
_TEMPORARY = ["TEMPORARY"]

staged_digest = Table(
    "staged_digest",
    _metadata,
    Column("ordinal", Key, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    PrimaryKeyConstraint("ordinal"),
    prefixes=_TEMPORARY,
)

staged_document = Table(
    "staged_document",
    _metadata,
    Column("doc_id", Name, nullable=False),
    Column("source_key", BigInteger, nullable=True),
    Column("locator", Name, nullable=False),
    Column("content_key", BigInteger, nullable=True),
    Column("dated_at", BigInteger, nullable=True),
    prefixes=_TEMPORARY,
)

staged_source = Table(
    "staged_source",
    _metadata,
    Column("uri", Name, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("mtime_ns", BigInteger, nullable=False),
    Column("digest", LargeBinary, nullable=True),
    Column("state", Name, nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("num_documents", BigInteger, nullable=False),
    Column("options", Json, nullable=False),
    Column("reading_run", BigInteger, nullable=False),
    # No key: with an index on uri, SQLite would scan all sources of the collection and look each one up here.
    prefixes=_TEMPORARY,
)

staged_range = Table(
    "staged_range",
    _metadata,
    Column("ordinal", Key, nullable=False),
    Column("first_id", Name, nullable=False),
    Column("end_id", Name, nullable=False),
    PrimaryKeyConstraint("ordinal"),
    prefixes=_TEMPORARY,
)

staged_pair = Table(
    "staged_pair",
    _metadata,
    Column("left_key", BigInteger, nullable=False),
    Column("right_key", BigInteger, nullable=False),
    Column("similarity", Float, nullable=False),
    Column("exact", Boolean, nullable=False),
    PrimaryKeyConstraint("left_key", "right_key"),
    prefixes=_TEMPORARY,
    sqlite_with_rowid=False,
)
