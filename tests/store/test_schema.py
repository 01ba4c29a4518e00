"""The migrations lead to exactly what a new index has, with comments and names."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable

import pytest
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, Engine, Row, Table, TextClause, UniqueConstraint, create_engine, text

from lshdb.errors import StoreFailed
from lshdb.store import schema, upgrade
from lshdb.store.dialects import dialect_for
from lshdb.store.schema import metadata
from lshdb.store.store import Store
from lshdb.store.tables import audit
from lshdb.store.url import parse
from tests.store.conftest import PARAMS, add

TABLES = list(metadata.tables.values())

# Everything that Postgres knows about our tables, including what later versions might declare.
POSTGRES_CATALOG = {
    "columns": """
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
               a.attgenerated, coll.collname, pg_get_expr(d.adbin, d.adrelid), col_description(c.oid, a.attnum)
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
        LEFT JOIN pg_collation coll ON coll.oid = a.attcollation
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
        ORDER BY c.relname, a.attnum""",
    "constraints": """
        SELECT conrelid::regclass::text, conname, contype::text, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = current_schema()::regnamespace AND contype <> 'n' ORDER BY 1, 2""",
    "indexes": """
        SELECT tablename, indexname, replace(indexdef, current_schema() || '.', '') FROM pg_indexes
        WHERE schemaname = current_schema() ORDER BY 1, 2""",
    "storage": """
        SELECT c.relname, c.reloptions, a.attname, a.attstorage::text, a.attcompression::text
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' ORDER BY 1, 3""",
    "comments": """
        SELECT relname, obj_description(oid, 'pg_class') FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'v')
        ORDER BY 1""",
    "views": """
        SELECT viewname, definition FROM pg_views WHERE schemaname = current_schema() ORDER BY 1""",
}
# SQLite keeps the CREATE statements themselves.
SQLITE_CATALOG = {
    "objects": """
        SELECT type, name, tbl_name, trim(sql, char(10)) FROM sqlite_master ORDER BY 1, 2""",
}


def engine_at(url: str) -> Engine:
    """A plain SQLAlchemy engine, without the settings of the store."""
    parsed = parse(url)
    return create_engine(dialect_for(parsed).normalised(parsed))


def catalog(connection: Connection) -> dict[str, list[Row[tuple[object, ...]]]]:
    """Return every table, column, constraint, index and comment of the database."""
    asked = SQLITE_CATALOG if connection.dialect.name == "sqlite" else POSTGRES_CATALOG
    return {name: list(connection.execute(text(statement))) for name, statement in asked.items()}


def migrate(url: str) -> None:
    """Create the tables by the revisions, from the first one on."""
    store = Store.at(url)
    with store.changing() as transaction:
        upgrade.to_head(transaction.connection, store.dialect)
    store.close()


def test_alembic_finds_no_difference_between_the_migrations_and_the_metadata(url: str) -> None:
    migrate(url)
    engine = engine_at(url)
    with engine.connect() as connection:
        options = {
            "version_table": upgrade.VERSION_TABLE,
            "compare_type": True,
            "compare_server_default": True,
            "include_object": lambda one, *_: dialect_for(parse(url)).enforces_all or one not in schema.UNENFORCED,
        }
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_the_migrations_lead_to_the_catalog_of_a_new_index(new_url: Callable[[], str]) -> None:
    """Also what Alembic does not compare: primary keys, collations, comments, WITHOUT ROWID, the columns' order."""
    migrated, new = new_url(), new_url()
    migrate(migrated)
    Store.create(new, PARAMS, "test").close()
    found = []
    for url in (migrated, new):
        engine = engine_at(url)
        with engine.connect() as connection:
            found.append((upgrade.current(connection), catalog(connection)))
        engine.dispose()
    assert sum(map(len, found[0][1].values())) > len(TABLES)
    assert found[0] == found[1]


REFUSED = {
    "pair of itself": "INSERT INTO pair VALUES (1, 1, 1.0, {true}, NULL)",
    "pair of swapped keys": "INSERT INTO pair VALUES (2, 1, 1.0, {true}, NULL)",
    "pair with a similarity above 1": "INSERT INTO pair VALUES (1, 2, 1.001, {true}, NULL)",
    "pair with a negative similarity": "INSERT INTO pair VALUES (1, 2, -0.1, {true}, NULL)",
    "content with a short digest": "UPDATE content SET digest = {bytes}",
    "content without a shingle": "UPDATE content SET num_shingles = 0",
    "rejected in no run": "INSERT INTO rejected VALUES (1, 99, '', '', '')",
    "run in no state": "UPDATE run SET state = 'walking', finished_at = started_at",
    "run that ended and goes on": "UPDATE run SET finished_at = started_at",
    "run that never ended": "UPDATE run SET state = 'finished'",
    "run with a negative count": "UPDATE run SET num_added = -1",
    "second row of parameters": "UPDATE index_params SET params_key = 2",
    "decision to keep two documents": (
        "INSERT INTO decision VALUES (1, 'keep', 1, 'a', 1, 'b', NULL, NULL, 'me', '', {now})"
    ),
    "decision about one document twice": (
        "INSERT INTO decision VALUES (1, 'different', 1, 'a', 1, 'a', NULL, NULL, 'me', '', {now})"
    ),
    "decision of another kind": "INSERT INTO decision VALUES (1, 'drop', 1, 'a', 1, 'b', NULL, NULL, 'me', '', {now})",
    "decision about no collection": (
        "INSERT INTO decision VALUES (1, 'keep', 99, 'a', NULL, NULL, NULL, NULL, 'me', '', {now})"
    ),
    "decision about a short digest": (
        "INSERT INTO decision VALUES (1, 'keep', 1, 'a', NULL, NULL, {bytes}, NULL, 'me', '', {now})"
    ),
    "band with a number of its own": "UPDATE index_params SET first_band = 5",
}
# References that only SQLite enforces.
DANGLING = {
    "pair of no content": "INSERT INTO pair VALUES (1, 99, 1.0, {true}, NULL)",
    "pair of no run": "INSERT INTO pair VALUES (1, 2, 1.0, {true}, 99)",
    "text of no content": "INSERT INTO content_text VALUES (99, {bytes})",
    "unlinked and no content": "INSERT INTO unlinked VALUES (99)",
    "content that a document has": "DELETE FROM content WHERE content_key = 1",
    "document of no content": "UPDATE document SET content_key = 99",
    "document of no source": "UPDATE document SET source_key = 99",
    "document of no run": "UPDATE document SET last_seen_run = 99",
    "document of no collection": "UPDATE document SET collection_key = 99",
}


@pytest.mark.parametrize("wrong", REFUSED.values(), ids=REFUSED)
def test_rows_that_contradict_each_other_are_refused(wrong: str, store: Store) -> None:
    add(store, {"a": (1, 2, 3), "b": (1, 2, 4)})
    with pytest.raises(StoreFailed, match="constraint"), store.writing() as transaction:
        transaction.execute(spelled(wrong, store))


@pytest.mark.parametrize("wrong", DANGLING.values(), ids=DANGLING)
def test_rows_that_refer_to_nothing_are_refused_or_found_by_check(wrong: str, store: Store) -> None:
    add(store, {"a": (1, 2, 3), "b": (1, 2, 4)})
    if store.dialect.enforces_all:
        with pytest.raises(StoreFailed, match="constraint"), store.writing() as transaction:
            transaction.execute(spelled(wrong, store))
        return
    with store.writing() as transaction:
        assert audit.damages(transaction, full=False) == []
        transaction.execute(spelled(wrong, store))
        assert audit.damages(transaction, full=False)


def spelled(statement: str, store: Store) -> TextClause:
    """Return a statement as the database of the store spells it."""
    some = "x'00'" if store.dialect.backend == "sqlite" else "'\\x00'::bytea"
    return text(statement.format(true="true", now="CURRENT_TIMESTAMP", bytes=some).replace(":", "\\:"))


@pytest.mark.sqlite
def test_a_new_sqlite_index_has_our_page_size_mode_and_mark(tmp_path: object) -> None:
    store = Store.create(f"{tmp_path}/new.db", PARAMS, "test")
    with store.reading() as transaction:
        found = {
            name: transaction.connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("page_size", "journal_mode", "application_id", "synchronous")
        }
    store.close()
    assert found == {"page_size": 16384, "journal_mode": "wal", "application_id": 0x4C534844, "synchronous": 1}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_table_says_what_it_holds(table: Table) -> None:
    assert table.comment
    assert len(table.comment) >= 20


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_key_constraint_and_index_has_the_name_that_the_convention_gives(table: Table) -> None:
    names = [str(constraint.name) for constraint in table.constraints] + [str(index.name) for index in table.indexes]
    assert f"pk_{table.name}" in names
    assert all(re.fullmatch(rf"(pk|fk|uq|ck|ix)_{table.name}(?!_{table.name})\w*", name) for name in names), names
    # Postgres cuts longer names, and the cut one is not found again.
    assert max(map(len, names)) <= 63


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_table_has_a_primary_key_that_is_never_null(table: Table) -> None:
    assert len(table.primary_key.columns) > 0
    assert not any(column.nullable for column in table.primary_key.columns)


def package(module: str) -> str:
    return "statements" if module in ("statements", "document_pairs") else "tables"


def test_every_index_names_the_statements_that_need_it() -> None:
    lines = inspect.getsource(schema).splitlines()
    declared = [line for line in lines if re.search(r"^ {4}(UniqueConstraint|Index)\(", line)]
    uniques = [one for table in TABLES for one in table.constraints if isinstance(one, UniqueConstraint)]
    assert len(declared) == len(uniques) + sum(len(table.indexes) for table in TABLES)
    for line in declared:
        _, _, said = line.partition("  # ")
        named = said.split(", ")
        assert all(re.fullmatch(r"\w+\.\w+", name) for name in named), line
        for module, function in (name.split(".") for name in named):
            assert hasattr(importlib.import_module(f"lshdb.store.{package(module)}.{module}"), function), (
                f"no such statement: {line}"
            )


def test_every_declared_table_is_exported() -> None:
    exported = {name for name in schema.__all__ if isinstance(getattr(schema, name), Table)}
    assert exported == set(metadata.tables)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_column_says_what_it_holds(table: Table) -> None:
    assert all(column.comment for column in table.columns)


def test_postgres_enforces_what_few_rows_refer_to(new_postgres_url: Callable[[], str]) -> None:
    Store.create(url := new_postgres_url(), PARAMS, "test").close()
    engine = engine_at(url)
    with engine.connect() as connection:
        found = {
            (name, reference["constrained_columns"][0])
            for name in metadata.tables
            for reference in sqlalchemy.inspect(connection).get_foreign_keys(name)
        }
    engine.dispose()
    assert found & {(one.table.name, one.column_keys[0]) for one in schema.UNENFORCED} == set()
    assert found >= {("source", "last_seen_run"), ("rejected", "run_key"), ("decision", "collection_key")}


def test_everything_refers_to_what_it_names_but_for_buckets() -> None:
    keys = {column.name for table in TABLES for column in table.primary_key.columns if len(table.primary_key) == 1}
    names = {"content_key", "left_key", "right_key", "source_key", "run_key", "collection_key", "first_seen_run"}
    names |= {"last_seen_run", "reading_run"}
    referring = {str(column) for table in TABLES for column in table.columns if column.name in names}
    declared = {str(column) for table in TABLES for column in table.columns if column.foreign_keys}
    themselves = {f"{name.removesuffix('_key')}.{name}" for name in keys}
    assert referring - declared - themselves == {"band_bucket.content_key"}
