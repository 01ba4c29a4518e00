"""The tables, as the newest revision leaves them. Migrations make them; a test holds that both agree.

Limitations: no foreign keys are declared. Every row is written by `lshdb.store` in one transaction with
the rows it refers to, and checking each of 20 bucket rows a document again would cost a third of the ingest.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    String,
    Table,
    UniqueConstraint,
)

__all__ = [
    "band_bucket",
    "content",
    "content_text",
    "document",
    "index_params",
    "key_counter",
    "measurement",
    "metadata",
    "pair",
    "rebanding",
    "rejected",
    "run",
    "skipped_bucket",
    "source",
    "unlinked",
]

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(column_0_N_label)s",
    }
)

# "C" in Postgres: byte order, as in SQLite, whatever the database's locale; ranges over a prefix need it.
Name = String().with_variant(String(collation="C"), "postgresql")
# SQLite numbers its rows only in a column that is INTEGER to the letter.
Key = BigInteger().with_variant(Integer(), "sqlite")

index_params = Table(
    "index_params",
    metadata,
    Column("params_key", Integer, nullable=False, comment="always 1: an index has one set of parameters"),
    Column("shingle", String, nullable=False, comment="word:N, char:N or set"),
    Column("multiset", Boolean, nullable=False, comment="the i-th occurrence of a shingle is an element of its own"),
    Column("scheme", String, nullable=False, comment="signature scheme"),
    Column("bands", Integer, nullable=False, comment="bands of a signature"),
    Column("rows", Integer, nullable=False, comment="minima in a band"),
    Column("seed", BigInteger, nullable=False, comment="seed of the signature's hash functions"),
    Column("floor", Float, nullable=False, comment="lowest similarity kept as a pair"),
    Column("min_sim", Float, nullable=False, comment="similarity the bands were chosen for"),
    Column("recall", Float, nullable=False, comment="recall promised at min_sim"),
    Column("keep_text", Boolean, nullable=False, comment="texts are kept in content_text"),
    Column("html", String, nullable=False, comment="main content of a page, or all its text"),
    Column("table_version", String, nullable=False, comment="code-point table and shingle hash"),
    Column("lshdb_version", String, nullable=False, comment="version that made the index"),
    Column("num_perm", Integer, nullable=False, comment="minima of a signature"),
    Column("first_band", SmallInteger, nullable=False, comment="number of the first band in band_bucket"),
    PrimaryKeyConstraint("params_key"),
    comment="the parameters the index was made with; one row",
)

run = Table(
    "run",
    metadata,
    Column("run_key", Key, nullable=False),
    Column("verb", String, nullable=False, comment="ingest, add, remove, reband, tune"),
    Column("collection", Name, nullable=False),
    Column("state", String, nullable=False, comment="running, finished, interrupted or failed"),
    Column("started_at", String, nullable=False, comment="UTC, ISO 8601"),
    Column("finished_at", String, nullable=True, comment="UTC, ISO 8601; NULL while it runs, or where it was killed"),
    Column("lshdb_version", String, nullable=False),
    Column("num_added", BigInteger, nullable=False, comment="documents new in this run"),
    Column("num_updated", BigInteger, nullable=False, comment="documents whose content changed"),
    Column("num_unchanged", BigInteger, nullable=False),
    Column("num_removed", BigInteger, nullable=False),
    Column("num_empty", BigInteger, nullable=False, comment="documents without a single shingle"),
    Column("num_rejected", BigInteger, nullable=False),
    Column("num_replaced", BigInteger, nullable=False, comment="documents with undecodable bytes replaced"),
    Column("num_contents", BigInteger, nullable=False, comment="contents new in this run"),
    Column("num_bytes", BigInteger, nullable=False, comment="bytes read"),
    PrimaryKeyConstraint("run_key"),
    comment="invocations that wrote to the index",
)

source = Table(
    "source",
    metadata,
    Column("source_key", Key, nullable=False),
    Column("collection", Name, nullable=False),
    Column("uri", Name, nullable=False),
    Column("size", BigInteger, nullable=False, comment="bytes"),
    Column("mtime_ns", BigInteger, nullable=False),
    Column("digest", LargeBinary, nullable=True, comment="xxh3_128 of the file; NULL until it is read to its end"),
    Column("state", String, nullable=False, comment="reading or done"),
    Column("position", BigInteger, nullable=False, comment="items of it that are committed"),
    Column("num_documents", BigInteger, nullable=False, comment="documents it gave when last read"),
    Column("options", String, nullable=False, comment="JSON of the options it was read with"),
    Column("reading_run", BigInteger, nullable=False, comment="run in which its last reading began"),
    Column("last_seen_run", BigInteger, nullable=False),
    PrimaryKeyConstraint("source_key"),
    UniqueConstraint("collection", "uri"),  # sources.known, sources.put, sources.gone
    comment="files that documents came from",
)

document = Table(
    "document",
    metadata,
    Column("doc_key", Key, nullable=False),
    Column("collection", Name, nullable=False),
    Column("doc_id", Name, nullable=False, comment="the user's name for it"),
    Column("source_key", BigInteger, nullable=True, comment="NULL where a program handed it over"),
    Column("locator", String, nullable=False, comment="where in the source"),
    Column("content_key", BigInteger, nullable=True, comment="NULL for an empty document"),
    Column("dated_at", BigInteger, nullable=True, comment="date of its record, microseconds since 1970 UTC"),
    Column("first_seen_run", BigInteger, nullable=False),
    Column("last_seen_run", BigInteger, nullable=False, comment="last run that read it"),
    PrimaryKeyConstraint("doc_key"),
    UniqueConstraint("collection", "doc_id"),  # documents.put, answers.content_of
    Index(None, "content_key", "doc_key"),  # answers.pairs, documents.orphans
    Index(None, "source_key"),  # sources.vanished
    comment="places where a content was seen",
)

content = Table(
    "content",
    metadata,
    Column("content_key", Key, nullable=False),
    Column("digest", LargeBinary, nullable=False, comment="xxh3_128 of the normal form"),
    Column("num_shingles", BigInteger, nullable=False, comment="shingles, repeats included"),
    Column("signature", LargeBinary, nullable=False, comment="num_perm minima, uint32, little-endian"),
    PrimaryKeyConstraint("content_key"),
    UniqueConstraint("digest"),  # documents.put
    comment="distinct normalised texts",
)

content_text = Table(
    "content_text",
    metadata,
    Column("content_key", Key, nullable=False),
    Column("text", LargeBinary, nullable=False, comment="zstd frame of the UTF-8 text"),
    PrimaryKeyConstraint("content_key"),
    comment="texts of contents; empty with --no-keep-text",
)

band_bucket = Table(
    "band_bucket",
    metadata,
    Column("band", SmallInteger, nullable=False),
    Column("bucket_hash", BigInteger, nullable=False, comment="the 64 bits of an unsigned hash"),
    Column("content_key", BigInteger, nullable=False),
    PrimaryKeyConstraint("band", "bucket_hash", "content_key"),
    comment="a content's bucket in each band",
    # WITHOUT ROWID: the primary key is the table; no second B-tree.
    sqlite_with_rowid=False,
)

rebanding = Table(
    "rebanding",
    metadata,
    Column("rebanding_key", Integer, nullable=False, comment="always 1: there is one at a time"),
    Column("bands", Integer, nullable=False),
    Column("rows", Integer, nullable=False),
    Column("first_band", SmallInteger, nullable=False, comment="number of its first band in band_bucket"),
    Column("position", BigInteger, nullable=False, comment="last content_key whose buckets are there"),
    PrimaryKeyConstraint("rebanding_key"),
    comment="other bands on their way into band_bucket; one row until they take over",
)

measurement = Table(
    "measurement",
    metadata,
    Column("run_key", Key, nullable=False, comment="run that measured"),
    Column("bands", Integer, nullable=False),
    Column("rows", Integer, nullable=False),
    Column("seed", BigInteger, nullable=False, comment="seed of the sample"),
    Column("num_contents", BigInteger, nullable=False, comment="contents there were"),
    Column("num_probes", BigInteger, nullable=False, comment="contents that were compared with all"),
    Column("min_sim", Float, nullable=False, comment="similarity from which on pairs should be found"),
    Column("num_pairs", BigInteger, nullable=False, comment="pairs of the probes there"),
    Column("num_found", BigInteger, nullable=False, comment="those that the index has"),
    Column("recall", Float, nullable=True, comment="estimate; NULL where no probe has a pair"),
    Column("low", Float, nullable=False, comment="lower end of its confidence interval"),
    Column("high", Float, nullable=False, comment="upper end"),
    Column("neighbours", String, nullable=False, comment="JSON: others a probe has by number of equal minima"),
    Column("points", String, nullable=False, comment="JSON: similarity, pairs and those found, by step of similarity"),
    PrimaryKeyConstraint("run_key"),
    comment="recall and similarities measured on the index's own contents",
)

unlinked = Table(
    "unlinked",
    metadata,
    Column("content_key", Key, nullable=False),
    PrimaryKeyConstraint("content_key"),
    comment="contents whose pairs are not computed yet",
)

pair = Table(
    "pair",
    metadata,
    Column("left_key", BigInteger, nullable=False, comment="content_key, less than right_key"),
    Column("right_key", BigInteger, nullable=False),
    Column("similarity", Float, nullable=False, comment="Jaccard in [0, 1]"),
    Column("exact", Boolean, nullable=False, comment="false: estimated from the signatures"),
    Column("run_key", BigInteger, nullable=True, comment="run that linked it; NULL outside of a run"),
    PrimaryKeyConstraint("left_key", "right_key"),
    Index(None, "right_key"),  # documents.delete_contents, statements.neighbours
    comment="pairs of contents at or above the floor",
    sqlite_with_rowid=False,
)

skipped_bucket = Table(
    "skipped_bucket",
    metadata,
    Column("band", SmallInteger, nullable=False),
    Column("bucket_hash", BigInteger, nullable=False),
    Column("num_contents", BigInteger, nullable=False, comment="contents in it when it was last linked"),
    Column("num_pairs", BigInteger, nullable=False, comment="pairs of it that were not expanded"),
    PrimaryKeyConstraint("band", "bucket_hash"),
    comment="buckets too hot to expand: newcomers met only their hubs",
    sqlite_with_rowid=False,
)

key_counter = Table(
    "key_counter",
    metadata,
    Column("name", String, nullable=False, comment="the table whose keys are counted"),
    Column("last_key", BigInteger, nullable=False, comment="the last key given out; none is given twice"),
    PrimaryKeyConstraint("name"),
    comment="keys given out so far, also to rows since deleted",
)

rejected = Table(
    "rejected",
    metadata,
    Column("rejected_key", Key, nullable=False),
    Column("run_key", BigInteger, nullable=False),
    Column("source", String, nullable=False, comment="URI"),
    Column("locator", String, nullable=False),
    Column("reason", String, nullable=False),
    PrimaryKeyConstraint("rejected_key"),
    Index(None, "run_key"),  # answers.rejections
    comment="items that could not be ingested",
)
