"""Measure adding 1 % of a corpus to an index of the rest.

    python -m benchmarks incremental FILE.jsonl --documents 20000

A peer without an index must process all documents again, which ``peers`` measures on the same documents. The pairs must
be those of an index built at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.page.records import IncrementalRecord
from benchmarks.peers.figures import read_records
from benchmarks.runs.ingest import default_command, head
from benchmarks.runs.processes import Watched, watch
from benchmarks.runs.servers import Server, server

__all__ = ["measure", "measure_all"]

PARTS: Final = 100


def measure_all(file: Path, documents: int, command: str) -> Iterator[IncrementalRecord]:
    """Measure SQLite, then Postgres."""
    with TemporaryDirectory(prefix="lshdb-incremental-") as folder:
        work = Path(folder)
        corpus = head(file, documents, work / "all.jsonl")
        yield measure(corpus, str(work / "parts.db"), str(work / "at-once.db"), file.name, command)
        with server() as postgres, postgres.database() as parts, postgres.database() as at_once:
            yield measure(corpus, parts, at_once, file.name, command, postgres)


def measure(
    corpus: Path, parts: str, at_once: str, name: str, command: str, postgres: Server | None = None
) -> IncrementalRecord:
    """Build one index in two parts and another at once, and compare them. Raises: StepError."""
    total = sum(1 for _ in read_records(corpus))
    added = max(1, total // PARTS)
    base = head(corpus, total - added, corpus.with_name("base.jsonl"))
    more = tail(corpus, total - added, corpus.with_name("more.jsonl"))
    whole = lshdb(at_once, postgres, "ingest", "--workers", "1", str(corpus))
    first = lshdb(parts, postgres, "ingest", "--workers", "1", str(base))
    second = lshdb(parts, postgres, "ingest", "--workers", "1", str(more))
    listed = [lshdb(url, postgres, "dupes", "--expand", "--format", "jsonl") for url in (parts, at_once)]
    return IncrementalRecord(
        command=command,
        peer="lshdb, Postgres" if postgres else "lshdb, SQLite",
        corpus=name,
        documents=total,
        added=added,
        whole_seconds=whole.seconds,
        base_seconds=first.seconds,
        seconds=second.seconds,
        cpu_seconds=second.cpu_seconds,
        dupes_seconds=listed[0].seconds,
        same_pairs=len({frozenset(each.output.splitlines()) for each in listed}) == 1,
    )


def tail(file: Path, begin: int, target: Path) -> Path:
    """Write the documents from number `begin` to a new file."""
    with file.open("rb") as lines, target.open("wb") as out:
        out.writelines(islice(lines, begin, None))
    return target


def lshdb(url: str, postgres: Server | None, *arguments: str) -> Watched:
    """Run an lshdb command on an index."""
    servers = [postgres.pid] if postgres else []
    return watch([*default_command().split(), "--quiet", "--db", url, *arguments], servers=servers)
