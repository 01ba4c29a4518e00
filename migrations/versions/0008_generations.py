"""Buckets by generation. The rows of an older index become one generation.

The table is rewritten, because the new column leads the key; at the end of a row it would take Postgres eight more
bytes for each. The privileges of other roles are granted again.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

COLUMNS = ("band", "bucket_hash", "content_key")
VIEW = """
        SELECT 'current' AS banding, b.band - p.first_band AS band, b.bucket_hash, b.content_key
        FROM index_params AS p
        CROSS JOIN bucket_generation AS g
        JOIN band_bucket AS b ON b.generation = g.generation
            AND b.band >= p.first_band AND b.band < p.first_band + p.bands
        UNION ALL
        SELECT 'coming', b.band - r.first_band, b.bucket_hash, b.content_key
        FROM rebanding AS r
        CROSS JOIN bucket_generation AS g
        JOIN band_bucket AS b ON b.generation = g.generation
            AND b.band >= r.first_band AND b.band < r.first_band + r.bands"""
PRIVILEGES = """
    SELECT r.grantee, r.privilege_type FROM information_schema.role_table_grants AS r
    JOIN pg_class AS c ON c.oid = to_regclass('band_bucket')
    WHERE r.table_schema = current_schema() AND r.table_name = 'band_bucket'
        AND r.grantee <> pg_get_userbyid(c.relowner)"""


def upgrade() -> None:
    create_generations()
    granted = privileges()
    set_aside()
    create_buckets()
    for statement in granted:
        op.execute(statement)
    names = ", ".join(COLUMNS)
    op.execute(
        f"INSERT INTO band_bucket (generation, {names}) SELECT 0, {names} FROM band_bucket_before ORDER BY {names}"
    )
    op.execute(
        "INSERT INTO bucket_generation (generation, num_rows)"
        " SELECT 0, num_rows FROM (SELECT count(*) AS num_rows FROM band_bucket_before) AS counted WHERE num_rows > 0"
    )
    op.execute(f"{'CREATE OR REPLACE' if is_postgres() else 'CREATE'} VIEW lshdb_buckets AS{VIEW}")
    op.drop_table("band_bucket_before")


def is_postgres() -> bool:
    """Return whether the index is in Postgres."""
    return op.get_bind().dialect.name == "postgresql"


def privileges() -> list[str]:
    """Return the statements that give other roles their privileges again, also on the table of generations."""
    if not is_postgres():
        return []
    rows = op.get_bind().execute(sa.text(PRIVILEGES)).all()
    quote = op.get_bind().dialect.identifier_preparer.quote
    roles = {grantee: grantee if grantee == "PUBLIC" else quote(grantee) for grantee, _ in rows}
    return [
        f"GRANT {privilege} ON {table} TO {roles[grantee]}"
        for table in ("band_bucket", "bucket_generation")
        for grantee, privilege in rows
    ]


def set_aside() -> None:
    """Rename the table, and in Postgres its key, whose name must be free."""
    if is_postgres():
        op.execute("ALTER INDEX IF EXISTS pk_band_bucket RENAME TO pk_band_bucket_before")
    else:
        # SQLite would rename the table in the view, too.
        op.execute("DROP VIEW IF EXISTS lshdb_buckets")
    op.rename_table("band_bucket", "band_bucket_before")


def create_generations() -> None:
    op.create_table(
        "bucket_generation",
        sa.Column(
            "generation", sa.SmallInteger(), nullable=False, autoincrement=False, comment="its number in band_bucket"
        ),
        sa.Column(
            "num_rows",
            sa.BigInteger(),
            nullable=False,
            comment="rows written to it, including those deleted since",
        ),
        sa.Column(
            "merges_into",
            sa.SmallInteger(),
            nullable=True,
            comment="the generation to which its rows are moving; NULL if they stay",
        ),
        sa.PrimaryKeyConstraint("generation", name="pk_bucket_generation"),
        sa.CheckConstraint("num_rows >= 0", name=op.f("ck_bucket_generation_counts")),
        sa.CheckConstraint("merges_into <> generation", name=op.f("ck_bucket_generation_merges_into")),
        sa.ForeignKeyConstraint(
            ["merges_into"], ["bucket_generation.generation"], name="fk_bucket_generation_merges_into"
        ),
        comment="parts of band_bucket; new rows go to a small one, and several of one size merge into a larger one",
    )


def create_buckets() -> None:
    op.create_table(
        "band_bucket",
        sa.Column("generation", sa.SmallInteger(), nullable=False, comment="which part of the table the row is in"),
        sa.Column(
            "band",
            sa.SmallInteger(),
            nullable=False,
            comment="number of the band, from first_band of its banding on",
        ),
        sa.Column("bucket_hash", sa.BigInteger(), nullable=False, comment="the 64 bits of an unsigned hash"),
        sa.Column("content_key", sa.BigInteger(), nullable=False, comment="a content in the bucket"),
        sa.PrimaryKeyConstraint("generation", *COLUMNS, name="pk_band_bucket"),
        comment="the buckets of each content, one in each band",
        sqlite_with_rowid=False,
    )
