"""The tables as of the newest revision. Migrations lead to the same; a test checks that both agree.

All references are foreign keys, except those of `band_bucket`, `bucket_filter` and `fingerprint_block`. Checking 20
bucket rows for each document would halve the speed of an ingest. Checking everything else adds 4 % to the processor
time of an ingest in SQLite. Postgres looks up each reference with a separate statement and locks the row that it finds:
40 % of the time of a later load of short texts. So the foreign keys in UNENFORCED are declared, but only SQLite has
them. On both, `check` finds rows that refer to nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    String,
    Table,
    TypeDecorator,
    UniqueConstraint,
    event,
)
from sqlalchemy.types import TypeEngine

__all__ = [
    "DIGEST_BAND",
    "ENTRY_BITS",
    "MANY_LABELS",
    "POSITION_BITS",
    "UNENFORCED",
    "Json",
    "Key",
    "Moment",
    "Name",
    "band_bucket",
    "bucket_filter",
    "bucket_generation",
    "collection",
    "content",
    "content_text",
    "decision",
    "document",
    "fingerprint_block",
    "index_params",
    "key_counter",
    "measurement",
    "metadata",
    "new_digest",
    "oversized_bucket",
    "pair",
    "passage_build",
    "rebanding",
    "rejected",
    "removal",
    "run",
    "source",
    "unlinked",
]

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

# In Postgres, "C" sorts by bytes like SQLite, regardless of the database's locale. Queries for a prefix need this.
Name: Final = String().with_variant(String(collation="C"), "postgresql")
# In SQLite, only a column of type INTEGER can be the rowid. lshdb assigns the keys itself; see key_counter.
Key: Final = BigInteger().with_variant(Integer(), "sqlite")


class Moment(TypeDecorator[str]):
    """A time as ISO 8601 text in UTC with milliseconds; timestamptz in Postgres."""

    impl = String
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(DateTime(timezone=True) if dialect.name == "postgresql" else String())

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        is_text = value is None or dialect.name != "postgresql"
        return value if is_text else datetime.fromisoformat(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        return value.astimezone(UTC).isoformat(timespec="milliseconds") if isinstance(value, datetime) else value


class Json(TypeDecorator[str]):
    """JSON as text without blanks and with sorted keys; jsonb in Postgres."""

    impl = String
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name != "postgresql":
            return dialect.type_descriptor(String())
        # Imported on demand: Postgres's types take as long to import as a small question to SQLite takes.
        from sqlalchemy.dialects.postgresql import JSONB

        return dialect.type_descriptor(JSONB())

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        is_text = value is None or dialect.name != "postgresql"
        return value if is_text else msgspec.json.decode(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        is_text = value is None or dialect.name != "postgresql"
        return value if is_text else msgspec.json.encode(value, order="sorted").decode()


# The band of `band_bucket` for the first 8 bytes of digests; those of a banding go up to 32,766.
DIGEST_BAND: Final = 2**15 - 1


def _counts(*names: str) -> CheckConstraint:
    return CheckConstraint(" AND ".join(f"{name} >= 0" for name in names), name="counts")


index_params = Table(
    "index_params",
    metadata,
    Column(
        "params_key",
        Integer,
        nullable=False,
        autoincrement=False,
        comment="always 1: an index has one set of parameters",
    ),
    Column("shingle", String, nullable=False, comment="word:N, char:N or set"),
    Column("multiset", Boolean, nullable=False, comment="true: each occurrence of a shingle is an element of its own"),
    Column("scheme", String, nullable=False, comment="signature scheme"),
    Column("bands", Integer, nullable=False, comment="bands of a signature"),
    Column("band_rows", Integer, nullable=False, key="rows", comment="minima in a band"),
    Column("seed", BigInteger, nullable=False, comment="seed of the signature's hash functions"),
    Column("floor", Float, nullable=False, comment="lowest similarity kept as a pair"),
    Column("min_sim", Float, nullable=False, comment="similarity the bands were chosen for"),
    Column("recall", Float, nullable=False, comment="recall promised at min_sim"),
    Column("keep_text", Boolean, nullable=False, comment="true: texts are kept in content_text"),
    Column("html", String, nullable=False, comment="main: the main content of a page; all: all its text"),
    Column("table_version", String, nullable=False, comment="version of the code-point table, shingle hash and digest"),
    Column("lshdb_version", String, nullable=False, comment="version of lshdb that created the index"),
    Column("num_perm", Integer, nullable=False, comment="minima of a signature"),
    Column("first_band", SmallInteger, nullable=False, comment="number of the first band in band_bucket; 0 or -bands"),
    Column("passages", Integer, nullable=False, comment="words of the passages that are always found; 0: none are"),
    PrimaryKeyConstraint("params_key"),
    CheckConstraint("params_key = 1", name="one_row"),
    CheckConstraint("bands >= 1 AND band_rows >= 1 AND bands * band_rows <= num_perm", name="bands"),
    CheckConstraint("first_band IN (0, -bands)", name="first_band"),
    CheckConstraint("floor > 0 AND floor <= 1 AND min_sim > 0 AND min_sim <= 1", name="similarities"),
    CheckConstraint("recall BETWEEN 0 AND 1", name="recall"),
    CheckConstraint("passages >= 0 AND (passages = 0 OR keep_text)", name="passages"),
    comment="the parameters the index was created with; one row",
)

collection = Table(
    "collection",
    metadata,
    Column("collection_key", Integer, nullable=False, autoincrement=False, comment="our key of the collection"),
    Column("name", Name, nullable=False, comment="the user's name for it"),
    PrimaryKeyConstraint("collection_key"),
    UniqueConstraint("name"),  # collections.ensure
    comment="named sets of documents; an emptied one keeps its row",
)

run = Table(
    "run",
    metadata,
    Column("run_key", Key, nullable=False, autoincrement=False, comment="our key of the run; later, greater"),
    Column("verb", String, nullable=False, comment="ingest, add, remove, reband, tune"),
    Column("state", String, nullable=False, comment="running, finished, interrupted or failed"),
    Column("started_at", Moment, nullable=False, comment="by the database's clock"),
    Column("finished_at", Moment, nullable=True, comment="by the same clock; NULL while running, or if killed"),
    Column("lshdb_version", String, nullable=False, comment="version of lshdb that ran"),
    Column("num_added", BigInteger, nullable=False, comment="documents new in this run"),
    Column("num_updated", BigInteger, nullable=False, comment="documents whose content changed"),
    Column("num_unchanged", BigInteger, nullable=False, comment="documents whose content stayed the same"),
    Column("num_removed", BigInteger, nullable=False, comment="documents removed"),
    Column("num_empty", BigInteger, nullable=False, comment="documents without a single shingle"),
    Column("num_rejected", BigInteger, nullable=False, comment="items that could not be ingested"),
    Column("num_replaced", BigInteger, nullable=False, comment="documents with undecodable bytes replaced"),
    Column("num_contents", BigInteger, nullable=False, comment="contents new in this run"),
    Column("num_bytes", BigInteger, nullable=False, comment="bytes read"),
    Column("collection_key", ForeignKey("collection.collection_key"), nullable=True, comment="NULL if none"),
    PrimaryKeyConstraint("run_key"),
    CheckConstraint("state IN ('running', 'finished', 'interrupted', 'failed')", name="state"),
    CheckConstraint("(state = 'running') = (finished_at IS NULL)", name="ended"),
    _counts("num_added", "num_updated", "num_unchanged", "num_removed", "num_empty", "num_rejected", "num_replaced",
            "num_contents", "num_bytes"),
    comment="invocations that wrote to the index",
)  # fmt: skip

source = Table(
    "source",
    metadata,
    Column("source_key", Key, nullable=False, autoincrement=False, comment="our key of the source"),
    Column("uri", Name, nullable=False, comment="where it is"),
    Column("size", BigInteger, nullable=False, comment="bytes"),
    Column("mtime_ns", BigInteger, nullable=False, comment="time of its last change, nanoseconds since 1970 UTC"),
    Column("digest", LargeBinary, nullable=True, comment="xxh3_128 of the file; NULL until it is read to its end"),
    Column("state", String, nullable=False, comment="reading or done"),
    Column("num_items", BigInteger, nullable=False, key="position", comment="items of it that are committed"),
    Column("num_documents", BigInteger, nullable=False, comment="documents it had when last read"),
    Column("options", Json, nullable=False, comment="the options it was read with"),
    Column("reading_run", ForeignKey("run.run_key"), nullable=False, comment="run that began to read it last"),
    Column("last_seen_run", ForeignKey("run.run_key"), nullable=False, comment="last run that found it"),
    Column("collection_key", ForeignKey("collection.collection_key"), nullable=False, comment="its collection"),
    PrimaryKeyConstraint("source_key"),
    UniqueConstraint("collection_key", "uri"),  # sources.known, sources.put, sources.gone
    CheckConstraint("state IN ('reading', 'done')", name="state"),
    CheckConstraint("length(digest) = 16", name="digest"),
    _counts("size", "num_items", "num_documents"),
    comment="files that documents came from",
)

content = Table(
    "content",
    metadata,
    Column(
        "content_key",
        Key,
        nullable=False,
        autoincrement=False,
        comment="our key of the content, in the order they came",
    ),
    Column("digest", LargeBinary, nullable=False, comment="16 bytes that identify the normal form; see table_version"),
    Column("num_shingles", BigInteger, nullable=False, comment="shingles, repeats included"),
    Column(
        "signature",
        LargeBinary,
        nullable=False,
        comment="num_perm minima, little-endian, of 2 bytes with the scheme fss2, otherwise of 4",
    ),
    PrimaryKeyConstraint("content_key"),
    CheckConstraint("length(digest) = 16", name="digest"),
    CheckConstraint("num_shingles >= 1", name="num_shingles"),
    comment="distinct normalised texts",
)

document = Table(
    "document",
    metadata,
    Column(
        "doc_key", Key, nullable=False, autoincrement=False, comment="our key of the document, in the order they came"
    ),
    Column("doc_id", Name, nullable=False, comment="the user's name for it"),
    Column("source_key", ForeignKey("source.source_key"), nullable=True, comment="NULL if a program handed it over"),
    Column("locator", String, nullable=False, comment="where in the source"),
    Column("content_key", ForeignKey("content.content_key"), nullable=True, comment="NULL for an empty document"),
    Column("dated_at", BigInteger, nullable=True, comment="date of its record, microseconds since 1970 UTC"),
    Column("first_seen_run", ForeignKey("run.run_key"), nullable=False, comment="run that added it"),
    Column("last_seen_run", ForeignKey("run.run_key"), nullable=False, comment="last run that read it"),
    Column("collection_key", ForeignKey("collection.collection_key"), nullable=False, comment="its collection"),
    PrimaryKeyConstraint("doc_key"),
    UniqueConstraint("collection_key", "doc_id"),  # documents.put, answers.content_of
    Index(None, "collection_key", "content_key", "doc_key"),  # document_pairs.first_document
    Index(None, "content_key", "doc_key"),  # answers.pairs, documents.orphans
    Index(None, "source_key"),  # sources.vanished
    comment="places where a content was seen",
)

content_text = Table(
    "content_text",
    metadata,
    Column("content_key", Key, ForeignKey("content.content_key"), nullable=False, comment="whose text it is"),
    Column("text", LargeBinary, nullable=False, comment="zstd frame of the UTF-8 text"),
    PrimaryKeyConstraint("content_key"),
    comment="texts of contents; empty with --no-keep-text",
)
# What fits into a page stays in its row; by default, Postgres stores all above 2 kB in pieces, elsewhere. It need not
# try to compress the rest, because the texts are compressed. `postgresql_with` would load Postgres's dialect.
_KEPT_WHOLE: Final = DDL(  # type: ignore[no-untyped-call]
    "ALTER TABLE %(table)s ALTER COLUMN text SET STORAGE EXTERNAL, SET (toast_tuple_target = 8160)"
)
event.listen(content_text, "after_create", _KEPT_WHOLE.execute_if(dialect="postgresql"))

bucket_generation = Table(
    "bucket_generation",
    metadata,
    Column("generation", SmallInteger, nullable=False, autoincrement=False, comment="its number in band_bucket"),
    Column("num_rows", BigInteger, nullable=False, comment="rows written to it, including those deleted since"),
    Column(
        "merges_into",
        ForeignKey("bucket_generation.generation"),
        nullable=True,
        comment="the generation to which its rows are moving; NULL if they stay",
    ),
    Column("filter", SmallInteger, nullable=True, comment="that in bucket_filter; NULL if it has none"),
    Column("next_filter", SmallInteger, nullable=True, comment="the one that replaces it when it is complete"),
    Column(
        "first_content_key",
        BigInteger,
        nullable=True,
        comment="first content of a load whose rows are all here, and no others; otherwise NULL",
    ),
    Column("last_content_key", BigInteger, nullable=True, comment="the last content of that load"),
    PrimaryKeyConstraint("generation"),
    _counts("num_rows"),
    CheckConstraint("merges_into <> generation", name="merges_into"),
    comment="parts of band_bucket; new rows go to a small one, and several of one size merge into a larger one",
)

band_bucket = Table(
    "band_bucket",
    metadata,
    Column("generation", SmallInteger, nullable=False, comment="which part of the table the row is in"),
    Column(
        "band",
        SmallInteger,
        nullable=False,
        comment="number of the band, from first_band of its banding on; 32767: of the digest",
    ),
    Column(
        "bucket_hash",
        BigInteger,
        nullable=False,
        comment="the 64 bits of an unsigned hash, or the first 8 bytes of the digest",
    ),
    Column("content_key", BigInteger, nullable=False, comment="a content in the bucket"),
    PrimaryKeyConstraint("generation", "band", "bucket_hash", "content_key"),
    comment="the buckets of each content, one in each band, and its digest",
    # WITHOUT ROWID: the rows are stored in the primary key, without a second B-tree.
    sqlite_with_rowid=False,
)

# In the key of a part of a filter, below the number of the filter: its band, and the high bits of a bucket hash.
POSITION_BITS: Final = 48
# Of an entry of a filter, and so the most low bits in which the positions of a part differ.
ENTRY_BITS: Final = 24
# The numbers of filters with labels are odd, and from this number on their labels have more bits.
MANY_LABELS: Final = 1 << 14

bucket_filter = Table(
    "bucket_filter",
    metadata,
    Column(
        "part_key",
        Key,
        nullable=False,
        autoincrement=False,
        comment="from the high bits: 15 of the filter, 16 of the band, 32 of the last hash that it has an entry of",
    ),
    Column(
        "entries",
        LargeBinary,
        nullable=False,
        comment="3 bytes each, ascending: bits of a bucket hash, and if the filter is odd, 4 or 6 of a generation",
    ),
    PrimaryKeyConstraint("part_key"),
    CheckConstraint("length(entries) % 3 = 0", name="entries"),
    comment="which buckets generations of band_bucket may have; a young one has no filter",
)

fingerprint_block = Table(
    "fingerprint_block",
    metadata,
    Column("prefix", Integer, nullable=False, comment="the high 16 bits of the fingerprints"),
    Column("first_content_key", BigInteger, nullable=False, comment="the first content that has one of them"),
    Column(
        "entries",
        LargeBinary,
        nullable=False,
        comment="6 bytes each: the low 16 bits, and how far the content_key is above the first, little-endian",
    ),
    PrimaryKeyConstraint("prefix", "first_content_key"),
    CheckConstraint("prefix BETWEEN 0 AND 65535", name="prefix"),
    comment="fingerprints of the passages of contents, many to a row; also of contents deleted since the last vacuum",
    sqlite_with_rowid=False,
)

passage_build = Table(
    "passage_build",
    metadata,
    Column("build_key", Integer, nullable=False, autoincrement=False, comment="always 1: there is one at a time"),
    Column("passages", Integer, nullable=False, comment="words of the passages that will be found"),
    Column("last_content_key", BigInteger, nullable=False, comment="last content whose fingerprints exist"),
    PrimaryKeyConstraint("build_key"),
    CheckConstraint("build_key = 1", name="one_row"),
    CheckConstraint("passages >= 1", name="passages"),
    comment="passages that are being added to an index; one row until all contents have their fingerprints",
)

rebanding = Table(
    "rebanding",
    metadata,
    Column("rebanding_key", Integer, nullable=False, autoincrement=False, comment="always 1: there is one at a time"),
    Column("bands", Integer, nullable=False, comment="bands of a signature"),
    Column("band_rows", Integer, nullable=False, key="rows", comment="minima in a band"),
    Column("first_band", SmallInteger, nullable=False, comment="number of its first band in band_bucket; 0 or -bands"),
    Column("last_content_key", BigInteger, nullable=False, key="position", comment="last content whose buckets exist"),
    PrimaryKeyConstraint("rebanding_key"),
    CheckConstraint("rebanding_key = 1", name="one_row"),
    CheckConstraint("bands >= 1 AND band_rows >= 1", name="bands"),
    CheckConstraint("first_band IN (0, -bands)", name="first_band"),
    comment="a banding that is being written to band_bucket; one row until it replaces that of index_params",
)

measurement = Table(
    "measurement",
    metadata,
    Column("run_key", Key, ForeignKey("run.run_key"), nullable=False, comment="run that measured"),
    Column("bands", Integer, nullable=False, comment="bands of a signature"),
    Column("band_rows", Integer, nullable=False, key="rows", comment="minima in a band"),
    Column("seed", BigInteger, nullable=False, comment="seed of the sample"),
    Column("num_contents", BigInteger, nullable=False, comment="contents there were"),
    Column("num_probes", BigInteger, nullable=False, comment="contents that were compared with all others"),
    Column("min_sim", Float, nullable=False, comment="lowest similarity of the pairs to find"),
    Column("num_pairs", BigInteger, nullable=False, comment="pairs of the probes at min_sim or more"),
    Column("num_found", BigInteger, nullable=False, comment="pairs of these that the index has"),
    Column("recall", Float, nullable=True, comment="estimate; NULL if no probe has a pair"),
    Column("low", Float, nullable=False, comment="lower end of the confidence interval of recall"),
    Column("high", Float, nullable=False, comment="upper end of the confidence interval of recall"),
    Column("neighbours", Json, nullable=False, comment="contents per probe, by number of equal minima"),
    Column("points", Json, nullable=False, comment="similarity, pairs, and pairs found, by step of similarity"),
    PrimaryKeyConstraint("run_key"),
    _counts("num_contents", "num_probes", "num_found", "num_pairs"),
    CheckConstraint("recall BETWEEN 0 AND 1", name="recall"),
    comment="recall and similarities measured on the index's own contents",
)

unlinked = Table(
    "unlinked",
    metadata,
    Column("content_key", Key, ForeignKey("content.content_key"), nullable=False, comment="a content to link"),
    PrimaryKeyConstraint("content_key"),
    comment="contents whose pairs are not computed yet",
)

pair = Table(
    "pair",
    metadata,
    Column("left_key", ForeignKey("content.content_key"), nullable=False, comment="the content that came first"),
    Column("right_key", ForeignKey("content.content_key"), nullable=False, comment="the content that came later"),
    Column("similarity", Float, nullable=False, comment="Jaccard similarity"),
    Column("exact", Boolean, nullable=False, comment="false: estimated from the signatures"),
    Column("run_key", ForeignKey("run.run_key"), nullable=True, comment="run that linked it; NULL if none did"),
    PrimaryKeyConstraint("left_key", "right_key"),
    Index(None, "right_key"),  # documents.delete_contents, statements.neighbours
    CheckConstraint("left_key < right_key", name="order"),
    CheckConstraint("similarity BETWEEN 0 AND 1", name="similarity"),
    comment="pairs of contents at or above the floor",
    sqlite_with_rowid=False,
)

# Those of the tables with a row for each document, text or pair.
UNENFORCED: Final = frozenset(
    reference.ddl_if(dialect="sqlite")
    for table in (document, content_text, unlinked, pair)
    for reference in table.foreign_key_constraints
)

oversized_bucket = Table(
    "oversized_bucket",
    metadata,
    Column("band", SmallInteger, nullable=False, comment="number of the band in band_bucket"),
    Column("bucket_hash", BigInteger, nullable=False, comment="as in band_bucket"),
    Column("num_contents", BigInteger, nullable=False, comment="contents in it when it was last linked"),
    Column("num_pairs", BigInteger, nullable=False, comment="pairs of it that are no candidates"),
    PrimaryKeyConstraint("band", "bucket_hash"),
    _counts("num_contents", "num_pairs"),
    comment="buckets beyond the cap, whose later contents meet the hubs only",
    sqlite_with_rowid=False,
)

key_counter = Table(
    "key_counter",
    metadata,
    Column("name", Name, nullable=False, comment="the table whose keys are counted"),
    Column("last_key", BigInteger, nullable=False, comment="the last key used; keys are never reused"),
    PrimaryKeyConstraint("name"),
    _counts("last_key"),
    comment="keys used so far, also those of deleted rows",
)

rejected = Table(
    "rejected",
    metadata,
    Column(
        "rejected_key", Key, nullable=False, autoincrement=False, comment="our key of the item, in the order they came"
    ),
    Column("run_key", ForeignKey("run.run_key"), nullable=False, comment="run that rejected it"),
    Column("source", String, nullable=False, comment="URI of the file"),
    Column("locator", String, nullable=False, comment="where in the file"),
    Column("reason", String, nullable=False, comment="why it was rejected"),
    PrimaryKeyConstraint("rejected_key"),
    Index(None, "run_key"),  # answers.rejections
    comment="items that could not be ingested",
)

removal = Table(
    "removal",
    metadata,
    Column("source_key", ForeignKey("source.source_key"), nullable=False, comment="source of the documents"),
    Column("run_key", ForeignKey("run.run_key"), nullable=False, comment="run that removed them"),
    Column("num_documents", BigInteger, nullable=False, comment="how many of them it removed"),
    PrimaryKeyConstraint("source_key", "run_key"),
    _counts("num_documents"),
    comment="documents removed by their ids, which their sources still have",
    sqlite_with_rowid=False,
)

new_digest = Table(
    "new_digest",
    metadata,
    Column("content_key", Key, ForeignKey("content.content_key"), nullable=False, comment="whose digest it will be"),
    Column("digest", LargeBinary, nullable=False, comment="as in content, by the table_version after the upgrade"),
    PrimaryKeyConstraint("content_key"),
    CheckConstraint("length(digest) = 16", name="digest"),
    comment="digests that an upgrade has computed; they replace those of content once all are known",
)

decision = Table(
    "decision",
    metadata,
    Column("decision_key", Key, nullable=False, autoincrement=False, comment="our key of the decision; later, greater"),
    Column("kind", String, nullable=False, comment="different: the two are no duplicates; keep: keep the document"),
    Column("collection_key", ForeignKey("collection.collection_key"), nullable=False, comment="of the document"),
    Column("doc_id", Name, nullable=False, comment="a document, which need not be in the index"),
    Column(
        "other_collection_key",
        ForeignKey("collection.collection_key"),
        nullable=True,
        comment="of the other document; NULL for keep",
    ),
    Column("other_id", Name, nullable=True, comment="the other document; NULL for keep"),
    Column("digest", LargeBinary, nullable=True, comment="of the text that it had at that time; NULL if it had none"),
    Column("other_digest", LargeBinary, nullable=True, comment="the same of the other document"),
    Column("who", String, nullable=False, comment="who decided"),
    Column("reason", String, nullable=False, comment="why"),
    Column("decided_at", Moment, nullable=False, comment="when"),
    PrimaryKeyConstraint("decision_key"),
    # Not unique, because an entry of a Postgres index cannot hold two long ids; a rule of `check` says it.
    Index(None, "doc_id", "collection_key"),  # decisions.put, decisions.page
    Index(None, "other_id", "other_collection_key"),  # decisions.apart_from
    CheckConstraint("kind IN ('different', 'keep')", name="kind"),
    CheckConstraint(
        "(kind = 'keep') = (other_id IS NULL) AND (other_id IS NULL) = (other_collection_key IS NULL)", name="other"
    ),
    CheckConstraint("(collection_key, doc_id) < (other_collection_key, other_id)", name="order"),
    CheckConstraint("length(digest) = 16 AND length(other_digest) = 16", name="digests"),
    comment="what people decided about documents, by their ids",
)
