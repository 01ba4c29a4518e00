"""Both databases behave alike: bulk inserts, transactions, locks, keys, URLs."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psycopg
import pytest
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    create_engine,
    delete,
    insert,
    select,
    text,
)

from lshdb.errors import AccessDenied, IndexBusy, LshdbError, StoreError, StoreFailed, StoreUnreachable, UsageError
from lshdb.store.dialect import Columns
from lshdb.store.dialects import dialect_for
from lshdb.store.given import given
from lshdb.store.schema import Key, Name, band_bucket, content, document, key_counter, oversized_bucket
from lshdb.store.store import Store
from lshdb.store.transaction import Transaction
from lshdb.store.url import masked, parse
from tests.store.conftest import PARAMS, count

# A column of every type that our tables have.
SAMPLE = Table(
    "sample",
    MetaData(),
    Column("key", Key),
    Column("small", SmallInteger),
    Column("normal", Integer),
    Column("big", BigInteger),
    Column("number", Float),
    Column("flag", Boolean),
    Column("name", Name),
    Column("word", String),
    Column("octets", LargeBinary),
    prefixes=["TEMPORARY"],
)

# A table that nothing refers to.
NOTE = Table("note", MetaData(), Column("note_key", BigInteger, primary_key=True, autoincrement=False))


def with_notes(url: str) -> Store:
    """An empty store with that table."""
    store = Store.create(url, PARAMS, "test")
    with store.writing() as transaction:
        NOTE.create(transaction.connection)
    return store


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with with_notes(url) as store:
        yield store


LEAST = (-(2**63), -(2**15), -(2**31), -(2**63), -1.7976931348623157e308, False, "", "", b"")
MOST = (2**63 - 1, 2**15 - 1, 2**31 - 1, 2**63 - 1, 5e-324, True, "\U0010ffff" * 3, "\uffff" * 3, bytes(range(256)))
ODD = (-1, 0, -1, 0, -0.0, True, "a\tb\nc\\d'e\"f", "\\N", b"\\N\x00\xff")
NOTHING: tuple[None, ...] = (None,) * 9


@pytest.fixture
def sample(store: Store) -> Callable[[Sequence[Sequence[object]]], list[tuple[object, ...]]]:
    """Insert rows into the sample table, and return all of its rows in the order of `key`."""

    def back_and_forth(rows: Sequence[Sequence[object]]) -> list[tuple[object, ...]]:
        columns: Columns = {name: [row[i] for row in rows] for i, name in enumerate(SAMPLE.columns.keys())}
        with store.writing() as transaction:
            transaction.stage(SAMPLE, columns)
            return [tuple(row) for row in transaction.execute(select(SAMPLE).order_by(SAMPLE.c.key.asc().nullsfirst()))]

    return back_and_forth


Sample = Callable[[Sequence[Sequence[object]]], list[tuple[object, ...]]]


@pytest.mark.parametrize("row", [LEAST, MOST, ODD, NOTHING], ids=["least", "most", "odd", "null"])
def test_a_row_of_every_type_comes_back_as_it_was(row: tuple[object, ...], sample: Sample) -> None:
    assert sample([row]) == [row]


def test_null_may_stand_in_any_row_and_column(sample: Sample) -> None:
    full = list(ODD[1:])
    rows = [(i, *full[:i], None, *full[i + 1 :]) for i in range(len(full))]
    assert sample(rows) == rows
    assert sample(rows[::-1]) == rows


# 100 rows of the sample are one statement in SQLite (nine columns), 450 of two columns.
NUMBERS = (0, 1, 2, 99, 100, 101, 249, 250, 251, 449, 450, 451, 899, 900, 901, 1000)


def test_any_number_of_rows_arrives(sample: Sample) -> None:
    for number in NUMBERS:
        rows = [(i, i % 100, -i, i << 40, i / 7, i % 2 == 0, f"name {i}", "", bytes([i % 256])) for i in range(number)]
        assert sample(rows) == rows


def test_any_number_of_rows_of_few_columns_arrives(store: Store) -> None:
    """Columns that are all arrays use another path on Postgres."""
    for number in NUMBERS:
        keys = np.arange(number, dtype=np.int64) - 3
        with store.writing() as transaction:
            transaction.execute(delete(NOTE))
            transaction.execute(delete(key_counter))
            transaction.bulk_insert(NOTE, {"note_key": keys})
            transaction.bulk_insert(key_counter, {"name": [f"n{i}" for i in range(number)], "last_key": range(number)})
            assert sorted(transaction.execute(select(NOTE.c.note_key)).scalars()) == keys.tolist()
            assert count(transaction, key_counter) == number


@pytest.mark.parametrize("varying", [(), (0,), (2,), (0, 8), (1, 6, 7), range(9)])
def test_columns_of_one_value_arrive(varying: Sequence[int], sample: Sample) -> None:
    first, other = (3, 1, -1, 1 << 40, 0.5, True, "name", "", b"\0"), (4, 2, -2, 1 << 41, 0.25, False, "é", "x", b"")
    second = tuple(other[place] if place in varying else value for place, value in enumerate(first))
    rows = [first, second] * 400
    assert sorted(sample(rows)) == sorted(rows)


def test_arrays_of_every_kind_keep_their_extreme_values(store: Store) -> None:
    columns: Columns = {
        "small": np.array([-(2**15), 2**15 - 1, 0], dtype=np.int16),
        "normal": np.array([-(2**31), 2**31 - 1, 0], dtype=np.int32),
        "big": np.array([-(2**63), 2**63 - 1, -1], dtype=np.int64),
        "number": np.array([-1.7976931348623157e308, 5e-324, 1 / 3]),
        "flag": np.array([True, False, True]),
    }
    statement = select(*(SAMPLE.c[name] for name in columns)).order_by(SAMPLE.c.number)
    with store.writing() as transaction:
        transaction.stage(SAMPLE, columns)
        found = [tuple(row) for row in transaction.execute(statement)]
    assert found == [
        (-(2**15), -(2**31), -(2**63), -1.7976931348623157e308, True),
        (2**15 - 1, 2**31 - 1, 2**63 - 1, 5e-324, False),
        (0, 0, -1, 1 / 3, True),
    ]


def test_an_unsigned_hash_is_the_same_64_bits_in_a_bigint(store: Store) -> None:
    hashes = np.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1], dtype=np.uint64)
    one = np.ones(5, dtype=np.int64)
    band, bucket_hash = np.arange(5, dtype=np.int16), hashes.view(np.int64)
    with store.writing() as transaction:
        columns: Columns = {"band": band, "bucket_hash": bucket_hash, "num_contents": one, "num_pairs": one}
        transaction.bulk_insert(oversized_bucket, columns)
        statement = select(oversized_bucket.c.bucket_hash).order_by(oversized_bucket.c.band)
        found = list(transaction.execute(statement).scalars())
    assert found == [0, 1, 2**63 - 1, -(2**63), -1]


@pytest.mark.parametrize("slice_rows", [1, 2, 100])
def test_rows_are_deleted_by_their_keys_and_others_stay(
    store: Store, slice_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lshdb.store.sqlite.dialect.DELETED_ROWS", slice_rows)
    monkeypatch.setattr("lshdb.store.postgres.dialect._DELETED_ROWS", slice_rows)
    rows = [(band, bucket_hash) for band in (-(2**15), 2**15 - 1) for bucket_hash in (-(2**63), 0, 2**63 - 1)]
    (band, bucket_hash), ones = np.asarray(rows).T, np.ones(len(rows), dtype=np.int64)
    keys: Columns = {"band": band.astype(np.int16), "bucket_hash": bucket_hash}
    deleted: Columns = {"band": band[[0, 2, 4, 4]], "bucket_hash": bucket_hash[[0, 2, 5, 5]]}
    with store.writing() as transaction:
        transaction.bulk_insert(oversized_bucket, {**keys, "num_contents": ones, "num_pairs": ones})
        transaction.delete(oversized_bucket, deleted)
        transaction.delete(oversized_bucket, {name: values[:0] for name, values in deleted.items()})
        left = transaction.execute(select(*oversized_bucket.primary_key).order_by(*oversized_bucket.primary_key))
        assert [tuple(row) for row in left] == [rows[1], rows[3], rows[4]]


def test_a_sweep_need_not_succeed() -> None:
    nowhere = parse("postgresql://nobody@127.0.0.1:1/nothing")
    dialect = dialect_for(nowhere)
    dialect.sweep_unlinked(create_engine(dialect.normalised(nowhere)))


def test_the_caches_of_all_idle_connections_are_emptied_and_of_no_other(tmp_path: Path) -> None:
    said: dict[int, list[str]] = {}

    def follow(transaction: Transaction) -> None:
        driver = transaction.connection.connection.driver_connection
        assert driver is not None
        driver.set_trace_callback(said.setdefault(id(driver), []).append)

    with with_notes(str(tmp_path / "index.db")) as store, store.reading() as first:
        with store.reading() as second, store.reading() as third:
            for transaction in (first, second, third):
                follow(transaction)
        assert count(first, NOTE) == 0
        store.empty_caches()
        assert sorted("PRAGMA shrink_memory" in mine for mine in said.values()) == [False, True, True]
        assert count(first, NOTE) == 0


def test_given_integers_arrive_as_they_are_in_their_places(store: Store) -> None:
    integers = [2**63 - 1, -(2**63), 0, 2**53 + 1, -1, 2**53 + 1]
    with store.reading() as transaction:
        rows = transaction.execute(select(given.c.key, given.c.value), {"given": integers}).all()
        assert transaction.execute(select(given.c.value), {"given": []}).all() == []
    assert sorted(map(tuple, rows)) == list(enumerate(integers))


def test_columns_of_unequal_length_are_an_error_and_change_nothing(store: Store) -> None:
    with pytest.raises(ValueError, match=r"shorter|longer"), store.writing() as transaction:
        transaction.bulk_insert(key_counter, {"name": ["a", "b"], "last_key": [1]})
    with store.reading() as transaction:
        assert count(transaction, key_counter) == 0


def test_staging_replaces_what_was_staged(sample: Sample) -> None:
    assert sample([LEAST, MOST]) == [LEAST, MOST]
    assert sample([ODD]) == [ODD]
    assert sample([]) == []


def test_an_exception_rolls_the_transaction_back(store: Store) -> None:
    with store.writing() as transaction:
        transaction.bulk_insert(NOTE, {"note_key": np.arange(3)})
    with suppress(ZeroDivisionError), store.writing() as transaction:
        transaction.execute(delete(NOTE))
        transaction.bulk_insert(NOTE, {"note_key": np.arange(500, 900)})
        assert transaction.allocate(content, 5).tolist() == [1, 2, 3, 4, 5]
        raise ZeroDivisionError
    with store.writing() as transaction:
        assert sorted(transaction.execute(select(NOTE.c.note_key)).scalars()) == [0, 1, 2]
        assert transaction.allocate(content, 1).tolist() == [1]


def test_a_failed_statement_is_an_error_of_ours_and_rolls_back(store: Store) -> None:
    def put_twice() -> None:
        with store.writing() as transaction:
            transaction.bulk_insert(NOTE, {"note_key": np.array([1, 2])})
            transaction.bulk_insert(NOTE, {"note_key": np.array([2, 3])})

    with pytest.raises(StoreFailed, match="The last batch was rolled back"):
        put_twice()
    with store.reading() as transaction:
        assert count(transaction, NOTE) == 0


def test_a_failed_question_says_nothing_about_a_batch(store: Store) -> None:
    with pytest.raises(StoreFailed, match="no_such_table") as raised, store.reading() as transaction:
        transaction.execute(text("SELECT * FROM no_such_table"))
    assert "rolled back" not in str(raised.value)
    assert str(raised.value).startswith(f"The database {store.url} failed: ")


def test_a_reader_sees_one_state_while_a_writer_commits(store: Store) -> None:
    with store.writing() as writer:
        writer.bulk_insert(NOTE, {"note_key": np.arange(3)})
    with store.reading() as reader:
        assert count(reader, NOTE) == 3
        with store.writing() as writer:
            writer.execute(delete(NOTE).where(NOTE.c.note_key == 0))
            writer.bulk_insert(
                oversized_bucket, {"band": [1], "bucket_hash": [1], "num_contents": [1], "num_pairs": [1]}
            )
        # Also of a table that it looks at for the first time.
        assert (count(reader, NOTE), count(reader, oversized_bucket)) == (3, 0)
    with store.reading() as reader:
        assert (count(reader, NOTE), count(reader, oversized_bucket)) == (2, 1)


def test_a_reader_may_stage_while_a_writer_is_active(store: Store) -> None:
    with store.writing() as writer:
        writer.execute(insert(NOTE).values(note_key=1))
        with store.reading() as reader:
            reader.stage(SAMPLE, {"key": [1], "name": ["a"]})
            assert (count(reader, SAMPLE), count(reader, NOTE)) == (1, 0)


def test_a_second_writer_waits_for_the_first(store: Store) -> None:
    require_turns(store)


@pytest.mark.postgres
@pytest.mark.parametrize("level", ["repeatable%20read", "serializable"])
def test_a_second_writer_sees_what_the_first_wrote_whatever_isolation_is_the_default(
    level: str, new_postgres_url: Callable[[], str]
) -> None:
    # libpq needs a backslash before a blank in an option.
    options = f"%20-cdefault_transaction_isolation%3D{level.replace('%20', '%5C%20')}"
    with with_notes(new_postgres_url() + options) as store:
        require_turns(store)


def require_turns(store: Store) -> None:
    """Check that a second writer waits for the first, and sees what it wrote."""
    events: list[str] = []
    begun = threading.Event()

    def write() -> None:
        begun.set()
        with store.writing() as second:
            events.append("second writes")
            assert count(second, NOTE) == 1

    with store.writing() as first:
        thread = threading.Thread(target=write)
        thread.start()
        begun.wait()
        time.sleep(0.3)
        first.execute(insert(NOTE).values(note_key=1))
        events.append("first writes")
    thread.join(20)
    assert events == ["first writes", "second writes"]


def test_a_second_writer_that_waited_too_long_hears_that_the_index_is_busy(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lshdb.store.sqlite.dialect.BUSY_SECONDS", 0.1)
    with_notes(url).close()
    impatient = url + "%20-clock_timeout%3D100" if "://" in url else url
    with Store.open(url) as one, Store.open(impatient) as other, one.writing() as transaction:
        transaction.execute(insert(NOTE).values(note_key=1))
        with pytest.raises(IndexBusy) as caught, other.writing():
            pass
    assert caught.value.exit_code == 18
    assert str(caught.value).startswith("Another process is writing to index")


def test_indexes_in_two_places_have_writers_of_their_own(new_url: Callable[[], str]) -> None:
    with (
        with_notes(new_url()) as one,
        with_notes(new_url()) as other,
        one.writing() as first,
        other.writing() as second,
    ):
        first.execute(insert(NOTE).values(note_key=1))
        assert count(second, NOTE) == 0


def test_a_key_is_never_given_out_twice(store: Store) -> None:
    with store.writing() as transaction:
        assert transaction.allocate(content, 3).tolist() == [1, 2, 3]
        transaction.bulk_insert(NOTE, {"note_key": [1, 2, 3]})
        assert transaction.allocate(content, 0).tolist() == []
    with store.writing() as transaction:
        transaction.execute(delete(NOTE))
        assert transaction.allocate(content, 2).tolist() == [4, 5]
        assert transaction.allocate(document, 2).tolist() == [1, 2]
    with store.writing() as transaction:
        assert transaction.allocate(content, 1).tolist() == [6]


def test_a_stream_gives_all_rows_in_blocks(store: Store) -> None:
    with store.writing() as transaction:
        transaction.bulk_insert(NOTE, {"note_key": np.arange(7)})
    statement = select(NOTE.c.note_key).order_by(NOTE.c.note_key)
    for block, lengths in {1: [1] * 7, 2: [2, 2, 2, 1], 3: [3, 3, 1], 7: [7], 8: [7]}.items():
        with store.reading() as transaction:
            blocks = [[row.note_key for row in rows] for rows in transaction.stream(statement, rows=block)]
        assert [len(rows) for rows in blocks] == lengths
        assert [key for keys in blocks for key in keys] == list(range(7))


def test_the_size_is_what_the_tables_take(store: Store) -> None:
    with store.writing() as transaction:
        before = transaction.dialect.size(transaction.connection)
        keys = np.arange(100_000)
        bands = keys.astype(np.int16)
        rows = {"generation": np.zeros_like(bands), "band": bands, "bucket_hash": keys, "content_key": keys}
        transaction.bulk_insert(band_bucket, rows)
    with store.reading() as transaction:
        assert transaction.dialect.size(transaction.connection) - before > 500_000


SECRET = "hu sh&/@"  # " ", "&", "/" and "@" must be escaped in a URL
WRITTEN = ("hu%20sh%26%2F%40", "hu%20sh%26%2f%40", "hu+sh%26%2F%40")


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize(
    "location",
    [
        "postgresql://me:{}@127.0.0.1:{}/name",
        "postgres://me:{}@127.0.0.1:{}/name",
        "postgresql+psycopg://me:{}@127.0.0.1:{}/name",
        "postgresql://me:{}@127.0.0.1:{}/name?application_name=x",
        "postgresql://me@/name?password={}&host=127.0.0.1&port={}",
        "postgresql:///name?user=me&password={}&host=127.0.0.1&port={}",
        "postgresql://me:other@/name?sslpassword={}&host=127.0.0.1&port={}",
        "postgresql://me@/name?password={}&password=other&host=127.0.0.1&port={}",
        "postgresql://me@/name?host=127.0.0.1&oauth_client_secret={}&port={}",
        "postgresql://me@/name?host=127.0.0.1&scram_client_key={}&port={}",
        "postgresql://me@/name?host=127.0.0.1&bogus=1&password={}&port={}",
    ],
)
def test_a_password_is_never_shown_in_any_form(location: str, written: str) -> None:
    url = location.format(written, 1)  # nothing listens at port 1
    shown = [masked(dialect_for(parse(url)).normalised(parse(url)))]
    with pytest.raises(LshdbError) as caught, Store.open(url):
        pass
    shown += [str(caught.value), repr(caught.value), repr(caught.value.fields)]
    for one in shown:
        assert SECRET not in one
        assert "hu" not in one, one
        assert "other" not in one.replace("another", ""), one


@pytest.mark.postgres
def test_a_url_is_shown_with_everything_but_its_password() -> None:
    url = parse("postgresql+psycopg://me:hush@host:5433/name?sslmode=require&password=hush")
    assert masked(url) == "postgresql://me:***@host:5433/name?password=***&sslmode=require"
    assert masked(parse("crawl.db")) == "crawl.db"
    assert masked(parse("sqlite:///crawl.db")) == "crawl.db"


@pytest.mark.postgres
def test_a_server_that_is_not_there_and_a_role_that_may_not(postgres_server: str) -> None:
    with pytest.raises(StoreUnreachable, match=r"postgresql://me:\*\*\*@127\.0\.0\.1:1/name does not answer"):
        Store.open("postgresql://me:hush@127.0.0.1:1/name")
    missing = postgres_server.replace("postgres:@", "nobody_here:hush@")
    with pytest.raises(AccessDenied, match="nobody_here"):
        Store.open(missing)


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ('password authentication failed for user "me"', AccessDenied),
        ('Peer authentication failed for user "me"', AccessDenied),
        ('role "me" does not exist', AccessDenied),
        ('role "me" is not permitted to log in', AccessDenied),
        ('no pg_hba.conf entry for host "::1", user "me", database "crawl", no encryption', AccessDenied),
        ('pg_hba.conf rejects connection for host "::1", user "me", database "crawl"', AccessDenied),
        ('permission denied for database "crawl"', AccessDenied),
        ('too many connections for role "me"', StoreUnreachable),
        ('database "crawl" does not exist', StoreUnreachable),
    ],
)
def test_a_login_that_is_refused_is_no_server_that_does_not_answer(message: str, kind: type[StoreError]) -> None:
    url = parse("postgresql://me@host/crawl")
    error = psycopg.OperationalError(f'connection to server at "host", port 5432 failed: FATAL:  {message}')
    dialect = dialect_for(url)
    assert dialect.diagnose(error)[0] is kind
    assert dialect.is_passing(error) == (kind is StoreUnreachable)


def test_an_error_of_a_full_disk_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dialect, error = dialect_for(parse(str(tmp_path / "index.db"))), sqlite3.OperationalError("disk I/O error")
    assert dialect.diagnose(error) == (StoreFailed, "disk I/O error")
    monkeypatch.setattr(os, "statvfs", lambda _folder: SimpleNamespace(f_bavail=7, f_frsize=4096))
    reason = f"disk I/O error, because no space is left on the disk of {tmp_path}"
    assert dialect.diagnose(error) == (StoreFailed, reason)


def test_an_sqlite_that_lacks_statements_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 33, 0))
    with pytest.raises(UsageError, match=r"needs 3\.34 or newer"):
        Store.create(str(tmp_path / "new.db"), PARAMS, "1")
    assert not list(tmp_path.iterdir())
