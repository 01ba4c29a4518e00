"""Damaged files of every format: no crash, no hang, no silent loss, and no loss of sound neighbours.

They are read in other processes, because a compiled parser may crash. See `fuzzing` for the rules.
``LSHDB_FUZZ_SEED`` and ``LSHDB_FUZZ_COUNT`` select other mutants, and more of them.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from lshdb.readers import READERS
from tests.readers.fuzzing import families

FIRST_SEED = int(os.environ.get("LSHDB_FUZZ_SEED", "20240601"))
COUNT = int(os.environ.get("LSHDB_FUZZ_COUNT", "400"))
PROGRAM = "tests.readers.fuzzing"
LONG = "long html"
OTHERS = [family for family in families() if family != LONG]


def test_there_is_a_family_of_every_reader() -> None:
    assert {reader.name for reader in READERS} <= set(families())


# Few processes, because their start takes longer than the mutants of a family.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("some", "count"),
    # Another process parses long pages, which takes ten times as long.
    [([LONG], COUNT // 4), (OTHERS[::2], COUNT), (OTHERS[1::2], COUNT)],
    ids=[LONG, "one half", "the other half"],
)
def test_mutants_neither_crash_nor_hang_nor_lose_their_neighbours(some: list[str], count: int) -> None:
    command = [sys.executable, "-W", "error", "-m", PROGRAM, str(FIRST_SEED), str(count), *some]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60 + count, check=False)
    printed = answer.stdout.splitlines()
    print(f"{some}: seeds {FIRST_SEED} to {FIRST_SEED + count - 1}")
    mutants = [line for line in printed if line.startswith("mutant")]
    assert answer.returncode == 0, f"{mutants[-1:]} ended the process: {answer.stderr[-2000:]}"
    assert len(mutants) == count * len(some)
    assert [line for line in printed if line.startswith("problem")] == []
