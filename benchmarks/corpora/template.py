"""Measure linking on a site whose pages differ only in a date and a number.

    python -m benchmarks.corpora.template [--documents 50000 100000]

This is the hardest case for LSH: nearly all pages share nearly all buckets, and n pages have n(n-1)/2 candidate pairs
unless the oversized buckets are capped. For each number of pages it runs ``ingest --no-link``, ``link`` and
``clusters``. The last lines print the growth: a ratio of 2 when the pages double means linear. Every document must be
in exactly one cluster.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.runs.ingest import StepError, default_command, machine, size_of
from benchmarks.runs.processes import Watched, watch

FIRST_DAY: Final = date(2001, 1, 1)
NUM_DAYS: Final = 5_000

TEMPLATE: Final = """Notice of the harbour office for {day}. All vessels that enter the outer basin report to
the pilot station on the northern mole before they pass the second pair of lights, and keep to the western side
of the fairway until the ferry berth is clear. The number of this notice is {number}, and it replaces every
earlier one of the same kind. Masters are reminded that the swing bridge opens on request between sunrise and
sunset, that the fuel jetty serves one vessel at a time, and that waste is taken at the old customs quay on
working days only. Whoever finds a drifting buoy tells the watch by radio and stays clear of it. Fees are paid
in advance at the office behind the fish hall, or at the machine beside its door when the office is closed.
Questions are answered by the harbour master and his deputies, who can be reached at all times by the telephone
at the gate. Fishing from the breakwater remains allowed on its outer side, swimming does not. The council
thanks everybody who helped to clear the slipway after the storm of last winter."""


@dataclass(frozen=True, slots=True)
class Row:
    """The results for one number of pages."""

    documents: int
    ingest: Watched
    link: Watched
    clusters: Watched
    database_bytes: int
    figures: dict[str, int]
    num_clusters: int
    num_members: int


def pages(count: int) -> Iterator[str]:
    """Yield the texts, all different."""
    for number in range(count):
        day = FIRST_DAY + timedelta(days=number * 7919 % NUM_DAYS)
        yield TEMPLATE.format(day=day.isoformat(), number=100_000 + number)


def measured(documents: int, lshdb: Sequence[str], work: Path) -> Row:
    """Create, ingest and link the site, and count its clusters. Raises: StepError."""
    file, db = work / f"{documents}.jsonl", work / f"{documents}.db"
    with file.open("wb") as out:
        for number, text in enumerate(pages(documents)):
            out.write(msgspec.json.encode({"id": f"page-{number}", "text": text}) + b"\n")
    call = [*lshdb, "--quiet", "--db", str(db)]
    ingest = watch([*call, "ingest", "--no-link", str(file)])
    link = watch([*call, "link"])
    clusters = watch([*call, "clusters", "--format", "jsonl"])
    figures = msgspec.json.decode(watch([*call, "stats", "--json"]).output)["figures"]
    sizes = [msgspec.json.decode(line)["size"] for line in clusters.output.splitlines()]
    return Row(documents, ingest, link, clusters, size_of(db), figures, len(sizes), sum(sizes))


def printed(row: Row) -> Row:
    """Print a row of the table and return it."""
    print(
        f"{row.documents:>10}{row.ingest.seconds:>10.1f}{row.link.seconds:>8.1f}{row.clusters.seconds:>10.1f}"
        f"{row.link.peak_rss / 1e6:>9.0f}{row.database_bytes / 1e6:>10.0f}{row.figures['pairs']:>12}"
        f"{row.figures['skipped_pairs']:>16}{row.num_clusters:>10}{row.num_members:>9}",
        flush=True,
    )
    return row


HEADER: Final = (
    f"{'documents':>10}{'ingest s':>10}{'link s':>8}{'clusters':>10}{'RSS MB':>9}{'file MB':>10}{'pairs':>12}"
    f"{'skipped pairs':>16}{'clusters':>10}{'members':>9}"
)


def growth(before: Row, after: Row) -> str:
    """Return the cost of a larger site relative to a smaller one."""
    ratios = {
        "documents": after.documents / before.documents,
        "ingest": after.ingest.seconds / before.ingest.seconds,
        "link": after.link.seconds / before.link.seconds,
        "both": (after.ingest.seconds + after.link.seconds) / (before.ingest.seconds + before.link.seconds),
        "memory of link": after.link.peak_rss / before.link.peak_rss,
        "file": after.database_bytes / before.database_bytes,
    }
    return ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark. Return 1 if a process failed, or if a document is not in exactly one cluster."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpora.template", description=__doc__.split("\n")[0])
    parser.add_argument("--documents", type=int, nargs="+", default=[50_000, 100_000], metavar="N")
    parser.add_argument("--lshdb", default=default_command(), metavar="COMMAND", help="command that runs lshdb")
    asked = parser.parse_args(arguments)
    print(f"{machine()}\n\n{HEADER}", flush=True)
    rows = []
    try:
        for documents in sorted(asked.documents):
            with tempfile.TemporaryDirectory() as work:
                rows.append(printed(measured(documents, shlex.split(asked.lshdb), Path(work))))
    except (StepError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    for before, after in pairwise(rows):
        print(f"\nratios: {growth(before, after)}")
    return 0 if all(row.num_clusters == 1 and row.num_members == row.documents for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
