"""Indexes created by earlier revisions: one SQLite file each, whose rows are copied to Postgres too."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from alembic import command
from sqlalchemy import JSON, Boolean, Engine, MetaData, create_engine, insert

from lshdb.store import upgrade
from lshdb.store.dialects import dialect_for
from lshdb.store.url import parse

__all__ = ["answers_of", "restore"]

ASSETS = Path(__file__).parents[1] / "assets"


def answers_of(name: str) -> dict[str, list[list[Any]]]:
    """The answers of the index at that time: ``pairs`` at its floor, and a ``query``."""
    revision, _, _ = name.partition("_no_")
    found: dict[str, list[list[Any]]] = json.loads((ASSETS / f"{revision}.json").read_text())[name]
    return found


def restore(name: str, url: str, tmp_path: Path) -> None:
    """Restore the index at a URL, at its original revision."""
    path = tmp_path / f"{name}.db" if "://" in url else Path(url)
    path.write_bytes(gzip.decompress((ASSETS / f"{name}.db.gz").read_bytes()))
    if "://" in url:
        parsed = parse(url)
        engine = create_engine(dialect_for(parsed).normalised(parsed))
        _copy(path, engine)
        engine.dispose()


def _copy(path: Path, engine: Engine) -> None:
    """Create the tables with the migrations of that time, and fill them."""
    source = sqlite3.connect(path)
    source.row_factory = sqlite3.Row
    (revision,) = source.execute(f"SELECT version_num FROM {upgrade.VERSION_TABLE}").fetchone()
    with engine.begin() as connection:
        config = upgrade._config()
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        made = MetaData()
        made.reflect(connection, only=lambda table, _: table != upgrade.VERSION_TABLE)
        for table in made.sorted_tables:
            read: dict[str, Callable[[Any], Any]] = {
                column.name: bool if isinstance(column.type, Boolean) else json.loads
                for column in table.columns
                if isinstance(column.type, Boolean | JSON)
            }
            if rows := list(_rows(source, table.name, read)):
                connection.execute(insert(table), rows)
    source.close()


def _rows(source: sqlite3.Connection, table: str, read: Mapping[str, Callable[[Any], Any]]) -> Iterator[dict[str, Any]]:
    # In the order of the keys, descending: a generation merges into one with a greater number.
    keys = [row["name"] for row in source.execute(f"PRAGMA table_info({table})") if row["pk"] == 1]
    for row in source.execute(f"SELECT * FROM {table} ORDER BY {', '.join(keys) or '1'} DESC"):
        yield dict(row) | {name: of_value(row[name]) for name, of_value in read.items()}
