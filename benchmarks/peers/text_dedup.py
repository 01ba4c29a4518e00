"""text-dedup's MinHash command: reads Hugging Face datasets, joins candidates to clusters, and saves the kept texts.

It has its own definition of a word: anything between two separators, even nothing. Its answer is the table of clusters
that ``--debug`` writes; all documents of a cluster count as pairs.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator

from benchmarks.peers.figures import read_records
from benchmarks.peers.protocol import BANDS, NUM_PERM, ROWS, SHINGLE_SIZE, Answer, Task, run


def command(task: Task) -> list[str]:
    """Return the command line. Texts of a single word count too."""
    options = {
        "path": "json",
        "data_files": task.file,
        "split": "train",
        "cache_dir": task.work / "cache",
        "output": task.work / "output",
        "column": "text",
        "ngram": SHINGLE_SIZE,
        "min_length": 1,
        "num_perm": NUM_PERM,
        "b": BANDS,
        "r": ROWS,
        "hash_func": "xxh3",
        "num_proc": task.workers,
    }
    named = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    return [sys.executable, "-m", "text_dedup.minhash", *named, "--debug"]


def duplicates(task: Task) -> Iterator[Answer]:
    """Yield the clusters of two or more documents. Raises: subprocess.CalledProcessError."""
    subprocess.run(command(task), check=True, stdout=subprocess.DEVNULL)
    with (task.work / "output" / "uf.pkl").open("rb") as saved:
        forest = pickle.load(saved)
    clusters = defaultdict[int, list[str]](list)
    for row, record in enumerate(read_records(task.file)):
        clusters[forest.find(row)].append(record.id)
    yield from (Answer(cluster=members) for members in clusters.values() if len(members) > 1)


if __name__ == "__main__":
    run(duplicates)
