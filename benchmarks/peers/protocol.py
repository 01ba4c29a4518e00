"""What every peer is asked, what it answers, and the command line that all of them have.

    python -m benchmarks.peers.NAME FILE.jsonl --out ANSWERS.jsonl --work FOLDER [--workers 1] [--url URL]

The answers are JSON lines: ``{"left", "right", "similarity"}`` for a pair, with an estimate where the peer has one, or
``{"cluster": [ids]}`` for documents that the peer calls duplicates of each other without saying which of which.

The settings are the same for all: words of letters, digits and underscores in lower case, shingles of five, signatures
of 100 minima in 20 bands of 5 rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import msgspec

__all__ = ["BANDS", "NUM_PERM", "ROWS", "SEED", "SHINGLE_SIZE", "Answer", "Peer", "Task", "run"]

SHINGLE_SIZE: Final = 5
BANDS: Final = 20
ROWS: Final = 5
NUM_PERM: Final = BANDS * ROWS
SEED: Final = 1


@dataclass(frozen=True, slots=True)
class Task:
    """What a peer works on.

    Args:
        file: the documents, one ``{"id", "text"}`` a line.
        work: an empty folder for what it writes.
        workers: processes, or threads where it has those.
        url: a database of its own on Postgres; empty where it was given none.
        min_sim: what a peer that verifies keeps; the others keep all candidates.
    """

    file: Path
    work: Path
    workers: int = 1
    url: str = ""
    min_sim: float = 0.8


class Answer(msgspec.Struct, omit_defaults=True):
    """A pair of documents, or a cluster of two or more; the similarity is the peer's own."""

    left: str = ""
    right: str = ""
    similarity: float | None = None
    cluster: list[str] = []


class Peer(Protocol):
    """From a file to what is found in it."""

    def __call__(self, task: Task) -> Iterable[Answer]:
        """The answers, none of a document with itself; a pair may come twice."""


def run(peer: Peer) -> None:
    """Does what the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--url", default="")
    parser.add_argument("--min-sim", type=float, default=0.8)
    asked = parser.parse_args()
    encoder = msgspec.json.Encoder()
    with asked.out.open("wb", buffering=1 << 20) as out:
        for answer in peer(Task(asked.file, asked.work, asked.workers, asked.url, asked.min_sim)):
            out.write(encoder.encode(answer) + b"\n")
