"""Measure the speed of an ingest into SQLite, compared with plain reading and datasketch.

    python -m benchmarks.runs.ingest FILE.jsonl [--documents N]

Each row of the table is a separate process:

- reading and decoding the file, which also loads it into the page cache,
- datasketch on a sample, with its default and its fastest hash function (`benchmarks.peers.datasketch_sample`),
- ``lshdb ingest --no-link`` of the whole file with one worker, from start to exit,
- ``lshdb link``.

MB/s are megabytes (10^6) of UTF-8 *text*, without JSON. A hundred documents are ingested beforehand, so that no kernel
is compiled while the clock runs. The databases are in a temporary folder.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.peers.figures import Figures

# Arguments of the lshdb command.
INGEST: Final = ("--db", "{db}", "ingest", "{file}", "--no-link", "--json", "--workers", "1")
LINK: Final = ("--db", "{db}", "link")

WARM_UP_DOCUMENTS: Final = 100
PACKAGES: Final = ("lshdb", "datasketch", "xxhash", "numpy", "numba", "msgspec", "sqlalchemy")
MIN_SPEED: Final = 100.0  # MB/s of text
MIN_RATIO: Final = 10.0  # times datasketch


@dataclass(frozen=True, slots=True)
class Measured:
    """The exit code, output and cost of a process."""

    exit_code: int
    output: str
    seconds: float
    cpu_seconds: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table."""

    name: str
    figures: Figures
    seconds: float
    cpu_seconds: float
    peak_bytes: int

    @property
    def speed(self) -> float:
        """Megabytes of text per second."""
        return self.figures.bytes / 1e6 / self.seconds

    @classmethod
    def of(cls, name: str, figures: Figures, measured: Measured) -> Row:
        """Return the row of a process that processed these documents."""
        seconds = measured.seconds if figures.seconds is None else figures.seconds
        return cls(name, figures, seconds, measured.cpu_seconds, measured.peak_bytes)


class StepError(Exception):
    """A process of the benchmark failed."""


def measure(command: Sequence[str]) -> Measured:
    """Run a command and measure it. Its stderr is passed through.

    Raises:
        StepError: The exit code is not 0.
    """
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode()
    if process.returncode:
        raise StepError(f"exit code {process.returncode}: {shlex.join(command)}")
    peak_bytes = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Measured(process.returncode, text, seconds, usage.ru_utime + usage.ru_stime, peak_bytes)


def peer(name: str, module: str, *arguments: str) -> Row:
    """Run a module of `benchmarks.peers`."""
    measured = measure([sys.executable, "-m", f"benchmarks.peers.{module}", *arguments])
    return Row.of(name, msgspec.json.decode(measured.output, type=Figures), measured)


def run_lshdb(lshdb: Sequence[str], arguments: Sequence[str], db: Path, file: Path) -> Measured:
    """Run an lshdb command on a database and a file."""
    return measure([*lshdb, *(argument.format(db=db, file=file) for argument in arguments)])


def ingest_row(lshdb: Sequence[str], db: Path, file: Path, corpus: Figures) -> Row:
    """Ingest the file, and check that lshdb counts as many documents as the corpus has."""
    measured = run_lshdb(lshdb, INGEST, db, file)
    taken = msgspec.json.decode(measured.output)["documents"]["added"]
    if taken != corpus.documents:
        raise StepError(f"the file has {corpus.documents} documents, but lshdb added {taken}")
    figures = Figures(taken, corpus.bytes, note=f"database {size_of(db) / 1e6:.0f} MB")
    return Row.of("lshdb ingest --no-link", figures, measured)


def link_row(lshdb: Sequence[str], db: Path, file: Path, corpus: Figures) -> Row:
    """Link the index."""
    measured = run_lshdb(lshdb, LINK, db, file)
    figures = Figures(corpus.documents, corpus.bytes, note=f"database {size_of(db) / 1e6:.0f} MB")
    return Row.of("lshdb link", figures, measured)


def size_of(db: Path) -> int:
    """Return the size of a SQLite database, including its log."""
    return sum(path.stat().st_size for path in db.parent.glob(db.name + "*"))


def head(file: Path, documents: int, target: Path) -> Path:
    """Write the first documents of a file to a new file."""
    with file.open("rb") as lines, target.open("wb") as out:
        out.writelines(islice(lines, documents))
    return target


def compare(file: Path, lshdb: Sequence[str], sample: float, work: Path) -> list[Row]:
    """Run everything except linking, and print each row immediately."""
    run_lshdb(lshdb, INGEST, work / "warm-up.db", head(file, WARM_UP_DOCUMENTS, work / "warm-up.jsonl"))
    table = [printed(peer("read and decode", "bare_read", str(file)))]
    sampled = ("datasketch_sample", str(file), "--megabytes", str(sample), "--hash")
    table += [printed(peer(f"datasketch, {each}", *sampled, each)) for each in ("sha1", "xxhash")]
    return [*table, printed(ingest_row(lshdb, work / "lshdb.db", file, table[0].figures))]


HEADER: Final = f"{'':<24}{'documents':>10}{'MB':>8}{'wall s':>9}{'CPU s':>8}{'MB/s':>8}{'peak MB':>9}  "


def printed(row: Row) -> Row:
    """Print a row of the table and return it."""
    figures = row.figures
    print(
        f"{row.name:<24}{figures.documents:>10}{figures.bytes / 1e6:>8.1f}{row.seconds:>9.2f}{row.cpu_seconds:>8.1f}"
        f"{row.speed:>8.1f}{row.peak_bytes / 1e6:>9.0f}  {figures.note}",
        flush=True,
    )
    return row


def verdict(table: Sequence[Row]) -> str:
    """Compare the speed of the ingest with its targets."""
    _, *peers, ingest = table
    lines = [f"ingest {ingest.speed:.1f} MB/s of text (target: {MIN_SPEED:g})"]
    lines += [f"{ingest.speed / row.speed:.1f} times as fast as {row.name} (target: {MIN_RATIO:g})" for row in peers]
    return "\n".join(lines)


def machine() -> str:
    """Describe the machine: processor, cores, system, Python and packages."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    packages = ", ".join(f"{name} {version_of(name)}" for name in PACKAGES)
    return f"{processor()}, {cores} cores; {platform.system()} {platform.release()}; {python}; {packages}"


def processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


def version_of(package: str) -> str:
    """Return the installed version of a package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def default_command() -> str:
    """Return the lshdb installed with the running Python, else the one on the path."""
    beside = Path(sys.executable).with_name("lshdb")
    return str(beside) if beside.exists() else shutil.which("lshdb") or "lshdb"


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.ingest", description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path, metavar="FILE.jsonl")
    parser.add_argument("--documents", type=int, metavar="N", help="only the first N documents of the file")
    parser.add_argument("--sample", type=float, default=30.0, metavar="MB", help="text for datasketch (default 30)")
    parser.add_argument("--lshdb", default=default_command(), metavar="COMMAND", help="command that runs lshdb")
    parser.add_argument("--work", type=Path, help="folder for the databases (default: a temporary one)")
    parser.add_argument("--no-link", dest="link", action="store_false", help="skip linking")
    return parser.parse_args(arguments)


def run_all(file: Path, lshdb: Sequence[str], asked: argparse.Namespace, work: Path) -> None:
    """Print the table, the verdict, and the row for linking."""
    table = compare(file, lshdb, asked.sample, work)
    print(f"\n{verdict(table)}\n", flush=True)
    if asked.link:
        printed(link_row(lshdb, work / "lshdb.db", file, table[0].figures))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and print the table. Return 1 if a process failed."""
    asked = parsed(arguments)
    with tempfile.TemporaryDirectory(dir=asked.work) as folder:
        work, file = Path(folder), asked.file
        if asked.documents is not None:
            file = head(file, asked.documents, work / "corpus.jsonl")
        print(f"{asked.file}, {file.stat().st_size / 1e6:.1f} MB of JSONL\n{machine()}\n\n{HEADER}", flush=True)
        try:
            run_all(file, shlex.split(asked.lshdb), asked, work)
        except (StepError, OSError) as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
