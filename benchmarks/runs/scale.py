"""Measure lshdb on SQLite as the corpus grows: rates, linking, file size, memory, and latency of queries.

    python -m benchmarks scale [--sizes 10000 30000 100000 300000] [--workers 1]
    python -m benchmarks large FILE.jsonl [--large-documents 100000] [--max-bytes 20000]

Synthetic texts of 300 to 800 bytes (`benchmarks.corpora.synthetic`), or the texts of a file, repeated with edits if
there are too few (`benchmarks.corpora.repeated`). For each size, it measures reading and decoding the file,
``ingest --no-link``, ``link``, and 2,000 queries in another process.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import numpy as np

from benchmarks.corpora import repeated, synthetic
from benchmarks.page.records import ScaleRecord
from benchmarks.peers.figures import Figures
from benchmarks.runs.ingest import StepError, default_command, size_of
from benchmarks.runs.latency import asked_in_a_process
from benchmarks.runs.processes import watch

__all__ = ["SYNTHETIC", "Corpus", "exponent", "measure", "measure_all", "of_file"]


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus of any size.

    Args:
        write: writes a given number of documents to a file.
    """

    name: str
    write: Callable[[Path, int], None]


SYNTHETIC = Corpus("synthetic", synthetic.write_jsonl)


def of_file(source: Path, max_bytes: int) -> Corpus:
    """Return the corpus of the texts of a file up to `max_bytes`, repeated with edits."""
    name = f"those of {source.name} of up to {max_bytes:,} bytes, repeated with edits"
    return Corpus(name, partial(repeated.write_jsonl, source, max_bytes=max_bytes))


def measure_all(corpus: Corpus, sizes: Sequence[int], workers: int, command: str) -> Iterator[ScaleRecord]:
    """Measure each size, smallest first."""
    for documents in sorted(sizes):
        with TemporaryDirectory(prefix="lshdb-scale-") as work:
            yield measure(corpus, documents, workers, command, Path(work))


def measure(corpus: Corpus, documents: int, workers: int, command: str, work: Path) -> ScaleRecord:
    """Measure one size. Raises: StepError."""
    file, db = work / "corpus.jsonl", work / "index.db"
    corpus.write(file, documents)
    bare = watch([sys.executable, "-m", "benchmarks.peers.bare_read", str(file)])
    call = [*default_command().split(), "--quiet", "--db", str(db)]
    ingest = watch([*call, "ingest", "--no-link", "--json", "--workers", str(workers), str(file)])
    if (added := msgspec.json.decode(ingest.output)["documents"]["added"]) != documents:
        raise StepError(f"the file has {documents} documents, but lshdb added {added}")
    link = watch([*call, "link"])
    latency, _ = asked_in_a_process("lshdb", file, str(db))
    return ScaleRecord(
        command=command,
        corpus=corpus.name,
        documents=documents,
        text_bytes=msgspec.json.decode(bare.output, type=Figures).bytes,
        workers=workers,
        read_seconds=bare.seconds,
        ingest_seconds=ingest.seconds,
        ingest_cpu_seconds=ingest.cpu_seconds,
        link_seconds=link.seconds,
        link_cpu_seconds=link.cpu_seconds,
        num_pairs=num_pairs(db),
        database_bytes=size_of(db),
        peak_bytes=max(step.peak_pss or step.peak_rss for step in (ingest, link)),
        query_p50=latency.p50,
        query_p99=latency.p99,
    )


def num_pairs(db: Path) -> int:
    """Return the number of pairs in an index."""
    with sqlite3.connect(db) as connection:
        return int(connection.execute("SELECT count(*) FROM pair").fetchone()[0])


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return the k of ``value ~ size ** k``, fitted by least squares of the logarithms.

    Raises:
        ValueError: There are fewer than two sizes.
    """
    if len(set(sizes)) < 2:
        raise ValueError("an exponent needs two sizes")
    slope, _ = np.polyfit(np.log(sizes), np.log(values), 1)
    return float(slope)
