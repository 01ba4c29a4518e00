"""pydivsufsort: a suffix array of the training texts in memory, in which each run of 13 words is looked up.

    python -m benchmarks.peers.suffix_array TRAIN.jsonl TEST.jsonl

It prints the ids of the test documents that share a run. A shorter document is one run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydivsufsort import divsufsort, sa_search

from benchmarks.peers.figures import read_records
from benchmarks.peers.shingles import words

NGRAM: Final = 13
# No word has it, so no run goes on into the next document.
END: Final = "\n"


def contaminated(train: Path, test: Path) -> Iterator[str]:
    """Yield the ids of the test documents that share a run of words with a training document."""
    text = END.join(f" {' '.join(words(record.text))} " for record in read_records(train)).encode()
    suffixes = divsufsort(text)
    for record in read_records(test):
        found = words(record.text)
        runs = (found[first : first + NGRAM] for first in range(max(1, len(found) - NGRAM + 1)))
        if found and any(sa_search(text, suffixes, f" {' '.join(run)} ".encode())[0] for run in runs):
            yield record.id


if __name__ == "__main__":
    train, test = map(Path, sys.argv[1:])
    print("\n".join(contaminated(train, test)))
