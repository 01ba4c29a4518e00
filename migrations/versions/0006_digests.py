"""The digests that an upgrade computes, until it has one for every text."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "new_digest",
        sa.Column("content_key", KEY, nullable=False, autoincrement=False, comment="whose digest it will be"),
        sa.Column(
            "digest",
            sa.LargeBinary(),
            nullable=False,
            comment="as in content, by the table_version after the upgrade",
        ),
        sa.PrimaryKeyConstraint("content_key", name="pk_new_digest"),
        sa.CheckConstraint("length(digest) = 16", name=op.f("ck_new_digest_digest")),
        sa.ForeignKeyConstraint(["content_key"], ["content.content_key"], name="fk_new_digest_content_key"),
        comment="digests that an upgrade has computed; they replace those of content once all are known",
    )
