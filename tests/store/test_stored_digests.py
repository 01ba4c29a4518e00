"""The digests that a load holds in memory, so that it looks up only those that the index may have."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from numpy.typing import NDArray

from lshdb.model.values import Signatures
from lshdb.sketch.banding import band_keys
from lshdb.store.store import Store
from lshdb.store.tables import documents, filter_merges, generations, graph, identities, stored_digests
from lshdb.store.tables.buckets import members
from lshdb.store.tables.held_buckets import HeldBuckets
from lshdb.store.tables.stored_digests import StoredDigests
from tests.store.conftest import PARAMS, add, sketches_of
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
        stored = StoredDigests.read(transaction, 45)
    assert sum(map(len, stored.parts)) == 45
    assert len(stored.parts) == (3 if are_united else 6)  # the last one is empty
    assert stored.may_have(hashes(0, 45)).all()
    assert not stored.may_have(hashes(45, 1_000)).any()


def test_an_empty_index_has_none(store: Store) -> None:
    with store.reading() as transaction:
        assert not StoredDigests.read(transaction, 0).may_have(hashes(0, 10)).any()


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
        # Those that it has written are stored now.
        added.append(put_held(transaction, contents(30, 45), held).counts.num_contents)
    assert added == [10, 10, 0, 5]
    assert asked == [*looked_up, 10 if most > 1 else 15]


def load(store: Store, some: dict[str, tuple[int, ...]], stored: StoredDigests | None) -> tuple[int, StoredDigests]:
    """Add contents. Returns: how many are new, and the digests of the index afterwards."""
    with store.writing() as transaction:
        held = HeldBuckets(stored)
        num_new = put_held(transaction, some, held).counts.num_contents
        after = held.write(transaction)
    assert after is not None
    return num_new, after


def test_the_next_load_knows_the_digests_without_reading_them(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, contents(0, 10))
    assert load(store, contents(5, 20), None)[0] == 10
    num_new, stored = load(store, contents(5, 20), None)
    assert num_new == 0
    monkeypatch.setattr(StoredDigests, "read", None)
    for begin in (15, 25):
        num_new, stored = load(store, contents(begin, begin + 15), stored)
        assert num_new == 10
    assert load(store, contents(0, 40), stored) == (0, stored)


def test_contents_that_somebody_else_has_added_are_known_to_the_next_load(store: Store) -> None:
    _, stored = load(store, contents(0, 10), None)
    add(store, contents(10, 20))
    assert load(store, contents(5, 25), stored)[0] == 5


def test_keys_that_a_load_has_not_committed_may_be_those_of_others(store: Store) -> None:
    _, stored = load(store, contents(0, 10), None)
    with suppress(ZeroDivisionError), store.writing() as transaction:
        held = HeldBuckets(stored)
        put_held(transaction, contents(10, 20), held)
        held.write(transaction)
        raise ZeroDivisionError
    add(store, contents(30, 40))
    assert load(store, contents(0, 40), stored)[0] == 20


def test_contents_that_are_deleted_are_new_again(store: Store) -> None:
    _, stored = load(store, contents(0, 10), None)
    with store.writing() as transaction:
        keys = np.arange(9, 11)
        signatures = Signatures.read(graph.signatures(transaction, keys).signatures, PARAMS.permutations)
        documents.remove(transaction, [9, 10])
        documents.delete_contents(transaction, keys, band_keys(signatures, PARAMS.banding))
    assert load(store, contents(0, 12), stored)[0] == 4


def test_too_many_digests_are_not_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_digests, "MOST_CONTENTS", 15)
    _, stored = load(store, contents(0, 10), None)
    with store.writing() as transaction:
        held = HeldBuckets(stored)
        put_held(transaction, contents(10, 20), held)
        assert held.write(transaction) is None


def test_nothing_is_read_before_the_buckets_have_their_key(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    # As in Postgres during the first ingest.
    monkeypatch.setattr(stored_digests, "lacks_key", lambda _transaction: True)
    with store.reading() as transaction:
        assert StoredDigests.of(transaction, 10) is None
