"""Buckets by generation: where rows go, how generations merge, and that no answer depends on it."""

from __future__ import annotations

import platform
import random
import resource
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sqlalchemy import Table, select, text, update

from lshdb import Document, Index, Params
from lshdb.ingest.removal import retire
from lshdb.model.banding import Banding
from lshdb.model.expansion import Expansion
from lshdb.model.values import BandKeys
from lshdb.sketch.banding import band_keys
from lshdb.store import whole
from lshdb.store.dialect import Columns
from lshdb.store.merging import Merging, hold_filters, merge, unite_filters
from lshdb.store.schema import DIGEST_BAND, MANY_LABELS, band_bucket, bucket_generation, document
from lshdb.store.store import Store
from lshdb.store.tables import (
    bands,
    documents,
    filter_merges,
    filters,
    generation_list,
    generations,
    graph,
    identities,
    lookups,
)
from lshdb.store.tables.buckets import buckets_of, members, members_at, put_rows
from lshdb.store.transaction import Transaction
from tests.store.conftest import PARAMS, Minima, add, link, linked_pairs, new_store_at, possible, sketches_of
from tests.store.hearing import heard
from tests.store.released import restore

Rows = list[tuple[int, ...]]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A generation is full with four contents of three bands and a digest; two of one size merge, and so do filters.

    A step moves about two rows. A part of a filter has two entries, and a step reads three rows or four entries.
    """
    monkeypatch.setattr(generations, "YOUNG_ROWS", 16)
    monkeypatch.setattr(generations, "FAN_OUT", 2)
    monkeypatch.setattr(generations, "STEP_ROWS", 4)
    monkeypatch.setattr(filters, "PART_ENTRIES", 2)
    monkeypatch.setattr(filters, "READ_PARTS", 2)
    monkeypatch.setattr(filter_merges, "FAN_OUT", 2)
    monkeypatch.setattr(filter_merges, "STEP_ROWS", 3)
    monkeypatch.setattr(filter_merges, "STEP_PARTS", 2)


def known(store: Store) -> Rows:
    """Return (generation, num_rows, merges_into)."""
    with store.reading() as transaction:
        columns = (bucket_generation.c[name] for name in ("generation", "num_rows", "merges_into"))
        return [tuple(row) for row in transaction.execute(select(*columns).order_by("generation"))]


def sizes(store: Store) -> dict[int, int]:
    """Return the number of rows in `band_bucket` of each generation that has any."""
    counted = "SELECT generation, count(*) FROM band_bucket GROUP BY generation ORDER BY generation"
    with store.reading() as transaction:
        return dict(map(tuple, transaction.execute(text(counted))))


def buckets(store: Store) -> Rows:
    """Return what the view shows, sorted."""
    with store.reading() as transaction:
        rows = transaction.execute(text("SELECT banding, band, bucket_hash, content_key FROM lshdb_buckets"))
        return sorted(tuple(row) for row in rows)


def alike(count: int, start: int = 0) -> dict[str, Minima]:
    """Contents that share the bucket of their first band."""
    return {f"d{number}": (7, number, number) for number in range(start, start + count)}


def add_each(store: Store, contents: dict[str, Minima]) -> None:
    for doc_id, minima in contents.items():
        add(store, {doc_id: minima})


def move(store: Store, steps: int) -> None:
    """Merge by so many steps, after the filters of the sources."""
    before = sizes(store)
    while sizes(store) == before:
        assert store.write(generations.merge_some)
    for _ in range(steps - 1):
        assert store.write(generations.merge_some)


def test_rows_go_to_the_young_generation_until_it_is_full(store: Store) -> None:
    add_each(store, alike(6))
    assert known(store) == [(0, 16, None), (1, 8, None)]
    assert sizes(store) == {0: 16, 1: 8}


def test_contents_that_are_known_begin_no_generation(store: Store) -> None:
    add_each(store, alike(4))
    assert known(store) == [(0, 16, None)]
    add_each(store, alike(4))
    assert known(store) == [(0, 16, None)]


def test_a_large_load_stays_together(store: Store) -> None:
    add(store, alike(20))
    add(store, alike(1, start=20))
    assert sizes(store) == {0: 80, 1: 4}


def test_the_contents_of_all_generations_are_counted(store: Store) -> None:
    assert store.read(generations.num_contents) == 0
    add_each(store, alike(6))
    assert store.read(generations.num_contents) == 6


def test_a_load_that_fills_a_generation_does_not_go_to_another_one(store: Store) -> None:
    add(store, alike(1))
    add(store, alike(5, start=1))
    assert sizes(store) == {0: 4, 1: 20}
    add(store, alike(3, start=6))
    assert sizes(store) == {0: 16, 1: 20}


def test_full_generations_of_one_size_merge_into_a_larger_one(store: Store) -> None:
    add_each(store, alike(9))
    before = buckets(store)
    merge(store)
    assert known(store) == [(2, 4, None), (3, 32, None)]
    assert sizes(store) == {2: 4, 3: 32}
    assert buckets(store) == before
    add_each(store, alike(8, start=9))
    merge(store)
    assert sizes(store) == {5: 4, 7: 64}


def test_every_row_is_seen_once_after_each_step_of_a_merge(store: Store) -> None:
    add_each(store, alike(9))
    before, steps = buckets(store), 0
    while store.write(generations.merge_some):
        assert buckets(store) == before
        steps += 1
    # The filters of both generations and of the target take several steps each. Then the bucket that all share moves as
    # a whole, then two rows from each generation; last, the empty ones are dropped.
    assert steps > 3 * 4 + 10


def test_a_step_that_fails_leaves_the_rows_where_they_were(store: Store) -> None:
    add_each(store, alike(8))
    store.write(generations.merge_some)
    before, moved = buckets(store), sizes(store)

    def failing(transaction: object) -> None:
        generations.merge_some(transaction)  # type: ignore[arg-type]
        raise RuntimeError("before the commit")

    with pytest.raises(RuntimeError):
        store.write(failing)
    assert (buckets(store), sizes(store)) == (before, moved)


def test_a_merge_that_was_interrupted_continues_while_rows_are_added(store: Store) -> None:
    add_each(store, alike(8))
    move(store, 3)
    assert sorted(sizes(store)) == [0, 1, 2]
    add(store, alike(1, start=8))
    assert sizes(store)[3] == 4
    before = buckets(store)
    merge(store)
    assert sizes(store) == {2: 32, 3: 4}
    assert buckets(store) == before


def test_rows_behind_those_that_were_moved_are_moved_too(store: Store) -> None:
    add_each(store, alike(8))
    before = buckets(store)
    move(store, 3)
    with store.writing() as transaction:
        first = (band_bucket.c.band == 0) & (band_bucket.c.content_key == 1)
        assert transaction.execute(update(band_bucket).where(first).values(generation=0)).rowcount == 1
    merge(store)
    assert sizes(store) == {2: 32}
    assert buckets(store) == before


def test_the_smallest_merge_goes_first(store: Store) -> None:
    for start in (0, 8):
        add(store, alike(8, start))
    move(store, 1)
    add_each(store, alike(8, start=16))
    while {3, 4} & sizes(store).keys():
        store.write(generations.merge_some)
    assert sizes(store) == {0: 24, 1: 24, 2: 16, 5: 32}


def test_no_more_generations_merge_at_once_than_may_and_the_smallest_do(store: Store) -> None:
    add(store, alike(7))
    add_each(store, alike(16, start=7))
    store.write(partial(generations.merge_some, most_sources=3))
    assert [merges_into for _, _, merges_into in known(store)] == [None, 5, 5, 5, None, None]


def test_rows_stay_in_one_generation_until_the_key_of_the_buckets_is_there(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As in Postgres during the first ingest.
    monkeypatch.setattr(generations, "lacks_key", lambda _transaction: True)
    add_each(store, alike(9))
    assert not store.write(generations.merge_some)
    assert known(store) == [(0, 36, None)]


@pytest.mark.parametrize(
    ("many", "many_filters", "expected"),
    [(0, 10, [140, 144, 145, 145]), (10, 0, [138, 140, 140, 140]), (10, 10, [134, 135, 135, 135])],
)
def test_merging_takes_a_share_of_the_time(
    many: int, many_filters: int, expected: list[int], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_each(store, alike(4))
    merge(store, moves=False)
    assert filtered(store)
    monkeypatch.setattr("lshdb.store.merging.MANY_GENERATIONS", many)
    monkeypatch.setattr("lshdb.store.merging.MANY_FILTERS", many_filters)
    now = 100

    def step(_transaction: object, *, moves: bool, most_sources: int) -> bool:
        nonlocal now
        assert (moves, most_sources) == (many == 0, generations.FAN_OUT)
        now += 1
        return True

    monkeypatch.setattr(generations, "merge_some", step)
    monkeypatch.setattr("lshdb.store.merging.time", SimpleNamespace(monotonic=lambda: now))
    merging = Merging(store)
    now, ends = 130, []
    for _ in range(4):
        merging.advance()
        ends.append(now)
    assert ends == expected


def test_rows_deleted_since_are_not_counted_after_a_merge(store: Store) -> None:
    add_each(store, alike(8))
    with store.writing() as transaction:
        retire(transaction, documents.remove(transaction, [1, 6]), PARAMS)
    assert sizes(store) == {0: 12, 1: 12}
    merge(store)
    assert known(store) == [(2, 24, None)]


def test_a_merge_for_no_time_moves_nothing(store: Store) -> None:
    add_each(store, alike(8))
    assert merge(store, 0.0) < 1
    assert sizes(store) == {0: 16, 1: 16}


def test_a_vacuum_merges(store: Store) -> None:
    add_each(store, alike(8))
    whole.vacuum(store, full=False)
    assert sizes(store) == {2: 32}


@pytest.mark.parametrize("scanned", [10**6, 0])
def test_candidates_and_hot_buckets_are_those_of_one_generation(
    scanned: int, new_store: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lshdb.linking.link.SCANNED_CONTENTS", scanned)
    chance, found = random.Random(scanned), []
    contents: dict[str, Minima] = {f"d{number}": tuple(chance.choices(range(9), k=3)) for number in range(60)}
    for in_one in (True, False):
        store = new_store()
        store.expansion = Expansion(4, 2)
        for begin in range(0, 60, 10):
            some = dict(list(contents.items())[begin : begin + 10])
            add(store, some) if in_one else add_each(store, some)
            link(store)
        with store.reading() as transaction:
            hot = transaction.execute(text("SELECT * FROM oversized_bucket ORDER BY band, bucket_hash")).all()
        found.append((linked_pairs(store), list(map(tuple, hot))))
    assert len(sizes(store)) > 10
    assert found[0] == found[1]
    assert found[0][0]
    assert found[0][1]


def test_a_question_finds_candidates_in_every_generation(store: Store) -> None:
    add_each(store, alike(9))
    asked = band_keys(sketches_of([(7, 100, 100)]).signatures, PARAMS.banding)
    with store.reading() as transaction:
        assert graph.candidates_at(transaction, possible(transaction, asked)).tolist() == list(range(1, 10))


def filtered(store: Store) -> list[int]:
    """Return the generations that have a complete filter."""
    with store.reading() as transaction:
        return [one.number for one in generation_list.generations(transaction) if one.filter is not None]


def stored(store: Store) -> set[int]:
    """Return the filters that have parts."""
    return store.read(filters.stored)


def test_a_filter_denies_no_row_and_nearly_all_others(store: Store) -> None:
    chance = random.Random(1)
    contents = {f"d{number}": tuple(chance.choices(range(200), k=3)) for number in range(40)}
    add_each(store, contents)
    merge(store)
    big, *others = sorted(sizes(store), key=lambda number: -sizes(store)[number])
    assert big in filtered(store)
    with store.reading() as transaction:
        assert not lookups.wrong(transaction, big)
        rows = transaction.execute(text("SELECT generation, band, bucket_hash FROM band_bucket")).all()
        for minima in contents.values():
            asked = band_keys(sketches_of([minima]).signatures, PARAMS.banding)
            hashes = {(band, int(key)) for band, key in enumerate(asked.keys[0].view(np.int64))}
            there = {tuple(row) for row in rows if tuple(row[1:]) in hashes}
            assert set(possible(transaction, asked)) >= there
        unknown = band_keys(sketches_of([(1000, 1001, 1002)]).signatures, PARAMS.banding)
        assert {number for number, _, _ in possible(transaction, unknown)} == set(others) - set(filtered(store))


def test_a_sketch_whose_buckets_all_are_in_a_filter_takes_no_statement_for_each(store: Store) -> None:
    add_each(store, {f"d{number}": (number, number, number) for number in range(12)})
    merge(store, moves=False)
    statements: list[str] = []
    asked = band_keys(sketches_of([(1, 1, 1)]).signatures, PARAMS.banding)
    with store.reading() as transaction, heard(transaction, lambda *call: statements.append(call[2])):
        found = possible(transaction, asked)
    mine = [band for number, band, _ in found if number in filtered(store)]
    assert sorted(mine) == list(range(PARAMS.bands))
    # The scheme, and then the parts of filters together with the generations.
    assert len(statements) == 2


def test_a_filter_that_was_interrupted_denies_no_row_and_goes_on(store: Store) -> None:
    add_each(store, alike(9))
    goes_on, steps = True, 0
    while goes_on:
        with store.reading() as transaction:
            assert not any(lookups.wrong(transaction, number) for number in generations.numbers(transaction))
            asked = band_keys(sketches_of([(7, 3, 3)]).signatures, PARAMS.banding)
            assert graph.candidates_at(transaction, possible(transaction, asked)).tolist() == list(range(1, 10))
        goes_on = store.write(generations.merge_some)
        steps += 1
    assert steps > 40


def test_filters_merge_before_the_rows_do(store: Store) -> None:
    add_each(store, alike(8))
    asked = band_keys(sketches_of([(7, 3, 3)]).signatures, PARAMS.banding)
    unknown = band_keys(sketches_of([(1000, 1001, 1002)]).signatures, PARAMS.banding)
    merge(store, moves=False)
    assert (sizes(store), filtered(store), len(stored(store))) == ({0: 16, 1: 16}, [0, 1], 1)
    with store.reading() as transaction:
        assert possible(transaction, unknown) == []
        # The first band has a bucket in both generations, the others in one.
        assert sorted((number, band) for number, band, _ in possible(transaction, asked)) == [
            (0, 0),
            (0, 1),
            (0, 2),
            (1, 0),
        ]


def test_the_target_of_a_merge_has_a_filter_before_the_first_row_moves(store: Store) -> None:
    add_each(store, alike(8))
    asked = band_keys(sketches_of([(7, 3, 3)]).signatures, PARAMS.banding)
    unknown = band_keys(sketches_of([(1000, 1001, 1002)]).signatures, PARAMS.banding)
    move(store, 1)
    while len(sizes(store)) > 1:
        assert filtered(store) == [0, 1, 2]
        with store.reading() as transaction:
            assert not any(lookups.wrong(transaction, number) for number in (0, 1, 2))
            assert graph.candidates_at(transaction, possible(transaction, asked)).tolist() == list(range(1, 9))
            assert possible(transaction, unknown) == []
        store.write(generations.merge_some)
    merge(store)
    assert (filtered(store), len(stored(store))) == ([2], 1)


def test_generations_keep_their_filter_until_the_next_one_is_complete(store: Store) -> None:
    add(store, alike(4))
    merge(store)
    (before,) = stored(store)
    add(store, alike(4, start=4))
    while len(filtered(store)) < 2:
        store.write(partial(generations.merge_some, moves=False))
    with store.reading() as transaction:
        assert {one.filter for one in generation_list.generations(transaction)} == {before, before + 2}
    store.write(partial(generations.merge_some, moves=False))
    assert stored(store) == {before, before + 2, before + 3}
    with store.reading() as transaction:
        assert {one.filter for one in generation_list.generations(transaction)} == {before, before + 2}
        assert {one.next_filter for one in generation_list.generations(transaction)} == {before + 3}
    merge(store, moves=False)
    assert stored(store) == {before + 3}


def test_small_filters_do_not_wait_for_a_large_one(store: Store) -> None:
    def step() -> None:
        assert store.write(partial(generations.merge_some, moves=False))

    def filters_of(*numbers: int) -> set[tuple[int | None, int | None]]:
        """Return the filters of generations, and those that will replace them."""
        with store.reading() as transaction:
            known = generation_list.generations(transaction)
        return {(one.filter, one.next_filter) for one in known if one.number in numbers}

    for start in (0, 16):
        add(store, alike(16, start))
    while len(filtered(store)) < 2:
        step()
    step()
    large = filters_of(0, 1)
    assert len({after for _, after in large if after is not None}) == 1
    for start in (32, 36):
        add(store, alike(4, start))
    while len(filtered(store)) < 4 or len(filters_of(2, 3)) > 1:
        step()
        assert filters_of(0, 1) == large
    merge(store, moves=False)
    assert (len(filters_of(0, 1)), len(filters_of(2, 3)), len(stored(store))) == (1, 1, 2)
    with store.reading() as transaction:
        assert not any(lookups.wrong(transaction, number) for number in range(4))


def test_a_merge_reads_small_filters_as_far_as_the_large_one(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filter_merges, "STEP_PARTS", 40)
    monkeypatch.setattr(filter_merges, "FAN_OUT", 100)
    add(store, {f"d{number}": (number, number, number) for number in range(400)})
    for start in range(400, 420, 4):
        add(store, {f"d{number}": (number, number, number) for number in range(start, start + 4)})
    merge(store, moves=False)
    with store.reading() as transaction:
        large = generation_list.generations(transaction)[0].filter
    asked, read_parts = list[tuple[int, int]](), filters.read_parts

    def reading(transaction: Transaction, number: int, *given: int, **named: int) -> filters.Parts:
        parts = read_parts(transaction, number, *given, **named)
        asked.append((number, len(parts)))
        return parts

    monkeypatch.setattr(filters, "read_parts", reading)
    while len(stored(store)) > 1:
        store.write(generations.unite_filters)
    of_large = sum(count for number, count in asked if number == large)
    # Each part once. When every step read as many parts of each, it was 4,723 of the small ones.
    assert (of_large, sum(count for _, count in asked) - of_large) == (1181, 80)


def test_a_filter_tells_which_generation_has_a_bucket(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    # Sixteen labels, so that one stands for two generations.
    monkeypatch.setattr(generations, "FAN_OUT", 100)
    for start in range(0, 4 * 17, 4):
        add(store, {f"d{number}": (number, number, number) for number in range(start, start + 4)})
    merge(store)
    assert (filtered(store), len(stored(store))) == (list(range(17)), 1)
    for number in range(4 * 17):
        asked = band_keys(sketches_of([(number, number, number)]).signatures, PARAMS.banding)
        with store.reading() as transaction:
            having = {generation for generation, _, _ in possible(transaction, asked)}
        with_label = {one for one in range(17) if one % 16 == number // 4 % 16}
        assert number // 4 in having
        assert having <= with_label


def test_rows_are_deleted_where_they_are_and_looked_up_nearly_nowhere_else(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generations, "FAN_OUT", 100)
    for start in range(0, 4 * 17, 4):
        add(store, {f"d{one}": (one, one, one) for one in range(start, start + 4)})
    merge(store)
    looked_up = list[int]()
    delete = Transaction.delete

    def deleting(transaction: Transaction, table: Table, columns: Columns) -> None:
        looked_up.extend(columns["generation"])
        delete(transaction, table, columns)

    monkeypatch.setattr(Transaction, "delete", deleting)
    for number in (0, 20, 67):
        before = buckets(store)
        looked_up.clear()
        with store.writing() as transaction:
            transaction.execute(update(document).where(document.c.content_key == number + 1).values(content_key=None))
            retire(transaction, np.asarray([number + 1]), store.params)
        assert buckets(store) == [row for row in before if row[-1] != number + 1]
        # Its generation, and the one that has the same label, for three bands and a digest.
        assert set(looked_up) <= {one for one in range(17) if one % 16 == number // 4 % 16}
        assert 4 <= len(looked_up) <= 2 * 4


def ways(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Read filters unpacked, in order, and a part for each bucket, as few buckets would be in a large index."""
    yield "unpacked"
    monkeypatch.setattr(lookups, "UNPACKED_A_SEARCH", 0)
    yield "in order"
    monkeypatch.setattr(lookups, "PARTS_A_LOOKUP", -1)
    monkeypatch.setattr(lookups, "LOOKUPS_AT_A_TIME", 5)
    yield "one by one"


def test_the_places_of_buckets_are_those_that_have_them_and_few_others(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(2)
    add_each(store, {f"d{number}": tuple(chance.choices(range(60), k=3)) for number in range(50)})
    merge(store, moves=False)
    add(store, {"young": (3, 4, 5)})
    with store.reading() as transaction:
        columns = "band, bucket_hash, generation, content_key"
        rows = transaction.execute(text(f"SELECT {columns} FROM band_bucket ORDER BY 1, 2, 3, 4")).all()
        # The others differ in a bit that an entry has.
        asked = sorted({(band, key ^ other) for band, key, _, _ in rows for other in (0, 1 << 33)})
        there = {(asked.index((band, key)), generation) for band, key, generation, _ in rows}
        for way in ways(monkeypatch):
            places = lookups.places(transaction, np.asarray(asked)).tolist()
            assert there <= set(map(tuple, places)), way
            # All of them may be in the generation that has no filter.
            assert len(places) <= len(there) + len(asked), way
            assert places == sorted(places), way
            found = [tuple(row) for block in members(transaction, np.asarray(asked)) for row in block.tolist()]
            assert found == sorted((asked.index((band, key)), content) for band, key, _, content in rows), way


def test_a_young_generation_with_many_rows_of_one_band_is_not_read_in_order(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As older versions left it: with rows of digests only."""
    monkeypatch.setattr(lookups, "ROWS_A_LOOKUP", 1)
    digests = identities.as_digests([bytes([number] * 16) for number in range(9)])
    asked = identities.buckets_of(digests[[1, 4, 7]])
    found = list[list[list[int]]]()
    for some in (digests[:4], digests[4:]):
        with store.writing() as transaction:
            put_rows(transaction, identities.rows_of(np.arange(len(some)), some))
            found.append(lookups.places(transaction, buckets_of(asked)).tolist())
    # In the first four rows, one of the three is found, and the nine are too many to look for the others.
    assert found == [[[0, 0]], [[0, 0], [1, 0], [2, 0]]]


def test_only_the_generation_that_has_many_of_the_buckets_is_read_in_order(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for start in (0, 4):
        add(store, {f"d{number}": (number, number, number) for number in range(start, start + 4)})
    merge(store, moves=False)
    read, hashes_from = set[int](), lookups.hashes_from

    def reading(transaction: Transaction, generation: int, *given: int) -> np.ndarray:
        read.add(generation)
        return hashes_from(transaction, generation, *given)

    monkeypatch.setattr(lookups, "hashes_from", reading)
    asked = band_keys(sketches_of([(number, number, number) for number in range(4, 8)]).signatures, PARAMS.banding)
    with store.reading() as transaction:
        buckets = buckets_of(asked)
        sized = lookups.sized_places(transaction, buckets[np.lexsort(buckets.T[::-1])])
    assert sized.tolist() == [[row, 1, 1] for row in range(12)]
    assert read == {1}


def test_all_places_of_a_bucket_are_read_together(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lshdb.store.tables.buckets.GIVEN_KEYS", 2)
    add_each(store, alike(9))
    asked = band_keys(sketches_of([(7, 3, 3)]).signatures, PARAMS.banding).keys[0].view(np.int64)
    rows = np.column_stack([np.arange(3), asked])
    with store.reading() as transaction:
        places = lookups.places(transaction, rows)
        blocks = [block.tolist() for block in members_at(transaction, rows, places)]
    assert list(chain.from_iterable(blocks)) == [*([0, key] for key in range(1, 10)), [1, 4], [2, 4]]
    assert blocks[0] == [[0, key] for key in range(1, 10)]


def test_all_filters_become_one_after_a_link_that_reads_all_rows(store: Store) -> None:
    add_each(store, alike(8))
    merge(store, moves=False)
    add_each(store, alike(5, start=8))
    merge(store, moves=False)
    assert len(stored(store)) == 2
    contents, expected = known(store), buckets(store)
    link(store)
    assert (len(stored(store)), known(store), buckets(store)) == (1, contents, expected)
    with store.reading() as transaction:
        assert not any(lookups.wrong(transaction, number) for number in generations.numbers(transaction))
        unknown = band_keys(sketches_of([(1000, 1001, 1002)]).signatures, PARAMS.banding)
        young = set(generations.numbers(transaction)) - set(filtered(store))
        assert {number for number, _, _ in possible(transaction, unknown)} == young
    unite_filters(store)
    assert len(stored(store)) == 1


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="other C libraries keep no freed memory, or cannot be asked"
)
def test_a_process_that_holds_the_filters_gives_back_its_free_memory(store: Store) -> None:
    def memory() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    # Too small to be returned when they are freed, except at the end of the heap, where one of them stays.
    blocks = [b"x" * 50_000 for _ in range(2_000)]
    last, before = blocks[-1], memory()
    blocks.clear()
    hold_filters(store)
    assert memory() < before - 50_000_000
    assert len(last) == 50_000


def test_a_part_has_all_entries_of_a_hash(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generations, "FAN_OUT", 100)
    for start in range(0, 20, 4):
        add(store, alike(4, start))
    merge(store, moves=False)
    assert len(stored(store)) == 1
    asked = band_keys(sketches_of([(7, 100, 100)]).signatures, PARAMS.banding)
    hashes = asked.keys[0].view(np.int64)
    with store.reading() as transaction:
        assert [(number, band) for number, band, _ in possible(transaction, asked)] == [
            (number, 0) for number in range(5)
        ]
        for way in ways(monkeypatch):
            places = lookups.places(transaction, np.asarray([[0, hashes[0]]])).tolist()
            assert places == [[0, one] for one in range(5)], way


def test_a_part_of_a_filter_without_labels_covers_more_positions(store: Store) -> None:
    every = [5, 1 << 20, 1 << 24]
    entries = np.asarray(every) << filters.LABEL_BITS
    with store.writing() as transaction:
        for number, ends in ((6, [1 << 20, 1 << 24]), (7, every), (MANY_LABELS + 1, every)):
            its_label = filters.label(13, number)
            filters.put(transaction, number, entries | 13)
            parts = filters.read_parts(transaction, number, 0, 9)
            assert parts.ends.tolist() == ends
            assert filters.unpacked(parts).tolist() == (entries | its_label).tolist()
    assert [filters.label(3 + 16, number) for number in (6, 7, MANY_LABELS + 1)] == [0, 3, 19]


@pytest.mark.parametrize("number", [6, 7, MANY_LABELS + 1])
def test_the_parts_of_a_filter_end_at_the_last_position(store: Store, number: int) -> None:
    with store.writing() as transaction:
        filters.put(transaction, number, np.asarray([5, filters.LAST_POSITION]) << filters.LABEL_BITS)
        # Not again from the first one.
        found = list(islice(filters.parts_in(transaction, number), 3))
    assert [parts.ends.tolist() for parts in found] == [[5, filters.LAST_POSITION]]


def test_a_filter_for_several_generations_has_labels(store: Store) -> None:
    add(store, alike(4))
    merge(store, moves=False)
    assert [number % 2 for number in stored(store)] == [0]
    add(store, alike(4, start=4))
    merge(store, moves=False)
    assert [number % 2 for number in stored(store)] == [1]


def label_bits(store: Store) -> list[int]:
    """Return how many bits the labels of each filter have."""
    return [filters.label_bits(number) for number in sorted(stored(store))]


def test_a_filter_of_many_generations_tells_them_apart(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for start in range(0, 68, 4):
        add(store, alike(4, start))
        merge(store, moves=False)
    unite_filters(store)
    assert label_bits(store) == [6]
    asked = band_keys(sketches_of([(100, 65, 100)]).signatures, PARAMS.banding)
    hashes = asked.keys[0].view(np.int64)
    with store.reading() as transaction:
        assert [(number, band) for number, band, _ in possible(transaction, asked)] == [(16, 1)]
        for way in ways(monkeypatch):
            assert lookups.places(transaction, np.asarray([[1, hashes[1]]])).tolist() == [[0, 16]], way


@pytest.mark.parametrize(("loads", "bits"), [(1, 0), (2, 4), (17, 6)])
def test_a_digest_that_a_filter_has_is_looked_for_alone(store: Store, loads: int, bits: int) -> None:
    for start in range(0, 4 * loads, 4):
        add(store, {f"d{number}": (number, number, number) for number in range(start, start + 4)})
        merge(store, moves=False)
    unite_filters(store)
    assert label_bits(store) == [bits]
    unknown, scheme = sketches_of([(1000, 1000, 1000)]), PARAMS.scheme
    with store.reading() as transaction:
        for number in range(4 * loads):
            sketch = sketches_of([(number, number, number)])
            for digests, is_known in ((sketch.digests, True), (unknown.digests, False)):
                digest = identities.buckets_of(identities.as_digests([digests.tobytes()]))
                young, found, is_whole = lookups.first_possible(transaction, scheme, digest, sketch.band_keys)
                assert (young, is_whole) == ([], not is_known)
                if is_known:
                    assert [place[:2] for place in found] == [(number // 4, DIGEST_BAND)]
                else:
                    assert found == lookups.possible(transaction, scheme, sketch.band_keys)[1] != []


def test_a_filter_that_does_not_tell_its_generations_apart_does_not_learn_to(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generations, "FAN_OUT", 100)
    # As before revision 0018.
    with monkeypatch.context() as patch:
        patch.setattr(filter_merges, "LABEL_BITS", filters.FEW_LABEL_BITS)
        for start in range(0, 68, 4):
            add(store, alike(4, start))
        merge(store, moves=False)
        unite_filters(store)
    assert label_bits(store) == [4]
    add(store, alike(4, start=68))
    merge(store, moves=False)
    unite_filters(store)
    assert label_bits(store) == [4]
    with store.reading() as transaction:
        assert not any(lookups.wrong(transaction, number) for number in generations.numbers(transaction))


@pytest.mark.parametrize("seed", range(2))
def test_no_filter_denies_a_row_however_generations_and_filters_merge(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    for start in range(0, 128, 4):
        add(store, alike(4, start))
        for _ in range(chance.randrange(5)):
            moves = chance.random() < 0.2
            store.write(partial(generations.merge_some, moves=moves, most_sources=chance.choice([2, 100])))
        if chance.random() < 0.1:
            unite_filters(store)
        if start % 16 == 0:
            with store.reading() as transaction:
                assert not any(lookups.wrong(transaction, number) for number in generations.numbers(transaction))
    assert len(known(store)) > 16


def test_numbers_of_filters_follow_the_last_one_or_are_the_first_free() -> None:
    last = generation_list.LAST_NUMBER
    many = MANY_LABELS
    for taken, expected in (
        (set[int](), [0, 1, many + 1]),
        ({0, 3}, [4, 5, many + 1]),
        ({0, 1, 2, last}, [4, 3, many + 1]),
        ({many - 2, many + 1}, [many + 2, 1, many + 3]),
    ):
        assert [filters.new_number(taken, bits) for bits in (0, 4, 6)] == expected


def test_a_filter_knows_of_which_bands_there_are_no_rows(store: Store) -> None:
    with store.writing() as transaction:
        buckets_only = {"band": np.full(16, 1, np.int16), "bucket_hash": np.arange(16), "content_key": np.arange(16)}
        put_rows(transaction, buckets_only)
    merge(store)
    assert filtered(store) == [0]
    asked = band_keys(sketches_of([(1, 1, 1)]).signatures, PARAMS.banding)
    with store.reading() as transaction:
        assert {band for _, band, _ in possible(transaction, asked)} <= {1}
        for band in (0, 2, DIGEST_BAND):
            assert len(lookups.places(transaction, np.column_stack([np.full(5, band), np.arange(5)]))) == 0


@pytest.mark.parametrize("band", [0, DIGEST_BAND])
def test_the_entries_of_the_least_and_the_greatest_hash_are_found(
    band: int, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = (-(2**63), -1, 0, 2**63 - 1) if band == DIGEST_BAND else (0, 1, 2**46, 2**47 - 1)
    hashes = np.asarray(ends * 4)
    rows = {"band": np.full(16, band, np.int16), "bucket_hash": np.sort(hashes), "content_key": np.arange(16)}
    with store.writing() as transaction:
        put_rows(transaction, rows)
    merge(store)
    with store.reading() as transaction:
        for way in ways(monkeypatch):
            assert not lookups.wrong(transaction, 0), way
            found = lookups.places(transaction, np.column_stack([np.full(4, band), np.sort(ends)]))
            assert found.tolist() == [[0, 0], [1, 0], [2, 0], [3, 0]], way
        for one in ends:
            assert possible(transaction, BandKeys(np.asarray([[one]]).astype(np.uint64), band))


def test_no_row_is_added_to_a_generation_that_keeps_its_filter(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, alike(8))
    add(store, alike(4, start=8))
    merge(store)
    assert (sizes(store), filtered(store)) == ({0: 32, 1: 16}, [0, 1])
    # As in Postgres while the key is missing.
    monkeypatch.setattr(generations, "lacks_key", lambda _transaction: True)
    add(store, alike(1, start=12))
    assert (sizes(store), filtered(store)) == ({0: 36, 1: 16}, [1])


def test_the_filter_of_generations_goes_with_them(store: Store) -> None:
    add_each(store, alike(9))
    merge(store)
    assert (filtered(store), len(stored(store))) == ([3], 1)
    add_each(store, alike(8, start=9))
    merge(store)
    assert sizes(store) == {5: 4, 7: 64}
    assert (filtered(store), len(stored(store))) == ([7], 1)


def test_the_bands_of_another_banding_are_deleted_from_every_generation(store: Store) -> None:
    add_each(store, alike(9))
    other = Banding(3, 1, first_band=-3)
    with store.writing() as transaction:
        rows = band_keys(sketches_of(list(alike(9).values())).signatures, other)
        bands.begin(transaction, other)
        bands.put(transaction, np.arange(1, 10), rows)
        while bands.delete_other(transaction, other):
            pass
    with store.reading() as transaction:
        mine = band_bucket.c.band < DIGEST_BAND
        found = transaction.execute(select(band_bucket.c.band, band_bucket.c.content_key).where(mine)).all()
    assert sorted(map(tuple, found)) == [(band, key) for band in other.numbers for key in range(1, 10)]


def test_an_older_index_goes_on_as_one_generation_and_one_of_digests(url: str, tmp_path: Path) -> None:
    restore("revision_0003", url, tmp_path)
    Index.upgrade(url)
    with Store.open(url) as store:
        assert known(store) == [(number, size, None) for number, size in sizes(store).items()]
        assert len(known(store)) == 2
        with store.reading() as transaction:
            assert transaction.execute(select(document.c.doc_key)).first() is not None


def test_rows_are_not_moved_while_generations_are_few(store: Store) -> None:
    add_each(store, alike(8))
    merge(store, moves=False)
    assert (sizes(store), filtered(store)) == ({0: 16, 1: 16}, [0, 1])


@pytest.mark.parametrize("many", [0, 10])
def test_a_program_that_adds_several_documents_at_once_merges_if_there_are_many_generations(
    many: int, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("MANY_GENERATIONS", many), ("FILTER_SHARE", 1e6), ("MERGING_SHARE", 1e6)):
        monkeypatch.setattr(f"lshdb.store.merging.{name}", value)
    with Index.create(url, Params(bands=3, rows=1)) as index:
        for begin in range(0, 20, 2):
            index.add([Document(f"d{number}", f"text number {number} is here") for number in range(begin, begin + 2)])
    with Store.open(url) as store:
        assert any(num_rows > 24 for _, num_rows, _ in known(store)) == (many == 0)
        assert sum(sizes(store).values()) == 80
        assert filtered(store)


@pytest.mark.postgres
def test_postgres_knows_the_rows_of_a_large_load_before_it_reads_them_for_a_filter(
    new_postgres_url: Callable[[], str],
) -> None:
    """Otherwise, it reads and sorts the rest of a band for each slice."""
    known = text("SELECT count(*) FROM pg_stats WHERE tablename = 'band_bucket' AND schemaname = current_schema()")
    with new_store_at(new_postgres_url()) as store:
        add_each(store, alike(4))
        merge(store, moves=False)
        assert store.read(lambda transaction: transaction.execute(known).scalar_one()) == 0
        add(store, alike(9, start=4))
        with store.writing() as transaction:
            filters.drop(transaction, max(generations.numbers(transaction)))
        merge(store, moves=False)
        assert store.read(lambda transaction: transaction.execute(known).scalar_one()) == 4
