"""lshdb: a near-duplicate database.

::

    from lshdb import Index

    with Index.ensure("crawl.db", {}) as index:
        index.ingest(["./crawl"])
        for pair in index.pairs(min_sim=0.8):
            print(pair.left, pair.right, pair.similarity)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lshdb.answering import Match
    from lshdb.errors import LshdbError
    from lshdb.index import Index
    from lshdb.ingestion import IngestOptions
    from lshdb.model import Document
    from lshdb.params import Params
    from lshdb.progress import Progress
    from lshdb.readers import ReadOptions
    from lshdb.reports import IngestReport, Pair, Stats, VerifyReport

__all__ = [
    "Document",
    "Index",
    "IngestOptions",
    "IngestReport",
    "LshdbError",
    "Match",
    "Pair",
    "Params",
    "Progress",
    "ReadOptions",
    "Stats",
    "VerifyReport",
]

_HOMES = {
    "Document": "model",
    "Index": "index",
    "IngestOptions": "ingestion",
    "IngestReport": "reports",
    "LshdbError": "errors",
    "Match": "answering",
    "Pair": "reports",
    "Params": "params",
    "Progress": "progress",
    "ReadOptions": "readers",
    "Stats": "reports",
    "VerifyReport": "reports",
}


def __getattr__(name: str) -> object:
    # Loaded when first used: `lshdb --help` must not wait for NumPy and SQLAlchemy.
    if name not in _HOMES:
        raise AttributeError(f"module 'lshdb' has no attribute {name!r}")
    return getattr(import_module(f"lshdb.{_HOMES[name]}"), name)
