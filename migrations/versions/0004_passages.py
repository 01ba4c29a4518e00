"""The parameter and the tables of the passage index."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

PASSAGES = "words of the passages that are always found; 0: none are"


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        recreate_params()
    else:
        add_passages()
    op.create_table(
        "fingerprint_block",
        sa.Column("prefix", sa.Integer(), nullable=False, comment="the high 16 bits of the fingerprints"),
        sa.Column(
            "first_content_key", sa.BigInteger(), nullable=False, comment="the first content that has one of them"
        ),
        sa.Column(
            "entries",
            sa.LargeBinary(),
            nullable=False,
            comment="6 bytes each: the low 16 bits, and how far the content_key is above the first, little-endian",
        ),
        sa.PrimaryKeyConstraint("prefix", "first_content_key", name="pk_fingerprint_block"),
        sa.CheckConstraint("prefix BETWEEN 0 AND 65535", name=op.f("ck_fingerprint_block_prefix")),
        comment="fingerprints of the passages of contents, many to a row; "
        "also of contents deleted since the last vacuum",
        sqlite_with_rowid=False,
    )
    op.create_table(
        "passage_build",
        sa.Column(
            "build_key", sa.Integer(), nullable=False, autoincrement=False, comment="always 1: there is one at a time"
        ),
        sa.Column("passages", sa.Integer(), nullable=False, comment="words of the passages that will be found"),
        sa.Column("last_content_key", sa.BigInteger(), nullable=False, comment="last content whose fingerprints exist"),
        sa.PrimaryKeyConstraint("build_key", name="pk_passage_build"),
        sa.CheckConstraint("build_key = 1", name=op.f("ck_passage_build_one_row")),
        sa.CheckConstraint("passages >= 1", name=op.f("ck_passage_build_passages")),
        comment="passages that are being added to an index; one row until all contents have their fingerprints",
    )


def add_passages() -> None:
    """Add the column in place, so that privileges on the table survive."""
    op.add_column("index_params", sa.Column("passages", sa.Integer(), nullable=True, comment=PASSAGES))
    op.execute("UPDATE index_params SET passages = 0")
    op.alter_column("index_params", "passages", existing_type=sa.Integer(), nullable=False)
    op.create_check_constraint(
        op.f("ck_index_params_passages"), "index_params", "passages >= 0 AND (passages = 0 OR keep_text)"
    )


def recreate_params() -> None:
    """Recreate the table of one row, because SQLite cannot add a constraint to it."""
    # Not renamed, because SQLite would rename it in the views too.
    op.execute("CREATE TABLE index_params_before AS SELECT * FROM index_params")
    op.drop_table("index_params")
    op.create_table(
        "index_params",
        sa.Column(
            "params_key",
            sa.Integer(),
            nullable=False,
            autoincrement=False,
            comment="always 1: an index has one set of parameters",
        ),
        sa.Column("shingle", sa.String(), nullable=False),
        sa.Column("multiset", sa.Boolean(), nullable=False),
        sa.Column("scheme", sa.String(), nullable=False),
        sa.Column("bands", sa.Integer(), nullable=False),
        sa.Column("band_rows", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("floor", sa.Float(), nullable=False),
        sa.Column("min_sim", sa.Float(), nullable=False),
        sa.Column("recall", sa.Float(), nullable=False),
        sa.Column("keep_text", sa.Boolean(), nullable=False),
        sa.Column("html", sa.String(), nullable=False),
        sa.Column("table_version", sa.String(), nullable=False),
        sa.Column("lshdb_version", sa.String(), nullable=False),
        sa.Column("num_perm", sa.Integer(), nullable=False),
        sa.Column("first_band", sa.SmallInteger(), nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("params_key", name="pk_index_params"),
        sa.CheckConstraint("params_key = 1", name=op.f("ck_index_params_one_row")),
        sa.CheckConstraint(
            "bands >= 1 AND band_rows >= 1 AND bands * band_rows <= num_perm", name=op.f("ck_index_params_bands")
        ),
        sa.CheckConstraint("first_band IN (0, -bands)", name=op.f("ck_index_params_first_band")),
        sa.CheckConstraint(
            "floor > 0 AND floor <= 1 AND min_sim > 0 AND min_sim <= 1", name=op.f("ck_index_params_similarities")
        ),
        sa.CheckConstraint("recall BETWEEN 0 AND 1", name=op.f("ck_index_params_recall")),
        sa.CheckConstraint("passages >= 0 AND (passages = 0 OR keep_text)", name=op.f("ck_index_params_passages")),
    )
    op.execute("INSERT INTO index_params SELECT *, 0 FROM index_params_before")
    op.drop_table("index_params_before")
