"""Measure the latency of a query in a process that has the index open, from raw text to near-duplicates.

    python -m benchmarks.runs.latency lshdb|datasketch FILE.jsonl [--url INDEX] [--queries 2000]

It queries documents spread evenly over the file, and prints one JSON object. lshdb opens an existing index and verifies
its answers. datasketch reads the file, builds its index in memory, and does not verify.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from benchmarks.peers.figures import read_records
from benchmarks.runs.processes import Watched, watch

__all__ = ["Latency", "asked_in_a_process"]

NUM_QUERIES: Final = 2_000
# Queries that are not measured: they fill caches and load kernels.
WARM_UP: Final = 100

# The number of documents found.
Ask = Callable[[str], int]


class Latency(msgspec.Struct, frozen=True):
    """Milliseconds per query.

    Args:
        opening_seconds: until the first answer, without importing.
        cpu: mean processor time of this process. Other load on the machine hardly affects it.
    """

    num_queries: int
    opening_seconds: float
    cpu: float
    p50: float
    p99: float
    longest: float


def lshdb(_: Path, url: str) -> Ask:
    """Return a function that queries an existing index."""
    from lshdb import Document, Index

    index = Index.open(url)
    return lambda text: len(index.query(Document("asked", text)))


def datasketch(file: Path, _: str) -> Ask:
    """Return a function that queries a new index of all documents in the file."""
    from benchmarks.peers import datasketch as peer

    blank, index = peer.blank_signature(), peer.index_of()
    for record in read_records(file):
        index.insert(record.id, peer.sign(blank, record.text), check_duplication=False)
    return lambda text: len(index.query(peer.sign(blank, text)))


PEERS: Final = {"lshdb": lshdb, "datasketch": datasketch}


def measured(peer: str, file: Path, url: str, num_queries: int) -> Latency:
    """Open the index and run the queries. Raises: AssertionError: a document does not find itself."""
    total = sum(1 for _ in read_records(file))
    step = max(1, total // (num_queries + WARM_UP))
    texts = [record.text for record in islice(read_records(file), 0, None, step)][: num_queries + WARM_UP]
    started = time.perf_counter()
    ask = PEERS[peer](file, url)
    ask(texts[0])
    opening_seconds, taken = time.perf_counter() - started, []
    cpu_started = time.process_time()
    for text in texts:
        started = time.perf_counter()
        found = ask(text)
        taken.append(1_000 * (time.perf_counter() - started))
        assert found, text
    cpu = 1_000 * (time.process_time() - cpu_started) / len(texts)
    taken = taken[WARM_UP:] or taken
    p50, p99 = np.percentile(taken, (50, 99)).tolist()
    return Latency(len(taken), opening_seconds, cpu, p50, p99, max(taken))


def asked_in_a_process(
    peer: str, file: Path, url: str = "", num_queries: int = NUM_QUERIES, servers: Sequence[int] = ()
) -> tuple[Latency, Watched]:
    """Measure in another process. Raises: StepError."""
    call = [
        sys.executable,
        "-m",
        "benchmarks.runs.latency",
        peer,
        str(file),
        "--url",
        url,
        "--queries",
        str(num_queries),
    ]
    watched = watch(call, {"PYTHONHASHSEED": "0"}, servers)
    return msgspec.json.decode(watched.output, type=Latency), watched


def main() -> None:
    """Print the latency as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.latency")
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("file", type=Path)
    parser.add_argument("--url", default="")
    parser.add_argument("--queries", type=int, default=NUM_QUERIES)
    asked = parser.parse_args()
    print(msgspec.json.encode(measured(asked.peer, asked.file, asked.url, asked.queries)).decode())


if __name__ == "__main__":
    main()
