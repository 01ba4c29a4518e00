"""Digests by generation: a row of the buckets for each content replaces the unique index.

The rows of an older index become a generation of their own, so that the filters of the others stay right.
"""

import re

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

DIGEST_BAND = 32767
COMMENTS = {
    "TABLE band_bucket": "the buckets of each content, one in each band, and its digest",
    "COLUMN band_bucket.band": "number of the band, from first_band of its banding on; 32767: of the digest",
    "COLUMN band_bucket.bucket_hash": "the 64 bits of an unsigned hash, or the first 8 bytes of the digest",
}


def upgrade() -> None:
    bind = op.get_bind()
    if bind.dialect.name == "postgresql":
        first = "('x' || encode(substring(digest, 1, 8), 'hex'))::bit(64)::bigint"
        op.drop_constraint("uq_content_digest", "content")
        for place, comment in COMMENTS.items():
            op.execute(f"COMMENT ON {place} IS '{comment}'")
    else:
        # SQLite has no function for it: the value of each of 16 digits, at its place.
        digits = (
            f"instr('123456789ABCDEF', substr(hex(digest), {16 - place}, 1)) << {4 * place}" for place in range(16)
        )
        first = " | ".join(f"({digit})" for digit in digits)
        drop_index()
    if bind.scalar(sa.text("SELECT count(*) FROM content")):
        number = first_free(bind.scalars(sa.text("SELECT generation FROM bucket_generation")).all())
        op.execute(f"INSERT INTO bucket_generation (generation, num_rows) SELECT {number}, count(*) FROM content")
        op.execute(
            "INSERT INTO band_bucket (generation, band, bucket_hash, content_key)"
            f" SELECT {number}, {DIGEST_BAND}, {first}, content_key FROM content ORDER BY 3, 4"
        )


def first_free(taken: list[int]) -> int:
    """Return the smallest number that no generation has."""
    return min(set(range(len(taken) + 1)).difference(taken))


def drop_index() -> None:
    """Drop the index of a constraint, without copying the table.

    First, the index becomes an ordinary one. Source: https://sqlite.org/lang_altertable.html, section 7.
    """
    bind = op.get_bind()
    version = bind.exec_driver_sql("PRAGMA schema_version").scalar_one()
    before = bind.scalar(sa.text("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = 'content'"))
    after = re.sub(r"CONSTRAINT uq_content_digest UNIQUE \(digest\),\s*", "", before)
    bind.exec_driver_sql("PRAGMA writable_schema = ON")
    bind.execute(
        sa.text("UPDATE sqlite_master SET sql = :after WHERE type = 'table' AND name = 'content'"), {"after": after}
    )
    op.execute(
        "UPDATE sqlite_master SET name = 'uq_content_digest',"
        " sql = 'CREATE INDEX uq_content_digest ON content (digest)' WHERE name = 'sqlite_autoindex_content_1'"
    )
    bind.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    bind.exec_driver_sql("PRAGMA writable_schema = RESET")
    op.execute("DROP INDEX uq_content_digest")
