"""Compare the latency of queries: lshdb on SQLite and Postgres, and datasketch, on the same synthetic documents.

python -m benchmarks query [--query-documents 50000]
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.corpora import synthetic
from benchmarks.page.records import QueryRecord
from benchmarks.runs.latency import Latency, asked_in_a_process
from benchmarks.runs.processes import Watched
from benchmarks.runs.servers import server
from benchmarks.runs.storage import fill

__all__ = ["measure_all"]


def measure_all(documents: int, command: str) -> Iterator[QueryRecord]:
    """Run the same queries on each index."""
    with TemporaryDirectory(prefix="lshdb-query-") as folder:
        work = Path(folder)
        file, db = work / "corpus.jsonl", str(work / "index.db")
        synthetic.write_jsonl(file, documents)
        fill(db, file, keeps_text=True)
        yield record_of("lshdb, SQLite", documents, command, *asked_in_a_process("lshdb", file, db))
        with server() as postgres, postgres.database() as url:
            fill(url, file, keeps_text=True)
            measured = asked_in_a_process("lshdb", file, url, servers=[postgres.pid])
            yield record_of("lshdb, Postgres", documents, command, *measured)
        yield record_of("datasketch, in memory", documents, command, *asked_in_a_process("datasketch", file))


def record_of(peer: str, documents: int, command: str, latency: Latency, watched: Watched) -> QueryRecord:
    """Return the record of an index."""
    return QueryRecord(
        command=command,
        peer=peer,
        documents=documents,
        num_queries=latency.num_queries,
        opening_seconds=latency.opening_seconds,
        cpu=latency.cpu,
        p50=latency.p50,
        p99=latency.p99,
        longest=latency.longest,
        peak_bytes=watched.peak_pss or watched.peak_rss,
    )
