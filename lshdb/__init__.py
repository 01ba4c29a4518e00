"""lshdb: a near-duplicate database.

::

    from lshdb import Index

    with Index.ensure("crawl.db") as index:
        index.ingest(["./crawl"])
        for pair in index.pairs(min_sim=0.8):
            print(pair.left, pair.right, pair.similarity)

Everything public is here: `Index`, what its methods take and return, and every error. Classes are loaded when they are
first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from lshdb.errors import (
    AccessDenied,
    BadDocument,
    BelowFloor,
    CaptureUnknown,
    CollectionUnknown,
    CopyDiffers,
    DecisionUnknown,
    DocumentUnknown,
    EngineFailed,
    FileUnusable,
    FolderUnusable,
    IdConflict,
    IndexBusy,
    IndexDamaged,
    IndexExists,
    IndexFaulty,
    IndexMissing,
    IndexNotEmpty,
    IndexOutdated,
    IndexReadOnly,
    IndexRebanded,
    IndexTooNew,
    InvalidParams,
    LshdbError,
    NotAnIndex,
    NothingToRead,
    NotIngested,
    OutputError,
    OutputExists,
    OutputFailed,
    OutputStopped,
    ParamsMismatch,
    PassagesMissing,
    PathMissing,
    PromiseUnreachable,
    PruneRefused,
    ReaderMissing,
    RecordsUnknown,
    SameText,
    SearchIncomplete,
    SessionsPooled,
    SourceError,
    SourceGivenUp,
    SourceRejected,
    SourceUnreadable,
    SpillFailed,
    StoreError,
    StoreFailed,
    StoreUnreachable,
    TextsNotKept,
    TextTooShort,
    TooManyRejected,
    UsageError,
    VersionsDiffer,
    WorkerLost,
)

if TYPE_CHECKING:
    __version__: str
    from lshdb.answers.captures import Capture
    from lshdb.answers.contamination import Nearest
    from lshdb.answers.explain import Comparison, Explanation, Side
    from lshdb.answers.hot_buckets import Hottest
    from lshdb.answers.many import Answer
    from lshdb.answers.query import Arrival, Match
    from lshdb.answers.worddiff import Hunk, WordDiff
    from lshdb.audit import Auditing, Fault, Thoroughness
    from lshdb.audit.verify import Scope
    from lshdb.clusters.catalogue import Catalogue, Listed
    from lshdb.clusters.clusters import ClusterOptions
    from lshdb.clusters.export import ExportOptions, ExportReport
    from lshdb.clusters.members import Cluster, Member
    from lshdb.clusters.portrait import Compared, Portrait
    from lshdb.clusters.rows.options import (
        Deletion,
        DeletionReport,
        FilterOptions,
        FilterReport,
        RecordCounts,
        Taken,
        TakenPassage,
    )
    from lshdb.index import Index
    from lshdb.ingest.buffer import Buffer
    from lshdb.ingest.options import Budgets, IngestOptions
    from lshdb.model.banding import Banding, Similarities, Sizes
    from lshdb.model.decisions import Decision, DecisionsReport
    from lshdb.model.overlap import Overlap, OverlapOptions, SharedRun, Span, TrainingMatch
    from lshdb.model.params import Params, Permutations, Shingling
    from lshdb.model.passages import Boilerplate, CommonRun, Contained, Containing, Passage
    from lshdb.model.progress import Progress
    from lshdb.model.reports import (
        Figures,
        HalfRead,
        IngestReport,
        Measurement,
        Pair,
        Point,
        RejectedSource,
        RunRow,
        Stats,
        StoredPair,
    )
    from lshdb.model.upkeep import (
        BackupReport,
        CopiedTable,
        CopyReport,
        DigestReport,
        Outlook,
        PassagesReport,
        RebandReport,
        Upgrade,
        VacuumReport,
        VerifyCounts,
        VerifyReport,
    )
    from lshdb.model.values import Conflicts, Counts, Document, Rejection
    from lshdb.readers import ReadOptions
    from lshdb.web.async_client import AsyncClient
    from lshdb.web.client import Client

__all__ = [
    "AccessDenied",
    "Answer",
    "Arrival",
    "AsyncClient",
    "Auditing",
    "BackupReport",
    "BadDocument",
    "Banding",
    "BelowFloor",
    "Boilerplate",
    "Budgets",
    "Buffer",
    "Capture",
    "CaptureUnknown",
    "Catalogue",
    "Client",
    "Cluster",
    "ClusterOptions",
    "CollectionUnknown",
    "CommonRun",
    "Compared",
    "Comparison",
    "Conflicts",
    "Contained",
    "Containing",
    "CopiedTable",
    "CopyDiffers",
    "CopyReport",
    "Counts",
    "Decision",
    "DecisionUnknown",
    "DecisionsReport",
    "Deletion",
    "DeletionReport",
    "DigestReport",
    "Document",
    "DocumentUnknown",
    "EngineFailed",
    "Explanation",
    "ExportOptions",
    "ExportReport",
    "Fault",
    "Figures",
    "FileUnusable",
    "FilterOptions",
    "FilterReport",
    "FolderUnusable",
    "HalfRead",
    "Hottest",
    "Hunk",
    "IdConflict",
    "Index",
    "IndexBusy",
    "IndexDamaged",
    "IndexExists",
    "IndexFaulty",
    "IndexMissing",
    "IndexNotEmpty",
    "IndexOutdated",
    "IndexReadOnly",
    "IndexRebanded",
    "IndexTooNew",
    "IngestOptions",
    "IngestReport",
    "InvalidParams",
    "Listed",
    "LshdbError",
    "Match",
    "Measurement",
    "Member",
    "Nearest",
    "NotAnIndex",
    "NotIngested",
    "NothingToRead",
    "Outlook",
    "OutputError",
    "OutputExists",
    "OutputFailed",
    "OutputStopped",
    "Overlap",
    "OverlapOptions",
    "Pair",
    "Params",
    "ParamsMismatch",
    "Passage",
    "PassagesMissing",
    "PassagesReport",
    "PathMissing",
    "Permutations",
    "Point",
    "Portrait",
    "Progress",
    "PromiseUnreachable",
    "PruneRefused",
    "ReadOptions",
    "ReaderMissing",
    "RebandReport",
    "RecordCounts",
    "RecordsUnknown",
    "RejectedSource",
    "Rejection",
    "RunRow",
    "SameText",
    "Scope",
    "SearchIncomplete",
    "SessionsPooled",
    "SharedRun",
    "Shingling",
    "Side",
    "Similarities",
    "Sizes",
    "SourceError",
    "SourceGivenUp",
    "SourceRejected",
    "SourceUnreadable",
    "Span",
    "SpillFailed",
    "Stats",
    "StoreError",
    "StoreFailed",
    "StoreUnreachable",
    "StoredPair",
    "Taken",
    "TakenPassage",
    "TextTooShort",
    "TextsNotKept",
    "Thoroughness",
    "TooManyRejected",
    "TrainingMatch",
    "Upgrade",
    "UsageError",
    "VacuumReport",
    "VerifyCounts",
    "VerifyReport",
    "VersionsDiffer",
    "WordDiff",
    "WorkerLost",
    "__version__",
]

# Where the classes are, but for the errors.
_CLASSES: Final = {
    "lshdb.answers.captures": ("Capture",),
    "lshdb.answers.contamination": ("Nearest",),
    "lshdb.answers.explain": ("Comparison", "Explanation", "Side"),
    "lshdb.answers.hot_buckets": ("Hottest",),
    "lshdb.answers.many": ("Answer",),
    "lshdb.answers.query": ("Arrival", "Match"),
    "lshdb.answers.worddiff": ("Hunk", "WordDiff"),
    "lshdb.audit": ("Auditing", "Fault", "Thoroughness"),
    "lshdb.audit.verify": ("Scope",),
    "lshdb.clusters.catalogue": ("Catalogue", "Listed"),
    "lshdb.clusters.clusters": ("ClusterOptions",),
    "lshdb.clusters.export": ("ExportOptions", "ExportReport"),
    "lshdb.clusters.members": ("Cluster", "Member"),
    "lshdb.clusters.portrait": ("Compared", "Portrait"),
    "lshdb.index": ("Index",),
    "lshdb.ingest.buffer": ("Buffer",),
    "lshdb.ingest.options": ("Budgets", "IngestOptions"),
    "lshdb.model.banding": ("Banding", "Similarities", "Sizes"),
    "lshdb.model.decisions": ("Decision", "DecisionsReport"),
    "lshdb.model.overlap": ("Overlap", "OverlapOptions", "SharedRun", "Span", "TrainingMatch"),
    "lshdb.model.params": ("Params", "Permutations", "Shingling"),
    "lshdb.model.passages": ("Boilerplate", "CommonRun", "Contained", "Containing", "Passage"),
    "lshdb.model.progress": ("Progress",),
    "lshdb.model.reports": (
        "Figures",
        "HalfRead",
        "IngestReport",
        "Measurement",
        "Pair",
        "Point",
        "RejectedSource",
        "RunRow",
        "Stats",
        "StoredPair",
    ),
    "lshdb.model.upkeep": (
        "BackupReport",
        "CopiedTable",
        "CopyReport",
        "DigestReport",
        "Outlook",
        "PassagesReport",
        "RebandReport",
        "Upgrade",
        "VacuumReport",
        "VerifyCounts",
        "VerifyReport",
    ),
    "lshdb.model.values": ("Conflicts", "Counts", "Document", "Rejection"),
    "lshdb.readers": ("ReadOptions",),
    "lshdb.web.async_client": ("AsyncClient",),
    "lshdb.web.client": ("Client",),
    "lshdb.clusters.rows.options": (
        "Deletion",
        "DeletionReport",
        "FilterOptions",
        "FilterReport",
        "RecordCounts",
        "Taken",
        "TakenPassage",
    ),
}
_HOMES: Final = {name: module for module, names in _CLASSES.items() for name in names}


def __getattr__(name: str) -> object:
    # Loaded when first used: `lshdb --help` must not wait for NumPy and SQLAlchemy.
    if name == "__version__":
        return import_module("importlib.metadata").version("lshdb")
    if name not in _HOMES:
        raise AttributeError(f"module 'lshdb' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
