"""The numbers of documents that were removed by their ids, by source.

Earlier removals were not counted. If a collection had any after a source was read, all documents that the source lacks
count as removed.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
REMOVED = """
    INSERT INTO removal (source_key, run_key, num_documents)
    SELECT source.source_key, removing.run_key, source.num_documents - count(document.doc_key)
    FROM source
    JOIN (
        SELECT collection_key, max(run_key) AS run_key FROM run WHERE verb = 'remove' GROUP BY collection_key
    ) AS removing
        ON removing.collection_key = source.collection_key AND removing.run_key > source.reading_run
    LEFT JOIN document
        ON document.source_key = source.source_key AND document.last_seen_run >= source.reading_run
    WHERE source.state = 'done'
    GROUP BY source.source_key, removing.run_key, source.num_documents
    HAVING source.num_documents > count(document.doc_key)"""


def upgrade() -> None:
    op.create_table(
        "removal",
        sa.Column("source_key", KEY, nullable=False, comment="source of the documents"),
        sa.Column("run_key", KEY, nullable=False, comment="run that removed them"),
        sa.Column("num_documents", sa.BigInteger(), nullable=False, comment="how many of them it removed"),
        sa.PrimaryKeyConstraint("source_key", "run_key", name="pk_removal"),
        sa.CheckConstraint("num_documents >= 0", name=op.f("ck_removal_counts")),
        sa.ForeignKeyConstraint(["source_key"], ["source.source_key"], name="fk_removal_source_key"),
        sa.ForeignKeyConstraint(["run_key"], ["run.run_key"], name="fk_removal_run_key"),
        comment="documents removed by their ids, which their sources still have",
        sqlite_with_rowid=False,
    )
    op.execute(REMOVED)
