"""Measure the memory of an ingest into SQLite as the corpus grows.

    python -m benchmarks.runs.memory [--documents 100000 1000000] [--workers 2]

For each number of synthetic documents (`benchmarks.corpora.synthetic`), it runs ``lshdb ingest --no-link`` of a JSONL
file into a new index, then ``lshdb link``. Memory is that of lshdb and its workers, sampled several times a second. The
last lines compare the peaks of the largest and the smallest corpus.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.corpora import synthetic
from benchmarks.runs.ingest import StepError, default_command, machine, size_of
from benchmarks.runs.processes import Watched, watch

MAX_RATIO: Final = 1.3  # largest peak to smallest peak
MAX_BYTES: Final = 1.5e9  # largest peak, with two workers


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one corpus. `database_bytes` is the size after linking."""

    documents: int
    file_bytes: int
    ingest: Watched
    link: Watched
    database_bytes: int

    @property
    def peak_rss(self) -> int:
        """The larger peak of the two steps."""
        return max(self.ingest.peak_rss, self.link.peak_rss)

    @property
    def peak_pss(self) -> int:
        """The larger peak of the two steps."""
        return max(self.ingest.peak_pss, self.link.peak_pss)


def measured(documents: int, workers: int, lshdb: Sequence[str], work: Path) -> Row:
    """Write, ingest and link the corpus. Raises: StepError."""
    file, db = work / f"{documents}.jsonl", work / f"{documents}.db"
    synthetic.write_jsonl(file, documents)
    call = [*lshdb, "--db", str(db)]
    ingest = watch([*call, "ingest", str(file), "--no-link", "--json", "--workers", str(workers)])
    added = msgspec.json.decode(ingest.output)["documents"]["added"]
    if added != documents:
        raise StepError(f"the file has {documents} documents, but lshdb added {added}")
    link = watch([*call, "link"])
    row = Row(documents, file.stat().st_size, ingest, link, size_of(db))
    for made in work.iterdir():
        made.unlink()
    return row


HEADER: Final = (
    f"{'':8}{'documents':>10}{'MB':>8}{'wall s':>9}{'docs/s':>9}"
    f"{'peak RSS MB':>13}{'peak PSS MB':>13}{'database MB':>13}"
)


def printed(row: Row) -> Row:
    """Print the two rows of a corpus and return them."""
    for name, step in (("ingest", row.ingest), ("link", row.link)):
        print(
            f"{name:8}{row.documents:>10}{row.file_bytes / 1e6:>8.1f}{step.seconds:>9.2f}"
            f"{row.documents / step.seconds:>9.0f}{step.peak_rss / 1e6:>13.0f}{step.peak_pss / 1e6:>13.0f}"
            f"{row.database_bytes / 1e6:>13.1f}",
            flush=True,
        )
    return row


def verdict(smallest: Row, largest: Row) -> str:
    """Compare the growth of the memory with its targets."""
    ingest = largest.ingest.peak_rss / smallest.ingest.peak_rss
    both = largest.peak_rss / smallest.peak_rss
    lines = [
        f"peak RSS of ingest at {largest.documents} documents relative to {smallest.documents}: {ingest:.2f}",
        f"with link: {both:.2f} (target: {MAX_RATIO:g})",
        f"largest peak RSS: {largest.peak_rss / 1e6:.0f} MB (target: {MAX_BYTES / 1e6:.0f})",
    ]
    if smallest.peak_pss:
        lines.insert(2, f"the same for PSS: {largest.peak_pss / smallest.peak_pss:.2f}")
    return "\n".join(lines)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.memory", description=__doc__.split("\n")[0])
    parser.add_argument("--documents", type=int, nargs="+", default=[100_000, 1_000_000], metavar="N")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--lshdb", default=default_command(), metavar="COMMAND", help="command that runs lshdb")
    parser.add_argument("--work", type=Path, help="folder for texts and databases (default: a temporary one)")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and print the table. Return 1 if a process failed."""
    asked = parsed(arguments)
    print(f"{synthetic.__doc__}\n{machine()}\n{asked.workers} workers\n\n{HEADER}", flush=True)
    rows = []
    try:
        for documents in sorted(asked.documents):
            with tempfile.TemporaryDirectory(dir=asked.work) as work:
                rows.append(printed(measured(documents, asked.workers, shlex.split(asked.lshdb), Path(work))))
    except (StepError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"\n{verdict(rows[0], rows[-1])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
