"""Measure datasketch on a sample: word 5-shingles, 100 permutations, MinHashLSH with 20 bands of 5 rows, in memory.

    python -m benchmarks.peers.datasketch_sample FILE.jsonl --megabytes 30 --hash sha1|xxhash

Used as fast as its interface allows: shingles by `zip` over encoded words, one `update_batch` per document,
permutations that are created once and copied, no check for repeated keys, and an insertion session. ``sha1`` is its
default hash function, ``xxhash`` the fastest. The sample is every k-th document. It is in memory before the clock
starts, so reading and decoding are not measured. Limitation: stores no texts, writes no file, and verifies nothing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import xxhash
from datasketch import MinHash, MinHashLSH
from datasketch.hashfunc import sha1_hash32

from benchmarks.peers.figures import Figures, Record, read_records, show
from benchmarks.peers.shingles import strings

BANDS, ROWS = 20, 5
HASHES: Final[dict[str, Callable[[bytes], int]]] = {"sha1": sha1_hash32, "xxhash": xxhash.xxh32_intdigest}


def sample(path: Path, num_bytes: int) -> list[Record]:
    """Return every k-th document, with k chosen so that they have about `num_bytes` in total."""
    total = sum(record.num_bytes for record in read_records(path))
    return list(islice(read_records(path), 0, None, max(1, round(total / num_bytes))))


def index(records: Sequence[Record], hash_function: Callable[[bytes], int]) -> MinHashLSH:
    """Return an index of all records."""
    blank = MinHash(num_perm=BANDS * ROWS, hashfunc=hash_function)
    lsh = MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS))
    with lsh.insertion_session() as session:
        for record in records:
            signature = blank.copy()
            signature.update_batch(strings(record.text))
            session.insert(record.id, signature, check_duplication=False)
    return lsh


def main() -> None:
    """Index the sample and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers.datasketch_sample")
    parser.add_argument("file", type=Path)
    parser.add_argument("--megabytes", type=float, default=30.0)
    parser.add_argument("--hash", choices=HASHES, default="sha1")
    asked = parser.parse_args()
    records = sample(asked.file, round(asked.megabytes * 1e6))
    started = time.perf_counter()
    index(records, HASHES[asked.hash])
    seconds = time.perf_counter() - started
    show(Figures(len(records), sum(record.num_bytes for record in records), seconds, "a sample, in memory"))


if __name__ == "__main__":
    main()
