"""rensa in memory: R-MinHash of the full set (not its sampling pipeline) and RMinHashLSH. Lists candidates.

It uses one thread. Its tokens are 8-byte hashes; as documented, strings. Its signatures are kept for the estimates.
"""

from __future__ import annotations

from collections.abc import Iterator

from rensa import RMinHash, RMinHashLSH

from benchmarks.peers.figures import read_records
from benchmarks.peers.protocol import BANDS, NUM_PERM, SEED, Answer, Task, run
from benchmarks.peers.shingles import strings, tokens


def duplicates(task: Task) -> Iterator[Answer]:
    """Yield the candidates with their estimates. Documents without words have none."""
    ids, signatures, shingled = list[str](), list[RMinHash](), strings if task.documented else tokens
    index = RMinHashLSH(threshold=0.8, num_perm=NUM_PERM, num_bands=BANDS)
    for record in read_records(task.file):
        if found := shingled(record.text):
            signature = RMinHash(num_perm=NUM_PERM, seed=SEED)
            signature.update(found)
            ids.append(record.id)
            signatures.append(signature)
    index.insert_many(signatures)
    for row, others in enumerate(index.query_all(signatures)):
        for other in others:
            if other < row:
                yield Answer(ids[other], ids[row], signatures[row].jaccard(signatures[other]))


if __name__ == "__main__":
    run(duplicates)
