"""The protocol and the command line of all peers.

    python -m benchmarks.peers.NAME FILE.jsonl --out ANSWERS.jsonl --work FOLDER
        [--workers 1] [--url URL] [--min-sim 0.8] [--documented]

The answers are JSON lines: ``{"left", "right", "similarity"}`` for a pair, with the peer's own estimate if it has one,
or ``{"cluster": [ids]}`` for a group of duplicates.

All peers have the same settings: lower-case words of letters, digits and underscores, shingles of five words, and
signatures of 100 minima in 20 bands of 5 rows.
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
    """The input of a peer.

    Args:
        file: the documents, one ``{"id", "text"}`` per line.
        work: an empty folder for its files.
        workers: processes, or threads if the peer uses threads.
        url: an empty Postgres database; empty if the peer needs none.
        min_sim: the threshold of a peer that verifies; the others keep all candidates.
        documented: use the peer as its documentation does, which passes strings and lets the peer hash them. By default
            it receives hashes from `shingles`, which take less time to make.
    """

    file: Path
    work: Path
    workers: int = 1
    url: str = ""
    min_sim: float = 0.8
    documented: bool = False


class Answer(msgspec.Struct, omit_defaults=True):
    """A pair of documents, or a cluster of two or more. The similarity is the peer's own estimate."""

    left: str = ""
    right: str = ""
    similarity: float | None = None
    cluster: list[str] = []


class Peer(Protocol):
    """A function from a file to the duplicates in it."""

    def __call__(self, task: Task) -> Iterable[Answer]:
        """Yield the answers. A pair has two different documents and may be repeated."""


def run(peer: Peer) -> None:
    """Run a peer from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--url", default="")
    parser.add_argument("--min-sim", type=float, default=0.8)
    parser.add_argument("--documented", action="store_true")
    asked = parser.parse_args()
    task = Task(asked.file, asked.work, asked.workers, asked.url, asked.min_sim, asked.documented)
    encoder = msgspec.json.Encoder()
    with asked.out.open("wb", buffering=1 << 20) as out:
        for answer in peer(task):
            out.write(encoder.encode(answer) + b"\n")
