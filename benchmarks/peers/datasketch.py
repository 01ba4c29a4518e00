"""datasketch in memory: a MinHash a document, MinHashLSH asked and filled document by document; nothing is verified.

Fed as fast as its interface allows: 32-bit hashes made outside, so that its hash function is `int`, one `update_batch`
a document, the permutations made once and copied, no check for double keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from datasketch import MinHash, MinHashLSH

from benchmarks.peers.figures import read_records
from benchmarks.peers.protocol import BANDS, NUM_PERM, ROWS, SEED, Answer, Task, run
from benchmarks.peers.shingles import hashes

HALF: Final = np.uint64(32)


def index_of() -> MinHashLSH:
    """An empty index."""
    return MinHashLSH(num_perm=NUM_PERM, params=(BANDS, ROWS))


def sign(blank: MinHash, text: str) -> MinHash:
    """The signature of a text."""
    signature = blank.copy()
    signature.update_batch((hashes(text) >> HALF).tolist())
    return signature


def blank_signature() -> MinHash:
    """The signature of nothing, from which the others are copied."""
    return MinHash(num_perm=NUM_PERM, seed=SEED, hashfunc=int)


def duplicates(task: Task) -> Iterator[Answer]:
    """The candidates with their estimates; a document without words has none."""
    blank, index, signatures = blank_signature(), index_of(), dict[str, MinHash]()
    for record in read_records(task.file):
        signature = sign(blank, record.text)
        if not signature.is_empty():
            for other in index.query(signature):
                yield Answer(other, record.id, signature.jaccard(signatures[other]))
            index.insert(record.id, signature, check_duplication=False)
            signatures[record.id] = signature


if __name__ == "__main__":
    run(duplicates)
