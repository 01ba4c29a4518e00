"""datasketch in memory: one MinHash per document, queried and inserted individually. Lists candidates.

Used as fast as its interface allows: one `update_batch` per document, permutations that are created once and copied,
and no check for repeated keys. It receives 32-bit hashes (its hash function is `int`); as documented, it receives
strings, which it hashes with its default, SHA-1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from datasketch import MinHash, MinHashLSH

from benchmarks.peers.figures import read_records
from benchmarks.peers.protocol import BANDS, NUM_PERM, ROWS, SEED, Answer, Task, run
from benchmarks.peers.shingles import hashes, strings

HALF: Final = np.uint64(32)


def index_of() -> MinHashLSH:
    """Return an empty index."""
    return MinHashLSH(num_perm=NUM_PERM, params=(BANDS, ROWS))


def sign(blank: MinHash, text: str) -> MinHash:
    """Return the signature of a text."""
    signature = blank.copy()
    signature.update_batch((hashes(text) >> HALF).tolist())
    return signature


def blank_signature() -> MinHash:
    """Return an empty signature, to be copied for each document."""
    return MinHash(num_perm=NUM_PERM, seed=SEED, hashfunc=int)


def sign_documented(blank: MinHash, text: str) -> MinHash:
    """Return the signature of a text, from strings. Args: blank: with the default hash function."""
    signature = blank.copy()
    signature.update_batch(strings(text))
    return signature


def duplicates(task: Task) -> Iterator[Answer]:
    """Yield the candidates with their estimates. Documents without words have none."""
    blank = MinHash(num_perm=NUM_PERM, seed=SEED) if task.documented else blank_signature()
    signed = sign_documented if task.documented else sign
    index, signatures = index_of(), dict[str, MinHash]()
    for record in read_records(task.file):
        signature = signed(blank, record.text)
        if not signature.is_empty():
            for other in index.query(signature):
                yield Answer(other, record.id, signature.jaccard(signatures[other]))
            index.insert(record.id, signature, check_duplication=False)
            signatures[record.id] = signature


if __name__ == "__main__":
    run(duplicates)
