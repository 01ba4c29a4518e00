"""Foreign keys and checks, keys for collections, Postgres's types for times and JSON.

SQLite cannot add a constraint to a table. If the rows do not change, only the declaration of the table is replaced, by
the procedure that SQLite documents for this, and the rows are checked afterwards. So an upgrade copies no texts, pairs
or buckets. Postgres changes its tables in place, so that the privileges of other roles stay.
"""

import json
from typing import Any, NoReturn

import sqlalchemy as sa
from alembic import op
from lshdb.migrations.tables_0003 import metadata
from lshdb.migrations.views_0003 import VIEWS
from sqlalchemy.exc import IntegrityError
from sqlalchemy.schema import AddConstraint, CreateTable, SetColumnComment, SetTableComment

from lshdb.errors import IndexDamaged
from lshdb.store.url import masked

revision = "0003"
down_revision = "0002"

# Tables whose rows do not change.
DECLARED = ("index_params", "content", "content_text", "rebanding", "measurement", "unlinked", "pair")
DECLARED += ("oversized_bucket", "key_counter", "rejected")
WITH_COLLECTION = ("run", "source", "document")
RENAMED = [(table, "rows", "band_rows") for table in ("index_params", "rebanding", "measurement")]
RENAMED += [("rebanding", "position", "last_content_key"), ("source", "position", "num_items")]
NAMES = """
    SELECT name FROM (SELECT DISTINCT collection AS name FROM document UNION SELECT collection FROM source
        UNION SELECT collection FROM run WHERE collection <> '') AS names ORDER BY name"""


def upgrade() -> None:
    bind = op.get_bind()
    names = list(bind.scalars(sa.text(NAMES)))
    op.rename_table("skipped_bucket", "oversized_bucket")
    for table, before, after in RENAMED:
        op.alter_column(table, before, new_column_name=after) if is_postgres() else op.execute(
            f'ALTER TABLE {table} RENAME COLUMN "{before}" TO {after}'
        )
    change = alter if is_postgres() else remake
    try:
        change(names)
    except IntegrityError as error:
        refuse_rows(error)
    create_views()


def create_views() -> None:
    """Creates the views for people."""
    for name, (said, select) in VIEWS.items():
        op.execute(f"CREATE VIEW {name} AS{select}")
        if is_postgres():
            op.execute(f"COMMENT ON VIEW {name} IS '{said}'")


def is_postgres() -> bool:
    """Whether the index is in Postgres."""
    return op.get_bind().dialect.name == "postgresql"


def create_collections(names: list[str]) -> None:
    """Creates the table of collections, and what counts their keys."""
    metadata.tables["collection"].create(op.get_bind())
    if names:
        rows = [{"collection_key": key, "name": name} for key, name in enumerate(names, 1)]
        op.bulk_insert(metadata.tables["collection"], rows)
        op.bulk_insert(metadata.tables["key_counter"], [{"name": "collection", "last_key": len(names)}])


# Postgres.


def alter(names: list[str]) -> None:
    """Changes the tables in place."""
    create_collections(names)
    for table in WITH_COLLECTION:
        add_collection_key(table)
    op.execute("ALTER TABLE source ALTER COLUMN options TYPE jsonb USING options::jsonb")
    for column in ("neighbours", "points"):
        op.execute(f"ALTER TABLE measurement ALTER COLUMN {column} TYPE jsonb USING {column}::jsonb")
    for column in ("started_at", "finished_at"):
        op.execute(f"ALTER TABLE run ALTER COLUMN {column} TYPE timestamptz USING {column}::timestamptz")
    op.execute('ALTER TABLE key_counter ALTER COLUMN name TYPE varchar COLLATE "C"')
    op.execute("ALTER TABLE oversized_bucket RENAME CONSTRAINT pk_skipped_bucket TO pk_oversized_bucket")
    op.execute("ALTER INDEX ix_document_content_key_document_doc_key RENAME TO ix_document_content_key_doc_key")
    op.create_index("ix_pair_run_key", "pair", ["run_key"])
    columns = ["collection_key", "content_key", "doc_key"]
    op.create_index("ix_document_collection_key_content_key_doc_key", "document", columns)
    # From a copy: SQLAlchemy leaves a constraint that was added separately out of the CREATE TABLE.
    own = sa.MetaData(naming_convention=metadata.naming_convention)
    for table in [table.to_metadata(own) for table in metadata.sorted_tables]:
        if table.name != "collection":
            drop_sequence(table)
            add_constraints(table)
            comment(table)


def add_collection_key(table: str) -> None:
    """Puts a key in place of the name. Most rows have the same one: as a default, it rewrites none of them."""
    first = op.get_bind().scalar(sa.text("SELECT collection_key FROM collection ORDER BY collection_key LIMIT 1"))
    default = f"NOT NULL DEFAULT {first or 0}" if table != "run" else ""
    op.execute(f"ALTER TABLE {table} ADD COLUMN collection_key integer {default}")
    op.execute(
        f"UPDATE {table} SET collection_key = c.collection_key FROM collection c"
        f" WHERE c.name = {table}.collection AND {table}.collection_key IS DISTINCT FROM c.collection_key"
    )
    op.execute(f"ALTER TABLE {table} ALTER COLUMN collection_key DROP DEFAULT, DROP COLUMN collection")


def drop_sequence(table: sa.Table) -> None:
    """Drops the sequence of a key that is counted in key_counter."""
    key = next(iter(table.primary_key.columns)).name
    default = sa.text("SELECT pg_get_serial_sequence(:table, :key)")
    if op.get_bind().scalar(default, {"table": table.name, "key": key}):
        op.execute(f"ALTER TABLE {table.name} ALTER COLUMN {key} DROP DEFAULT")
        op.execute(f"DROP SEQUENCE {table.name}_{key}_seq")


def add_constraints(table: sa.Table) -> None:
    """Adds the constraints that are new; Postgres holds the rows against them."""
    new = [c for c in table.constraints if isinstance(c, (sa.ForeignKeyConstraint, sa.CheckConstraint))]
    new += [c for c in table.constraints if isinstance(c, sa.UniqueConstraint) and "collection_key" in c.columns]
    for constraint in sorted(new, key=lambda one: str(one.name)):
        op.execute(AddConstraint(constraint))


def comment(table: sa.Table) -> None:
    """Says what a table and its columns hold."""
    op.execute(SetTableComment(table))
    for column in table.columns:
        op.execute(SetColumnComment(column))


# SQLite.


def remake(names: list[str]) -> None:
    """Copies the small tables, replaces the declarations of the others."""
    # A reference to a row that is missing is found at the end, where the message can name its table.
    op.execute("PRAGMA defer_foreign_keys = ON")
    for table in WITH_COLLECTION:
        op.rename_table(table, f"{table}_before")
    op.execute("DROP INDEX ix_document_content_key_document_doc_key")
    op.execute("DROP INDEX ix_document_source_key")
    declare()
    create_collections(names)
    write_json_in_order()
    for name in WITH_COLLECTION:
        metadata.tables[name].create(op.get_bind())
        copy_with_collection(metadata.tables[name])
    for name in reversed(WITH_COLLECTION):
        op.drop_table(f"{name}_before")
    op.create_index("ix_pair_run_key", "pair", ["run_key"])
    require_sound()


def copy_with_collection(table: sa.Table) -> None:
    """Copies the rows of a table, with the key of their collection in place of its name."""
    names = ", ".join(f'"{column.name}"' for column in table.columns if column.name != "collection_key")
    op.execute(
        f"INSERT INTO {table.name} ({names}, collection_key) SELECT {names}, collection_key FROM {table.name}_before"
        f" LEFT JOIN collection ON name = {table.name}_before.collection ORDER BY {table.name}_before.rowid"
    )


def write_json_in_order() -> None:
    """Writes JSON without blanks and its keys in order, which is how it is compared from now on."""
    bind = op.get_bind()
    for table, column in (("source_before", "options"), ("measurement", "neighbours"), ("measurement", "points")):
        for text in bind.scalars(sa.text(f"SELECT DISTINCT {column} FROM {table}")).all():
            ordered = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            change = sa.text(f"UPDATE {table} SET {column} = :ordered WHERE {column} = :text")
            bind.execute(change, {"ordered": ordered, "text": text})


def declare() -> None:
    """Replace the declarations of the tables whose rows do not change.

    Source: https://sqlite.org/lang_altertable.html, section 7, on changes that do not affect the content on disk.
    """
    bind = op.get_bind()
    version = bind.exec_driver_sql("PRAGMA schema_version").scalar_one()
    bind.exec_driver_sql("PRAGMA writable_schema = ON")
    for name in DECLARED:
        declaration = str(CreateTable(metadata.tables[name]).compile(dialect=bind.dialect)).strip()
        change = sa.text("UPDATE sqlite_master SET sql = :declaration WHERE type = 'table' AND name = :name")
        bind.execute(change, {"declaration": declaration, "name": name})
    bind.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    bind.exec_driver_sql("PRAGMA writable_schema = RESET")


def require_sound() -> None:
    """Raises: IndexDamaged: rows break a constraint that their table has from now on."""
    bind = op.get_bind()
    for name in DECLARED:
        table = metadata.tables[name]
        for check in (one for one in table.constraints if isinstance(one, sa.CheckConstraint)):
            wrong = bind.scalar(sa.text(f"SELECT count(*) FROM {name} WHERE NOT ({check.sqltext})"))
            if wrong:
                refuse(f"{wrong} rows of the table {name} break the constraint {check.name}")
    for name, _, parent, _ in bind.exec_driver_sql("PRAGMA foreign_key_check"):
        refuse(f"a row of the table {name} refers to none of the table {parent}")


def refuse(reason: str) -> NoReturn:
    """Raises: IndexDamaged."""
    raise IndexDamaged(url=masked(op.get_bind().engine.url), reason=f"{reason}; repair it with the older lshdb")


def refuse_rows(error: IntegrityError) -> NoReturn:
    """Raises: IndexDamaged: rows break a constraint, as the database found."""
    found: Any = getattr(error.orig, "diag", None)
    if found is None:
        refuse(f"rows break a constraint: {error.orig}")
    refuse(f"rows of the table {found.table_name} break the constraint {found.constraint_name}")
