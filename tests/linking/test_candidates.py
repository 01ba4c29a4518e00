"""Candidate pairs made unique: in memory, spilled to a file, and merged."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lshdb.errors import SpillFailed
from lshdb.linking import candidates
from lshdb.linking.candidates import Occurrences
from tests.linking.test_spool import files_of_at_most

Pair = tuple[int, int]

keys = st.integers(0, 12)
blocks = st.lists(st.lists(st.tuples(keys, keys).filter(lambda pair: pair[0] != pair[1]), max_size=9), max_size=9)


def array(pairs: Iterable[Pair]) -> NDArray[np.int64]:
    return np.array(list(pairs), dtype=np.int64).reshape(-1, 2)


def parts_of(given: Iterable[Iterable[Pair]], last_key: int) -> list[list[Pair]]:
    with Occurrences(last_key) as found:
        for block in given:
            found.add(array(block))
        return [[(left, right) for left, right in part.keys.tolist()] for part in found.parts()]


@pytest.mark.parametrize("large", [0, 2**31, 2**62], ids=["narrow", "just wide", "wide"])
@given(blocks=blocks, run=st.integers(1, 20), part=st.integers(1, 20))
def test_every_pair_is_given_once_in_order_whatever_the_runs(
    large: int, blocks: list[list[Pair]], run: int, part: int
) -> None:
    moved = [[(left + large, right + large) for left, right in block] for block in blocks]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "RUN_PAIRS", run)
        patch.setattr(candidates, "PART_PAIRS", part)
        parts = parts_of(moved, large + 12)
    expected = {(min(pair), max(pair)) for block in moved for pair in block}
    assert [pair for part in parts for pair in part] == sorted(expected, key=lambda pair: (pair[1], pair[0]))


def test_a_part_holds_no_more_than_asked_for_but_for_one_pair_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "RUN_PAIRS", 100)
    monkeypatch.setattr(candidates, "PART_PAIRS", 50)
    chance = random.Random(1)
    pairs = [(left, left + chance.randint(1, 900)) for left in range(1_000)]
    parts = parts_of([pairs[begin : begin + 40] for begin in range(0, 1_000, 40)], 2_000)
    assert sum(map(len, parts)) == 1_000
    assert max(map(len, parts)) <= 50


def test_runs_that_follow_each_other_give_full_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "RUN_PAIRS", 100)
    monkeypatch.setattr(candidates, "PART_PAIRS", 80)
    pairs = [(0, right) for right in range(1, 1_001)]
    parts = parts_of([pairs[begin : begin + 100] for begin in range(0, 1_000, 100)], 2_000)
    assert [pair for part in parts for pair in part] == pairs
    assert max(map(len, parts)) <= 80
    assert len(parts) <= 20


def test_the_share_grows_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "PART_PAIRS", 3)
    with Occurrences(99) as found:
        found.add(array((left, 99) for left in range(9)))
        assert [found.share for _ in found.parts()] == [3 / 9, 6 / 9, 1.0]


def test_no_occurrence_gives_no_part() -> None:
    assert parts_of([], 5) == []
    assert parts_of([[]], 5) == []


def test_repeats_are_not_written_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "RUN_PAIRS", 10)
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: pytest.fail("a file was made"))
    assert parts_of([[(1, 2), (3, 2)]] * 40, 9) == [[(1, 2), (2, 3)]]
    # Up to half of what a run holds.
    several = [(1, 2), (1, 3), (2, 3), (1, 4), (2, 4)]
    assert parts_of([several] * 40, 9) == [several]


def test_no_room_for_the_runs_is_an_error_naming_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(candidates, "RUN_PAIRS", 1)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with Occurrences(9) as found, pytest.raises(SpillFailed, match="gone: No such file"):
        found.add(array([(1, 2)]))


def test_a_full_disk_stays_the_error_when_the_file_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "RUN_PAIRS", 1)
    with files_of_at_most(4), pytest.raises(SpillFailed, match="File too large"), Occurrences(9) as found:
        found.add(array([(1, 2)]))
