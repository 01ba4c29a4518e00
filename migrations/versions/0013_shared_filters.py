"""Filters of generations that merge become one filter, of more bits: all are deleted, and merges build new ones."""

from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.execute("DELETE FROM bucket_filter")
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "COMMENT ON COLUMN bucket_filter.generation IS 'whose rows it stands for, and those that merge into it'"
        )
