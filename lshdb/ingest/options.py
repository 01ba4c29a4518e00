"""What a caller can choose about an ingest, and how much it handles at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from lshdb.readers import ReadOptions

__all__ = ["Budgets", "IngestOptions"]


@dataclass(frozen=True, slots=True)
class Budgets:
    """How much an ingest handles at a time. The defaults were measured; tests pass smaller values.

    Args:
        planned_files: files that are compared with the index at a time.
        chunk_bytes: bytes of files, or of raw records, that are read and sketched together. On 550 MB of JSON lines
            the rate is flat from 2 MB up, and the memory is not.
        chunk_items: files or records that are read and sketched together.
        chunk_chars: characters of text in a chunk; small compressed files may hold a hundred times their size.
        batch_documents, batch_bytes: documents and bytes of files in a batch of a small index; see `write`.
        batch_seconds: how long a batch waits for slow files; a kill costs the work of about that time.
        load_seconds: how long one transaction may take in batches; None for what the database prefers.
        pool_bytes: bytes of files from which on worker processes pay: starting one takes as long as reading some MB.
    """

    planned_files: int = 2_000
    chunk_bytes: int = 4_000_000
    chunk_items: int = 4_000
    chunk_chars: int = 8_000_000
    batch_documents: int = 20_000
    batch_bytes: int = 64_000_000
    batch_seconds: float = 30.0
    load_seconds: float | None = None
    pool_bytes: int = 16_000_000


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How an ingest works.

    Args:
        collection: the documents' namespace.
        prune: remove documents whose file, or whose record in its file, is gone.
        read: how sources are read.
        exclude: files to pass over, such as the index itself.
        workers: processes that read and sketch; 1 uses a thread of this process, None starts as many as pay.
        include, exclude_globs: patterns that files must match, or that files and folders must not; see `walk`.
        must_exist: whether a missing path is an error; if not, it is one more rejection.
        expire_after: remove what no run has seen for this long; None removes nothing.
        budgets: how much is handled at a time.
    """

    collection: str = "default"
    prune: bool = False
    read: ReadOptions = field(default_factory=ReadOptions)
    exclude: frozenset[Path] = frozenset()
    workers: int | None = 1
    include: tuple[str, ...] = ()
    exclude_globs: tuple[str, ...] = ()
    must_exist: bool = True
    expire_after: timedelta | None = None
    budgets: Budgets = field(default_factory=Budgets)
