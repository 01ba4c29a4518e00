"""FastSketchLSH in memory: Fast Similarity Sketches and its LSH. Lists candidates.

It receives hashes; as documented, strings.

The number of slots of a sketch must be a power of two. To get 20 bands of 5 rows, 128 are computed and the
first 100 used.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

import numpy as np
from FastSketchLSH import LSH, FastSimilaritySketch
from numpy.typing import NDArray

from benchmarks.peers.figures import Record, read_records
from benchmarks.peers.protocol import BANDS, NUM_PERM, SEED, Answer, Task, run
from benchmarks.peers.shingles import WORD, hashes, strings

NUM_SLOTS: Final = 128
BATCH: Final = 256


def sign(sketcher: FastSimilaritySketch, texts: list[str], workers: int) -> NDArray[np.uint64]:
    """Return the signatures of some texts, uint64, shape (n, num_perm)."""
    hashed = [hashes(text) for text in texts]
    offsets = np.concatenate(([0], np.cumsum([len(each) for each in hashed]))).astype(np.uint64)
    sketches = sketcher.batch_csr(np.concatenate(hashed), offsets, prehashed=True, num_threads=workers)
    return np.ascontiguousarray(sketches[:, :NUM_PERM])


def sign_documented(sketcher: FastSimilaritySketch, texts: list[str], workers: int) -> NDArray[np.uint64]:
    """Return what `sign` returns, from strings."""
    sketches = sketcher.batch([strings(text) for text in texts], num_threads=workers)
    return np.ascontiguousarray(sketches[:, :NUM_PERM])


def batches(task: Task) -> Iterator[list[Record]]:
    """Yield the records in batches."""
    records = read_records(task.file)
    while batch := list(islice(records, BATCH)):
        yield batch


def duplicates(task: Task) -> Iterator[Answer]:
    """Yield the candidates with their estimates. Documents without words have none."""
    ids, signed = list[str](), list[NDArray[np.uint64]]()
    sketcher = FastSimilaritySketch(size=NUM_SLOTS, seed=SEED)
    signing = sign_documented if task.documented else sign
    for batch in batches(task):
        if texts := {record.id: record.text for record in batch if WORD.search(record.text)}:
            ids += texts
            signed.append(signing(sketcher, list(texts.values()), task.workers))
    signatures = np.concatenate(signed)
    index = LSH(num_perm=NUM_PERM, num_bands=BANDS, num_threads=task.workers)
    index.insert(signatures)
    found, offsets = index.query(signatures, format="csr")
    rows = np.repeat(np.arange(len(ids)), np.diff(offsets).astype(np.int64))
    others = found.astype(np.int64)
    for row, other in zip(rows[others < rows].tolist(), others[others < rows].tolist(), strict=True):
        yield Answer(ids[other], ids[row], float((signatures[row] == signatures[other]).mean()))


if __name__ == "__main__":
    run(duplicates)
