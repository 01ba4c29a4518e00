"""Measure the size of an index by table, with and without texts, on SQLite and Postgres.

python -m benchmarks storage FILE.jsonl --documents 20000
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.page.records import StorageRecord
from benchmarks.peers.figures import read_records
from benchmarks.runs.growth import table_bytes
from benchmarks.runs.ingest import default_command, head, size_of
from benchmarks.runs.processes import watch
from benchmarks.runs.servers import server

__all__ = ["measure_all"]


def measure_all(file: Path, documents: int, command: str) -> Iterator[StorageRecord]:
    """Measure each of the four kinds of index."""
    with TemporaryDirectory(prefix="lshdb-storage-") as folder, server() as postgres:
        work = Path(folder)
        corpus = head(file, documents, work / "corpus.jsonl")
        records = list(read_records(corpus))
        text_bytes = sum(record.num_bytes for record in records)
        for keeps_text in (True, False):
            db = work / f"{keeps_text}.db"
            fill(str(db), corpus, keeps_text)
            with postgres.database() as url:
                fill(url, corpus, keeps_text)
                for store, place, total in (
                    ("SQLite", str(db), size_of(db)),
                    ("Postgres", url, postgres.size_of(url)),
                ):
                    yield StorageRecord(
                        command=command,
                        store=store,
                        keeps_text=keeps_text,
                        corpus=file.name,
                        documents=len(records),
                        text_bytes=text_bytes,
                        table_bytes=table_bytes(place),
                        total_bytes=total,
                    )


def fill(url: str, corpus: Path, keeps_text: bool) -> None:
    """Create an index of the corpus. Raises: StepError."""
    texts = "--keep-text" if keeps_text else "--no-keep-text"
    watch([*default_command().split(), "--quiet", "--db", url, "ingest", texts, str(corpus)])
