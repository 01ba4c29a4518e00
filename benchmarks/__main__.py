"""The benchmarks, one command each; every measurement is a record in the folder of results.

    python -m benchmarks all FILE.jsonl

`docs` renders docs/benchmarks.md from the records and nothing else.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.comparison import ENTRIES, PEERS, QUALITY, Question, corpus_of, measure_all
from benchmarks.records import PeerRecord, machine_record, write

Run = Callable[[argparse.Namespace], None]

DEFAULT_RESULTS: Final = Path("benchmarks/results")


def command() -> str:
    """The command line as a reader types it."""
    return shlex.join(["python", "-m", "benchmarks", *sys.argv[1:]])


def say(line: str) -> None:
    """Prints a line of progress."""
    print(line, flush=True)


def compared(asked: argparse.Namespace, question: Question, documents: int) -> None:
    """All chosen peers on the first documents of the file."""
    with TemporaryDirectory(prefix="lshdb-corpus-") as work:
        corpus = corpus_of(asked.file, documents, question.min_sim, Path(work))
        say(f"{question.name}: {len(corpus.rows):,} documents, {len(corpus.truth.pairs):,} true pairs")
        entries = [entry for entry in ENTRIES if not asked.only or entry.module in asked.only]
        for record in measure_all(corpus, entries, question, asked.results, command(), asked.timeout):
            say(line_of(record))


def line_of(record: PeerRecord) -> str:
    """What there is to say of one."""
    name = f"  {record.peer:20}{record.workers:2} "
    if record.found is None:
        return f"{name}  {record.failure}"
    return (
        f"{name}{record.seconds:8.1f} s{record.cpu_seconds:8.1f} s CPU{record.peak_bytes / 1e6:8.0f} MB"
        f"{record.found.num_pairs:10,} pairs  recall {record.found.recall:.4f}  precision {record.found.precision:.4f}"
    )


def peers(asked: argparse.Namespace) -> None:
    """Time, memory and recall of every peer."""
    compared(asked, PEERS, asked.documents)


def quality(asked: argparse.Namespace) -> None:
    """Which pairs of each similarity become candidates."""
    compared(asked, QUALITY, asked.quality_documents)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for run in (peers, quality):
        one = commands.add_parser(run.__name__, help=(run.__doc__ or "").split("\n")[0])
        one.set_defaults(run=run)
        one.add_argument("--results", type=Path, default=DEFAULT_RESULTS, metavar="DIR", help="folder of the records")
        one.add_argument("file", type=Path, metavar="FILE.jsonl", help="made by `python -m benchmarks.data jsonl`")
        one.add_argument("--documents", type=int, default=20_000, metavar="N", help="the first N of the file")
        one.add_argument("--quality-documents", type=int, default=5_000, metavar="N", help="the first N of the file")
        one.add_argument("--only", nargs="+", metavar="PEER", help="modules of benchmarks.peers")
        one.add_argument("--timeout", type=float, default=600.0, metavar="S", help="seconds for one peer")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Does what the command line asks for."""
    asked = parsed(arguments)
    write(asked.results, machine_record(command()))
    asked.run(asked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
