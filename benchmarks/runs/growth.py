"""Measure an index as it grows: rates, bytes by table, linking, queries, and adding 1 %.

    python -m benchmarks.runs.growth URL_OR_PATH [--documents 1000000] [--workers 1] [--nights 1]
    python -m benchmarks.runs.growth postgres [--documents 1000000] [--workers 1] [--nights 1]

It ingests synthetic texts (`benchmarks.corpora.synthetic`) from ten JSONL files of equal size without linking, and
10,000 more. Then it links, opens the index to read it and runs 2,000 queries with texts of the index (5 % of them have
a near-duplicate) and 2,000 with new texts. Each night, it adds and links 1 % of new documents, and after several nights
it runs the queries again. The index must not exist before, and is kept. With `postgres`, it is in a server that is
started for it, and deleted at the end.

The processor time of each part is that of this process, without a server's. The bytes that it reads from the disk and
writes to it are those of this process, or for Postgres those of `pg_stat_io`, which may come from the page cache.
To limit the memory of the process, its server and their page cache, run it in a memory cgroup, for instance with
``systemd-run --scope -p MemoryMax=2G``.
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
from benchmarks.runs.servers import server
from lshdb import Document, Index
from lshdb.ingest.options import IngestOptions
from lshdb.store.store import Store

NUM_PARTS: Final = 10
NUM_QUERIES: Final = 2_000
FEW_SEED: Final = 3
OTHER_SEED: Final = 4
# Of the first night; the others follow.
LAST_SEED: Final = 5
FEW: Final = 10_000
TABLES: Final = ("content", "content_text", "band_bucket", "bucket_filter", "document", "pair", "unlinked")
MEGA: Final = 1e6


def write_parts(folder: Path, count: int, seed: int, name: str, parts: int) -> Iterator[Path]:
    """Yield files with `count` documents in total, and write each just before."""
    encoder, texts = msgspec.json.Encoder(), enumerate(synthetic.texts(count, seed))
    for part in range(parts):
        file = folder / f"{name}-{part}.jsonl"
        with file.open("wb") as out:
            for number, one in islice(texts, count // parts):
                out.write(encoder.encode({"id": f"{name}-{number}", "text": one}) + b"\n")
        yield file


def ingested(index: Index, url: str, files: Iterator[Path], workers: int) -> list[float]:
    """Ingest and delete each file. Return the seconds of each, without writing it."""
    seconds = []
    for file in files:
        started, processor, before = time.perf_counter(), time.process_time(), traffic(url)
        added = index.ingest([file], IngestOptions(workers=workers), link=False).counts.num_added
        seconds.append(time.perf_counter() - started)
        read, written = ((now - then) / MEGA for now, then in zip(traffic(url), before, strict=True))
        print(
            f"  {added / seconds[-1]:>8,.0f} documents/s   {time.process_time() - processor:>6,.1f} processor s"
            f"   {read:>6,.0f} MB read {written:>6,.0f} MB written   {peak_memory() / MEGA:,.0f} MB of memory",
            flush=True,
        )
        file.unlink()
    return seconds


def traffic(url: str) -> tuple[int, int]:
    """Return the bytes that this process, or the server of a URL, has read from the disk and written to it."""
    if url.startswith("postgresql"):
        with Store.open(url) as store, store.reading() as transaction:
            asked = "SELECT coalesce(sum(read_bytes), 0), coalesce(sum(write_bytes), 0) FROM pg_stat_io"
            read, written = transaction.execute(text(asked)).one()
            return int(read), int(written)
    counted = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(counted["read_bytes"]), int(counted["write_bytes"])


def latencies(index: Index, asked: Iterator[str], *, known: bool) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the milliseconds of each query, without the first hundred. Args: known: the index has the texts."""
    measured = []
    for number, one in enumerate(islice(asked, NUM_QUERIES + 100)):
        started = time.perf_counter()
        found = index.query(Document(f"asked-{number}", one))
        measured.append(1_000 * (time.perf_counter() - started))
        assert found or not known, number
    return np.asarray(measured[100:])


def table_bytes(url: str) -> dict[str, int]:
    """Return the bytes of each table, including its indexes."""
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
    """Return the peak memory of this process in bytes, without its workers."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def memory() -> int:
    """Return the memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def ask(url: str, count: int) -> None:
    """Run the queries, and print their times."""
    for kind, seed in (("known", synthetic.SEED), ("new", OTHER_SEED)):
        before = traffic(url)
        with Index.open(url, read_only=True) as answering:
            measured = latencies(answering, synthetic.texts(count, seed), known=kind == "known")
        p50, p99 = np.percentile(measured, (50, 99))
        print(
            f"{NUM_QUERIES:,} queries, {kind} texts: p50 {p50:.2f} ms, p99 {p99:.2f} ms,"
            f" longest {measured.max():.1f} ms, {(traffic(url)[0] - before[0]) / MEGA:,.0f} MB read"
        )


def measure(url: str, count: int, workers: int, nights: int) -> None:
    """Build an index of `count` documents, and print the figures."""
    print(f"{machine()}\n{count:,} documents, {workers} workers\n", flush=True)
    with tempfile.TemporaryDirectory() as work, Index.create(url) as index:
        folder = Path(work)
        # Load the kernels before measuring.
        index.query(Document("nothing", "like this"))
        parts = ingested(index, url, write_parts(folder, count, synthetic.SEED, "text", NUM_PARTS), workers)
        print(f"  {FEW:,} more:")
        ingested(index, url, write_parts(folder, FEW, FEW_SEED, "few", 1), workers)
        started = time.perf_counter()
        num_pairs = index.link()
        link = time.perf_counter() - started
        build = sum(parts) + link
        print(f"rate of the last tenth relative to the first: {parts[0] / parts[-1]:.0%}")
        print(f"link: {link:.1f} s, {num_pairs:,} pairs; build: {build:.1f} s, {count / build:,.0f} documents/s")
        gc.collect()
        print(f"{memory() / MEGA:,.0f} MB of memory")
        ask(url, count)
        print("  1 % more:")
        for night in range(nights):
            more = write_parts(folder, count // 100, LAST_SEED + night, f"more{night}", 1)
            (added,) = ingested(index, url, more, workers)
            started, before = time.perf_counter(), traffic(url)
            index.link()
            link = time.perf_counter() - started
            read, written = ((now - then) / MEGA for now, then in zip(traffic(url), before, strict=True))
            print(f"  link: {link:.2f} s, {read:,.0f} MB read, {written:,.0f} MB written")
            print(f"adding 1 %: {added + link:.2f} s, {(added + link) / build:.1%} of the build", flush=True)
        if nights > 1:
            ask(url, count)
    total = count + FEW + nights * (count // 100)
    for name, num_bytes in table_bytes(url).items():
        print(f"  {name:14}{num_bytes / MEGA:>10,.1f} MB{num_bytes / total:>8,.0f} bytes per document")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.growth", description=__doc__.split("\n")[0])
    parser.add_argument("url")
    parser.add_argument("--documents", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--workers", type=int, default=1, metavar="N")
    parser.add_argument("--nights", type=int, default=1, metavar="N")
    asked = parser.parse_args(arguments)
    # As the command line does.
    gc.set_threshold(100_000)
    if asked.url == "postgres":
        with server() as started, started.database() as url:
            measure(url, asked.documents, asked.workers, asked.nights)
    else:
        measure(asked.url, asked.documents, asked.workers, asked.nights)
    return 0


if __name__ == "__main__":
    sys.exit(main())
