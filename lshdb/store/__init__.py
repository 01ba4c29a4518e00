"""The index as SQL tables, in SQLite or Postgres: the only part that knows SQLAlchemy.

`Store` opens an index and hands out transactions; the modules `documents`, `sources`, `runs`, `graph` and
`answers` are what is asked inside one.
"""

from __future__ import annotations

from lshdb.store.store import Store
from lshdb.store.tables.graph import HotBuckets
from lshdb.store.tables.sources import SourceState
from lshdb.store.transaction import Transaction

__all__ = ["HotBuckets", "SourceState", "Store", "Transaction"]
