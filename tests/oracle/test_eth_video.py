"""The handout of ETH Zurich's data-mining course: 700 videos as sets of 100 features, and its 50 duplicates."""

from __future__ import annotations

from pathlib import Path

import pytest

from lshdb import Index, IngestOptions, Pair, ReadOptions
from tests.oracle.measured_data import data_file

FOLDER = "eth-video"
SETS = ReadOptions(input_format="sets")


@pytest.fixture(scope="module")
def handout() -> Path:
    return data_file(FOLDER, "handout_shingles.txt")


@pytest.fixture(scope="module")
def duplicates() -> set[tuple[int, int]]:
    lines = data_file(FOLDER, "handout_duplicates.txt").read_text().splitlines()
    return {(int(left), int(right)) for left, right in (line.split(",") for line in lines)}


@pytest.fixture(scope="module")
def features(handout: Path) -> dict[int, set[str]]:
    rows = [line.split() for line in handout.read_text().splitlines()]
    return {number_of(row[0]): set(row[1:]) for row in rows}


def number_of(video: str) -> int:
    """409 of VIDEO_000000409."""
    return int(video.removeprefix("VIDEO_"))


def numbers_of(pairs: list[Pair]) -> set[tuple[int, int]]:
    """Return the pairs as the handout lists them, smaller number first."""
    found = [tuple(sorted((number_of(pair.left), number_of(pair.right)))) for pair in pairs]
    assert len(found) == len(set(found))
    return set(found)  # type: ignore[arg-type]


def check(index: Index, handout: Path, duplicates: set[tuple[int, int]], features: dict[int, set[str]]) -> None:
    """Check that the index finds exactly these duplicates, each at its true similarity."""
    report = index.ingest([handout], IngestOptions(read=SETS))
    assert (report.counts.num_added, report.counts.num_rejected) == (700, 0)
    pairs = list(index.pairs(0.85, expand=True))
    assert len(duplicates) == 50
    assert numbers_of(pairs) == duplicates
    for pair in pairs:
        left, right = features[number_of(pair.left)], features[number_of(pair.right)]
        assert pair.exact
        assert pair.similarity == len(left & right) / len(left | right)


def test_the_duplicates_of_the_handout_are_found(
    url: str, handout: Path, duplicates: set[tuple[int, int]], features: dict[int, set[str]]
) -> None:
    with Index.ensure(url, {"shingle": "set"}) as index:
        check(index, handout, duplicates, features)


@pytest.mark.sqlite
@pytest.mark.parametrize("scheme", ["fss1", "universal"])
def test_the_duplicates_are_found_with_the_bands_that_the_course_suggests(
    scheme: str, tmp_path: Path, handout: Path, duplicates: set[tuple[int, int]], features: dict[int, set[str]]
) -> None:
    """500 bands of 20 rows: P(candidate) is 0.999999 at 0.85, and the signature has 10,000 minima."""
    chosen = {"shingle": "set", "bands": 500, "rows": 20, "scheme": scheme}
    with Index.ensure(str(tmp_path / "handout.db"), chosen) as index:
        check(index, handout, duplicates, features)


@pytest.mark.sqlite
def test_estimates_of_10000_minima_find_the_same(
    tmp_path: Path, handout: Path, duplicates: set[tuple[int, int]]
) -> None:
    """Without kept texts the answer rests on the estimates: their standard error at 0.85 is 0.0036."""
    chosen = {"shingle": "set", "bands": 500, "rows": 20, "keep_text": False}
    with Index.ensure(str(tmp_path / "handout.db"), chosen) as index:
        index.ingest([handout], IngestOptions(read=SETS))
        estimated = list(index.pairs(0.8, expand=True))
        assert not any(pair.exact for pair in estimated)
        assert duplicates <= numbers_of(estimated)
        # The file still exists, so it is read again and exact similarities replace the estimates.
        assert index.verify().counts.num_unknown == 0
        assert numbers_of(list(index.pairs(0.85, expand=True))) == duplicates
