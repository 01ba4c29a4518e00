"""Rows that are read as integers or as one value, compiled statements, and temporary tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from sqlalchemy import select, text

from lshdb import Document, Index
from lshdb.store.given import given
from lshdb.store.postgres import sessions
from lshdb.store.returned import joined
from lshdb.store.schema import bucket_filter
from lshdb.store.sqlite.dialect import _insertion
from lshdb.store.staging import staged_digest
from lshdb.store.store import Store
from lshdb.store.transaction import Transaction, _emptying, compiled
from tests.store.conftest import PARAMS, new_store_at


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 50])
def test_streamed_integers_are_all_rows_in_order(count: int, store: Store) -> None:
    statement = select(given.c.value, (given.c.value * 10).label("tenfold")).order_by(given.c.key)
    asked = {"given": list(range(count))}
    with store.reading() as transaction:
        blocks = list(transaction.stream_integers(statement, asked, rows=7))
        assert transaction.few_integers(statement, asked).tolist() == transaction.integers(statement, asked).tolist()
    assert [len(block) for block in blocks] == [min(7, count - begin) for begin in range(0, count, 7)]
    assert all(block.dtype == np.int64 and block.shape[1] == 2 for block in blocks)
    assert [row for block in blocks for row in block.tolist()] == [[number, 10 * number] for number in range(count)]


@pytest.mark.parametrize("version", [(3, 36, 0), (3, 37, 0)])
def test_bytes_are_joined_with_their_zeros(
    version: tuple[int, int, int], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", version)
    key, entries = bucket_filter.c.part_key, bucket_filter.c.entries
    with store.writing() as transaction:
        transaction.bulk_insert(bucket_filter, {"part_key": [1, 2], "entries": [b"\0a\0", b"\xff\0b"]})
        assert transaction.execute(select(joined(entries))).scalar_one() == b"\0a\0\xff\0b"
        assert transaction.execute(select(joined(entries)).where(key > 2)).scalar_one() is None


def test_statements_are_compiled_once_for_all_indexes(new_url: Callable[[], str]) -> None:
    num_compiled = list[int]()
    for _ in range(2):
        with Index.create(new_url()) as index:
            index.add([Document("a", "one two three"), Document("b", "one two three five")])
            index.add([Document("a", "one two three four")])
            assert index.query(Document("c", "one two three five"))
        num_compiled.append(
            compiled.cache_info().misses + _emptying.cache_info().misses + _insertion.cache_info().misses
        )
    assert num_compiled[0] == num_compiled[1]


@pytest.mark.postgres
def test_a_temporary_table_that_is_filled_again_does_not_grow(new_postgres_url: Callable[[], str]) -> None:
    sizes = list[int]()
    with Store.create(new_postgres_url(), PARAMS, "0") as store:
        for count in (2_000, 2_000, 3, 2_000):
            with store.writing() as transaction:
                transaction.stage(staged_digest, {"ordinal": np.arange(count), "digest": [b"1234567890123456"] * count})
                found = transaction.execute(select(staged_digest.c.ordinal).order_by(staged_digest.c.ordinal))
                assert found.scalars().all() == list(range(count))
                sizes.append(transaction.execute(text("SELECT pg_relation_size('staged_digest')")).scalar_one())
    assert len(set(sizes)) == 1


@pytest.mark.postgres
def test_postgres_sends_values_in_binary_form(new_postgres_url: Callable[[], str]) -> None:
    with new_store_at(new_postgres_url()) as store, store.reading() as transaction:
        named = transaction.connection.connection.cursor("named")
        for cursor in (transaction.connection.connection.cursor(), named):
            cursor.execute(r"SELECT '\x0001'::bytea, 7::bigint")
            assert cursor.fetchall() == [(b"\0\1", 7)]
            assert cursor.pgresult.fformat(0) == 1
            cursor.close()


@pytest.mark.postgres
@pytest.mark.parametrize("few", [False, True])
def test_integers_are_read_again_if_the_connection_is_lost(few: bool, new_postgres_url: Callable[[], str]) -> None:
    url, pids = new_postgres_url(), list[int]()
    statement, asked = select(given.c.value), {"given": list(range(60_000))}

    def read(transaction: Transaction) -> NDArray[np.int64]:
        pids.append(sessions.driver_of(transaction.connection).info.backend_pid)
        rows = transaction.stream_integers(statement, asked)
        first = next(rows)
        if len(pids) == 1:
            with psycopg.connect(url, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s, 5000)", pids)
        return transaction.few_integers(statement, asked) if few else np.concatenate([first, *rows])

    with new_store_at(url) as store:
        assert len(store.read(read)) == 60_000
    assert len(set(pids)) == len(pids) == 2
