"""How long a question takes in a process that has the index: the raw text of a document in, its near-duplicates out.

    python -m benchmarks.runs.latency lshdb|datasketch FILE.jsonl [--url INDEX] [--queries 2000]

Asks with documents of the file, evenly spread, and prints one JSON object. lshdb opens the index that is there, and
verifies what it finds; datasketch reads the file and builds its index in memory first, and verifies nothing.
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
# Before the clock counts: caches fill, kernels load.
WARM_UP: Final = 100

# The number of documents found.
Ask = Callable[[str], int]


class Latency(msgspec.Struct, frozen=True):
    """Milliseconds of a question; `opening_seconds` from the start of the program's own work to the first answer.

    Args: cpu: the mean processor time of the asking process, which another load on the machine hardly moves.
    """

    num_queries: int
    opening_seconds: float
    cpu: float
    p50: float
    p99: float
    longest: float


def lshdb(_: Path, url: str) -> Ask:
    """Asks an index that is there."""
    from lshdb import Document, Index

    index = Index.open(url)
    return lambda text: len(index.query(Document("asked", text)))


def datasketch(file: Path, _: str) -> Ask:
    """Asks an index that is made here, of all documents of the file."""
    from benchmarks.peers import datasketch as peer

    blank, index = peer.blank_signature(), peer.index_of()
    for record in read_records(file):
        index.insert(record.id, peer.sign(blank, record.text), check_duplication=False)
    return lambda text: len(index.query(peer.sign(blank, text)))


PEERS: Final = {"lshdb": lshdb, "datasketch": datasketch}


def measured(peer: str, file: Path, url: str, num_queries: int) -> Latency:
    """Opens the index, and asks. Raises: AssertionError: a document did not find itself."""
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
    """What a process of its own measures. Raises: StepError."""
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
    """Prints what was measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.latency")
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("file", type=Path)
    parser.add_argument("--url", default="")
    parser.add_argument("--queries", type=int, default=NUM_QUERIES)
    asked = parser.parse_args()
    print(msgspec.json.encode(measured(asked.peer, asked.file, asked.url, asked.queries)).decode())


if __name__ == "__main__":
    main()
