"""Texts of up to a page stay in their rows on Postgres, and it does not try to compress them again."""

from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE content_text ALTER COLUMN text SET STORAGE EXTERNAL")
        op.execute("ALTER TABLE content_text SET (toast_tuple_target = 8160)")
