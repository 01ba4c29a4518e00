"""After a killed reband, the old or the new bands answer, and the next call completes it."""

from __future__ import annotations

import random
import signal
from dataclasses import dataclass

import pytest

from lshdb import Index
from lshdb.store.store import Store
from tests.recovery.calls import Ended, Moment, ingest, struck
from tests.recovery.conftest import Crawl
from tests.recovery.small_batches import LINKING, REBANDING
from tests.recovery.tables import Facts, contradictions, differences, facts_of

WANTED = ("--min-sim", 0.6, "--recall", 0.99)
PROMISED = (0.6, 19, 3)
OLD = (0.8, 20, 5)
SEED = 20241108


@dataclass(frozen=True)
class Rebanded:
    """What an index says that has these bands from its start, and how a reband to them ends that nobody disturbs."""

    facts: Facts
    ended: Ended


@pytest.fixture(scope="session")
def expected(crawl: Crawl, tmp_path_factory: pytest.TempPathFactory) -> Rebanded:
    folder = tmp_path_factory.mktemp("rebanded")
    built, changed = str(folder / "built.db"), str(folder / "changed.db")
    ingest(built, crawl.folder, "--workers", 1, *WANTED, "--num-perm", 100)
    ingest(changed, crawl.folder, "--workers", 1)
    return Rebanded(facts_of(built), ingest(changed, *WANTED, verb="reband"))


def bands_of(url: str) -> tuple[float, int, int]:
    with Store.open(url) as store:
        return store.params.min_sim, store.params.bands, store.params.rows


def near_duplicates(url: str) -> set[tuple[str, str, float]]:
    with Index.open(url) as index:
        return {(pair.left, pair.right, pair.similarity) for pair in index.pairs(0.8, expand=True)}


def test_a_reband_that_is_killed_four_times_ends_as_an_index_with_those_bands_from_its_start(
    crawl: Crawl, expected: Rebanded, url: str
) -> None:
    ingest(url, crawl.folder, "--workers", 1)
    before, seen = near_duplicates(url), []
    for moment in moments(expected.ended, random.Random(SEED)):
        ended = struck(url, moment, signal.SIGKILL, *WANTED, verb="reband")
        assert ended.code == -signal.SIGKILL, moment
        assert contradictions(url) == {}, moment
        seen.append(bands_of(url))
        if seen[-1] == OLD:
            assert near_duplicates(url) == before
    assert seen[0] == OLD
    assert seen[-1] == PROMISED
    ingest(url, *WANTED, verb="reband")
    assert differences(url, expected.facts) == {}
    assert contradictions(url) == {}
    assert bands_of(url) == PROMISED


def moments(undisturbed: Ended, chance: random.Random) -> list[Moment]:
    """Kill it three times while rows are written, then while pairs are computed."""
    num_steps = undisturbed.num_steps(REBANDING) - undisturbed.num_steps(LINKING)
    writing = [Moment(REBANDING, chance.randint(1, num_steps // 4), chance.uniform(0.0, 0.005)) for _ in range(3)]
    num_steps = undisturbed.num_steps(LINKING)
    return [*writing, Moment(LINKING, chance.randint(0, num_steps // 2), chance.uniform(0.0, 0.005))]
