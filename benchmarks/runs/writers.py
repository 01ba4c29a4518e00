"""Compare the throughput of several simultaneous writers with one, on Postgres and the same documents.

    python -m benchmarks.runs.writers postgresql://... PATH PATH ... [--writers 1 2 4]

The paths (JSONL files, folders of pages) are distributed over the writers. Each writer is an `lshdb ingest --no-link`
with one worker. Seconds are those that the slowest writer reports, without its start-up. The schema `lshdb_writers` is
created for each measurement, and dropped.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
import psycopg

from benchmarks.runs.ingest import default_command, machine
from lshdb import Index

SCHEMA: Final = "lshdb_writers"


@dataclass(frozen=True, slots=True)
class Row:
    """The figures for a number of writers. `seconds` are those that the slowest reports."""

    writers: int
    documents: int
    seconds: float


def measured(url: str, paths: Sequence[str], writers: int) -> Row:
    """Ingest all paths into an empty schema."""
    place = f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{SCHEMA}"
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
        admin.execute(f"CREATE SCHEMA {SCHEMA}")
        Index.ensure(place, {}).close()
        call = [*default_command().split(), "--quiet", "--db", place, "ingest", "--no-link", "--json", "--workers", "1"]
        shares = [paths[number::writers] for number in range(writers)]
        running = [subprocess.Popen([*call, *share], stdout=subprocess.PIPE) for share in shares]
        reports = [msgspec.json.decode(one.communicate()[0]) for one in running]
        admin.execute(f"DROP SCHEMA {SCHEMA} CASCADE")
    added = sum(report["documents"]["added"] for report in reports)
    return Row(writers, added, max(report["seconds"] for report in reports))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.writers", description=__doc__.split("\n")[0])
    parser.add_argument("url")
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--writers", type=int, nargs="+", default=[1, 2, 1, 2], metavar="N")
    asked = parser.parse_args(arguments)
    print(f"{machine()}\n\n{'writers':>8}{'documents':>11}{'s':>8}{'docs/s':>9}", flush=True)
    for writers in asked.writers:
        row = measured(asked.url, asked.paths, writers)
        rate = row.documents / row.seconds
        print(f"{row.writers:>8}{row.documents:>11}{row.seconds:>8.1f}{rate:>9.0f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
