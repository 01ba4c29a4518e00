"""Add the tables and columns for changing bands and for measuring recall."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
VERBS = "ingest, add, remove, reband, tune"


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        recreate_params()
    else:
        add_params()
        op.alter_column("run", "verb", existing_type=sa.String(), comment=VERBS, existing_comment="ingest, add, remove")
    op.create_table(
        "rebanding",
        sa.Column("rebanding_key", sa.Integer(), nullable=False, comment="always 1: there is one at a time"),
        sa.Column("bands", sa.Integer(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("first_band", sa.SmallInteger(), nullable=False, comment="number of its first band in band_bucket"),
        sa.Column("position", sa.BigInteger(), nullable=False, comment="last content_key whose buckets are there"),
        sa.PrimaryKeyConstraint("rebanding_key", name="pk_rebanding"),
        comment="other bands on their way into band_bucket; one row until they take over",
    )
    op.create_table(
        "measurement",
        sa.Column("run_key", KEY, nullable=False, comment="run that measured"),
        sa.Column("bands", sa.Integer(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False, comment="seed of the sample"),
        sa.Column("num_contents", sa.BigInteger(), nullable=False, comment="contents there were"),
        sa.Column("num_probes", sa.BigInteger(), nullable=False, comment="contents that were compared with all"),
        sa.Column("min_sim", sa.Float(), nullable=False, comment="similarity from which on pairs should be found"),
        sa.Column("num_pairs", sa.BigInteger(), nullable=False, comment="pairs of the probes there"),
        sa.Column("num_found", sa.BigInteger(), nullable=False, comment="those that the index has"),
        sa.Column("recall", sa.Float(), nullable=True, comment="estimate; NULL where no probe has a pair"),
        sa.Column("low", sa.Float(), nullable=False, comment="lower end of its confidence interval"),
        sa.Column("high", sa.Float(), nullable=False, comment="upper end"),
        sa.Column(
            "neighbours", sa.String(), nullable=False, comment="JSON: others a probe has by number of equal minima"
        ),
        sa.Column(
            "points",
            sa.String(),
            nullable=False,
            comment="JSON: similarity, pairs and those found, by step of similarity",
        ),
        sa.PrimaryKeyConstraint("run_key", name="pk_measurement"),
        comment="recall and similarities measured on the index's own contents",
    )


def add_params() -> None:
    """Add the columns in place, so that privileges on the table survive."""
    op.add_column("index_params", sa.Column("num_perm", sa.Integer(), nullable=True, comment="minima of a signature"))
    op.add_column(
        "index_params",
        sa.Column("first_band", sa.SmallInteger(), nullable=True, comment="number of the first band in band_bucket"),
    )
    op.execute('UPDATE index_params SET num_perm = bands * "rows", first_band = 0')
    op.alter_column("index_params", "num_perm", existing_type=sa.Integer(), nullable=False)
    op.alter_column("index_params", "first_band", existing_type=sa.SmallInteger(), nullable=False)


def recreate_params() -> None:
    """Recreate the table, because SQLite cannot add a NOT NULL column without a default."""
    bind = op.get_bind()
    kept = [dict(row) for row in bind.execute(sa.text("SELECT * FROM index_params")).mappings()]
    op.drop_table("index_params")
    made = op.create_table(
        "index_params",
        sa.Column("params_key", sa.Integer(), nullable=False),
        sa.Column("shingle", sa.String(), nullable=False),
        sa.Column("multiset", sa.Boolean(), nullable=False),
        sa.Column("scheme", sa.String(), nullable=False),
        sa.Column("bands", sa.Integer(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
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
        sa.PrimaryKeyConstraint("params_key", name="pk_index_params"),
    )
    more = [row | {"multiset": bool(row["multiset"]), "keep_text": bool(row["keep_text"])} for row in kept]
    op.bulk_insert(made, [row | {"num_perm": row["bands"] * row["rows"], "first_band": 0} for row in more])
