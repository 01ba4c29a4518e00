"""The entries of a filter of a single generation have no labels, and its number is even. Those with labels are odd."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

POSITION_BITS = 48
USED = "SELECT filter FROM bucket_generation UNION SELECT next_filter FROM bucket_generation"


def upgrade() -> None:
    connection = op.get_bind()
    taken = stored(connection) | {number for (number,) in connection.execute(sa.text(USED)) if number is not None}
    for number in [number for number in sorted(taken) if number % 2 == 0]:
        free = next(one for one in range(1, 2**15, 2) if one not in taken)
        taken.add(free)
        first = number << POSITION_BITS
        op.execute(
            f"UPDATE bucket_filter SET part_key = part_key + {(free << POSITION_BITS) - first} "
            f"WHERE part_key BETWEEN {first} AND {first + (1 << POSITION_BITS) - 1}"
        )
        for column in ("filter", "next_filter"):
            op.execute(f"UPDATE bucket_generation SET {column} = {free} WHERE {column} = {number}")
    if connection.dialect.name == "postgresql":
        op.alter_column(
            "bucket_filter",
            "entries",
            existing_nullable=False,
            comment="3 bytes each, ascending: bits of a bucket hash, and if the filter is odd, 4 of a generation",
        )


def stored(connection: sa.Connection) -> set[int]:
    """Return the filters that have parts."""
    found, begin = set(), 0
    first = sa.text("SELECT min(part_key) FROM bucket_filter WHERE part_key >= :begin")
    while (part_key := connection.execute(first, {"begin": begin}).scalar_one()) is not None:
        found.add(part_key >> POSITION_BITS)
        begin = (part_key >> POSITION_BITS) + 1 << POSITION_BITS
    return found
