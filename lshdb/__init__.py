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
    from lshdb.answers.contamination import Nearest
    from lshdb.answers.query import Match
    from lshdb.clusters.clusters import ClusterOptions
    from lshdb.clusters.export import ExportOptions, ExportReport
    from lshdb.clusters.members import Cluster, Member
    from lshdb.errors import LshdbError
    from lshdb.index import Index
    from lshdb.ingest.ingestion import IngestOptions
    from lshdb.model.params import Params
    from lshdb.model.progress import Progress
    from lshdb.model.reports import IngestReport, Pair, Stats, VerifyReport
    from lshdb.model.values import Document
    from lshdb.readers import ReadOptions

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
    "Cluster": "lshdb.clusters.members",
    "ClusterOptions": "lshdb.clusters.clusters",
    "Document": "lshdb.model.values",
    "ExportOptions": "lshdb.clusters.export",
    "ExportReport": "lshdb.clusters.export",
    "Index": "lshdb.index",
    "IngestOptions": "lshdb.ingest.ingestion",
    "IngestReport": "lshdb.model.reports",
    "LshdbError": "lshdb.errors",
    "Match": "lshdb.answers.query",
    "Member": "lshdb.clusters.members",
    "Nearest": "lshdb.answers.contamination",
    "Pair": "lshdb.model.reports",
    "Params": "lshdb.model.params",
    "Progress": "lshdb.model.progress",
    "ReadOptions": "lshdb.readers",
    "Stats": "lshdb.model.reports",
    "VerifyReport": "lshdb.model.reports",
}


def __getattr__(name: str) -> object:
    # Loaded when first used: `lshdb --help` must not wait for NumPy and SQLAlchemy.
    if name not in _HOMES:
        raise AttributeError(f"module 'lshdb' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
