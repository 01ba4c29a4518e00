"""Filters of the generations. Those of an older index are built when it merges.

Other roles get the privileges that they have on the buckets, because every lookup of a bucket reads the filters.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

PRIVILEGES = """
    SELECT r.grantee, r.privilege_type FROM information_schema.role_table_grants AS r
    JOIN pg_class AS c ON c.oid = to_regclass('band_bucket')
    WHERE r.table_schema = current_schema() AND r.table_name = 'band_bucket'
        AND r.grantee <> pg_get_userbyid(c.relowner)"""


def upgrade() -> None:
    create_filters()
    if op.get_bind().dialect.name == "postgresql":
        quote = op.get_bind().dialect.identifier_preparer.quote
        for grantee, privilege in op.get_bind().execute(sa.text(PRIVILEGES)).all():
            role = grantee if grantee == "PUBLIC" else quote(grantee)
            op.execute(f"GRANT {privilege} ON bucket_filter TO {role}")


def create_filters() -> None:
    op.create_table(
        "bucket_filter",
        sa.Column("generation", sa.SmallInteger(), nullable=False, comment="whose rows it stands for"),
        sa.Column("band", sa.SmallInteger(), nullable=False, comment="as in band_bucket"),
        sa.Column(
            "last_hash",
            sa.BigInteger(),
            nullable=False,
            comment="it stands for the bucket hashes up to this one, from that of the part before",
        ),
        sa.Column("bits", sa.LargeBinary(), nullable=False, comment="a Bloom filter of 8192 bits"),
        sa.PrimaryKeyConstraint("generation", "band", "last_hash", name="pk_bucket_filter"),
        sa.CheckConstraint("length(bits) = 1024", name=op.f("ck_bucket_filter_bits")),
        sa.ForeignKeyConstraint(["generation"], ["bucket_generation.generation"], name="fk_bucket_filter_generation"),
        comment="which buckets a generation of band_bucket may have; a young one has no filter",
        sqlite_with_rowid=False,
    )
