"""From buckets to pairs through the store: both searches for candidates, oversized buckets, and stored pairs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sqlalchemy import insert, select

from lshdb.errors import StoreFailed
from lshdb.ingest.removal import retire
from lshdb.linking.buckets import Piece, expand, expand_piece, pieces
from lshdb.model.expansion import EXPANSION, Expansion
from lshdb.model.values import VerifiedPairs
from lshdb.store.schema import oversized_bucket, pair
from lshdb.store.statements import statements
from lshdb.store.store import Store
from lshdb.store.tables import answers, buckets, documents, graph, shared_buckets
from lshdb.store.tables.answers import Chosen
from lshdb.store.transaction import Transaction
from tests.store.conftest import (
    PARAMS,
    Minima,
    add,
    count,
    link,
    linked_pairs,
    new_store_at,
    possible,
    put,
    sketches_of,
)

ALWAYS_SCAN, ALWAYS_JOIN = 10**6, 0
Pairs = set[tuple[int, int]]


def naive(buckets: Mapping[int, list[int]], new: set[int], cap: int, hubs: int) -> Pairs:
    """Apply the definition: the first `cap` meet each other, every later one meets the first `hubs`."""
    met = set()
    for members in buckets.values():
        for rank, late in enumerate(members):
            met |= {(early, late) for early in members[: rank if rank < cap else hubs]}
    return {(left, right) for left, right in met if {left, right} & new}


def stored(store: Store) -> Pairs:
    with store.reading() as transaction:
        return set(map(tuple, graph.pair_page(transaction, (-1, -1), 10**6).keys.tolist()))


def skipped(store: Store) -> list[tuple[int, ...]]:
    """Return (band, num_contents, num_pairs) of the oversized buckets."""
    columns = (oversized_bucket.c.band, oversized_bucket.c.num_contents, oversized_bucket.c.num_pairs)
    with store.reading() as transaction:
        return sorted(tuple(row) for row in transaction.execute(select(*columns)))


def verified(*pairs: tuple[int, int], similarity: float = 0.5) -> VerifiedPairs:
    keys = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return VerifiedPairs(keys, np.full(len(pairs), similarity), np.zeros(len(pairs), dtype=np.bool_))


# The rule, in arrays.

bucket_sizes = st.lists(st.integers(1, 12), min_size=1, max_size=6)


@settings(max_examples=200, deadline=None)
@given(bucket_sizes, st.integers(1, 6), st.integers(1, 6), st.integers(1, 9), st.randoms(use_true_random=False))
def test_expand_follows_the_rule(sizes: list[int], cap: int, hubs: int, piece: int, chance: random.Random) -> None:
    hubs = min(hubs, cap)
    chosen = {number - 2: sorted(chance.sample(range(40), size)) for number, size in enumerate(sizes)}
    new = set(chance.sample(range(40), chance.choice([0, 5, 20, 40])))
    rows = np.array([(hashed, key) for hashed, keys in chosen.items() for key in keys], dtype=np.int64)
    rule = Expansion(cap, hubs)
    found = np.concatenate(list(expand(rows, np.isin(rows[:, 1], list(new)), rule, piece)))
    total = sum(map(len, expand(rows, np.ones(len(rows), dtype=np.bool_), rule, piece)))
    assert total == rule.num_pairs(np.array(sizes)).sum()
    hot = Piece(rows).oversized(rule).tolist()
    assert (found[:, 0] < found[:, 1]).all()
    assert set(map(tuple, found.tolist())) == naive(chosen, new, cap, hubs)
    assert hot == [[hashed, len(keys)] for hashed, keys in chosen.items() if len(keys) > cap]


@settings(max_examples=200, deadline=None)
@given(bucket_sizes, st.integers(1, 6), st.integers(1, 6), st.integers(1, 9), st.sets(st.integers(0, 11)))
def test_buckets_cut_into_pieces_expand_as_whole_ones_do(
    sizes: list[int], cap: int, hubs: int, block: int, new: set[int]
) -> None:
    rows = np.array([(hashed, key) for hashed, size in enumerate(sizes) for key in range(size)], dtype=np.int64)
    rule = Expansion(cap, min(hubs, cap))
    cut = list(pieces((rows[i : i + block] for i in range(0, len(rows), block)), rule))
    assert max(len(piece.rows) for piece in cut) <= block + cap
    found = [pairs for piece in cut for pairs in expand_piece(piece, np.isin(piece.rows[:, 1], list(new)), rule)]
    whole = list(expand(rows, np.isin(rows[:, 1], list(new)), rule))
    assert sorted(np.concatenate(found).tolist()) == sorted(np.concatenate(whole).tolist())
    hot = np.concatenate([piece.oversized(rule) for piece in cut])
    assert hot.tolist() == Piece(rows).oversized(rule).tolist()


def test_a_hot_bucket_gives_a_linear_number_of_candidates() -> None:
    sizes = np.array([0, 1, 2, 256, 257, 1_000_256])
    assert EXPANSION.num_pairs(sizes).tolist() == [0, 0, 1, 32_640, 32_650, 32_640 + 1_000_000 * 10]


def test_what_a_bucket_leaves_out_is_the_rest_of_its_pairs() -> None:
    rule, sizes = Expansion(cap=3, hubs=1), np.array([0, 1, 3, 4, 7])
    assert rule.is_oversized(sizes).tolist() == [False, False, False, True, True]
    assert rule.num_pairs(sizes).tolist() == [0, 0, 3, 4, 7]
    assert rule.num_skipped(sizes).tolist() == [0, 0, 0, 2, 14]
    assert rule.num_mates(np.arange(5)).tolist() == [0, 1, 2, 1, 1]


# Through the store.


def crowd(size: int, band: int = 0, start: int = 0) -> dict[str, Minima]:
    """Contents that share one bucket of one band only."""
    return {
        f"d{start + number:03}": tuple(99 if place == band else 1000 * band + start + number for place in range(3))
        for number in range(size)
    }


def batches(contents: Mapping[str, Minima], ends: list[int]) -> Iterator[dict[str, Minima]]:
    """The contents, cut at these places."""
    items = list(contents.items())
    for begin, end in zip([0, *ends], [*ends, len(items)], strict=True):
        yield dict(items[begin:end])


@pytest.mark.parametrize("scanned", [ALWAYS_SCAN, ALWAYS_JOIN], ids=["scan", "join"])
@pytest.mark.parametrize("ends", [[], [4], [5], [6, 7, 8], list(range(1, 12))], ids=str)
def test_a_hot_bucket_expands_alike_on_either_way_in_any_increments(
    ends: list[int], scanned: int, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.expansion = Expansion(5, 2)
    monkeypatch.setattr("lshdb.linking.link.SCANNED_CONTENTS", scanned)
    for batch in batches(crowd(12), ends):
        add(store, batch)
        link(store)
    members = list(range(1, 13))
    assert stored(store) == naive({0: members}, set(members), 5, 2)
    assert len(stored(store)) == 5 * 4 // 2 + 7 * 2
    assert skipped(store) == [(0, 12, 12 * 11 // 2 - (10 + 14))]


@pytest.mark.parametrize("scanned", [ALWAYS_SCAN, ALWAYS_JOIN], ids=["scan", "join"])
@pytest.mark.parametrize("cap", [3, 1000], ids=["hot", "below the cap"])
def test_linking_in_increments_equals_linking_at_once(
    cap: int, scanned: int, new_store: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lshdb.linking.link.SCANNED_CONTENTS", scanned)
    monkeypatch.setattr("lshdb.linking.link.DELTA_CONTENTS", 7)
    # Some are looked up band by band, others in all bands at once.
    monkeypatch.setattr("lshdb.linking.link.ALONE_CONTENTS", 4)
    monkeypatch.setattr("lshdb.linking.candidates.RUN_PAIRS", 11)
    monkeypatch.setattr("lshdb.linking.candidates.PART_PAIRS", 5)
    chance = random.Random(1)
    contents = {f"d{number:02}": tuple(chance.choices(range(8), k=3)) for number in range(40)}
    ends = sorted(chance.sample(range(1, 40), 4))
    at_once, in_parts = new_store(), new_store()
    at_once.expansion = in_parts.expansion = Expansion(cap, 1)
    add(at_once, contents)
    num_at_once = link(at_once)
    num_in_parts = 0
    for batch in batches(contents, ends):
        add(in_parts, batch)
        num_in_parts += link(in_parts)
    assert stored(in_parts) == stored(at_once)
    assert skipped(in_parts) == skipped(at_once)
    assert (len(skipped(at_once)) > 0) == (cap == 3)
    assert num_in_parts == num_at_once == len(stored(at_once))
    if cap == 1000:
        similar = {
            (a, b) for (a, x), (b, y) in combinations(contents.items(), 2) if x != y and any(map(int.__eq__, x, y))
        }
        assert linked_pairs(at_once) == similar


def test_both_ways_find_the_same_when_old_contents_are_many(
    new_store: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for scanned in (ALWAYS_SCAN, ALWAYS_JOIN):
        monkeypatch.setattr("lshdb.linking.link.SCANNED_CONTENTS", 30)
        store, chance = new_store(), random.Random(3)
        add(store, {f"d{number}": tuple(chance.choices(range(60), k=3)) for number in range(300)})
        link(store)
        monkeypatch.setattr("lshdb.linking.link.SCANNED_CONTENTS", scanned)
        before = stored(store)
        add(store, {f"n{number}": tuple(chance.choices(range(60), k=3)) for number in range(9)})
        assert link(store) == len(stored(store)) - len(before) > 0
        found.append(stored(store))
    assert found[0] == found[1]


def test_a_small_delta_is_joined_and_a_large_one_scanned(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ways: list[str] = []
    for module, name in ((buckets, "shared_among"), (shared_buckets, "of_slice")):
        monkeypatch.setattr(module, name, counting(getattr(module, name), ways, name))
    add(store, crowd(30))
    link(store)
    assert set(ways) == {"of_slice"}
    ways.clear()
    add(store, crowd(3, start=200))
    link(store)
    assert ways == ["shared_among"]
    ways.clear()
    add(store, crowd(4, start=300))
    link(store)
    assert set(ways) == {"of_slice"}


def counting(function: Callable[..., object], calls: list[str], name: str) -> Callable[..., object]:
    def called(*arguments: object) -> object:
        calls.append(name)
        return function(*arguments)

    return called


def test_linking_again_finds_nothing_more(store: Store) -> None:
    add(store, crowd(5))
    assert link(store) == 10
    assert link(store) == 0
    with store.reading() as transaction:
        assert graph.num_unlinked(transaction) == 0


def test_a_link_that_is_broken_off_is_done_again_without_doubles(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, crowd(5) | crowd(5, band=1, start=50))
    monkeypatch.setattr("lshdb.linking.candidates.PART_PAIRS", 10)
    monkeypatch.setattr("lshdb.linking.link.STORED_PAIRS", 10)
    calls: list[int] = []

    def fail_later(transaction: Transaction, pairs: VerifiedPairs, run_key: int | None) -> int:
        calls.append(len(pairs))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return put_pairs(transaction, pairs, run_key)

    put_pairs = graph.put_pairs
    with monkeypatch.context() as patch:
        patch.setattr("lshdb.store.tables.graph.put_pairs", fail_later)
        with pytest.raises(KeyboardInterrupt):
            link(store)
    with store.reading() as transaction:
        assert graph.num_unlinked(transaction) == 10
    assert len(stored(store)) == 10
    assert link(store) == 10
    assert len(stored(store)) == 20


@pytest.mark.parametrize("scanned", [ALWAYS_SCAN, ALWAYS_JOIN], ids=["scan", "join"])
def test_a_hot_bucket_stays_connected_when_its_hubs_go(
    scanned: int, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lshdb.linking.link.SCANNED_CONTENTS", scanned)
    store.expansion = Expansion(3, 1)
    add(store, crowd(6))
    link(store)
    with store.writing() as transaction:
        retire(transaction, documents.remove(transaction, [1]), PARAMS)
    link(store)
    members = [2, 3, 4, 5, 6]
    assert stored(store) == naive({0: members}, set(members), 3, 1)


@pytest.mark.parametrize("gone", [1, 2, 3, 4], ids=str)
def test_a_hot_bucket_has_the_pairs_of_those_that_moved_up(gone: int, store: Store) -> None:
    """With a cap of three and one hub, the first three meet each other, and the others meet the first one."""
    store.expansion = Expansion(3, 1)
    add(store, crowd(6))
    link(store)
    with store.writing() as transaction:
        retire(transaction, documents.remove(transaction, [gone]), PARAMS)
    link(store)
    members = [key for key in range(1, 7) if key != gone]
    assert stored(store) >= naive({0: members}, set(members), 3, 1)


def test_a_bucket_that_cooled_down_is_no_longer_accounted_as_hot(store: Store) -> None:
    store.expansion = Expansion(3, 1)
    add(store, crowd(6))
    link(store)
    with store.writing() as transaction:
        retire(transaction, documents.remove(transaction, [1, 2, 3, 4]), PARAMS)
    add(store, crowd(1, start=50))
    link(store)
    assert skipped(store) == []


# Stored pairs.


@pytest.mark.sqlite
def test_references_are_checked_again_after_a_transaction_that_made_sure_of_them(tmp_path: Path) -> None:
    with new_store_at(str(tmp_path / "index.db")) as store:
        add(store, crowd(2))
        with store.writing(refers_safely=True) as transaction:
            assert graph.put_pairs(transaction, verified((1, 2)), None) == 1
        row = {"left_key": 1, "right_key": 9, "similarity": 1.0, "exact": True}
        with pytest.raises(StoreFailed, match=r"(?i)foreign key"), store.writing() as transaction:
            transaction.execute(insert(pair).values(row))


def test_pairs_of_contents_that_are_gone_are_left_out(store: Store) -> None:
    add(store, crowd(3))
    with store.writing() as transaction:
        assert graph.put_pairs(transaction, verified((1, 2), (1, 9), (2, 3), (8, 9)), 5) == 2
        rows = transaction.execute(select(pair).order_by(pair.c.left_key)).all()
    assert [tuple(row) for row in rows] == [(1, 2, 0.5, False, 5), (2, 3, 0.5, False, 5)]


def test_a_pair_that_is_stored_stays_as_it_is(store: Store) -> None:
    add(store, crowd(3))
    with store.writing() as transaction:
        assert graph.put_pairs(transaction, verified((1, 2), (1, 3)), 5) == 2
        assert graph.put_pairs(transaction, verified((1, 3), (2, 3), similarity=0.75), None) == 1
        rows = transaction.execute(select(pair).order_by(pair.c.left_key, pair.c.right_key)).all()
    expected = [(1, 2, 0.5, False, 5), (1, 3, 0.5, False, 5), (2, 3, 0.75, False, None)]
    assert [tuple(row) for row in rows] == expected


def test_pairs_that_are_stored_already_undo_nothing_of_their_transaction(store: Store) -> None:
    add(store, crowd(3))
    with store.writing() as transaction:
        assert graph.put_pairs(transaction, verified((1, 2)), None) == 1
        assert graph.put_pairs(transaction, verified((1, 2), (1, 3)), None) == 1
        assert graph.put_pairs(transaction, verified((1, 2), (1, 3), (2, 3)), None) == 1
    assert stored(store) == {(1, 2), (1, 3), (2, 3)}


def test_no_pairs_to_store_is_nothing_to_do(store: Store) -> None:
    with store.writing() as transaction:
        assert graph.put_pairs(transaction, verified(), 1) == 0
        graph.change_pairs(transaction, verified())
        graph.delete_pairs(transaction, verified())


def test_changing_and_deleting_touch_those_pairs_and_no_others(store: Store) -> None:
    add(store, crowd(4))
    with store.writing() as transaction:
        graph.put_pairs(transaction, verified((1, 2), (1, 3), (2, 3), (3, 4)), 5)
        graph.change_pairs(transaction, verified((1, 3), (2, 4), similarity=0.25))
        graph.delete_pairs(transaction, verified((2, 3), (1, 4)))
        page = graph.pair_page(transaction, (-1, -1), 10)
    assert page.keys.tolist() == [[1, 2], [1, 3], [3, 4]]
    assert page.similarity.tolist() == [0.5, 0.25, 0.5]


def test_pages_give_every_pair_once_in_order(store: Store) -> None:
    add(store, crowd(4))
    link(store)
    with store.reading() as transaction:
        for size in (1, 2, 3, 6, 7):
            pages, after = [], (-1, -1)
            while len(page := graph.pair_page(transaction, after, size)):
                assert len(page) <= size
                pages += page.keys.tolist()
                after = tuple(pages[-1])
            assert pages == [list(both) for both in combinations(range(1, 5), 2)]


def test_a_content_that_goes_while_it_is_linked_leaves_no_pair(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Linking reads a snapshot, and a removal commits before the pairs are written."""
    add(store, crowd(3))
    put_pairs = graph.put_pairs

    def remove_first(transaction: Transaction, pairs: VerifiedPairs, run_key: int | None) -> int:
        retire(transaction, documents.remove(transaction, [2]), PARAMS)
        return put_pairs(transaction, pairs, run_key)

    monkeypatch.setattr("lshdb.store.tables.graph.put_pairs", remove_first)
    link(store)
    assert stored(store) == {(1, 3)}
    with store.reading() as transaction:
        assert (graph.num_unlinked(transaction), graph.num_contents(transaction)) == (0, 2)


def test_a_content_that_comes_while_it_is_linked_stays_to_be_linked(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, crowd(3))
    put_pairs = graph.put_pairs

    def add_first(transaction: Transaction, pairs: VerifiedPairs, run_key: int | None) -> int:
        put(transaction, crowd(1, start=7))
        return put_pairs(transaction, pairs, run_key)

    with monkeypatch.context() as patch:
        patch.setattr("lshdb.store.tables.graph.put_pairs", add_first)
        assert link(store) == 3
    with store.reading() as transaction:
        assert graph.unlinked_keys(transaction).tolist() == [4]
    assert link(store) == 3
    assert len(stored(store)) == 6


def test_the_neighbours_of_a_content_are_its_other_documents_and_those_of_its_pairs(store: Store) -> None:
    add(store, {"a": (1, 2, 3), "b": (1, 2, 4), "c": (1, 2, 3), "d": (1, 8, 9), "e": (7, 7, 7)})
    link(store)
    with store.reading() as transaction:
        assert [(doc_id, round(near, 3)) for doc_id, near, *_ in answers.neighbours(transaction, 1, 0.3)] == [
            ("a", 1.0), ("c", 1.0), ("b", 0.667), ("d", 0.333),
        ]  # fmt: skip
        assert [doc_id for doc_id, *_ in answers.neighbours(transaction, 1, 0.5)] == ["a", "c", "b"]


def test_pairs_are_listed_by_first_documents_or_expanded(store: Store) -> None:
    add(store, {"a": (1, 2, 3), "b": (1, 2, 4), "c": (1, 2, 3), "d": (1, 2, 4), "e": None, "f": None})
    link(store)
    with store.reading() as transaction:
        short = [(left, right) for left, right, *_ in answers.pairs(transaction, Chosen(0.5), expand=False)]
        full = [(left, right) for left, right, *_ in answers.pairs(transaction, Chosen(0.5), expand=True)]
    assert short == [("a", "c"), ("b", "d"), ("a", "b")]
    assert sorted(full) == [("a", "b"), ("a", "c"), ("a", "d"), ("b", "d"), ("c", "b"), ("c", "d")]


def test_hot_buckets_are_counted_in_the_figures(store: Store) -> None:
    store.expansion = Expansion(3, 1)
    add(store, crowd(6) | crowd(5, band=2, start=50))
    link(store)
    with store.reading() as transaction:
        figures = answers.figures(transaction)
        assert count(transaction, oversized_bucket) == 2
    assert (figures.num_hot_buckets, figures.num_skipped_pairs) == (2, (15 - 6) + (10 - 5))
    assert figures.num_pairs == 6 + 5


def candidates(store: Store, minima: Minima) -> NDArray[np.int64]:
    with store.reading() as transaction:
        return graph.candidates_at(transaction, possible(transaction, sketches_of([minima]).band_keys))


def test_the_candidates_of_a_document_are_the_contents_of_its_buckets_once_each(store: Store) -> None:
    add(store, {"a": (1, 2, 3), "b": (1, 2, 4), "c": (9, 9, 9)})
    assert candidates(store, (1, 2, 4)).tolist() == [1, 2]
    assert candidates(store, (2, 1, 9)).tolist() == [3]
    assert candidates(store, (5, 5, 5)).tolist() == []


def test_keys_are_looked_up_a_few_at_a_time_in_their_order(store: Store) -> None:
    add(store, {f"d{number}": (number, number, number) for number in range(7)})
    with store.reading() as transaction:
        keys = np.array([1, 2, 4, 6, 7, 2**63 - 1])
        blocks = list(transaction.keyed(statements.content_documents(), keys, count=2))
        assert list(transaction.keyed(statements.content_documents(), keys[:0])) == []
    assert [[(key, doc_id) for key, doc_id, _ in block] for block in blocks] == [
        [(1, "d0"), (2, "d1")],
        [(4, "d3"), (6, "d5")],
        [(7, "d6")],
    ]
