"""The options of an ingest, and how much it handles at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import msgspec

from lshdb.errors import UsageError
from lshdb.model import arguments
from lshdb.model.choices import OnConflict
from lshdb.model.params import check_choice
from lshdb.readers import ReadOptions, record

__all__ = ["Budgets", "IngestOptions"]


@dataclass(frozen=True, slots=True)
class Budgets:
    """How much an ingest handles at a time, and how many rejections. The defaults were measured; tests pass smaller
    values.

    Args:
        planned_files: files that are compared with the index at a time.
        chunk_bytes: bytes of files, or of raw records, that are read and sketched together. With 550 MB of JSON lines,
            more than 2 MB take more memory but are not faster.
        chunk_items: files or records that are read and sketched together.
        chunk_chars: characters of text in a chunk; small compressed files may expand to a hundred times their size.
        batch_documents, batch_bytes: documents and bytes of files in a batch of a small index; see `batches`.
        batch_seconds: how long a batch waits for slow files, and about how much work a kill can cost.
        load_seconds: how long one transaction may collect batches; None for the default of the database.
        late_revisits: revisits that wait for their page until the end of the run. A million take about a gigabyte.
        pool_bytes: with fewer bytes of files, no worker processes are started, because starting one takes as long as
            reading a few MB.
        stored_rejections: the rejections of a source that a run stores; the others are counted by reason.
        source_rejections, rejected_share: a run gives up on a source when more items than this, and more than this
            share of its items so far, were rejected. With a share of 1, it never does.
    """

    planned_files: int = 2_000
    chunk_bytes: int = 4_000_000
    chunk_items: int = 4_000
    chunk_chars: int = 8_000_000
    batch_documents: int = 20_000
    batch_bytes: int = 64_000_000
    batch_seconds: float = 30.0
    load_seconds: float | None = None
    late_revisits: int = 20_000
    pool_bytes: int = 16_000_000
    stored_rejections: int = 1_000
    source_rejections: int = 10_000
    rejected_share: float = 0.5


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How an ingest works.

    Args:
        collection: the documents' namespace.
        prune: remove documents whose file, or whose record in the file, no longer exists.
        read: how sources are read.
        exclude: files to leave out, such as the index itself.
        workers: processes that read and sketch; 1 uses a thread of this process, None chooses the number.
        include, exclude_globs: patterns that files must match, or that files and folders must not match; see `walk`.
        must_exist: whether a missing path is an error; otherwise it is rejected like a bad document.
        follow_links: whether to follow symbolic links inside a folder that lead out of it.
        expire_after: remove documents that no run has seen for this long; None removes nothing.
        on_conflict: what becomes of a document whose id belongs to a different text from another source: ``replace``
            that document, ``keep`` it and leave the new one out, raise an ``error``, or ``qualify`` the new id,
            ``ID@FILE``. None replaces a document from an older file, and qualifies the id otherwise.
        max_rejected: the run stops soon after more documents than this were rejected; None for no limit.
        limit: read only the first documents of the paths, to try a corpus. Those that the index has from an earlier run
            count, too. The next run continues where this one stops.
        budgets: how much is handled at a time.

    Raises: UsageError: the collection, the limit or `on_conflict` is not usable; a limit is given together with
        `prune`; patterns are a single string.
    """

    collection: str = "default"
    prune: bool = False
    read: ReadOptions = field(default_factory=ReadOptions)
    exclude: frozenset[Path] = frozenset()
    workers: int | None = 1
    include: tuple[str, ...] = ()
    exclude_globs: tuple[str, ...] = ()
    must_exist: bool = True
    follow_links: bool = False
    expire_after: timedelta | None = None
    on_conflict: OnConflict | None = None
    max_rejected: int | None = None
    limit: int | None = None
    budgets: Budgets = field(default_factory=Budgets)

    def __post_init__(self) -> None:
        for name in ("include", "exclude_globs"):
            object.__setattr__(self, name, arguments.several(name, getattr(self, name)))
        arguments.collection_name(self.collection)
        arguments.limit("limit", self.limit)
        if self.on_conflict is not None:
            check_choice("on_conflict", self.on_conflict, OnConflict)
        if self.limit is not None and self.prune:
            raise UsageError(reason="--limit does not find all files, so --prune would remove documents that exist")

    @property
    def recorded(self) -> str:
        """What the index records with each source, as JSON. A file that is read with other options counts as changed.

        It includes `on_conflict`, so that choosing to keep both documents brings back those that were replaced.
        """
        read_as = record(self.read)
        if self.on_conflict is None:
            return read_as
        chosen = msgspec.json.decode(read_as) | {"on_conflict": self.on_conflict}
        return msgspec.json.encode(chosen, order="sorted").decode()
