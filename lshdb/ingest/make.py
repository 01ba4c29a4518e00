"""Step two of an ingest: read sources and sketch their documents. Knows no database.

`cut` splits large files. Of uncompressed JSON lines it only finds parts, which `make` reads like small files. It reads
others once, in order, and splits them into ranges of raw records. `make` turns parts, ranges and small files into
chunks of sketched documents. A thread of this process and worker processes call the same function, so the chunks are
the same for any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from lshdb.errors import BadDocument
from lshdb.ingest.options import Budgets
from lshdb.model.params import Params
from lshdb.model.values import Document, Rejection, Sketches, num_characters
from lshdb.readers import (
    NO_READER,
    Damaged,
    Deferred,
    Item,
    Part,
    PartReading,
    Reading,
    ReadOptions,
    Revisit,
    SourceFile,
    line_parts,
    made,
)
from lshdb.sketch.sketch import Sketching, begin, require_fit

__all__ = [
    "Chunk",
    "Files",
    "Left",
    "Records",
    "SourceProgress",
    "Tally",
    "Task",
    "Work",
    "cut",
    "make",
    "make_first",
    "make_whole",
]


class Task(Struct, frozen=True):
    """A source to read, except for its first `position` items; or only a part of it."""

    source: SourceFile
    position: int = 0
    part: Part | None = None

    def reading(self, options: ReadOptions) -> Reading | PartReading:
        """Return the items of the source, or of the part, including the first ones."""
        return Reading(self.source, options) if self.part is None else PartReading(self.source, self.part, options)


class SourceProgress(Struct, frozen=True):
    """How far a source has been read at the end of a chunk.

    Args:
        source: the file.
        num_items: the number of its items in this chunk.
        num_documents: the number of its documents in this chunk.
        digest: the digest of the whole file; None if it was not read to its end, or is damaged.
        ended: whether the file was read to its end.
        opened: whether at least one byte of it could be read, and there is a reader for it.
    """

    source: SourceFile
    num_items: int
    num_documents: int
    digest: bytes | None
    ended: bool
    opened: bool


class Files(Struct, frozen=True):
    """Small files, or a part of a large one, which `make` opens and reads."""

    tasks: tuple[Task, ...]


class Records(Struct, frozen=True):
    """A range of consecutive items of one source, as its reader yields them.

    Args:
        steps: the items, most of which are not parsed yet.
        progress: how far the source has been read at the end of this range; its documents are not counted yet.
        num_bytes: bytes of the file that were read for this range.
    """

    steps: Sequence[Item | Deferred]
    progress: SourceProgress
    num_bytes: int

    def __reduce__(self) -> tuple[object, ...]:
        # By columns: pickling thousands of objects separately would take as long as parsing them.
        columns = tuple(zip(*map(_step_fields, self.steps), strict=True))
        return _unpickled_records, (columns, self.progress, self.num_bytes)


Work: TypeAlias = Files | Records


class Chunk(Struct, frozen=True):
    """Sketched documents, with the rejections, skipped items and progress of their sources.

    Args:
        documents: aligned with `sketches`, which contains their texts.
        sources: the progress of every source, in order.
        num_bytes: bytes of files read.
        num_skipped: files and records that are not meant for lshdb.
        revisits: captures whose page another record holds.
    """

    documents: tuple[Document, ...]
    sketches: Sketches
    rejections: tuple[Rejection, ...]
    sources: tuple[SourceProgress, ...]
    num_bytes: int
    num_skipped: int
    revisits: tuple[Revisit, ...] = ()

    def __reduce__(self) -> tuple[object, ...]:
        # By columns: pickling thousands of documents separately would take as long as sketching them.
        columns = tuple(zip(*map(_document_fields, self.documents), strict=True))
        return _unpickled_chunk, (
            columns,
            self.sketches,
            self.rejections,
            self.sources,
            self.num_bytes,
            self.num_skipped,
            self.revisits,
        )


class Tally(Struct):
    """The numbers of documents and rejections of a source that were read in this run, and its first rejection."""

    num_documents: int = 0
    num_rejected: int = 0
    first: Rejection | None = None

    def count(self, item: Item) -> None:
        """Count an item."""
        self.num_documents += isinstance(item, Document)
        if isinstance(item, Rejection):
            self.num_rejected += 1
            self.first = self.first or item

    def is_flood(self, budgets: Budgets) -> bool:
        """Return whether the source is given up; see `floods`."""
        most = budgets.rejected_share * (self.num_documents + self.num_rejected)
        return self.num_rejected > max(budgets.source_rejections, most)


def cut(
    tasks: Iterable[Task],
    options: ReadOptions,
    budgets: Budgets,
    is_given_up: Callable[[str], bool] = lambda _uri: False,
) -> Iterator[Work]:
    """Yield the tasks as works: parts or ranges of each large file, or several small files together.

    Args: is_given_up: returns whether to stop reading the source with this URI.
    """
    small: list[Task] = []
    num_bytes = 0
    for task in tasks:
        is_large = task.source.size > budgets.chunk_bytes or task.source.is_stdin
        if not is_large:
            small.append(task)
            num_bytes += task.source.size
        if small and (is_large or num_bytes >= budgets.chunk_bytes or len(small) >= budgets.chunk_items):
            yield Files(tuple(small))
            small, num_bytes = [], 0
        if is_large:
            yield from _divided(task, options, budgets, is_given_up)
    if small:
        yield Files(tuple(small))


def make(works: Iterable[Work], params: Params, options: ReadOptions, budgets: Budgets) -> Iterator[Chunk]:
    """Yield the sketched chunks of works, in order.

    While a chunk is made, another thread digests and compresses the texts of the previous one.
    """
    held: _Begun | None = None
    for work in works:
        for growing in _grown(work, params, options, budgets):
            begun = growing.begin()
            if held is not None:
                yield held.chunk()
            held = begun
    if held is not None:
        yield held.chunk()


def make_whole(work: Work, params: Params, options: ReadOptions, budgets: Budgets) -> list[Chunk]:
    """Return all chunks of one work. Worker processes call this function; this module imports no database for them."""
    return list(make([work], params, options, budgets))


def make_first(
    tasks: Iterable[Task], left: Left, params: Params, options: ReadOptions, budgets: Budgets
) -> Iterator[Chunk]:
    """Yield the sketched chunks of the first documents, in order, until the limit is reached.

    The source that contains the next document ends there, as if the run had been killed: the next run continues it.
    """
    growing = _Growing(params, options)
    for task in tasks:
        reading, tally = _TaskReading(task, options), Tally()
        for step in reading.steps():
            item = made(step, options)
            if isinstance(item, Document) and not left.take():
                growing.note(reading.progress(num_untaken=1), reading.bytes_since())
                break
            tally.count(growing.add(item))
            if tally.is_flood(budgets):
                growing.note(reading.progress(), reading.bytes_since())
                break
            if growing.is_full(budgets):
                growing.note(reading.progress(), reading.bytes_since())
                yield growing.begin().chunk()
                growing = _Growing(params, options)
        else:
            growing.note(reading.progress(), reading.bytes_since())
    if growing.has_sources:
        yield growing.begin().chunk()


class Left:
    """How many documents a run may still read.

    Attributes: is_reached: whether documents were left unread for this reason.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.is_reached = False

    def take(self, count: int = 1) -> bool:
        """Take documents, if any is left. Returns: whether any was."""
        self.is_reached = self.is_reached or self.number <= 0
        if not self.is_reached:
            self.number -= count
        return not self.is_reached


def _divided(task: Task, options: ReadOptions, budgets: Budgets, is_given_up: Callable[[str], bool]) -> Iterator[Work]:
    """Yield a large file in parts, or the items after the task's position in ranges."""
    has_parts = False
    # Where a part begins in the items of a file is known only when those before it were read.
    if task.part is None and task.position == 0 and not task.source.is_stdin:
        # Of equal size, so that the workers end at about the same time.
        num_parts = -(-task.source.size // budgets.chunk_bytes)
        for part in line_parts(task.source, options, -(-task.source.size // num_parts)):
            has_parts = True
            yield Files((Task(task.source, part=part),))
            if is_given_up(task.source.uri):
                return
    if not has_parts:
        yield from _ranges(task, options, budgets, is_given_up)


def _ranges(
    task: Task, options: ReadOptions, budgets: Budgets, is_given_up: Callable[[str], bool]
) -> Iterator[Records]:
    """Yield the items of a large file after the task's position; at least one range, which may be empty."""
    reading = _TaskReading(task, options)
    taken: list[Item | Deferred] = []
    size = 0
    for step in reading.steps():
        taken.append(step)
        size += len(step.raw) if isinstance(step, Deferred) else _num_chars(step)
        if size >= budgets.chunk_bytes or len(taken) >= budgets.chunk_items:
            yield Records(taken, reading.progress(), reading.bytes_since())
            taken, size = [], 0
            if is_given_up(task.source.uri):
                return
    yield Records(taken, reading.progress(), reading.bytes_since())


class _TaskReading:
    """The reading of one task's source, and its progress."""

    def __init__(self, task: Task, options: ReadOptions) -> None:
        self._task = task
        self._reading = task.reading(options)
        self._num_items = self._num_bytes = 0
        self._ended = self._lacks_reader = self._is_damaged = False

    def steps(self) -> Iterator[Item | Deferred]:
        """Yield the items after the task's position."""
        for position, step in enumerate(self._reading.steps(), 1):
            self._lacks_reader = isinstance(step, Rejection) and step.kind == NO_READER
            self._is_damaged = self._is_damaged or isinstance(step, Damaged)
            if position > self._task.position:
                self._num_items += 1
                yield step
        self._ended = self._task.part is None or self._reading.digest is not None

    def progress(self, num_untaken: int = 0) -> SourceProgress:
        """Return how far the source has been read since the last call; documents are counted when they are made.

        Args: num_untaken: how many of the last items are not taken yet; they count the next time.
        """
        num_items, self._num_items = self._num_items - num_untaken, num_untaken
        return SourceProgress(
            source=self._task.source,
            num_items=num_items,
            num_documents=0,
            digest=None if self._is_damaged else self._reading.digest,
            ended=self._ended,
            opened=(self._reading.num_bytes > 0 or self._reading.digest is not None) and not self._lacks_reader,
        )

    def bytes_since(self) -> int:
        """Return the bytes of the file read since the last call."""
        before, self._num_bytes = self._num_bytes, self._reading.num_bytes
        return self._num_bytes - before


def _grown(work: Work, params: Params, options: ReadOptions, budgets: Budgets) -> Iterator[_Growing]:
    """Yield the unfinished chunks of a work: one for a range, and several for files with much text or many records."""
    growing = _Growing(params, options)
    if isinstance(work, Records):
        for step in work.steps:
            growing.take(step)
        growing.note(work.progress, work.num_bytes)
    else:
        for task in work.tasks:
            if growing.is_full(budgets):
                yield growing
                growing = _Growing(params, options)
            reading, tally = _TaskReading(task, options), Tally()
            for step in reading.steps():
                if growing.is_full(budgets):
                    growing.note(reading.progress(num_untaken=1), reading.bytes_since())
                    yield growing
                    growing = _Growing(params, options)
                tally.count(growing.take(step))
                # Whether a file is given up depends on all of its parts.
                if task.part is None and tally.is_flood(budgets):
                    break
            growing.note(reading.progress(), reading.bytes_since())
    yield growing


class _Growing:
    """A chunk while it grows."""

    def __init__(self, params: Params, options: ReadOptions) -> None:
        self._num_chars = self._num_items = 0
        self._params = params
        self._options = options
        self._documents: list[Document] = []
        self._rejections: list[Rejection] = []
        self._revisits: list[Revisit] = []
        self._sources: list[SourceProgress] = []
        self._num_bytes = self._num_skipped = self._num_noted = 0

    def take(self, step: Item | Deferred) -> Item:
        """Make an item of a step, and add it. Returns: as `add`."""
        return self.add(made(step, self._options))

    def add(self, item: Item) -> Item:
        """Add an item. Returns: the item, or the rejection of a document that does not fit the index."""
        if isinstance(item, Document):
            try:
                require_fit(item, self._params)
            except BadDocument as error:
                item = Rejection(item.source or item.doc_id, item.locator, str(error.reason))
        self._num_items += 1
        if isinstance(item, Document):
            self._documents.append(item)
            self._num_chars += _num_chars(item)
        elif isinstance(item, Rejection):
            self._rejections.append(item)
            # A small compressed file may hold millions of them.
            self._num_chars += len(item.source) + len(item.reason)
        elif isinstance(item, Revisit):
            self._revisits.append(item)
        else:
            self._num_skipped += 1
        return item

    def is_full(self, budgets: Budgets) -> bool:
        """Return whether the next item belongs in another chunk."""
        return self._num_chars >= budgets.chunk_chars or self._num_items >= budgets.chunk_items

    @property
    def has_sources(self) -> bool:
        """Whether the progress of any source was added."""
        return bool(self._sources)

    def note(self, progress: SourceProgress, num_bytes: int) -> None:
        """Add the progress of a source, with the documents and bytes since the last note."""
        self._sources.append(replace(progress, num_documents=len(self._documents) - self._num_noted))
        self._num_noted = len(self._documents)
        self._num_bytes += num_bytes

    def begin(self) -> _Begun:
        """Sketch the chunk, but do not wait until its texts are digested and compressed."""
        sketching = begin(self._documents, self._params)
        incomplete = partial(
            Chunk,
            documents=tuple(_document(*_document_fields(document)) for document in self._documents),
            rejections=tuple(self._rejections),
            sources=tuple(self._sources),
            num_bytes=self._num_bytes,
            num_skipped=self._num_skipped,
            revisits=tuple(self._revisits),
        )
        return _Begun(incomplete, sketching)


class _Begun(Struct, frozen=True):
    """A chunk whose texts are being digested and compressed."""

    incomplete: Callable[..., Chunk]
    sketching: Sketching

    def chunk(self) -> Chunk:
        return self.incomplete(sketches=self.sketching.sketches())


def _num_chars(item: Item) -> int:
    return num_characters(item) if isinstance(item, Document) else 0


def _document_fields(document: Document) -> tuple[Any, ...]:
    """Return the fields of a document that a chunk keeps. The sketches contain its text."""
    return document.doc_id, document.source, document.locator, document.num_replaced, document.dated_at


def _document(doc_id: str, source: str | None, locator: str, num_replaced: int, dated_at: int | None) -> Document:
    return Document(doc_id, "", None, source, locator, num_replaced, dated_at)


def _unpickled_chunk(columns: Sequence[Sequence[Any]], *others: Any) -> Chunk:
    return Chunk(tuple(map(_document, *columns)) if columns else (), *others)


def _step_fields(step: Item | Deferred) -> tuple[Any, ...]:
    if isinstance(step, Deferred):
        return step.source, step.locator, step.raw, step.parse
    return step, None, None, None


def _unpickled_records(columns: Sequence[Sequence[Any]], progress: SourceProgress, num_bytes: int) -> Records:
    return Records(list(map(_step, *columns)) if columns else [], progress, num_bytes)


def _step(source: Any, locator: Any, raw: Any, parse: Any) -> Item | Deferred:
    return source if parse is None else Deferred(source, locator, raw, parse)
