"""The tables of revision 0003, for its migration; `lshdb.store.schema` has those of the newest revision."""

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = sa.String().with_variant(sa.DateTime(timezone=True), "postgresql")
JSON = sa.String().with_variant(postgresql.JSONB(), "postgresql")

metadata = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


def counts(*names: str) -> sa.CheckConstraint:
    """That none of these is negative."""
    return sa.CheckConstraint(" AND ".join(f"{name} >= 0" for name in names), name="counts")


sa.Table(
    "index_params",
    metadata,
    sa.Column(
        "params_key",
        sa.Integer,
        nullable=False,
        autoincrement=False,
        comment="always 1: an index has one set of parameters",
    ),
    sa.Column("shingle", sa.String, nullable=False, comment="word:N, char:N or set"),
    sa.Column(
        "multiset", sa.Boolean, nullable=False, comment="true: each occurrence of a shingle is an element of its own"
    ),
    sa.Column("scheme", sa.String, nullable=False, comment="signature scheme"),
    sa.Column("bands", sa.Integer, nullable=False, comment="bands of a signature"),
    sa.Column("band_rows", sa.Integer, nullable=False, comment="minima in a band"),
    sa.Column("seed", sa.BigInteger, nullable=False, comment="seed of the signature's hash functions"),
    sa.Column("floor", sa.Float, nullable=False, comment="lowest similarity kept as a pair"),
    sa.Column("min_sim", sa.Float, nullable=False, comment="similarity the bands were chosen for"),
    sa.Column("recall", sa.Float, nullable=False, comment="recall promised at min_sim"),
    sa.Column("keep_text", sa.Boolean, nullable=False, comment="true: texts are kept in content_text"),
    sa.Column("html", sa.String, nullable=False, comment="main: the main content of a page; all: all its text"),
    sa.Column(
        "table_version", sa.String, nullable=False, comment="version of the code-point table, shingle hash and digest"
    ),
    sa.Column("lshdb_version", sa.String, nullable=False, comment="version of lshdb that created the index"),
    sa.Column("num_perm", sa.Integer, nullable=False, comment="minima of a signature"),
    sa.Column(
        "first_band", sa.SmallInteger, nullable=False, comment="number of the first band in band_bucket; 0 or -bands"
    ),
    sa.PrimaryKeyConstraint("params_key"),
    sa.CheckConstraint("params_key = 1", name="one_row"),
    sa.CheckConstraint("bands >= 1 AND band_rows >= 1 AND bands * band_rows <= num_perm", name="bands"),
    sa.CheckConstraint("first_band IN (0, -bands)", name="first_band"),
    sa.CheckConstraint("floor > 0 AND floor <= 1 AND min_sim > 0 AND min_sim <= 1", name="similarities"),
    sa.CheckConstraint("recall BETWEEN 0 AND 1", name="recall"),
    comment="the parameters the index was created with; one row",
)

sa.Table(
    "collection",
    metadata,
    sa.Column("collection_key", sa.Integer, nullable=False, autoincrement=False, comment="our key of the collection"),
    sa.Column("name", NAME, nullable=False, comment="the user's name for it"),
    sa.PrimaryKeyConstraint("collection_key"),
    sa.UniqueConstraint("name"),  # collections.ensure
    comment="named sets of documents; an emptied one keeps its row",
)

sa.Table(
    "run",
    metadata,
    sa.Column("run_key", KEY, nullable=False, autoincrement=False, comment="our key of the run; later, greater"),
    sa.Column("verb", sa.String, nullable=False, comment="ingest, add, remove, reband, tune"),
    sa.Column("state", sa.String, nullable=False, comment="running, finished, interrupted or failed"),
    sa.Column("started_at", MOMENT, nullable=False, comment="by the database's clock"),
    sa.Column("finished_at", MOMENT, nullable=True, comment="by the same clock; NULL while running, or if killed"),
    sa.Column("lshdb_version", sa.String, nullable=False, comment="version of lshdb that ran"),
    sa.Column("num_added", sa.BigInteger, nullable=False, comment="documents new in this run"),
    sa.Column("num_updated", sa.BigInteger, nullable=False, comment="documents whose content changed"),
    sa.Column("num_unchanged", sa.BigInteger, nullable=False, comment="documents whose content stayed the same"),
    sa.Column("num_removed", sa.BigInteger, nullable=False, comment="documents removed"),
    sa.Column("num_empty", sa.BigInteger, nullable=False, comment="documents without a single shingle"),
    sa.Column("num_rejected", sa.BigInteger, nullable=False, comment="items that could not be ingested"),
    sa.Column("num_replaced", sa.BigInteger, nullable=False, comment="documents with undecodable bytes replaced"),
    sa.Column("num_contents", sa.BigInteger, nullable=False, comment="contents new in this run"),
    sa.Column("num_bytes", sa.BigInteger, nullable=False, comment="bytes read"),
    sa.Column("collection_key", sa.ForeignKey("collection.collection_key"), nullable=True, comment="NULL if none"),
    sa.PrimaryKeyConstraint("run_key"),
    sa.CheckConstraint("state IN ('running', 'finished', 'interrupted', 'failed')", name="state"),
    sa.CheckConstraint("(state = 'running') = (finished_at IS NULL)", name="ended"),
    counts("num_added", "num_updated", "num_unchanged", "num_removed", "num_empty", "num_rejected", "num_replaced",
            "num_contents", "num_bytes"),
    comment="invocations that wrote to the index",
)  # fmt: skip

sa.Table(
    "source",
    metadata,
    sa.Column("source_key", KEY, nullable=False, autoincrement=False, comment="our key of the source"),
    sa.Column("uri", NAME, nullable=False, comment="where it is"),
    sa.Column("size", sa.BigInteger, nullable=False, comment="bytes"),
    sa.Column("mtime_ns", sa.BigInteger, nullable=False, comment="time of its last change, nanoseconds since 1970 UTC"),
    sa.Column(
        "digest", sa.LargeBinary, nullable=True, comment="xxh3_128 of the file; NULL until it is read to its end"
    ),
    sa.Column("state", sa.String, nullable=False, comment="reading or done"),
    sa.Column("num_items", sa.BigInteger, nullable=False, comment="items of it that are committed"),
    sa.Column("num_documents", sa.BigInteger, nullable=False, comment="documents it had when last read"),
    sa.Column("options", JSON, nullable=False, comment="the options it was read with"),
    sa.Column("reading_run", sa.ForeignKey("run.run_key"), nullable=False, comment="run that began to read it last"),
    sa.Column("last_seen_run", sa.ForeignKey("run.run_key"), nullable=False, comment="last run that found it"),
    sa.Column("collection_key", sa.ForeignKey("collection.collection_key"), nullable=False, comment="its collection"),
    sa.PrimaryKeyConstraint("source_key"),
    sa.UniqueConstraint("collection_key", "uri"),  # sources.known, sources.put, sources.gone
    sa.CheckConstraint("state IN ('reading', 'done')", name="state"),
    sa.CheckConstraint("length(digest) = 16", name="digest"),
    counts("size", "num_items", "num_documents"),
    comment="files that documents came from",
)

sa.Table(
    "content",
    metadata,
    sa.Column(
        "content_key",
        KEY,
        nullable=False,
        autoincrement=False,
        comment="our key of the content, in the order they came",
    ),
    sa.Column(
        "digest", sa.LargeBinary, nullable=False, comment="16 bytes that identify the normal form; see table_version"
    ),
    sa.Column("num_shingles", sa.BigInteger, nullable=False, comment="shingles, repeats included"),
    sa.Column("signature", sa.LargeBinary, nullable=False, comment="num_perm minima, uint32, little-endian"),
    sa.PrimaryKeyConstraint("content_key"),
    sa.UniqueConstraint("digest"),  # documents.put
    sa.CheckConstraint("length(digest) = 16", name="digest"),
    sa.CheckConstraint("num_shingles >= 1", name="num_shingles"),
    comment="distinct normalised texts",
)

sa.Table(
    "document",
    metadata,
    sa.Column(
        "doc_key", KEY, nullable=False, autoincrement=False, comment="our key of the document, in the order they came"
    ),
    sa.Column("doc_id", NAME, nullable=False, comment="the user's name for it"),
    sa.Column(
        "source_key", sa.ForeignKey("source.source_key"), nullable=True, comment="NULL if a program handed it over"
    ),
    sa.Column("locator", sa.String, nullable=False, comment="where in the source"),
    sa.Column("content_key", sa.ForeignKey("content.content_key"), nullable=True, comment="NULL for an empty document"),
    sa.Column("dated_at", sa.BigInteger, nullable=True, comment="date of its record, microseconds since 1970 UTC"),
    sa.Column("first_seen_run", sa.ForeignKey("run.run_key"), nullable=False, comment="run that added it"),
    sa.Column("last_seen_run", sa.ForeignKey("run.run_key"), nullable=False, comment="last run that read it"),
    sa.Column("collection_key", sa.ForeignKey("collection.collection_key"), nullable=False, comment="its collection"),
    sa.PrimaryKeyConstraint("doc_key"),
    sa.UniqueConstraint("collection_key", "doc_id"),  # documents.put, answers.content_of
    sa.Index(None, "collection_key", "content_key", "doc_key"),  # document_pairs.first_document
    sa.Index(None, "content_key", "doc_key"),  # answers.pairs, documents.orphans
    sa.Index(None, "source_key"),  # sources.vanished
    comment="places where a content was seen",
)

sa.Table(
    "content_text",
    metadata,
    sa.Column("content_key", KEY, sa.ForeignKey("content.content_key"), nullable=False, comment="whose text it is"),
    sa.Column("text", sa.LargeBinary, nullable=False, comment="zstd frame of the UTF-8 text"),
    sa.PrimaryKeyConstraint("content_key"),
    comment="texts of contents; empty with --no-keep-text",
)

sa.Table(
    "band_bucket",
    metadata,
    sa.Column("band", sa.SmallInteger, nullable=False, comment="number of the band, from first_band of its banding on"),
    sa.Column("bucket_hash", sa.BigInteger, nullable=False, comment="the 64 bits of an unsigned hash"),
    sa.Column("content_key", sa.BigInteger, nullable=False, comment="a content in the bucket"),
    sa.PrimaryKeyConstraint("band", "bucket_hash", "content_key"),
    comment="the buckets of each content, one in each band",
    sqlite_with_rowid=False,
)

sa.Table(
    "rebanding",
    metadata,
    sa.Column(
        "rebanding_key", sa.Integer, nullable=False, autoincrement=False, comment="always 1: there is one at a time"
    ),
    sa.Column("bands", sa.Integer, nullable=False, comment="bands of a signature"),
    sa.Column("band_rows", sa.Integer, nullable=False, comment="minima in a band"),
    sa.Column(
        "first_band", sa.SmallInteger, nullable=False, comment="number of its first band in band_bucket; 0 or -bands"
    ),
    sa.Column("last_content_key", sa.BigInteger, nullable=False, comment="last content whose buckets exist"),
    sa.PrimaryKeyConstraint("rebanding_key"),
    sa.CheckConstraint("rebanding_key = 1", name="one_row"),
    sa.CheckConstraint("bands >= 1 AND band_rows >= 1", name="bands"),
    sa.CheckConstraint("first_band IN (0, -bands)", name="first_band"),
    comment="a banding that is being written to band_bucket; one row until it replaces that of index_params",
)

sa.Table(
    "measurement",
    metadata,
    sa.Column("run_key", KEY, sa.ForeignKey("run.run_key"), nullable=False, comment="run that measured"),
    sa.Column("bands", sa.Integer, nullable=False, comment="bands of a signature"),
    sa.Column("band_rows", sa.Integer, nullable=False, comment="minima in a band"),
    sa.Column("seed", sa.BigInteger, nullable=False, comment="seed of the sample"),
    sa.Column("num_contents", sa.BigInteger, nullable=False, comment="contents there were"),
    sa.Column("num_probes", sa.BigInteger, nullable=False, comment="contents that were compared with all others"),
    sa.Column("min_sim", sa.Float, nullable=False, comment="lowest similarity of the pairs to find"),
    sa.Column("num_pairs", sa.BigInteger, nullable=False, comment="pairs of the probes at min_sim or more"),
    sa.Column("num_found", sa.BigInteger, nullable=False, comment="pairs of these that the index has"),
    sa.Column("recall", sa.Float, nullable=True, comment="estimate; NULL if no probe has a pair"),
    sa.Column("low", sa.Float, nullable=False, comment="lower end of the confidence interval of recall"),
    sa.Column("high", sa.Float, nullable=False, comment="upper end of the confidence interval of recall"),
    sa.Column("neighbours", JSON, nullable=False, comment="contents per probe, by number of equal minima"),
    sa.Column("points", JSON, nullable=False, comment="similarity, pairs, and pairs found, by step of similarity"),
    sa.PrimaryKeyConstraint("run_key"),
    counts("num_contents", "num_probes", "num_found", "num_pairs"),
    sa.CheckConstraint("recall BETWEEN 0 AND 1", name="recall"),
    comment="recall and similarities measured on the index's own contents",
)

sa.Table(
    "unlinked",
    metadata,
    sa.Column("content_key", KEY, sa.ForeignKey("content.content_key"), nullable=False, comment="a content to link"),
    sa.PrimaryKeyConstraint("content_key"),
    comment="contents whose pairs are not computed yet",
)

sa.Table(
    "pair",
    metadata,
    sa.Column("left_key", sa.ForeignKey("content.content_key"), nullable=False, comment="the content that came first"),
    sa.Column("right_key", sa.ForeignKey("content.content_key"), nullable=False, comment="the content that came later"),
    sa.Column("similarity", sa.Float, nullable=False, comment="Jaccard similarity"),
    sa.Column("exact", sa.Boolean, nullable=False, comment="false: estimated from the signatures"),
    sa.Column("run_key", sa.ForeignKey("run.run_key"), nullable=True, comment="run that linked it; NULL if none did"),
    sa.PrimaryKeyConstraint("left_key", "right_key"),
    sa.Index(None, "right_key"),  # documents.delete_contents, statements.neighbours
    sa.Index(None, "run_key"),  # graph.num_pairs, statements.pair_sample
    sa.CheckConstraint("left_key < right_key", name="order"),
    sa.CheckConstraint("similarity BETWEEN 0 AND 1", name="similarity"),
    comment="pairs of contents at or above the floor",
    sqlite_with_rowid=False,
)

sa.Table(
    "oversized_bucket",
    metadata,
    sa.Column("band", sa.SmallInteger, nullable=False, comment="number of the band in band_bucket"),
    sa.Column("bucket_hash", sa.BigInteger, nullable=False, comment="as in band_bucket"),
    sa.Column("num_contents", sa.BigInteger, nullable=False, comment="contents in it when it was last linked"),
    sa.Column("num_pairs", sa.BigInteger, nullable=False, comment="pairs of it that are no candidates"),
    sa.PrimaryKeyConstraint("band", "bucket_hash"),
    counts("num_contents", "num_pairs"),
    comment="buckets beyond the cap, whose later contents meet the hubs only",
    sqlite_with_rowid=False,
)

sa.Table(
    "key_counter",
    metadata,
    sa.Column("name", NAME, nullable=False, comment="the table whose keys are counted"),
    sa.Column("last_key", sa.BigInteger, nullable=False, comment="the last key used; keys are never reused"),
    sa.PrimaryKeyConstraint("name"),
    counts("last_key"),
    comment="keys used so far, also those of deleted rows",
)

sa.Table(
    "rejected",
    metadata,
    sa.Column(
        "rejected_key", KEY, nullable=False, autoincrement=False, comment="our key of the item, in the order they came"
    ),
    sa.Column("run_key", sa.ForeignKey("run.run_key"), nullable=False, comment="run that rejected it"),
    sa.Column("source", sa.String, nullable=False, comment="URI of the file"),
    sa.Column("locator", sa.String, nullable=False, comment="where in the file"),
    sa.Column("reason", sa.String, nullable=False, comment="why it was rejected"),
    sa.PrimaryKeyConstraint("rejected_key"),
    sa.Index(None, "run_key"),  # answers.rejections
    comment="items that could not be ingested",
)
