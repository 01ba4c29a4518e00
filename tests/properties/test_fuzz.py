"""A slice of `benchmarks.runs.fuzz`: damaged files of every format, and random nestings of HTML elements."""

from __future__ import annotations

import subprocess
import sys
from itertools import islice
from random import Random

from benchmarks.runs.nesting import random_patterns
from lshdb.readers.extraction import Extractor
from tests.readers.fuzzing import families

SEED = 14
MUTANTS = 10  # of each family
PAGES = 60
PAGE_CHARACTERS = 20_000


def test_damaged_files_neither_crash_nor_hang_nor_lose_their_neighbours() -> None:
    command = [sys.executable, "-W", "error", "-m", "tests.readers.fuzzing", str(SEED), str(MUTANTS), *families()]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    printed = ended.stdout.splitlines()
    assert ended.returncode == 0, (printed[-1:], ended.stderr[-2_000:])
    assert [line for line in printed if line.startswith("problem")] == []
    assert sum(line.startswith("mutant") for line in printed) == MUTANTS * len(families())


def test_random_nestings_of_elements_are_read() -> None:
    extractor, read = Extractor(), []
    for begin, repeated in islice(random_patterns(Random(SEED)), PAGES):
        read.append(extractor.extract(begin + repeated * (PAGE_CHARACTERS // len(repeated)), "all"))
    extractor.close()
    assert len(read) == PAGES
