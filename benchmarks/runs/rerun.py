"""A nightly run that finds nothing new, beside the first run: a folder of small files into SQLite.

    python -m benchmarks.runs.rerun [--files 130000 | --folder DIR] [--workers 2]

Without a folder the files are synthetic (see `benchmarks.corpora.synthetic`), a hundred in each folder, and lie in
the page
cache, for they were just written. They are as small as texts get, so that the first run is as quick as it can be.
Both runs are the same call of ``lshdb ingest``, wall time of the process from start to exit; the first one links what
it added.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.corpora import synthetic
from benchmarks.runs.ingest import Measured, StepError, default_command, machine, measure

MAX_SHARE: Final = 0.05  # of the first run's time


@dataclass(frozen=True, slots=True)
class Run:
    """One run: what it says it did to the documents, and what it cost."""

    documents: Mapping[str, int]
    measured: Measured

    @classmethod
    def of(cls, name: str, call: Sequence[str]) -> Run:
        """Calls lshdb and prints a line. Raises: StepError."""
        measured = measure(call)
        counts = msgspec.json.decode(measured.output)["documents"]
        said = ", ".join(f"{number} {what}" for what, number in counts.items() if number)
        print(f"{name:8}{measured.seconds:>9.2f} s{measured.cpu_seconds:>9.2f} s CPU  {said}", flush=True)
        return cls(counts, measured)


def compare(folder: Path, db: Path, workers: int, lshdb: Sequence[str]) -> str:
    """Runs twice over the same files. Returns: the verdict. Raises: StepError: one failed, or the second read some."""
    call = [*lshdb, "--quiet", "--db", str(db), "ingest", str(folder), "--json", "--workers", str(workers)]
    first = Run.of("first", call)
    second = Run.of("second", call)
    if second.documents["added"] or second.documents["updated"]:
        raise StepError("the second run should have found nothing new")
    share = second.measured.seconds / first.measured.seconds
    files = second.documents["unchanged"]
    return (
        f"{share:.1%} of the first run's time (asked: under {MAX_SHARE:.0%}), "
        f"{second.measured.seconds / files * 1e6:.0f} microseconds a document, the start of the process included"
    )


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.rerun", description=__doc__.split("\n")[0])
    corpus = parser.add_mutually_exclusive_group()
    corpus.add_argument("--files", type=int, default=130_000, metavar="N", help="synthetic texts (default 130000)")
    corpus.add_argument("--folder", type=Path, metavar="DIR", help="files that are there already")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--lshdb", default=default_command(), metavar="COMMAND", help="how lshdb is called")
    parser.add_argument("--work", type=Path, help="folder for files and database (default: a temporary one)")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the benchmark; 1 where a process failed."""
    asked = parsed(arguments)
    print(f"{machine()}\n{asked.workers} workers\n", flush=True)
    with tempfile.TemporaryDirectory(dir=asked.work) as work:
        folder = asked.folder or Path(work, "files")
        if asked.folder is None:
            synthetic.write_files(folder, asked.files)
        try:
            print(f"\n{compare(folder, Path(work, 'index.db'), asked.workers, shlex.split(asked.lshdb))}")
        except (StepError, OSError) as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
