"""Run the benchmarks, one command each, and write every measurement as a record.

    python -m benchmarks all FILE.jsonl --results DIR

`docs` generates docs/benchmarks.md from the records only. `quick` needs no file and writes no records.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.page import page
from benchmarks.page.records import PeerRecord, Record, machine_record, write
from benchmarks.peers.comparison import ENTRIES, PEERS, QUALITY, Question, corpus_of, measure_all
from benchmarks.runs import additions, questions, quick, scale, storage
from benchmarks.runs.ingest import StepError

Run = Callable[[argparse.Namespace], None]

DOCS: Final = Path(__file__).parent.parent / "docs"


def command() -> str:
    """Return the command line as a reader would type it, with paths reduced to file names."""
    return shlex.join(["python", "-m", "benchmarks", *(part.rpartition("/")[2] for part in sys.argv[1:])])


def say(line: str) -> None:
    """Print a line of progress."""
    print(line, flush=True)


def compared(asked: argparse.Namespace, question: Question, documents: int, rounds: int) -> None:
    """Run the chosen peers on the first documents of the file."""
    with TemporaryDirectory(prefix="lshdb-corpus-") as work:
        corpus = corpus_of(asked.file, documents, question.min_sim, Path(work))
        say(f"{question.name}: {len(corpus.rows):,} documents, {len(corpus.truth.pairs):,} true pairs")
        entries = [entry for entry in ENTRIES if not asked.only or entry.module in asked.only]
        if question is QUALITY:
            entries = [entry for entry in entries if entry.workers == 1]
        for record in measure_all(corpus, entries, question, asked.results, command(), asked.timeout, rounds):
            say(line_of(record))


def line_of(record: PeerRecord) -> str:
    """Format one result, or the reason why there is none."""
    name = f"  {record.peer:20}{record.workers:2} "
    if record.found is None:
        return f"{name}  {record.failure}"
    return (
        f"{name}{record.seconds:8.1f} s{record.cpu_seconds:8.1f} s CPU{record.peak_bytes / 1e6:8.0f} MB"
        f"{record.found.num_pairs:10,} pairs  recall {record.found.recall:.4f}  precision {record.found.precision:.4f}"
    )


def recorded(asked: argparse.Namespace, what: str, records: Iterable[Record]) -> None:
    """Write each record immediately after its measurement."""
    started = time.perf_counter()
    for record in records:
        write(asked.results, record)
        say(f"{what}: {record.name}, {time.perf_counter() - started:.0f} s")


def peers(asked: argparse.Namespace) -> None:
    """Measure time, memory and recall of every peer, from a file to its duplicates."""
    compared(asked, PEERS, asked.documents, asked.rounds)


def quality(asked: argparse.Namespace) -> None:
    """Count which true pairs of each similarity become candidates of each peer."""
    compared(asked, QUALITY, asked.quality_documents, rounds=1)


def scales(asked: argparse.Namespace) -> None:
    """Measure lshdb on SQLite at several sizes of a synthetic corpus."""
    recorded(asked, "scale", scale.measure_all(scale.SYNTHETIC, asked.sizes, asked.workers, command()))


def large(asked: argparse.Namespace) -> None:
    """Measure lshdb on SQLite with many real texts: those of the file, repeated with edits."""
    corpus = scale.of_file(asked.file, asked.max_bytes)
    recorded(asked, "large", scale.measure_all(corpus, asked.large_documents, asked.workers, command()))


def query(asked: argparse.Namespace) -> None:
    """Compare the latency of a query with datasketch."""
    recorded(asked, "query", questions.measure_all(asked.query_documents, command()))


def incremental(asked: argparse.Namespace) -> None:
    """Measure adding a hundredth to an index."""
    recorded(asked, "incremental", additions.measure_all(asked.file, asked.documents, command()))


def stored(asked: argparse.Namespace) -> None:
    """Measure the bytes of an index by table."""
    recorded(asked, "storage", storage.measure_all(asked.file, asked.documents, command()))


def docs(asked: argparse.Namespace) -> None:
    """Generate docs/benchmarks.md and its figures from the records."""
    say(f"wrote {page.write(asked.results, asked.docs, asked.second)}")


def everything(asked: argparse.Namespace) -> None:
    """Run all commands in order and generate the page, without the commands that failed.

    Raises:
        StepError: At least one command failed.
    """
    failures = []
    for run in (peers, quality, scales, large, query, incremental, stored):
        try:
            run(asked)
        except StepError as error:
            say(f"{run.__name__} failed: {error}")
            failures.append(run.__name__)
    docs(asked)
    if failures:
        raise StepError(f"failed: {', '.join(failures)}")


def guard(asked: argparse.Namespace) -> None:
    """Compare lshdb with datasketch and a plain NumPy loop, in two minutes."""
    for line in quick.lines(asked.quick_documents):
        say(line)


# Name -> (function, whether it reads the corpus, whether it writes records).
COMMANDS: Final[dict[str, tuple[Run, bool, bool]]] = {
    "all": (everything, True, True),
    "peers": (peers, True, True),
    "quality": (quality, True, True),
    "scale": (scales, False, True),
    "large": (large, True, True),
    "query": (query, False, True),
    "incremental": (incremental, True, True),
    "storage": (stored, True, True),
    "docs": (docs, False, False),
    "quick": (guard, False, False),
}


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line. Every command accepts all options and ignores those it does not use."""
    options = argparse.ArgumentParser(add_help=False)
    add = options.add_argument
    add("--results", type=Path, default=Path("results"), metavar="DIR", help="folder for the records (default results)")
    add("--documents", type=int, default=20_000, metavar="N", help="documents for peers, incremental, storage")
    add("--quality-documents", type=int, default=5_000, metavar="N", help="documents for quality")
    add("--query-documents", type=int, default=50_000, metavar="N", help="documents for query")
    add("--quick-documents", type=int, default=quick.DOCUMENTS, metavar="N", help="documents for quick")
    add("--sizes", type=int, nargs="+", default=[10_000, 30_000, 100_000, 300_000], metavar="N", help="for scale")
    add("--large-documents", type=int, nargs="+", default=[100_000], metavar="N", help="for large")
    add("--max-bytes", type=int, default=20_000, metavar="N", help="largest text for large")
    add("--workers", type=int, default=1, metavar="N", help="processes for scale and large (default 1)")
    add("--only", nargs="+", metavar="PEER", help="modules of benchmarks.peers to run")
    add("--rounds", type=int, default=3, metavar="N", help="runs of each peer, except for slow ones (default 3)")
    add("--timeout", type=float, default=600.0, metavar="S", help="limit for one peer in seconds (default 600)")
    add("--docs", type=Path, default=DOCS, metavar="DIR", help="folder for benchmarks.md")
    add("--second", type=Path, metavar="DIR", help="records of a second run to compare")
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (run, reads, _) in COMMANDS.items():
        one = commands.add_parser(name, parents=[options], help=(run.__doc__ or "").split("\n")[0])
        if reads:
            one.add_argument(
                "file", type=Path, metavar="FILE.jsonl", help="made by `python -m benchmarks.corpora.data jsonl`"
            )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return the exit status."""
    asked = parsed(arguments)
    # Exit normally on SIGTERM, so that the servers and processes we started are stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    # If set, an editable install is compiled again at each start, but a regular install is not.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    run, _, writes = COMMANDS[asked.command]
    if writes:
        write(asked.results, machine_record(command()))
    try:
        run(asked)
    except (StepError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
