"""Create the first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "band_bucket",
        sa.Column("band", sa.SmallInteger(), nullable=False),
        sa.Column("bucket_hash", sa.BigInteger(), nullable=False, comment="the 64 bits of an unsigned hash"),
        sa.Column("content_key", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("band", "bucket_hash", "content_key", name="pk_band_bucket"),
        comment="a content's bucket in each band",
        sqlite_with_rowid=False,
    )
    op.create_table(
        "content",
        sa.Column("content_key", KEY, nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False, comment="xxh3_128 of the normal form"),
        sa.Column("num_shingles", sa.BigInteger(), nullable=False, comment="shingles, repeats included"),
        sa.Column("signature", sa.LargeBinary(), nullable=False, comment="num_perm minima, uint32, little-endian"),
        sa.PrimaryKeyConstraint("content_key", name="pk_content"),
        sa.UniqueConstraint("digest", name="uq_content_digest"),
        comment="distinct normalised texts",
    )
    op.create_table(
        "content_text",
        sa.Column("content_key", KEY, nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=False, comment="zstd frame of the UTF-8 text"),
        sa.PrimaryKeyConstraint("content_key", name="pk_content_text"),
        comment="texts of contents; empty with --no-keep-text",
    )
    op.create_table(
        "document",
        sa.Column("doc_key", KEY, nullable=False),
        sa.Column("collection", NAME, nullable=False),
        sa.Column("doc_id", NAME, nullable=False, comment="the user's name for it"),
        sa.Column("source_key", sa.BigInteger(), nullable=True, comment="NULL where a program handed it over"),
        sa.Column("locator", sa.String(), nullable=False, comment="where in the source"),
        sa.Column("content_key", sa.BigInteger(), nullable=True, comment="NULL for an empty document"),
        sa.Column(
            "dated_at", sa.BigInteger(), nullable=True, comment="date of its record, microseconds since 1970 UTC"
        ),
        sa.Column("first_seen_run", sa.BigInteger(), nullable=False),
        sa.Column("last_seen_run", sa.BigInteger(), nullable=False, comment="last run that read it"),
        sa.PrimaryKeyConstraint("doc_key", name="pk_document"),
        sa.UniqueConstraint("collection", "doc_id", name="uq_document_collection_doc_id"),
        comment="places where a content was seen",
    )
    op.create_index("ix_document_content_key_document_doc_key", "document", ["content_key", "doc_key"], unique=False)
    op.create_index("ix_document_source_key", "document", ["source_key"], unique=False)
    op.create_table(
        "index_params",
        sa.Column("params_key", sa.Integer(), nullable=False, comment="always 1: an index has one set of parameters"),
        sa.Column("shingle", sa.String(), nullable=False, comment="word:N, char:N or set"),
        sa.Column(
            "multiset",
            sa.Boolean(),
            nullable=False,
            comment="the i-th occurrence of a shingle is an element of its own",
        ),
        sa.Column("scheme", sa.String(), nullable=False, comment="signature scheme"),
        sa.Column("bands", sa.Integer(), nullable=False, comment="bands of a signature"),
        sa.Column("rows", sa.Integer(), nullable=False, comment="minima in a band"),
        sa.Column("seed", sa.BigInteger(), nullable=False, comment="seed of the signature's hash functions"),
        sa.Column("floor", sa.Float(), nullable=False, comment="lowest similarity kept as a pair"),
        sa.Column("min_sim", sa.Float(), nullable=False, comment="similarity the bands were chosen for"),
        sa.Column("recall", sa.Float(), nullable=False, comment="recall promised at min_sim"),
        sa.Column("keep_text", sa.Boolean(), nullable=False, comment="texts are kept in content_text"),
        sa.Column("html", sa.String(), nullable=False, comment="main content of a page, or all its text"),
        sa.Column("table_version", sa.String(), nullable=False, comment="code-point table and shingle hash"),
        sa.Column("lshdb_version", sa.String(), nullable=False, comment="version that made the index"),
        sa.PrimaryKeyConstraint("params_key", name="pk_index_params"),
        comment="the parameters the index was made with; one row",
    )
    op.create_table(
        "key_counter",
        sa.Column("name", sa.String(), nullable=False, comment="the table whose keys are counted"),
        sa.Column("last_key", sa.BigInteger(), nullable=False, comment="the last key given out; none is given twice"),
        sa.PrimaryKeyConstraint("name", name="pk_key_counter"),
        comment="keys given out so far, also to rows since deleted",
    )
    op.create_table(
        "pair",
        sa.Column("left_key", sa.BigInteger(), nullable=False, comment="content_key, less than right_key"),
        sa.Column("right_key", sa.BigInteger(), nullable=False),
        sa.Column("similarity", sa.Float(), nullable=False, comment="Jaccard in [0, 1]"),
        sa.Column("exact", sa.Boolean(), nullable=False, comment="false: estimated from the signatures"),
        sa.Column("run_key", sa.BigInteger(), nullable=True, comment="run that linked it; NULL outside of a run"),
        sa.PrimaryKeyConstraint("left_key", "right_key", name="pk_pair"),
        comment="pairs of contents at or above the floor",
        sqlite_with_rowid=False,
    )
    op.create_index("ix_pair_right_key", "pair", ["right_key"], unique=False)
    op.create_table(
        "rejected",
        sa.Column("rejected_key", KEY, nullable=False),
        sa.Column("run_key", sa.BigInteger(), nullable=False),
        sa.Column("source", sa.String(), nullable=False, comment="URI"),
        sa.Column("locator", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("rejected_key", name="pk_rejected"),
        comment="items that could not be ingested",
    )
    op.create_index("ix_rejected_run_key", "rejected", ["run_key"], unique=False)
    op.create_table(
        "run",
        sa.Column("run_key", KEY, nullable=False),
        sa.Column("verb", sa.String(), nullable=False, comment="ingest, add, remove"),
        sa.Column("collection", NAME, nullable=False),
        sa.Column("state", sa.String(), nullable=False, comment="running, finished, interrupted or failed"),
        sa.Column("started_at", sa.String(), nullable=False, comment="UTC, ISO 8601"),
        sa.Column(
            "finished_at",
            sa.String(),
            nullable=True,
            comment="UTC, ISO 8601; NULL while it runs, or where it was killed",
        ),
        sa.Column("lshdb_version", sa.String(), nullable=False),
        sa.Column("num_added", sa.BigInteger(), nullable=False, comment="documents new in this run"),
        sa.Column("num_updated", sa.BigInteger(), nullable=False, comment="documents whose content changed"),
        sa.Column("num_unchanged", sa.BigInteger(), nullable=False),
        sa.Column("num_removed", sa.BigInteger(), nullable=False),
        sa.Column("num_empty", sa.BigInteger(), nullable=False, comment="documents without a single shingle"),
        sa.Column("num_rejected", sa.BigInteger(), nullable=False),
        sa.Column("num_replaced", sa.BigInteger(), nullable=False, comment="documents with undecodable bytes replaced"),
        sa.Column("num_contents", sa.BigInteger(), nullable=False, comment="contents new in this run"),
        sa.Column("num_bytes", sa.BigInteger(), nullable=False, comment="bytes read"),
        sa.PrimaryKeyConstraint("run_key", name="pk_run"),
        comment="invocations that wrote to the index",
    )
    op.create_table(
        "skipped_bucket",
        sa.Column("band", sa.SmallInteger(), nullable=False),
        sa.Column("bucket_hash", sa.BigInteger(), nullable=False),
        sa.Column("num_contents", sa.BigInteger(), nullable=False, comment="contents in it when it was last linked"),
        sa.Column("num_pairs", sa.BigInteger(), nullable=False, comment="pairs of it that were not expanded"),
        sa.PrimaryKeyConstraint("band", "bucket_hash", name="pk_skipped_bucket"),
        comment="buckets too hot to expand: newcomers met only their hubs",
        sqlite_with_rowid=False,
    )
    op.create_table(
        "source",
        sa.Column("source_key", KEY, nullable=False),
        sa.Column("collection", NAME, nullable=False),
        sa.Column("uri", NAME, nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False, comment="bytes"),
        sa.Column("mtime_ns", sa.BigInteger(), nullable=False),
        sa.Column(
            "digest", sa.LargeBinary(), nullable=True, comment="xxh3_128 of the file; NULL until it is read to its end"
        ),
        sa.Column("state", sa.String(), nullable=False, comment="reading or done"),
        sa.Column("position", sa.BigInteger(), nullable=False, comment="items of it that are committed"),
        sa.Column("num_documents", sa.BigInteger(), nullable=False, comment="documents it gave when last read"),
        sa.Column("options", sa.String(), nullable=False, comment="JSON of the options it was read with"),
        sa.Column("reading_run", sa.BigInteger(), nullable=False, comment="run in which its last reading began"),
        sa.Column("last_seen_run", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("source_key", name="pk_source"),
        sa.UniqueConstraint("collection", "uri", name="uq_source_collection_uri"),
        comment="files that documents came from",
    )
    op.create_table(
        "unlinked",
        sa.Column("content_key", KEY, nullable=False),
        sa.PrimaryKeyConstraint("content_key", name="pk_unlinked"),
        comment="contents whose pairs are not computed yet",
    )
