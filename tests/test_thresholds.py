"""Pairs exactly at a similarity that was asked for, and exactly at the floor: they belong to the answer."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import delete, update

from lshdb import ClusterOptions, Document, ExportOptions, FilterOptions, Index, Match, Pair, Params, Thoroughness
from lshdb.model.choices import Linkage
from lshdb.store.schema import pair
from lshdb.store.store import Store

# Single words are shingles, and each minimum is a band, so that every pair of these is a candidate.
PARAMS = Params(shingle="word:1", bands=100, rows=1, floor=0.5, min_sim=0.8)
AT_FLOOR = replace(PARAMS, floor=0.8)
FOUR, FIVE, SIX = "ant bee cat dog", "ant bee cat dog elk", "ant bee cat dog elk fox"  # 4 of 5 words: 0.8
ABOVE = math.nextafter(0.8, 1.0)

TRAIN, TEST = "train", "test"


@pytest.fixture
def index(url: str, tmp_path: Path) -> Index:
    """An index of two files whose similarity is exactly 0.8, in one collection, and in two."""
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "a.txt").write_text(FOUR)
    (tmp_path / "crawl" / "b.txt").write_text(FIVE)
    index = Index.create(url, PARAMS)
    index.ingest(tmp_path / "crawl")
    index.add(Document("x", FOUR.upper()), TRAIN)
    index.add(Document("y", FIVE.upper()), TEST)
    return index


def clustered(index: Index, least: float, linkage: Linkage) -> bool:
    return bool(list(index.clusters(least, ClusterOptions(linkage=linkage, within="default"))))


def exported(index: Index, least: float) -> bool:
    out = io.StringIO()
    index.export(out, least, ExportOptions(what="dropped", clusters=ClusterOptions(within="default")))
    return len(out.getvalue().splitlines()) == 2


def filtered(index: Index, least: float, out: Path) -> bool:
    options = FilterOptions(clusters=ClusterOptions(within="default"))
    return index.filter(out.parent / "crawl", out, least, options).counts.num_dropped == 1


def similar(matches: Iterable[Pair | Match]) -> bool:
    """Whether one of them is more than a copy."""
    return any(match.similarity < 1.0 for match in matches)


ASKED = Document("?", FOUR)
# Whether an answer at a similarity has the pair.
ANSWERS: dict[str, Callable[[Index, float, Path], bool]] = {
    "pairs": lambda index, least, _: similar(index.pairs(least, within="default")),
    "pairs between": lambda index, least, _: similar(index.pairs(least, between=(TRAIN, TEST))),
    "query": lambda index, least, _: similar(index.query(ASKED, least)),
    "query_id": lambda index, least, _: similar(index.query_id("x", least, TRAIN)),
    "query_many": lambda index, least, _: any(similar(one.matches) for one in index.query_many([ASKED], least)),
    "nearest": lambda index, least, _: any(one.train for one in index.nearest(TRAIN, TEST, least)),
    "clusters": lambda index, least, _: clustered(index, least, "single"),
    "clusters, complete to keep": lambda index, least, _: clustered(index, least, "complete-to-keep"),
    "export": lambda index, least, _: exported(index, least),
    "filter": filtered,
}


def test_a_pair_exactly_at_the_similarity_asked_for_is_in_the_answer(index: Index, tmp_path: Path) -> None:
    with index:
        for name, answer in ANSWERS.items():
            assert answer(index, 0.8, tmp_path / "exactly"), name
            assert not answer(index, ABOVE, tmp_path / "just above"), name


def test_a_pair_exactly_at_the_greatest_similarity_asked_for_is_in_the_answer(index: Index) -> None:
    with index:
        assert len(list(index.pairs(0.6, max_sim=0.8, within="default"))) == 1
        assert list(index.pairs(0.6, max_sim=math.nextafter(0.8, 0.0), within="default")) == []


@pytest.mark.parametrize(("floor", "expected"), [(0.8, 1), (ABOVE, 0)], ids=["at the floor", "below it"])
def test_a_pair_exactly_at_the_floor_is_stored(url: str, floor: float, expected: int) -> None:
    with Index.create(url, replace(PARAMS, floor=floor)) as index:
        report = index.add([Document("a", FOUR), Document("b", FIVE)])
        assert report.pairs_added == index.stats().figures.num_pairs == expected


def test_a_pair_exactly_at_the_floor_is_no_fault_and_stays_when_it_is_verified(url: str) -> None:
    with Index.create(url, AT_FLOOR) as index:
        index.add([Document("a", FOUR), Document("b", FIVE)])
        assert list(index.check(Thoroughness(None))) == []
        with Store.open(url) as store, store.writing() as transaction:
            transaction.execute(update(pair).values(similarity=0.9))
        counts = index.verify().counts
        assert (counts.num_changed, counts.num_dropped) == (1, 0)
        assert [found.similarity for found in index.pairs(0.8)] == [0.8]


@pytest.mark.parametrize(
    ("left", "right", "stored", "true"), [(FOUR, FIVE, 0.9, 0.8), (FIVE, SIX, 0.8, 5 / 6)], ids=["to it", "from it"]
)
def test_a_wrong_similarity_is_corrected_to_the_floor_and_from_it(
    url: str, left: str, right: str, stored: float, true: float
) -> None:
    with Index.create(url, AT_FLOOR) as index:
        index.add([Document("a", left), Document("b", right)])
        with Store.open(url) as store, store.writing() as transaction:
            transaction.execute(update(pair).values(similarity=stored))
        assert [fault.fault for fault in index.check(Thoroughness(None))] == ["similarity-differs"]
        index.repair(["similarity-differs"])
        assert [found.similarity for found in index.pairs(0.8)] == [true]


def test_a_missing_pair_exactly_at_the_floor_is_noticed_and_linked_again(url: str) -> None:
    with Index.create(url, AT_FLOOR) as index:
        index.add([Document("a", FOUR), Document("b", FIVE)])
        with Store.open(url) as store, store.writing() as transaction:
            transaction.execute(delete(pair))
        assert [fault.fault for fault in index.check(Thoroughness(None))] == ["pair-missing"]
        assert index.explain("a", "b").status == "missing"
        index.repair(["pair-missing"])
        assert [found.similarity for found in index.pairs(0.8)] == [0.8]
