"""Cut passages out of the documents of a file: short test documents, for `lshdb contaminated`.

    python -m benchmarks.corpora.passages FILE.jsonl OUT.jsonl --words 40 200 [--count 10000] [--skip N]

The same file, options and seed give the same passages.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.peers.figures import Record, read_records

__all__ = ["passages"]

SEED: Final = 1


def passages(file: Path, least: int, most: int, count: int, skip: int = 0) -> Iterator[Record]:
    """Yield passages of `least` to `most` words, uniformly distributed.

    Args: skip: how many documents at the start of the file are not cut up.
    """
    chance = random.Random(SEED)
    texts = (record.text.split() for record in islice(read_records(file), skip, None))
    sources = [words for words in texts if len(words) >= most]
    for number in range(count):
        words, length = chance.choice(sources), chance.randint(least, most)
        first = chance.randrange(len(words) - length + 1)
        yield Record(f"passage{number}", " ".join(words[first : first + length]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpora.passages", description=__doc__.split("\n")[0])
    parser.add_argument("source", type=Path, metavar="FILE.jsonl")
    parser.add_argument("target", type=Path, metavar="OUT.jsonl")
    parser.add_argument("--words", type=int, nargs=2, required=True, metavar=("LEAST", "MOST"))
    parser.add_argument("--count", type=int, default=10_000, metavar="N")
    parser.add_argument("--skip", type=int, default=0, metavar="N", help="documents that are not cut up")
    asked = parser.parse_args(arguments)
    least, most = asked.words
    with asked.target.open("wb") as out:
        for record in passages(asked.source, least, most, asked.count, asked.skip):
            out.write(msgspec.json.encode(record) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
