"""Measure how fast `contaminated` searches a training side, how much memory it takes, and how fast other tools are.

    python -m benchmarks.runs.scan TRAIN.jsonl --test TEST.jsonl [--test MORE.jsonl] [--db INDEX] [--peers]

`benchmarks.corpora.repeated` and `benchmarks.corpora.passages` make such files. With `--db`, the kept texts of an index
of TRAIN are searched, too. The peers get the first 100 MB of the training side and a thousand
test documents, because they read slowly or hold everything in memory. Their answers are compared with lshdb's.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.peers.figures import read_records
from benchmarks.runs.ingest import StepError, default_command, head, machine
from benchmarks.runs.processes import Watched, watch

PEER_BYTES: Final = 100_000_000
PEER_TESTS: Final = 1_000
# Training documents that are listed for each test document when the answers are compared.
LISTED: Final = 1_000


class Found(msgspec.Struct):
    """A contaminated test document, and its training documents."""

    test: str
    num_train: int
    matches: list[dict[str, object]]


def searched(train: str, test: Path, *options: str, db: str = "") -> Watched:
    """Search for all test documents in a file, or in the default collection of an index."""
    index = ["--db", db] if db else []
    command = [default_command(), "--quiet", *index, "contaminated", "--train", train, "--test", str(test)]
    return watch([*command, "--max-share", "1", *options])


def row(name: str, found: Watched, num_bytes: int) -> str:
    """Format a row of the table."""
    return (
        f"{name:32}{found.seconds:>8.1f} s{found.cpu_seconds:>8.1f} s CPU{num_bytes / 1e6 / found.seconds:>8.1f} MB/s"
        f"{1e9 * found.cpu_seconds / num_bytes:>7.1f} ms/MB{found.peak_rss / 1e6:>8.0f} MB"
    )


def scan(train: Path, tests: Sequence[Path], db: str) -> None:
    """Print the cost of searching all training documents for each test side."""
    num_bytes = sum(record.num_bytes for record in read_records(train))
    print(f"{num_bytes / 1e6:,.0f} MB of text")
    for test in tests:
        print(row(f"{test.name}, in the file", searched(str(train), test), num_bytes), flush=True)
        if db:
            print(row(f"{test.name}, in the index", searched("default", test, db=db), num_bytes), flush=True)


def compare(train: Path, test: Path, work: Path) -> None:
    """Print the cost of lshdb and its peers on a part of the documents. Raises: StepError: the answers differ."""
    sizes = accumulate(record.num_bytes for record in read_records(train))
    num_documents = sum(1 for _ in takewhile(PEER_BYTES.__gt__, sizes))
    train, test = head(train, num_documents, work / "train.jsonl"), head(test, PEER_TESTS, work / "test.jsonl")
    num_bytes = sum(record.num_bytes for record in read_records(train))
    print(f"\n{num_bytes / 1e6:,.0f} MB of text, {PEER_TESTS:,} test documents")
    ours = searched(str(train), test, "--format", "jsonl", "-k", str(LISTED))
    print(row("lshdb", ours, num_bytes), flush=True)
    found = msgspec.json.decode(f"[{','.join(ours.output.splitlines())}]", type=list[Found])
    if any(one.num_train > LISTED for one in found):
        raise StepError("not all training documents are listed")
    answers = {
        "suffix_array": {one.test for one in found},
        "datatrove_ngrams": {str(match["train"]) for one in found for match in one.matches},
    }
    for peer, ids in answers.items():
        theirs = watch([sys.executable, "-m", f"benchmarks.peers.{peer}", str(train), str(test)], quiet=True)
        print(row(peer, theirs, num_bytes), flush=True)
        if differing := ids ^ set(theirs.output.split("\n")) - {""}:
            print(f"  {len(differing)} of {len(ids)} answers differ: {', '.join(sorted(differing)[:3])}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Return 1 if a process failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.scan", description=__doc__.split("\n")[0])
    parser.add_argument("train", type=Path, metavar="TRAIN.jsonl")
    parser.add_argument("--test", type=Path, action="append", required=True, metavar="TEST.jsonl")
    parser.add_argument("--db", default="", help="an index of TRAIN")
    parser.add_argument("--peers", action="store_true", help="also run other tools")
    asked = parser.parse_args(arguments)
    print(machine())
    try:
        if asked.peers:
            with tempfile.TemporaryDirectory() as work:
                compare(asked.train, asked.test[0], Path(work))
        else:
            scan(asked.train, asked.test, asked.db)
    except StepError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
