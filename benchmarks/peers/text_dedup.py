"""text-dedup's MinHash command: Hugging Face datasets on disk, candidates joined to clusters, the kept texts saved.

Its words are its own: what stands between two separators, even if it is nothing. Its answer is the table of clusters
that ``--debug`` leaves behind, so that all documents of one are counted as pairs.
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
    """The call; a text of one word has its one shingle."""
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
    """The clusters of two or more. Raises: subprocess.CalledProcessError."""
    subprocess.run(command(task), check=True, stdout=subprocess.DEVNULL)
    with (task.work / "output" / "uf.pkl").open("rb") as saved:
        forest = pickle.load(saved)
    clusters = defaultdict[int, list[str]](list)
    for row, record in enumerate(read_records(task.file)):
        clusters[forest.find(row)].append(record.id)
    yield from (Answer(cluster=members) for members in clusters.values() if len(members) > 1)


if __name__ == "__main__":
    run(duplicates)
