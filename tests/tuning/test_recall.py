"""Recall measured on a sample agrees with comparing all contents."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from lshdb import Document, Index, Params
from lshdb.errors import DocumentUnknown
from lshdb.model.banding import typical
from lshdb.model.expansion import Expansion
from lshdb.model.progress import Progress
from lshdb.model.reports import Measurement
from lshdb.store.running import recorded_run
from lshdb.store.tables import measurements
from lshdb.tuning.probes import compared
from lshdb.tuning.recall import Measuring, Sampling
from tests.expanding import index_with

# One band of six rows, so that few of the pairs at 0.6 share a bucket.
WEAK = Params(shingle="word:1", bands=1, rows=6, num_perm=64, min_sim=0.6, floor=0.4)
NUM_DOCUMENTS = 120


@cache
def texts() -> dict[str, set[str]]:
    """Return distinct sets of words, in groups that share many words."""
    chance = random.Random(20241108)
    made: dict[str, set[str]] = {}
    for group in range(NUM_DOCUMENTS // 6):
        words = [f"g{group}w{number}" for number in range(40)]
        for number in range(6):
            kept = chance.sample(words, chance.randint(26, 38))
            made[f"{group}-{number}"] = {*kept, f"own{group}x{number}"}
    return made


def jaccard(left: set[str], right: set[str]) -> float:
    return len(left & right) / len(left | right)


@pytest.fixture
def weak(url: str) -> Iterator[Index]:
    """An index that misses most of its pairs."""
    with Index.create(url, WEAK) as index:
        index.add(Document(name, " ".join(sorted(words))) for name, words in texts().items())
        yield index


def test_a_sample_of_all_contents_knows_the_recall(weak: Index) -> None:
    near = {pair for pair in combinations(texts(), 2) if jaccard(*(texts()[name] for name in pair)) >= 0.6}
    found = {(pair.left, pair.right) for pair in weak.pairs()}
    assert found < near
    measured = weak.measure()
    assert (measured.num_pairs, measured.num_found) == (len(near), len(found))
    assert measured.recall == measured.low == measured.high == len(found) / len(near)
    assert (measured.num_probes, measured.num_contents) == (NUM_DOCUMENTS, NUM_DOCUMENTS)


def test_the_points_are_pairs_and_found_ones_by_similarity_from_the_floor_on(weak: Index) -> None:
    similarities = [jaccard(*pair) for pair in combinations(texts().values(), 2)]
    points = weak.measure().points
    assert sum(point.num_pairs for point in points) == sum(similarity >= 0.4 for similarity in similarities)
    assert [point.similarity for point in points] == sorted(point.similarity for point in points)
    assert sum(point.num_found for point in points) == len(list(weak.pairs(0.4)))


def test_a_smaller_sample_has_an_interval_around_the_truth(weak: Index) -> None:
    truth = weak.measure().recall
    assert truth is not None
    measured = weak.measure(num_probes=40, seed=3)
    assert measured.recall is not None
    assert measured.num_probes == 40
    assert 0.0 < measured.low < measured.recall < measured.high < 1.0
    assert measured.low <= truth <= measured.high


def without_its_run(measured: Measurement) -> tuple[object, ...]:
    return measured.num_pairs, measured.num_found, measured.recall, measured.low, measured.high, measured.neighbours


def test_the_same_seed_measures_the_same_and_another_one_something_else(weak: Index) -> None:
    first, again, other = (weak.measure(num_probes=30, seed=seed) for seed in (1, 1, 2))
    assert without_its_run(first) == without_its_run(again)
    assert without_its_run(first) != without_its_run(other)


def test_the_neighbours_are_all_others_by_equal_minima(weak: Index) -> None:
    measured = weak.measure(num_probes=10)
    assert len(measured.neighbours) == 65
    assert sum(measured.neighbours) == 10 * (NUM_DOCUMENTS - 1)
    assert measured.neighbours[64] == 0


def test_what_was_measured_last_is_kept_and_is_what_the_index_is_tuned_by(weak: Index) -> None:
    assert weak.stats().measured is None
    assert weak.outlook().similarities == typical(NUM_DOCUMENTS)
    weak.measure(num_probes=7)
    measured = weak.measure(num_probes=10)
    stats = weak.stats()
    assert stats.measured == measured
    assert (stats.runs[0].run, stats.runs[0].verb, stats.runs[0].state) == (measured.run, "tune", "finished")
    expected = [number / 10 for number in measured.neighbours]
    assert weak.outlook().similarities.neighbours == pytest.approx(expected)


def test_an_index_that_has_grown_has_more_neighbours_of_every_kind(weak: Index) -> None:
    measured = weak.measure()
    more = 119
    weak.add(Document(f"more {number}", f"some words {number}") for number in range(more))
    grown = weak.outlook().similarities
    factor = (NUM_DOCUMENTS + more - 1) / (NUM_DOCUMENTS - 1)
    assert grown.neighbours[0] == pytest.approx(factor * measured.neighbours[0] / NUM_DOCUMENTS)


def test_blocks_of_any_size_measure_the_same(weak: Index) -> None:
    with weak._store.reading() as snapshot:
        keys = measurements.content_keys(snapshot)[:30]
        whole, small = (
            compared(snapshot, keys, weak.params, 3, lambda _: None, block_minima=size) for size in (10**6, 64 * 7)
        )
    assert whole.num_likely.max() > 3 == np.bincount(whole.probe).max()
    assert whole.neighbours.tolist() == small.neighbours.tolist()
    assert whole.num_likely.tolist() == small.num_likely.tolist()
    assert whole.other.tolist() == small.other.tolist()


@pytest.fixture
def site(url: str) -> Iterator[Index]:
    """An index of 300 pages of one template, of whose pairs linking stored few, and 300 pages in pairs."""
    with index_with(Expansion(cap=8, hubs=1), url) as index:
        words = " ".join(f"word{number}" for number in range(40))
        index.add(Document(f"page {number}", f"{words} {number}") for number in range(300))
        index.add(
            Document(f"twin {number}", f"{words} {number // 2} ".replace("word", f"w{number // 2}x") + str(number))
            for number in range(300)
        )
        yield index


def measured_by(index: Index, sampling: Sampling, seconds: float = 60.0) -> Measurement:
    with recorded_run(index._store, "tune") as run_key:
        return Measuring(index._store, run_key, Progress(), sampling).measure(None, 1, seconds)


def test_probes_are_added_until_the_recall_is_known_precisely(site: Index) -> None:
    true = len(list(site.pairs(complete=True)))
    assert true == 300 * 299 / 2 + 150
    truth = len(list(site.pairs())) / true
    measured = measured_by(site, Sampling(min_probes=20, max_probes=20, mates=10, precision=0.005))
    assert measured.recall is not None
    assert 20 < measured.num_probes < 600
    assert measured.low <= truth <= measured.high
    assert measured.recall - 0.005 <= measured.low < measured.high <= measured.recall + 0.005
    # All the missing pairs are those of the template.
    assert measured.num_left_out == measured.num_pairs - measured.num_found > 0


def test_probes_are_added_until_the_time_is_up(site: Index) -> None:
    sampling = Sampling(min_probes=20, max_probes=20, mates=10, precision=1e-9)
    assert measured_by(site, sampling, seconds=0.0).num_probes == 20


def test_even_all_probes_leave_some_doubt_if_their_mates_are_a_sample(site: Index) -> None:
    measured = measured_by(site, Sampling(mates=10, precision=1e-9))
    assert measured.recall is not None
    assert measured.num_probes == 600
    assert measured.low < measured.recall < measured.high


def test_without_texts_the_estimates_decide(url: str) -> None:
    with Index.create(
        url, Params(shingle="word:1", bands=64, rows=1, keep_text=False, min_sim=0.6, floor=0.4)
    ) as index:
        index.add(Document(name, " ".join(sorted(words))) for name, words in texts().items())
        measured = index.measure()
        assert measured.recall == 1.0
        assert measured.num_pairs == len(list(index.pairs(0.6)))


def test_an_index_without_pairs_or_without_anything_says_that_nothing_is_known(url: str) -> None:
    with Index.create(url) as index:
        empty = index.measure()
        assert (empty.num_probes, empty.recall, empty.low, empty.high) == (0, None, 0.0, 1.0)
        index.add([Document("a", "one two three four five six"), Document("b", "nothing of the kind at all")])
        unlike = index.measure()
        assert (unlike.num_probes, unlike.num_pairs, unlike.recall) == (2, 0, None)
        assert unlike.points == ()


def test_a_measurement_that_fails_is_a_failed_run(weak: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise DocumentUnknown(doc_id="x", collection="y", url="z")

    monkeypatch.setattr("lshdb.tuning.recall.recall_of", fail)
    with pytest.raises(DocumentUnknown):
        weak.measure()
    assert weak.stats().measured is None
    assert weak.stats().runs[0].state == "failed"
