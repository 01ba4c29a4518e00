"""gaoya in memory: MinHashStringIndex with its own word 5-grams, in Rust. Lists everything that shares a band.

Its threshold is set to 0, so that its estimates drop nothing. It has its own definition of a word. The benchmark sets
RAYON_NUM_THREADS to the number of workers. gaoya shingles every text twice, to insert it and to query it; its interface
has no other way.
"""

from __future__ import annotations

from collections.abc import Iterator

from gaoya.minhash import MinHashStringIndex

from benchmarks.peers.figures import read_records
from benchmarks.peers.protocol import BANDS, ROWS, SHINGLE_SIZE, Answer, Task, run


def duplicates(task: Task) -> Iterator[Answer]:
    """Yield the candidates with their estimates."""
    records = list(read_records(task.file))
    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=0.0,
        num_bands=BANDS,
        band_size=ROWS,
        analyzer="word",
        lowercase=True,
        ngram_range=(SHINGLE_SIZE, SHINGLE_SIZE),
    )
    texts = [record.text for record in records]
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    for row, found in enumerate(index.par_bulk_query(texts, return_similarity=True)):
        for other, similarity in found:
            if other < row:
                yield Answer(records[other].id, records[row].id, similarity)


if __name__ == "__main__":
    run(duplicates)
