"""What people decide about documents."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
MOMENT = sa.String().with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "decision",
        sa.Column(
            "decision_key", KEY, nullable=False, autoincrement=False, comment="our key of the decision; later, greater"
        ),
        sa.Column(
            "kind", sa.String(), nullable=False, comment="different: the two are no duplicates; keep: keep the document"
        ),
        sa.Column("collection_key", sa.Integer(), nullable=False, comment="of the document"),
        sa.Column("doc_id", NAME, nullable=False, comment="a document, which need not be in the index"),
        sa.Column("other_collection_key", sa.Integer(), nullable=True, comment="of the other document; NULL for keep"),
        sa.Column("other_id", NAME, nullable=True, comment="the other document; NULL for keep"),
        sa.Column(
            "digest",
            sa.LargeBinary(),
            nullable=True,
            comment="of the text that it had at that time; NULL if it had none",
        ),
        sa.Column("other_digest", sa.LargeBinary(), nullable=True, comment="the same of the other document"),
        sa.Column("who", sa.String(), nullable=False, comment="who decided"),
        sa.Column("reason", sa.String(), nullable=False, comment="why"),
        sa.Column("decided_at", MOMENT, nullable=False, comment="when"),
        sa.PrimaryKeyConstraint("decision_key", name="pk_decision"),
        sa.CheckConstraint("kind IN ('different', 'keep')", name=op.f("ck_decision_kind")),
        sa.CheckConstraint(
            "(kind = 'keep') = (other_id IS NULL) AND (other_id IS NULL) = (other_collection_key IS NULL)",
            name=op.f("ck_decision_other"),
        ),
        sa.CheckConstraint(
            "(collection_key, doc_id) < (other_collection_key, other_id)", name=op.f("ck_decision_order")
        ),
        sa.CheckConstraint("length(digest) = 16 AND length(other_digest) = 16", name=op.f("ck_decision_digests")),
        sa.ForeignKeyConstraint(["collection_key"], ["collection.collection_key"], name="fk_decision_collection_key"),
        sa.ForeignKeyConstraint(
            ["other_collection_key"], ["collection.collection_key"], name="fk_decision_other_collection_key"
        ),
        comment="what people decided about documents, by their ids",
    )
    op.create_index("ix_decision_doc_id_collection_key", "decision", ["doc_id", "collection_key"])
    op.create_index("ix_decision_other_id_other_collection_key", "decision", ["other_id", "other_collection_key"])
