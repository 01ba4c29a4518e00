"""Filters get more bits, so all are deleted, and ingests and merges build new ones. A minimum may have 2 bytes."""

from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.execute("DELETE FROM bucket_filter")
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "COMMENT ON COLUMN content.signature IS"
            " 'num_perm minima, little-endian, of 2 bytes with the scheme fss2, otherwise of 4'"
        )
