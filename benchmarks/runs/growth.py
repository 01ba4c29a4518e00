"""What an index is like as it grows: rates, bytes by table, link time, latency of a query, and 1 % more documents.

    python -m benchmarks.runs.growth URL_OR_PATH [--documents 1000000] [--workers 1]

Synthetic texts (see `benchmarks.corpora.synthetic`) in ten JSONL files of one size, ingested one after the other
without
linking; then one link, 2,000 queries in this process with texts of the index (5 in 100 of them have a near-duplicate),
and a hundredth of new documents, linked. The index must not be there yet, and stays.
"""

from __future__ import annotations

import argparse
import gc
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from sqlalchemy import text

from benchmarks.corpora import synthetic
from benchmarks.runs.ingest import machine
from lshdb import Document, Index
from lshdb.ingest.ingestion import IngestOptions
from lshdb.store.store import Store

NUM_PARTS: Final = 10
NUM_QUERIES: Final = 2_000
OTHER_SEED: Final = 2
TABLES: Final = ("content", "content_text", "band_bucket", "document", "pair", "unlinked")
MEGA: Final = 1e6


def write_parts(folder: Path, count: int, seed: int, name: str, parts: int) -> Iterator[Path]:
    """Files of `count` documents together, each written when it is asked for."""
    encoder, texts = msgspec.json.Encoder(), enumerate(synthetic.texts(count, seed))
    for part in range(parts):
        file = folder / f"{name}-{part}.jsonl"
        with file.open("wb") as out:
            for number, one in islice(texts, count // parts):
                out.write(encoder.encode({"id": f"{name}-{number}", "text": one}) + b"\n")
        yield file


def ingested(index: Index, files: Iterator[Path], workers: int) -> list[float]:
    """Seconds of each file; written before its clock starts, and deleted."""
    seconds = []
    for file in files:
        started = time.perf_counter()
        added = index.ingest([file], IngestOptions(workers=workers), link=False).counts.num_added
        seconds.append(time.perf_counter() - started)
        print(f"  {added / seconds[-1]:>8,.0f} documents/s   {peak_memory() / MEGA:,.0f} MB", flush=True)
        file.unlink()
    return seconds


def latencies(index: Index, count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Milliseconds of each query, the first hundred left out."""
    measured = []
    for number, one in enumerate(islice(synthetic.texts(count, synthetic.SEED), NUM_QUERIES + 100)):
        started = time.perf_counter()
        found = index.query(Document(f"asked-{number}", one))
        measured.append(1_000 * (time.perf_counter() - started))
        assert found, number
    return np.asarray(measured[100:])


def table_bytes(url: str) -> dict[str, int]:
    """Bytes by table, with its indexes."""
    with Store.open(url) as store, store.reading() as transaction:
        if transaction.connection.dialect.name == "postgresql":
            asked = "SELECT :name, pg_total_relation_size(to_regclass(:name))"
        else:
            asked = (
                "SELECT :name, sum(pgsize) FROM dbstat WHERE name IN"
                " (SELECT name FROM sqlite_master WHERE tbl_name = :name)"
            )
        return {name: int(transaction.execute(text(asked), {"name": name}).one()[1] or 0) for name in TABLES}


def peak_memory() -> int:
    """Bytes of this process, not of its workers."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the benchmark and prints its figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.growth", description=__doc__.split("\n")[0])
    parser.add_argument("url")
    parser.add_argument("--documents", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--workers", type=int, default=1, metavar="N")
    asked = parser.parse_args(arguments)
    count = asked.documents
    print(f"{machine()}\n{count:,} documents, {asked.workers} workers\n", flush=True)
    with tempfile.TemporaryDirectory() as work, Index.create(asked.url) as index:
        folder = Path(work)
        # The kernels are loaded before a clock runs.
        index.query(Document("nothing", "like this"))
        parts = ingested(index, write_parts(folder, count, synthetic.SEED, "text", NUM_PARTS), asked.workers)
        started = time.perf_counter()
        num_pairs = index.link()
        link = time.perf_counter() - started
        build = sum(parts) + link
        print(f"rate of the last tenth over that of the first: {parts[0] / parts[-1]:.0%}")
        print(f"link: {link:.1f} s, {num_pairs:,} pairs; build: {build:.1f} s, {count / build:,.0f} documents/s")
        gc.collect()
        measured = latencies(index, count)
        p50, p99 = np.percentile(measured, (50, 99))
        print(f"query: p50 {p50:.2f} ms, p99 {p99:.2f} ms, longest {measured.max():.1f} ms, of {NUM_QUERIES:,}")
        (more,) = write_parts(folder, count // 100, OTHER_SEED, "more", 1)
        started = time.perf_counter()
        index.ingest([more], IngestOptions(workers=1))
        added = time.perf_counter() - started
        print(f"1 % more: {added:.2f} s, {added / build:.1%} of the build")
    for name, num_bytes in table_bytes(asked.url).items():
        print(f"  {name:14}{num_bytes / MEGA:>10,.1f} MB{num_bytes / (count * 1.01):>8,.0f} bytes a document")
    return 0


if __name__ == "__main__":
    sys.exit(main())
