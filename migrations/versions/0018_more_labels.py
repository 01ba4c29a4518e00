"""Filters of many generations have labels of 6 bits, and odd numbers from 16,385 on, which no filter has had yet."""

from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.alter_column(
            "bucket_filter",
            "entries",
            existing_nullable=False,
            comment="3 bytes each, ascending: bits of a bucket hash, and if the filter is odd, 4 or 6 of a generation",
        )
