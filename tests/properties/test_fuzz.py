"""A slice of `benchmarks.runs.fuzz`: random nestings of HTML elements."""

from __future__ import annotations

from itertools import islice
from random import Random

from benchmarks.runs.nesting import random_patterns
from lshdb.readers.extraction import Extractor

SEED = 14
PAGES = 60
PAGE_CHARACTERS = 20_000


def test_random_nestings_of_elements_are_read() -> None:
    extractor, read = Extractor(), []
    for begin, repeated in islice(random_patterns(Random(SEED)), PAGES):
        read.append(extractor.extract(begin + repeated * (PAGE_CHARACTERS // len(repeated)), "all"))
    extractor.close()
    assert len(read) == PAGES
