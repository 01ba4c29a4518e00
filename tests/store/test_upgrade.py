"""Indexes of other versions, and concurrent creation of an index.

Of each earlier revision there are indexes that it made. A later lshdb is played by a copy of the migrations with one
more on top.
"""

from __future__ import annotations

import multiprocessing
import re
import shlex
import shutil
import sqlite3
import time
from collections.abc import Callable
from importlib import import_module
from importlib.resources import files
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import event, inspect, select, text, update

from lshdb import Decision, Index, IngestOptions, Pair, Params
from lshdb.audit import Thoroughness
from lshdb.errors import IndexDamaged, IndexExists, IndexMissing, IndexOutdated, IndexTooNew, StoreFailed
from lshdb.model.values import Document
from lshdb.readers import ReadOptions
from lshdb.store import upgrade, views, whole
from lshdb.store.merging import merge
from lshdb.store.schema import POSITION_BITS, bucket_filter, bucket_generation, index_params, metadata
from lshdb.store.store import Store
from lshdb.store.tables import filter_merges, filters, generations, lookups
from tests.cli.conftest import Run, lshdb
from tests.store.conftest import PARAMS, count
from tests.store.released import answers_of, restore

__all__ = ["lshdb"]

SAMPLE = Path(__file__).parents[2] / "sample_data"
PLUM_CAKE = SAMPLE / "crawl" / "recipes" / "plum-cake.md"

# That of revision 0014 has filters, and a merge that is under way.
RELEASED = ["revision_0001", "revision_0001_no_texts", "revision_0002", "revision_0003", "revision_0014"]
ALL = Thoroughness(sample=None)
HEAD = upgrade.REVISIONS[-1]

LATER = '''
"""A column that the next version needs."""

import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = "{head}"


def upgrade() -> None:
    op.add_column("document", sa.Column("language", sa.String(), nullable=True))
    op.create_table("note", sa.Column("note_key", sa.BigInteger(), nullable=False), comment="notes")
    {then}
'''
DOCUMENTS = [
    Document("a", "one two three four five six seven eight nine ten"),
    Document("b", "one two three four five six seven eight nine ten eleven"),
    Document("c", "One, two, three, four, five, six, seven, eight, nine, ten."),
    Document("d", "nothing of the kind is said in here at all"),
    Document("e", ""),
]
ANSWERS = [Pair("a", "c", 1.0, True), Pair("a", "b", 6 / 7, True)]

LaterVersion = Callable[..., None]


@pytest.fixture
def later_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LaterVersion:
    """From its call on, this is the next version of lshdb, with revision 9999; `then` ends its upgrade."""

    def release(then: str = "") -> None:
        folder = tmp_path / "migrations of 100 %"
        shutil.copytree(str(files("lshdb.migrations")), folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "versions" / "9999_later.py").write_text(LATER.format(head=HEAD, then=then))
        monkeypatch.setattr(upgrade, "_FOLDER", folder)
        monkeypatch.setattr(upgrade, "REVISIONS", (*upgrade.REVISIONS, "9999"))

    return release


@pytest.fixture
def this_version(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From its call on, this is the version that it is."""
    return monkeypatch.undo


def make_index(url: str) -> None:
    """An index of five documents."""
    with Index.create(url) as index:
        index.add(DOCUMENTS)


def answers(url: str) -> list[Pair]:
    with Index.open(url) as index:
        return list(index.pairs(0.8))


def test_the_revisions_are_those_of_the_files() -> None:
    scripts = ScriptDirectory(str(files("lshdb.migrations")))
    assert tuple(script.revision for script in scripts.walk_revisions())[::-1] == upgrade.REVISIONS


@pytest.mark.parametrize("name", RELEASED)
def test_an_index_of_an_earlier_revision_answers_after_the_upgrade_as_it_did_before(
    name: str, url: str, tmp_path: Path
) -> None:
    restore(name, url, tmp_path)
    with pytest.raises(IndexOutdated):
        Index.open(url)
    done = Index.upgrade(url)
    assert (done.before, done.after) == (name[9:13], HEAD)
    with Index.open(url) as index:
        pairs = [[pair.left, pair.right, pair.similarity, pair.exact] for pair in index.pairs(index.params.floor)]
        found = index.query_file(PLUM_CAKE)
        assert list(index.check(ALL)) == []
    assert sorted(pairs) == sorted(answers_of(name)["pairs"])
    assert [[match.id, match.similarity, match.exact] for match in found] == answers_of(name)["query"]


@pytest.mark.parametrize("name", RELEASED)
def test_an_upgraded_index_is_used_as_a_new_one(name: str, url: str, tmp_path: Path) -> None:
    restore(name, url, tmp_path)
    Index.upgrade(url)
    with Index.open(url) as index:
        collections = set(index.stats().collections)
        report = index.ingest([SAMPLE / "crawl"], IngestOptions(read=ReadOptions(base=SAMPLE)))
        assert (report.counts.num_rejected, report.counts.num_added + report.counts.num_unchanged) == (0, 30)
        assert index.add(DOCUMENTS, "later").counts.num_added == 5
        assert index.remove(["a"], "later") == 1
        assert index.ingest([SAMPLE / "crawl" / "docs"], IngestOptions(prune=True)).counts.num_rejected == 0
        index.reband(0.75, 0.95)
        assert "c" in {match.id for match in index.query_id("b", collection="later")}
        assert list(index.clusters(0.7))
        chosen = {one.cluster: (one.collection, one.document) for one in index.members(0.7)}
        for collection, doc_id in chosen.values():
            index.decide(Decision("keep", doc_id, who="Ada", collection=collection))
        assert {one.cluster: (one.keep_collection, one.keep) for one in index.members(0.7)} == chosen
        assert set(index.stats().collections) == collections | {"later"}
        assert list(index.check(ALL)) == []


def test_an_index_of_revision_0001_has_the_minima_that_its_bands_take(url: str, tmp_path: Path) -> None:
    restore("revision_0001_no_texts", url, tmp_path)
    Index.upgrade(url)
    with Index.open(url) as index:
        assert index.params == Params(
            keep_text=False, scheme="universal", bands=16, rows=4, floor=0.4, seed=7, table_version="unicode14-1"
        )
        assert (index.params.num_perm, index.params.first_band) == (64, 0)


def test_an_upgraded_index_can_be_given_other_bands_and_measured(url: str, tmp_path: Path) -> None:
    restore("revision_0001", url, tmp_path)
    Index.upgrade(url)
    with Index.open(url) as index:
        before = sorted(index.pairs(0.8), key=str)
        report = index.reband(0.7, 0.99)
        assert (report.after.bands, report.after.rows) == (17, 4)
        assert sorted(index.pairs(0.8), key=str) == before
        assert index.measure().recall == 1.0


def test_an_index_of_a_future_version_is_refused_by_its_revision(
    url: str, later_version: LaterVersion, this_version: Callable[[], None], lshdb: Run
) -> None:
    later_version()
    make_index(url)
    assert answers(url) == ANSWERS
    this_version()
    with pytest.raises(IndexTooNew) as caught:
        Index.open(url)
    assert caught.value.current == "9999"
    assert caught.value.exit_code == 14
    assert "is at revision 9999, which this lshdb" in str(caught.value)
    for arguments in (["dupes"], ["upgrade"], ["ingest", __file__], ["query", __file__], ["stats"]):
        ended = lshdb(url, *arguments)
        assert (ended.code, ended.out) == (14, ""), arguments
        assert "Install a newer lshdb" in ended.err


def test_an_index_of_an_older_version_is_refused_with_the_command_that_helps(
    url: str, later_version: LaterVersion, lshdb: Run
) -> None:
    make_index(url)
    later_version()
    with pytest.raises(IndexOutdated) as caught:
        Index.open(url)
    assert (caught.value.current, caught.value.head, caught.value.exit_code) == (HEAD, "9999", 13)
    for arguments in (["dupes"], ["ingest", __file__], ["query", __file__], ["stats"]):
        ended = lshdb(url, *arguments)
        assert (ended.code, ended.out) == (13, ""), arguments
        assert ended.err.endswith(f"Run: lshdb --db {shlex.quote(caught.value.url)} upgrade\n")


def test_an_upgraded_index_answers_as_before_and_takes_more(url: str, later_version: LaterVersion, lshdb: Run) -> None:
    make_index(url)
    later_version()
    ended = lshdb(url, "upgrade")
    assert ended.code == 0
    assert ended.out.startswith(f"upgraded from revision {HEAD} to 9999")
    assert answers(url) == ANSWERS
    with Index.open(url) as index:
        assert index.add([Document("f", DOCUMENTS[3].text)]).counts.num_added == 1
        assert [match.id for match in index.query_id("f")] == ["d"]
    assert lshdb(url, "upgrade").out == "already at revision 9999\n"


def test_filters_of_another_form_are_dropped_by_the_upgrade_and_built_again(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    restore("revision_0014", url, tmp_path)
    Index.upgrade(url)
    monkeypatch.setattr(generations, "YOUNG_ROWS", 100)
    with Store.open(url) as store:
        assert store.read(filters.stored) == set()
        merge(store)
        assert store.read(filters.stored)
    with Index.open(url) as index:
        found = index.query_file(PLUM_CAKE)
        assert list(index.check(ALL)) == []
    assert [[match.id, match.similarity, match.exact] for match in found] == answers_of("revision_0014")["query"]


def test_filters_with_labels_keep_them_and_get_odd_numbers(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until revision 0016, all filters had labels, whatever their numbers."""
    monkeypatch.setattr(generations, "YOUNG_ROWS", 20)
    monkeypatch.setattr(filter_merges, "FAN_OUT", 2)
    with Index.create(url) as index:
        for one in DOCUMENTS:
            index.add([one], link=False)
    with Store.open(url) as store:
        merge(store, moves=False)
        assert len(store.read(filters.stored)) == 1
        with store.changing() as transaction:
            transaction.execute(update(bucket_filter).values(part_key=bucket_filter.c.part_key + (1 << POSITION_BITS)))
            transaction.execute(update(bucket_generation).values(filter=bucket_generation.c.filter + 1))
            assert lookups.wrong(transaction, 0)
            with Operations.context(MigrationContext.configure(transaction.connection)):
                import_module("lshdb.migrations.versions.0017_filters_without_labels").upgrade()
    with Store.open(url) as store, store.reading() as transaction:
        (number,) = filters.stored(transaction)
        assert number % 2 == 1
        assert not any(lookups.wrong(transaction, number) for number in generations.numbers(transaction))
    with Index.open(url) as index:
        assert list(index.check(ALL)) == []
        assert [match.id for match in index.query(Document("", DOCUMENTS[0].text))] == ["a", "c", "b"]


def test_a_sqlite_file_is_copied_before_the_upgrade(
    tmp_path: Path, later_version: LaterVersion, this_version: Callable[[], None], lshdb: Run
) -> None:
    path = tmp_path / "crawl.db"
    make_index(str(path))
    path.chmod(0o640)
    # A copy of an earlier upgrade is not written over.
    (tmp_path / "crawl.db.before-upgrade").write_text("earlier")
    later_version()
    ended = lshdb(path, "upgrade")
    copy = tmp_path / "crawl.db.before-upgrade-1"
    assert ended.out == f"upgraded from revision {HEAD} to 9999; the old file is {copy}\n"
    assert (tmp_path / "crawl.db.before-upgrade").read_text() == "earlier"
    assert copy.stat().st_mode & 0o777 == 0o640
    this_version()
    assert answers(str(copy)) == ANSWERS


@pytest.mark.postgres
def test_a_postgres_index_needs_no_copy(url: str, later_version: LaterVersion) -> None:
    make_index(url)
    later_version()
    done = Index.upgrade(url)
    assert (done.before, done.after, done.is_current) == (HEAD, "9999", False)
    assert (done.copy is None) == ("://" in url)


def test_an_upgrade_that_fails_changes_nothing(
    url: str, later_version: LaterVersion, this_version: Callable[[], None]
) -> None:
    make_index(url)
    later_version(then='op.execute("SELECT no_such_column FROM document")')
    with pytest.raises(StoreFailed, match="no_such_column"):
        Index.upgrade(url)
    with pytest.raises(IndexOutdated):
        Index.open(url)
    this_version()
    assert answers(url) == ANSWERS


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (
            "DELETE FROM content WHERE content_key = (SELECT left_key FROM pair LIMIT 1)",
            r"(a row of the table \w+ refers to none of the table content"
            r"|rows of the table \w+ break the constraint fk_\w+_content\w*)",
        ),
        (
            "UPDATE pair SET similarity = 2 WHERE left_key = (SELECT min(left_key) FROM pair)",
            r"(\d+ )?rows of the table pair break the constraint ck_pair_\w+",
        ),
        (
            "UPDATE run SET state = 'lost' WHERE run_key = 1",
            r"(rows break a constraint: CHECK constraint failed: ck_run_\w+"
            r"|rows of the table run break the constraint ck_run_\w+)",
        ),
    ],
    ids=["reference", "check", "check of a table that is copied"],
)
def test_an_index_whose_rows_break_a_new_constraint_is_refused_with_the_way_out(
    damage: str, expected: str, url: str, tmp_path: Path, lshdb: Run
) -> None:
    restore("revision_0002", url, tmp_path)
    with Store.at(url) as store, store.changing() as transaction:
        transaction.execute(text(damage))
    ended = lshdb(url, "upgrade")
    assert (ended.code, ended.out) == (24, ""), ended.err
    way_out = "; repair it with the older lshdb. Restore it from a backup, or create it again."
    assert re.fullmatch(rf"lshdb: Index \S+ is damaged: {expected}{re.escape(way_out)}\n", ended.err), ended.err
    with pytest.raises(IndexOutdated):
        Index.open(url)


def test_a_dry_run_prints_the_sql_and_changes_nothing(url: str, tmp_path: Path, lshdb: Run) -> None:
    restore("revision_0001", url, tmp_path)
    before = schema_of(url)
    ended = lshdb(url, "upgrade", "--dry-run")
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    assert lines[0] == f"-- from revision 0001 to {HEAD}"
    assert "CREATE TABLE rebanding (" in lines
    assert any("num_perm" in line for line in lines)
    assert lines[-1].startswith(f"UPDATE lshdb_revision SET version_num='{HEAD}'")
    assert not any(line.startswith(("SELECT", "PRAGMA")) for line in lines)
    assert schema_of(url) == before
    assert not list(tmp_path.glob("*.before-upgrade*"))
    with pytest.raises(IndexOutdated):
        Index.open(url)
    assert Index.upgrade(url).before == "0001"
    assert lshdb(url, "upgrade", "--dry-run").out == f"already at revision {HEAD}\n"


def test_a_dry_run_is_the_sql_that_the_upgrade_runs(url: str, tmp_path: Path) -> None:
    restore("revision_0001", url, tmp_path)
    rehearsed = Index.upgrade(url, dry_run=True).statements
    executed: list[str] = []
    with Store.at(url) as store, store.whole() as engine:
        event.listen(engine, "before_cursor_execute", lambda *call: executed.append(call[2].strip()))
        whole.perform(store)
    changing = [
        statement for statement in executed if re.match("CREATE|ALTER|DROP|INSERT|UPDATE|DELETE|COMMENT", statement)
    ]
    assert len(changing) > 3
    assert [statement.partition(";  -- ")[0].removesuffix(";") for statement in rehearsed] == changing


def schema_of(url: str) -> dict[str, list[str]]:
    """The columns of each table."""
    with Store.at(url) as store, store.whole() as engine:
        found = inspect(engine)
        return {name: [column["name"] for column in found.get_columns(name)] for name in found.get_table_names()}


def upgrade_at_once(url: str, barrier: Barrier, found: Queue[tuple[str, str]]) -> None:
    barrier.wait(20)
    done = Index.upgrade(url)
    found.put((done.before, done.copy or ""))


def test_of_two_upgrades_at_once_the_second_waits_and_finds_it_done(url: str, tmp_path: Path) -> None:
    restore("revision_0001", url, tmp_path)
    spawn = multiprocessing.get_context("spawn")
    barrier, found = spawn.Barrier(3), spawn.Queue()
    processes = [spawn.Process(target=upgrade_at_once, args=(url, barrier, found)) for _ in range(2)]
    for process in processes:
        process.start()
    with Store.at(url) as store, store.changing():
        barrier.wait(20)
        time.sleep(1)
        assert found.empty()
    results = sorted(found.get(timeout=60) for _ in processes)
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    assert [before for before, _ in results] == ["0001", HEAD]
    assert results[1][1] == ""
    assert len(list(tmp_path.glob("*.before-upgrade*"))) == (0 if "://" in url else 1)
    with Index.open(url) as index:
        assert len(list(index.pairs(index.params.floor))) == len(answers_of("revision_0001")["pairs"])


@pytest.mark.parametrize("written", ["run", "index_params"])
def test_an_index_of_a_future_version_names_the_version_that_wrote_to_it(
    written: str, url: str, later_version: LaterVersion, this_version: Callable[[], None]
) -> None:
    later_version()
    make_index(url)
    with Store.open(url) as store, store.writing() as transaction:
        transaction.execute(update(metadata.tables[written]).values(lshdb_version="12.3.0"))
    this_version()
    with pytest.raises(IndexTooNew, match=r"does not know: lshdb 12\.3\.0 wrote to it"):
        Index.open(url)


def test_the_newest_version_that_wrote_is_named_and_its_parts_are_numbers(
    url: str, later_version: LaterVersion, this_version: Callable[[], None]
) -> None:
    later_version()
    make_index(url)
    with Store.open(url) as store, store.writing() as transaction:
        transaction.execute(update(metadata.tables["index_params"]).values(lshdb_version="9.9.0"))
        transaction.execute(update(metadata.tables["run"]).values(lshdb_version="9.10.0"))
    this_version()
    with pytest.raises(IndexTooNew, match=r"does not know: lshdb 9\.10\.0 wrote to it"):
        Index.open(url)


def test_an_index_of_a_future_version_without_those_tables_is_refused_too(
    url: str, later_version: LaterVersion, this_version: Callable[[], None]
) -> None:
    dropped = 'op.execute("DROP VIEW lshdb_buckets"); op.drop_table("index_params")'
    later_version(then=f'op.rename_table("run", "runs"); {dropped}')
    with Store.at(url) as store, store.creating():
        pass
    this_version()
    with pytest.raises(IndexTooNew, match="does not know: a newer lshdb wrote to it"):
        Index.open(url)


def test_there_is_nothing_to_upgrade_where_there_is_no_index(url: str, lshdb: Run) -> None:
    with pytest.raises(IndexMissing):
        Index.upgrade(url)
    assert lshdb(url, "upgrade").code == 11


def test_an_index_without_its_parameters_is_damaged(url: str) -> None:
    make_index(url)
    with Store.open(url) as store, store.writing() as transaction:
        transaction.execute(index_params.delete())
    with pytest.raises(IndexDamaged, match="index_params is empty") as caught:
        Index.open(url)
    assert caught.value.exit_code == 24


# Creation.


def ensure_each(urls: list[str], seed: int, barrier: Barrier) -> None:
    """Create indexes at the same moments as other processes, and add one row to each."""
    for url in urls:
        barrier.wait(20)
        with Store.ensure(url, Params(seed=seed), "test") as store, store.writing() as transaction:
            transaction.execute(text("INSERT INTO collection VALUES (:key, :name)"), {"key": seed, "name": str(seed)})


def test_only_the_first_of_two_creations_at_once_succeeds(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def exists(store: Store) -> bool:
        """Let another process create the index just after this one has looked."""
        monkeypatch.undo()
        Store.create(url, Params(seed=2), "test").close()
        return False

    monkeypatch.setattr(Store, "exists", exists)
    with pytest.raises(IndexExists):
        Store.create(url, Params(seed=1), "test")
    with Store.ensure(url, Params(seed=1), "test") as store:
        assert store.params.seed == 2


def test_processes_that_make_one_index_at_once_all_get_it(new_url: Callable[[], str]) -> None:
    spawn = multiprocessing.get_context("spawn")
    urls, barrier = [new_url() for _ in range(10)], spawn.Barrier(2)
    processes = [spawn.Process(target=ensure_each, args=(urls, seed, barrier)) for seed in (1, 2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(100)
    assert [process.exitcode for process in processes] == [0, 0]
    for url in urls:
        with Store.open(url) as store, store.reading() as transaction:
            assert store.params.seed in (1, 2)
            assert count(transaction, index_params) == 1
            assert transaction.execute(text("SELECT collection_key FROM collection ORDER BY 1")).scalars().all() == [
                1,
                2,
            ]


@pytest.mark.sqlite
@pytest.mark.parametrize("left", [b"", None], ids=["an empty file", "a file with settings"])
def test_what_a_killed_creation_leaves_is_no_index_yet(left: bytes | None, tmp_path: Path, lshdb: Run) -> None:
    path = tmp_path / "crawl.db"
    if left is None:
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA page_size = 16384")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.close()
    else:
        path.write_bytes(left)
    ended = lshdb(path, "dupes")
    assert ended.code == 11
    assert "There is no index at" in ended.err
    make_index(str(path))
    assert answers(str(path)) == ANSWERS


def test_a_creation_that_fails_leaves_no_index(url: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(views, "VIEWS", views.VIEWS | {"wrong": ("the last one", " no_such_word")})
        with pytest.raises(StoreFailed, match="no_such_word"):
            Store.create(url, PARAMS, "test")
    with pytest.raises(IndexMissing):
        Store.open(url)
    with Store.create(url, PARAMS, "test") as store, store.reading() as transaction:
        assert transaction.execute(select(index_params.c.bands)).scalar_one() == 3
