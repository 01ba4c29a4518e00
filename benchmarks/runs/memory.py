"""Memory of an ingest as the corpus grows: JSONL of synthetic texts into SQLite, sampled over all processes.

    python -m benchmarks.runs.memory [--documents 100000 1000000] [--workers 2]

For each number of documents (see `benchmarks.corpora.synthetic` for what they are), one after the other: ``lshdb ingest
--no-link`` of one JSONL file into a new index, then ``lshdb link``. The memory is that of lshdb and its workers
together, every 50 ms (PSS every 200 ms). The last lines are the peaks of the largest corpus over those of the smallest.
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

MAX_RATIO: Final = 1.3  # of the peaks
MAX_BYTES: Final = 1.5e9  # of memory, with two workers


@dataclass(frozen=True, slots=True)
class Row:
    """What one corpus took; database_bytes once it is linked."""

    documents: int
    file_bytes: int
    ingest: Watched
    link: Watched
    database_bytes: int

    @property
    def peak_rss(self) -> int:
        """Of both steps."""
        return max(self.ingest.peak_rss, self.link.peak_rss)

    @property
    def peak_pss(self) -> int:
        """Of both steps."""
        return max(self.ingest.peak_pss, self.link.peak_pss)


def measured(documents: int, workers: int, lshdb: Sequence[str], work: Path) -> Row:
    """Writes the corpus, ingests it, links it. Raises: StepError."""
    file, db = work / f"{documents}.jsonl", work / f"{documents}.db"
    synthetic.write_jsonl(file, documents)
    call = [*lshdb, "--db", str(db)]
    ingest = watch([*call, "ingest", str(file), "--no-link", "--json", "--workers", str(workers)])
    added = msgspec.json.decode(ingest.output)["documents"]["added"]
    if added != documents:
        raise StepError(f"the file has {documents} documents, lshdb took {added}")
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
    """Prints the two lines of a corpus."""
    for name, step in (("ingest", row.ingest), ("link", row.link)):
        print(
            f"{name:8}{row.documents:>10}{row.file_bytes / 1e6:>8.1f}{step.seconds:>9.2f}"
            f"{row.documents / step.seconds:>9.0f}{step.peak_rss / 1e6:>13.0f}{step.peak_pss / 1e6:>13.0f}"
            f"{row.database_bytes / 1e6:>13.1f}",
            flush=True,
        )
    return row


def verdict(smallest: Row, largest: Row) -> str:
    """The growth of the memory, against what is asked of it."""
    ingest = largest.ingest.peak_rss / smallest.ingest.peak_rss
    both = largest.peak_rss / smallest.peak_rss
    lines = [
        f"peak RSS of ingest at {largest.documents} documents over {smallest.documents}: {ingest:.2f}",
        f"with link: {both:.2f} (asked: {MAX_RATIO:g})",
        f"largest peak RSS: {largest.peak_rss / 1e6:.0f} MB (asked: {MAX_BYTES / 1e6:.0f})",
    ]
    if smallest.peak_pss:
        lines.insert(2, f"the same of PSS: {largest.peak_pss / smallest.peak_pss:.2f}")
    return "\n".join(lines)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.memory", description=__doc__.split("\n")[0])
    parser.add_argument("--documents", type=int, nargs="+", default=[100_000, 1_000_000], metavar="N")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--lshdb", default=default_command(), metavar="COMMAND", help="how lshdb is called")
    parser.add_argument("--work", type=Path, help="folder for texts and databases (default: a temporary one)")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the benchmark and prints the table; 1 where a process failed."""
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
