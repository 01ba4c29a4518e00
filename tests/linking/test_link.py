"""What a link reports, and that it is complete however little it computes and stores at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from itertools import combinations

import numpy as np
import psycopg
import pytest
from sqlalchemy import column, func, select, table

from lshdb import Document, Index, Params
from lshdb.linking import candidates, link
from lshdb.model.expansion import Expansion
from lshdb.model.progress import Progress
from lshdb.model.values import VerifiedPairs
from lshdb.store.schema import oversized_bucket, pair, unlinked
from lshdb.store.store import Store
from lshdb.store.tables import generations
from tests.expanding import index_with

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


def verified(*sizes: int) -> list[VerifiedPairs]:
    """Return parts with these numbers of pairs."""
    rights = iter(range(2, 100))
    keys = [np.array([[1, next(rights)] for _ in range(size)], dtype=np.int64).reshape(-1, 2) for size in sizes]
    return [VerifiedPairs.estimated(part, np.ones(len(part))) for part in keys]


def together(*sizes: int) -> list[list[int]]:
    """Return the right keys of the parts that are stored together."""
    return [part.keys[:, 1].tolist() for part in link._together(iter(verified(*sizes)))]


def test_parts_are_stored_together_once_they_have_so_many_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "STORED_PAIRS", 4)
    assert together(1, 2, 1, 5, 3, 0) == [[2, 3, 4, 5], [6, 7, 8, 9, 10], [11, 12, 13]]
    assert together(2, 2) == [[2, 3, 4, 5]]
    assert together() == []


def test_more_parts_are_stored_together_the_more_pairs_were_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "FIRST_PAIRS", 2)
    monkeypatch.setattr(link, "STORED_SHARE", 1 / 2)
    monkeypatch.setattr(link, "STORED_PAIRS", 4)
    assert [len(rights) for rights in together(*[1] * 19)] == [2, 2, 2, 3, 4, 4, 2]


def test_fewer_parts_are_stored_together_when_only_the_last_are_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "STORED_PAIRS", 4)
    are_last = iter([False] * 4 + [True] * 5)
    last = link._together(iter(verified(*[1] * 9)), lambda: next(are_last))
    assert [len(part) for part in last] == [4, 1, 1, 1, 1, 1]


def test_parts_are_stored_together_after_so_many_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    # The clock is asked at the start, after each part, and when parts were stored.
    clock = iter([0.0, 30.0, 30.1, 100.0, 130.0, 130.5, 200.0])
    monkeypatch.setattr("lshdb.linking.link.time.monotonic", lambda: next(clock))
    assert together(1, 1, 1, 1) == [[2, 3], [4, 5]]


@pytest.mark.postgres
def test_questions_do_not_pass_the_rows_of_linked_contents(
    new_postgres_url: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "MANY_CONTENTS", 0)
    url = new_postgres_url()
    added(url, at_a_time=30)
    with Store.open(url) as store, store.reading() as transaction:
        assert transaction.execute(select(func.pg_relation_size(unlinked.name))).scalar_one() == 0


def test_a_link_that_is_interrupted_does_not_go_on_to_merge_filters(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> int:
        raise KeyboardInterrupt

    # Without an end.
    monkeypatch.setattr(generations, "unite_filters", lambda _transaction: True)
    monkeypatch.setattr(link.Linking, "_compute", interrupt)
    with Index.create(url, PARAMS) as index:
        index.add([Document(name, " ".join(words)) for name, words in TEXTS.items()], link=False)
        with pytest.raises(KeyboardInterrupt):
            index.link()
        assert index.stats().figures.num_unlinked == len(TEXTS)


@pytest.mark.postgres
def test_a_link_does_not_wait_long_to_remove_the_rows_of_linked_contents(
    new_postgres_url: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "MANY_CONTENTS", 0)
    monkeypatch.setattr("lshdb.store.postgres.dialect._SWEEP_PATIENCE", "50ms")
    url = new_postgres_url()
    Index.create(url, PARAMS).close()
    with psycopg.connect(url) as other:
        # As a vacuum does.
        other.execute(f"LOCK TABLE {unlinked.name} IN SHARE UPDATE EXCLUSIVE MODE")
        with Index.open(url) as index:
            assert index.add([Document(name, " ".join(words)) for name, words in TEXTS.items()]).pairs_added > 0
        with Store.open(url) as store:
            store.sweep_unlinked()
            with store.reading() as transaction:
                assert transaction.execute(select(func.current_setting("lock_timeout"))).scalar_one() == "0"


@pytest.mark.parametrize("is_small", [True, False], ids=["joined", "scanned"])
def test_both_ways_to_search_store_the_same_pairs_with_their_run(
    url: str, is_small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "SCANNED_CONTENTS", 0 if is_small else 1_000)
    monkeypatch.setattr(link, "DELTA_CONTENTS", 2)
    # One band, whose only minimum is that of a word that all texts have.
    params = replace(PARAMS, bands=1, num_perm=100)
    with index_with(few := Expansion(cap=3, hubs=1), url, **asdict(params)) as index:
        index.add([Document(str(number), " ".join([*WORDS, f"own{number}"])) for number in range(5)], link=False)
        with Store.open(url) as store:
            store.expansion = few
            assert link.Linking(store, 1, Progress()).link() == 5
            with store.reading() as snapshot:
                pairs = snapshot.execute(select(pair.c.left_key, pair.c.right_key, pair.c.run_key)).all()
                [hot] = snapshot.execute(select(oversized_bucket.c.num_contents, oversized_bucket.c.num_pairs)).all()
    # Each member of the first three with each other, and of the further ones with the hub.
    assert sorted(map(tuple, pairs)) == [(1, 2, 1), (1, 3, 1), (1, 4, 1), (1, 5, 1), (2, 3, 1)]
    assert tuple(hot) == (5, 5)


@pytest.mark.postgres
def test_after_a_link_of_many_contents_postgres_plans_by_statistics(new_postgres_url: Callable[[], str]) -> None:
    url = new_postgres_url()
    counted = select(func.count(func.distinct(column("tablename")))).select_from(table("pg_stats"))
    mine = counted.where(column("schemaname") == func.current_schema())
    with Index.create(url, PARAMS) as index, Store.open(url) as store:
        assert store.read(lambda snapshot: snapshot.execute(mine).scalar_one()) == 0
        index.add([Document(name, " ".join(sorted(words))) for name, words in TEXTS.items()])
        assert index.link() == 0
        assert store.read(lambda snapshot: snapshot.execute(mine).scalar_one()) == 3
