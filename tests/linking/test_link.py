"""What a link reports, and that it is complete however little it computes and stores at a time."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest

from lshdb import Document, Index, Params
from lshdb.linking import candidates, link

# Single words are shingles, and each minimum is a band, so that similar texts share a bucket.
PARAMS = Params(shingle="word:1", bands=100, rows=1, floor=0.5)
WORDS = [f"word{number}" for number in range(12)]
TEXTS = {f"{number:02}": {*WORDS[: 4 + number % 9], f"own{number % 13}"} for number in range(30)}


def added(url: str, *, at_a_time: int) -> tuple[int, int, list[tuple[str, str, float]]]:
    """Return the pairs that a link reports, those that are still to be linked, and the pairs of all documents."""
    names = list(TEXTS)
    with Index.create(url, PARAMS) as index:
        num_added = 0
        for begin in range(0, len(names), at_a_time):
            some = [Document(name, " ".join(sorted(TEXTS[name]))) for name in names[begin : begin + at_a_time]]
            num_added += index.add(some).pairs_added
        assert index.link() == 0
        pairs = [(*sorted((one.left, one.right)), one.similarity) for one in index.pairs(0.5, expand=True)]
        assert index.stats().figures.num_pairs == num_added
        return num_added, index.stats().figures.num_unlinked, sorted(pairs)


def expected() -> list[tuple[str, str, float]]:
    """The pairs by brute force."""
    similarities = (
        (left, right, len(TEXTS[left] & TEXTS[right]) / len(TEXTS[left] | TEXTS[right]))
        for left, right in combinations(TEXTS, 2)
    )
    return [pair for pair in similarities if pair[2] >= 0.5]


@pytest.mark.parametrize("at_a_time", [1, 7, 30])
@pytest.mark.parametrize("part", [3, 1_000])
def test_all_pairs_are_stored_and_counted(
    at_a_time: int, part: int, new_url: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "PART_PAIRS", part)
    monkeypatch.setattr(link, "STORED_PAIRS", 2 * part)
    num_added, num_unlinked, pairs = added(new_url(), at_a_time=at_a_time)
    assert pairs == expected()
    assert num_added > 100
    assert num_unlinked == 0


def test_texts_wait_to_be_linked(new_url: Callable[[], str]) -> None:
    with Index.create(new_url(), PARAMS) as index:
        for name in ("00", "09", "18"):
            assert index.add(Document(name, " ".join(TEXTS[name])), link=False).pairs_added == 0
        assert index.stats().figures.num_unlinked == 3
        assert index.link() == index.stats().figures.num_pairs == 3
        assert index.stats().figures.num_unlinked == 0
        assert index.link() == 0
