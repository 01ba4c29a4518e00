"""Measure running an ingest again when nothing has changed: a folder of small files into SQLite.

    python -m benchmarks.runs.rerun [--files 130000 | --folder DIR] [--workers 2]

By default the files are synthetic (`benchmarks.corpora.synthetic`), a hundred per folder. They are small and in the
page cache, so that the first run is as fast as possible. Both runs are the same ``lshdb ingest`` command, measured from
start to exit. The first one also links.
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

MAX_SHARE: Final = 0.05  # of the time of the first run


@dataclass(frozen=True, slots=True)
class Run:
    """A run: the counts that it reports, and its cost."""

    documents: Mapping[str, int]
    measured: Measured

    @classmethod
    def of(cls, name: str, call: Sequence[str]) -> Run:
        """Run lshdb and print a line. Raises: StepError."""
        measured = measure(call)
        counts = msgspec.json.decode(measured.output)["documents"]
        said = ", ".join(f"{number} {what}" for what, number in counts.items() if number)
        print(f"{name:8}{measured.seconds:>9.2f} s{measured.cpu_seconds:>9.2f} s CPU  {said}", flush=True)
        return cls(counts, measured)


def compare(folder: Path, db: Path, workers: int, lshdb: Sequence[str]) -> str:
    """Run twice over the same files and return the verdict. Raises: StepError: a run fails, or the second adds some."""
    call = [*lshdb, "--quiet", "--db", str(db), "ingest", str(folder), "--json", "--workers", str(workers)]
    first = Run.of("first", call)
    second = Run.of("second", call)
    if second.documents["added"] or second.documents["updated"]:
        raise StepError("the second run found new documents")
    share = second.measured.seconds / first.measured.seconds
    files = second.documents["unchanged"]
    return (
        f"{share:.1%} of the time of the first run (target: under {MAX_SHARE:.0%}), "
        f"{second.measured.seconds / files * 1e6:.0f} microseconds per document, including start-up"
    )


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.rerun", description=__doc__.split("\n")[0])
    corpus = parser.add_mutually_exclusive_group()
    corpus.add_argument("--files", type=int, default=130_000, metavar="N", help="synthetic texts (default 130000)")
    corpus.add_argument("--folder", type=Path, metavar="DIR", help="existing files instead")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--lshdb", default=default_command(), metavar="COMMAND", help="command that runs lshdb")
    parser.add_argument("--work", type=Path, help="folder for files and database (default: a temporary one)")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark. Return 1 if a process failed."""
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
