"""Drop the index of pairs by their run. It served `clusters --run`, which reads all pairs anyway."""

from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.drop_index("ix_pair_run_key", "pair")
