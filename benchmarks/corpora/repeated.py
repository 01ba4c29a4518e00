"""Create a larger corpus from a file: its texts, then the same texts with edits, round by round.

    python -m benchmarks.corpora.repeated FILE.jsonl OUT.jsonl --documents 100000 [--max-bytes 20000]

The first round is the unmodified file. In later rounds, 0.1 to 10 % of the words of each text are replaced by words of
the text before it. Its Jaccard similarity to the original is then 0.4 to 0.99. The same file, number and seed give the
same documents. Their ids contain the round: ``ID#2``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from benchmarks.peers.figures import Record, read_records

__all__ = ["documents", "write_jsonl"]

SEED: Final = 1
SHARE_REPLACED: Final = (0.001, 0.1)


def documents(source: Path, max_bytes: int | None = None, seed: int = SEED) -> Iterator[Record]:
    """Yield documents endlessly, round by round, without texts longer than `max_bytes`."""
    chance = np.random.default_rng(seed)
    yield from short(source, max_bytes)
    for number in count(2):
        before = ["the"]
        for record in short(source, max_bytes):
            words = record.text.split(" ")
            yield Record(f"{record.id}#{number}", edited(chance, words, before))
            before = words


def short(source: Path, max_bytes: int | None) -> Iterator[Record]:
    """Yield the documents of the file, without texts longer than `max_bytes`."""
    return (record for record in read_records(source) if max_bytes is None or record.num_bytes <= max_bytes)


def edited(chance: np.random.Generator, words: list[str], others: list[str]) -> str:
    """Return the text of these words, some of them replaced by others."""
    share = chance.uniform(*SHARE_REPLACED)
    replaced = (chance.random(len(words)) < share).tolist()
    picked = chance.integers(0, len(others), len(words)).tolist()
    return " ".join(others[pick] if swap else word for word, swap, pick in zip(words, replaced, picked, strict=True))


def write_jsonl(source: Path, target: Path, num_documents: int, max_bytes: int | None = None) -> None:
    """Write a file with this number of documents."""
    encoder = msgspec.json.Encoder()
    with target.open("wb") as out:
        for record in islice(documents(source, max_bytes), num_documents):
            out.write(encoder.encode(record) + b"\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpora.repeated", description=__doc__.split("\n")[0])
    parser.add_argument("source", type=Path, metavar="FILE.jsonl")
    parser.add_argument("target", type=Path, metavar="OUT.jsonl")
    parser.add_argument("--documents", type=int, required=True, metavar="N")
    parser.add_argument("--max-bytes", type=int, metavar="N", help="skip longer texts")
    asked = parser.parse_args(arguments)
    write_jsonl(asked.source, asked.target, asked.documents, asked.max_bytes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
