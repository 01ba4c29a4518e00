"""dedup-pg on Postgres: each document is queried and inserted in its own transaction. Its tokens are 8-byte hashes.

It answers with clusters; all documents of a cluster count as pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from uuid import UUID

from dedup_pg import DedupIndex
from dedup_pg.backend.sqlalchemy import SQLAlchemyBackend
from sqlalchemy import MetaData, create_engine

from benchmarks.peers.figures import read_records
from benchmarks.peers.protocol import NUM_PERM, ROWS, Answer, Task, run
from benchmarks.peers.shingles import tokens


def duplicates(task: Task) -> Iterator[Answer]:
    """Yield the clusters of two or more documents. Documents without words are in none."""
    engine, metadata = create_engine(task.url.replace("postgresql://", "postgresql+psycopg2://")), MetaData()
    backend = SQLAlchemyBackend(engine=engine, base_or_metadata=metadata, table_name="dedup_index")
    metadata.create_all(engine)
    index = DedupIndex(backend, num_perms=NUM_PERM, rows=ROWS)
    clusters = defaultdict[UUID, list[str]](list)
    for record in read_records(task.file):
        if found := tokens(record.text):
            clusters[index.query(found)].append(record.id)
    yield from (Answer(cluster=members) for members in clusters.values() if len(members) > 1)


if __name__ == "__main__":
    run(duplicates)
