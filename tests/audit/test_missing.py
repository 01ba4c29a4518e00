"""The pairs that are missing: those that linking would store, and no others."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import delete, select, update

from lshdb import Document, Index, Params
from lshdb.audit import Thoroughness
from lshdb.audit.missing import all_contents, missing_pairs
from lshdb.errors import IndexDamaged
from lshdb.model.expansion import Expansion
from lshdb.store.schema import content_text, pair
from lshdb.store.store import Store
from tests.expanding import index_with

# Single words are shingles, and each of twelve minima is a band: texts with a common word mostly share a bucket.
PARAMS = Params(shingle="word:1", bands=12, rows=1, num_perm=12, floor=0.5)
FOUR, FIVE, SIX = "ant bee cat dog", "ant bee cat dog elk", "ant bee cat dog elk fox"
# Shares two words of six with FOUR.
UNLIKE = "ant bee yak zebu"
PAIRS = [(1, 2, 0.8), (1, 3, 4 / 6), (2, 3, 5 / 6)]


@pytest.fixture
def url(tmp_path: Path) -> str:
    """The place of an index without its pairs."""
    url = str(tmp_path / "index.db")
    with Index.create(url, PARAMS) as index:
        index.add(Document(text, text) for text in (FOUR, FIVE, SIX, UNLIKE))
    delete_pairs(url)
    return url


def delete_pairs(url: str) -> None:
    with Store.open(url) as store, store.writing() as transaction:
        transaction.execute(delete(pair))


def missing(url: str, *keys: int) -> list[tuple[int, int, float]]:
    """Return the missing pairs of some contents, or of all, with their similarities."""
    return sorted(_missing(url, keys))


def _missing(url: str, keys: tuple[int, ...]) -> Iterator[tuple[int, int, float]]:
    with Store.open(url) as store, store.reading() as snapshot:
        wanted = np.array(keys, dtype=np.int64) if keys else all_contents(snapshot)
        for part in missing_pairs(snapshot, wanted, store.params):
            for (left, right), similarity in zip(part.keys.tolist(), part.similarity.tolist(), strict=True):
                yield left, right, similarity


def test_pairs_at_the_floor_or_above_are_missing(url: str) -> None:
    assert missing(url) == PAIRS


def test_a_content_misses_its_own_pairs(url: str) -> None:
    assert missing(url, 1) == PAIRS[:2]
    assert missing(url, 2, 4) == [PAIRS[0], PAIRS[2]]
    assert missing(url, 4) == []


def test_pairs_that_are_stored_are_not_missing(url: str) -> None:
    with Index.open(url) as index:
        index.repair(["pair-missing"])
    assert missing(url) == []
    with Store.open(url) as store, store.writing() as transaction:
        transaction.execute(delete(pair).where(pair.c.left_key == 2))
    assert missing(url) == [PAIRS[2]]


def test_contents_that_are_not_linked_yet_miss_no_pairs(url: str) -> None:
    with Index.open(url) as index:
        index.add([Document("new", "ant bee cat dog elk fox gnu")], link=False)
    assert missing(url) == PAIRS
    assert missing(url, 5) == []


def test_a_pair_is_missing_only_if_both_texts_are_kept(tmp_path: Path) -> None:
    url = str(tmp_path / "index.db")
    with Index.create(url, replace(PARAMS, keep_text=False)) as index:
        index.add([Document("a", FOUR), Document("b", FIVE)])
    delete_pairs(url)
    assert missing(url) == []


def test_a_text_that_cannot_be_read_misses_no_pairs(url: str) -> None:
    with Store.open(url) as store, store.writing() as transaction:
        mine = content_text.c.content_key == 2
        transaction.execute(update(content_text).where(mine).values(text=b"no frame"))
    assert missing(url) == [PAIRS[1]]


@pytest.mark.parametrize("value", [1.5, "one", b"one", 1e30])
def test_a_column_of_integers_with_another_value_is_damage(url: str, value: object) -> None:
    with sqlite3.connect(url) as connection:
        connection.execute("UPDATE band_bucket SET content_key = ? WHERE band = 3 AND content_key = 1", [value])
    connection.close()
    with pytest.raises(IndexDamaged, match="a column of integers has another value"), Index.open(url) as index:
        list(index.check(Thoroughness(sample=None)))


def test_what_an_oversized_bucket_leaves_out_is_not_missing(tmp_path: Path) -> None:
    url, expansion = str(tmp_path / "index.db"), Expansion(cap=3, hubs=1)
    with index_with(expansion, url, shingle="word:1", bands=12, rows=1, num_perm=12, floor=0.5) as index:
        index.add(Document(f"d{number}", f"{SIX} n{number}") for number in range(8))
        with Store.open(url) as store, store.reading() as snapshot:
            stored = [tuple(row) for row in snapshot.execute(select(pair.c.left_key, pair.c.right_key))]
    assert 0 < len(stored) < 28
    with Store.open(url) as store:
        store.expansion = expansion
        with store.writing() as transaction:
            keys, params = all_contents(transaction), store.params
            assert [len(part) for part in missing_pairs(transaction, keys, params) if len(part)] == []
            transaction.execute(delete(pair))
            [part] = missing_pairs(transaction, keys, params)
    assert sorted(map(tuple, part.keys.tolist())) == sorted(stored)


def test_an_empty_index_has_no_contents(tmp_path: Path) -> None:
    url = str(tmp_path / "index.db")
    Index.create(url, PARAMS).close()
    assert missing(url) == []
    with Store.open(url) as store, store.reading() as snapshot:
        assert all_contents(snapshot).tolist() == []
