"""Filters tell which generation has a bucket, and merge. All are dropped, and ingests and merges build new ones.

Other roles get the privileges that they have on the buckets, because every lookup of a bucket reads the filters.
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

PRIVILEGES = """
    SELECT r.grantee, r.privilege_type FROM information_schema.role_table_grants AS r
    JOIN pg_class AS c ON c.oid = to_regclass('band_bucket')
    WHERE r.table_schema = current_schema() AND r.table_name = 'band_bucket'
        AND r.grantee <> pg_get_userbyid(c.relowner)"""


COLUMNS = {
    "filter": "that in bucket_filter; NULL if it has none",
    "next_filter": "the one that replaces it when it is complete",
}


def upgrade() -> None:
    op.drop_table("bucket_filter")
    create_filters()
    if op.get_bind().dialect.name == "sqlite":
        recreate_generations()
    else:
        for column in new_columns():
            op.add_column("bucket_generation", column)
        quote = op.get_bind().dialect.identifier_preparer.quote
        for grantee, privilege in op.get_bind().execute(sa.text(PRIVILEGES)).all():
            role = grantee if grantee == "PUBLIC" else quote(grantee)
            op.execute(f"GRANT {privilege} ON bucket_filter TO {role}")


def new_columns() -> list[sa.Column[int]]:
    return [sa.Column(name, sa.SmallInteger(), nullable=True, comment=comment) for name, comment in COLUMNS.items()]


def recreate_generations() -> None:
    """Recreate the small table, because SQLite would write the text of added columns in another form."""
    op.execute("CREATE TABLE bucket_generation_before AS SELECT * FROM bucket_generation")
    op.drop_table("bucket_generation")
    op.create_table(
        "bucket_generation",
        sa.Column("generation", sa.SmallInteger(), nullable=False, autoincrement=False),
        sa.Column("num_rows", sa.BigInteger(), nullable=False),
        sa.Column("merges_into", sa.SmallInteger(), nullable=True),
        *new_columns(),
        sa.PrimaryKeyConstraint("generation", name="pk_bucket_generation"),
        sa.CheckConstraint("num_rows >= 0", name=op.f("ck_bucket_generation_counts")),
        sa.CheckConstraint("merges_into <> generation", name=op.f("ck_bucket_generation_merges_into")),
        sa.ForeignKeyConstraint(
            ["merges_into"], ["bucket_generation.generation"], name="fk_bucket_generation_merges_into"
        ),
    )
    op.execute("INSERT INTO bucket_generation SELECT *, NULL, NULL FROM bucket_generation_before")
    op.drop_table("bucket_generation_before")


def create_filters() -> None:
    op.create_table(
        "bucket_filter",
        sa.Column(
            "part_key",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            autoincrement=False,
            comment="from the high bits: 15 of the filter, 16 of the band, 32 of the last hash that it has an entry of",
        ),
        sa.Column(
            "entries",
            sa.LargeBinary(),
            nullable=False,
            comment="3 bytes each, ascending: 20 bits of a bucket hash, and the low 4 of a generation that has it",
        ),
        sa.PrimaryKeyConstraint("part_key", name="pk_bucket_filter"),
        sa.CheckConstraint("length(entries) % 3 = 0", name=op.f("ck_bucket_filter_entries")),
        comment="which buckets generations of band_bucket may have; a young one has no filter",
    )
