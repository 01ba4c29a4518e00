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
    from lshdb.contamination import Nearest
    from lshdb.deduplication import ClusterOptions
    from lshdb.errors import LshdbError
    from lshdb.exporting import ExportOptions, ExportReport
    from lshdb.index import Index
    from lshdb.ingestion import IngestOptions
    from lshdb.membership import Cluster, Member
    from lshdb.model import Document
    from lshdb.params import Params
    from lshdb.progress import Progress
    from lshdb.readers import ReadOptions
    from lshdb.reports import IngestReport, Pair, Stats, VerifyReport

__all__ = [
    "Cluster",
    "ClusterOptions",
    "Document",
    "ExportOptions",
    "ExportReport",
    "Index",
    "IngestOptions",
    "IngestReport",
    "LshdbError",
    "Match",
    "Member",
    "Nearest",
    "Pair",
    "Params",
    "Progress",
    "ReadOptions",
    "Stats",
    "VerifyReport",
]

_HOMES = {
    "Cluster": "membership",
    "ClusterOptions": "deduplication",
    "Document": "model",
    "ExportOptions": "exporting",
    "ExportReport": "exporting",
    "Index": "index",
    "IngestOptions": "ingestion",
    "IngestReport": "reports",
    "LshdbError": "errors",
    "Match": "answering",
    "Member": "membership",
    "Nearest": "contamination",
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
