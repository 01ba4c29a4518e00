"""Read damaged files of every format and random HTML: no crash, no hang, no lost neighbour, bounded time and memory.

    python -m benchmarks.runs.fuzz [--mutants 30000] [--pages 2000] [--seed 1]

Runs `tests.readers.fuzzing`, which damages sound files at random, in one process for each family of files. Then it
parses pages of random nestings of all elements (`benchmarks.runs.nesting`), each in a new process. Prints the
longest processor time and the largest memory. Exits with 1 if a mutant breaks a rule.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from benchmarks.runs import nesting
from benchmarks.runs.ingest import machine
from lshdb.readers.extraction import processor_seconds
from tests.readers.fuzzing import families

__all__ = ["main"]


@dataclass(frozen=True, slots=True)
class Fuzzed:
    """The mutants of a family.

    Args:
        seconds: the longest processor time of a mutant.
        peak_bytes: the largest resident set of a process.
        problems: what broke a rule.
    """

    family: str
    count: int
    seconds: float
    peak_bytes: int
    problems: list[str]


def fuzzed(family: str, first_seed: int, count: int) -> Fuzzed:
    """Read the mutants of a family in a new process."""
    command = [sys.executable, "-W", "error", "-m", "tests.readers.fuzzing", str(first_seed), str(count), family]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = process.stdout.read().splitlines()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    mutants = [line for line in lines if line.startswith("mutant")]
    longest = [float(line.split()[1]) for line in lines if line.startswith("longest")]
    problems = [line for line in lines if line.startswith("problem")]
    if process.returncode:
        problems.append(f"{mutants[-1:]} ended the process with exit code {process.returncode}")
    return Fuzzed(family, len(mutants), max(longest, default=0.0), 1024 * usage.ru_maxrss, problems)


def fuzz_files(num_mutants: int, first_seed: int) -> list[Fuzzed]:
    """Read mutants of all families, and print a row for each and one for all."""
    names, rows = list(families()), []
    print(f"\n{'family':20}{'mutants':>9}{'longest s':>11}{'peak MB':>9}", flush=True)
    for name in names:
        row = fuzzed(name, first_seed, -(-num_mutants // len(names)))
        print(f"{row.family:20}{row.count:>9,}{row.seconds:>11.3f}{row.peak_bytes / 1e6:>9.0f}", flush=True)
        for problem in row.problems:
            print(f"  {problem}", flush=True)
        rows.append(row)
    seconds, peak = max(row.seconds for row in rows), max(row.peak_bytes for row in rows)
    print(f"{'all':20}{sum(row.count for row in rows):>9,}{seconds:>11.3f}{peak / 1e6:>9.0f}", flush=True)
    return rows


def fuzz_pages(num_pages: int, kilobytes: int, seed: int) -> int:
    """Parse random pages and print the slowest. Returns: how many took longer than they may."""
    num_characters = 1_000 * kilobytes
    patterns = islice(nesting.random_patterns(random.Random(seed)), num_pages)
    costs = sorted((nesting.cost(pattern, num_characters) for pattern in patterns), reverse=True)
    # Starting the process takes some of the time.
    limit = processor_seconds(" " * num_characters) + nesting.START_SECONDS
    num_over = sum(cost.seconds > limit for cost in costs)
    peak = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"\n{len(costs):,} pages of {kilobytes} kB, {sum(cost.rejected for cost in costs)} rejected")
    print(f"{num_over} took longer than {limit:.2f} s; largest process {peak / 1e6:.0f} MB")
    for cost in costs[: nesting.SHOWN]:
        print(f"{cost.seconds:8.2f} s  {'rejected' if cost.rejected else 'read':8}  {cost.pattern}")
    return num_over


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the fuzzers. Return 1 if anything broke a rule."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.fuzz", description=__doc__.split("\n")[0])
    parser.add_argument("--mutants", type=int, default=30_000, metavar="N")
    parser.add_argument("--pages", type=int, default=2_000, metavar="N")
    parser.add_argument("--kilobytes", type=int, default=200, metavar="N", help="size of a page")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    asked = parser.parse_args(arguments)
    print(machine(), flush=True)
    rows = fuzz_files(asked.mutants, asked.seed)
    num_over = fuzz_pages(asked.pages, asked.kilobytes, asked.seed)
    return 1 if num_over or any(row.problems for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
