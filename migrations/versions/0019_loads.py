"""A generation says which contents it has if these are all of one load. Those of before do not say it."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"

COLUMNS = {
    "first_content_key": "first content of a load whose rows are all here, and no others; otherwise NULL",
    "last_content_key": "the last content of that load",
}


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        recreate_generations()
    else:
        for column in new_columns():
            op.add_column("bucket_generation", column)


def new_columns() -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger(), nullable=True, comment=comment) for name, comment in COLUMNS.items()]


def recreate_generations() -> None:
    """Recreate the small table, because SQLite would write the text of added columns in another form."""
    op.execute("CREATE TABLE bucket_generation_before AS SELECT * FROM bucket_generation")
    op.drop_table("bucket_generation")
    op.create_table(
        "bucket_generation",
        sa.Column("generation", sa.SmallInteger(), nullable=False, autoincrement=False),
        sa.Column("num_rows", sa.BigInteger(), nullable=False),
        sa.Column("merges_into", sa.SmallInteger(), nullable=True),
        sa.Column("filter", sa.SmallInteger(), nullable=True),
        sa.Column("next_filter", sa.SmallInteger(), nullable=True),
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
