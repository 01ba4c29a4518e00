"""The digests that a load holds in memory, so that it looks up only those that the index may have."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lshdb.store.store import Store
from lshdb.store.tables import filter_merges, generations, identities, stored_digests
from lshdb.store.tables.buckets import members
from lshdb.store.tables.held_buckets import HeldBuckets
from lshdb.store.tables.stored_digests import StoredDigests
from tests.store.conftest import add, sketches_of
from tests.store.test_held_buckets import put_held


def contents(first: int, end: int) -> dict[str, tuple[int, ...]]:
    return {f"{number}": (number, number + 1_000, number + 2_000) for number in range(first, end)}


def hashes(first: int, end: int) -> NDArray[np.int64]:
    digests = sketches_of(list(contents(first, end).values())).digests
    return identities.buckets_of(digests.view("V16").ravel()).keys[:, 0].view(np.int64)


@pytest.mark.parametrize("are_united", [False, True])
def test_the_digests_of_all_generations_are_read(
    store: Store, monkeypatch: pytest.MonkeyPatch, are_united: bool
) -> None:
    monkeypatch.setattr(generations, "YOUNG_ROWS", 40)
    for begin in range(0, 40, 10):  # each fills a generation, which has a filter at once
        with store.writing() as transaction:
            put_held(transaction, contents(begin, begin + 10), held := HeldBuckets())
            held.write(transaction)
    if are_united:
        while store.write(lambda transaction: filter_merges.advance(transaction, 40, together=True)):
            pass
    add(store, contents(40, 45))  # has no filter
    with store.reading() as transaction:
        stored = StoredDigests.read(transaction)
    assert sum(map(len, stored.parts)) == 45
    assert len(stored.parts) == (2 if are_united else 5)
    assert stored.may_have(hashes(0, 45)).all()
    assert not stored.may_have(hashes(45, 1_000)).any()


def test_an_empty_index_has_none(store: Store) -> None:
    with store.reading() as transaction:
        assert not StoredDigests.read(transaction).may_have(hashes(0, 10)).any()


@pytest.mark.parametrize(("most", "looked_up"), [(16_000_000, [0, 3, 0]), (1, [10, 13, 5])])
def test_a_load_looks_up_only_what_the_index_may_have(
    store: Store, monkeypatch: pytest.MonkeyPatch, most: int, looked_up: list[int]
) -> None:
    monkeypatch.setattr(stored_digests, "MOST_CONTENTS", most)
    asked = list[int]()

    def counted(*given: object) -> object:
        asked.append(len(given[1]))  # type: ignore[arg-type]
        return members(*given)  # type: ignore[arg-type]

    add(store, contents(0, 20))
    monkeypatch.setattr(identities, "members", counted)
    with store.writing() as transaction:
        held = HeldBuckets()
        added = [
            put_held(transaction, some, held).counts.num_contents
            for some in (contents(20, 30), contents(30, 40) | contents(17, 20), contents(35, 40))
        ]
        held.write(transaction)
        # They are read again after the rows are written.
        added.append(put_held(transaction, contents(30, 45), held).counts.num_contents)
    assert added == [10, 10, 0, 5]
    assert asked == [*looked_up, 10 if most > 1 else 15]
