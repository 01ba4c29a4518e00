"""datatrove's n-gram decontamination: a filter that removes training documents with an n-gram of a test document.

    python -m benchmarks.peers.datatrove_ngrams TRAIN.jsonl TEST.jsonl

It prints the ids of the training documents that it removes. A test document of fewer than 13 words has no n-gram. Its
own indexer needs the test sets of lighteval, so this module writes the hashes, in the same format.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from datatrove.data import Document
from datatrove.pipeline.decont import NGramsDecontConfig, NGramsDecontFilter

from benchmarks.peers.datatrove import AS_IT_IS, Words
from benchmarks.peers.figures import read_records
from benchmarks.peers.shingles import words
from benchmarks.peers.suffix_array import NGRAM


def removed(train: Path, test: Path, work: Path) -> Iterator[str]:
    """Yield the ids of the training documents that share a run of words with a test document."""
    config = NGramsDecontConfig(n_grams=NGRAM, norm_config=AS_IT_IS)
    removing = NGramsDecontFilter(str(work), config, language=Words())
    hashes = {removing.hash_func(run) for record in read_records(test) for run in runs(record.text)}
    np.array(list(hashes), config.hash_config.np_descr).tofile(work / "test.index.hashes")
    for record in read_records(train):
        # It returns True for a document to keep, and otherwise a reason.
        if removing.filter(Document(text=record.text, id=record.id)) is not True:
            yield record.id


def runs(text: str) -> Iterator[str]:
    """Yield each run of words."""
    found = words(text)
    return (" ".join(found[first : first + NGRAM]) for first in range(len(found) - NGRAM + 1))


if __name__ == "__main__":
    train, test = map(Path, sys.argv[1:])
    with TemporaryDirectory() as folder:
        print("\n".join(removed(train, test, Path(folder))))
