"""Reads sources and sketches their documents: all of an ingest's work that needs no database.

Several workers share it without a word between them: each goes through all tasks in order, cuts them into stretches at
the same places, and reads what is in its own stretches only. Of a file larger than a stretch every worker reads the
bytes, but parses and sketches only its own stretches. So the portions, taken in the order of their stretches, are the
same for any number of workers.

Limitation: a file that is changed while it is read may be cut at different places; `Portion.stretch` shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from lshdb.errors import BadDocument
from lshdb.ingest.engines.share import Share
from lshdb.ingest.portions import STRETCH_BYTES, Portion, SourceProgress, Task
from lshdb.model.params import Params
from lshdb.model.values import Document, Rejection
from lshdb.readers import Deferred, Item, Reading, ReadOptions, made
from lshdb.sketch.sketch import Sketching, begin, require_fit

__all__ = ["portions"]

STRETCH_ITEMS: Final = 4_000

# Characters of text in a portion: a stretch of compressed files may hold a hundred times its size.
PORTION_CHARS: Final = 8_000_000


def portions(tasks: Iterable[Task], share: Share, params: Params, options: ReadOptions) -> Iterator[Portion]:
    """The documents of the share's stretches in their order, sketched.

    The texts of a portion are packed, in another thread, while the next one is read.
    """
    held: _Begun | None = None
    for gathered in _Cutting(share, params, options).gatherings(tasks):
        following = gathered.begin()
        if held is not None:
            yield held.portion()
        held = following
    if held is not None:
        yield held.portion()


class _Cutting:
    """Cuts tasks into stretches, and reads those of its share."""

    def __init__(self, share: Share, params: Params, options: ReadOptions) -> None:
        self._share = share
        self._params = params
        self._options = options
        self._stretch = 0

    def gatherings(self, tasks: Iterable[Task]) -> Iterator[_Gathering]:
        """What becomes the portions of the share."""
        for group in _groups(tasks):
            yield from self._cut(group[0]) if group[0].is_large else self._whole(group)

    def _whole(self, group: list[Task]) -> Iterator[_Gathering]:
        """A stretch of small files, which only its owner opens."""
        if self._share.owns(self._stretch):
            gathered = self._gathering()
            for task in group:
                reading = _TaskReading(task, self._options, self._params)
                for item in reading.items():
                    gathered.take(reading.made(item))
                    if gathered.is_full:
                        yield gathered.noting(reading)
                        gathered = self._gathering()
                gathered = gathered.noting(reading)
            yield gathered.closing()
        self._stretch += 1

    def _cut(self, task: Task) -> Iterator[_Gathering]:
        """The stretches of a large file."""
        reading, gathered = _TaskReading(task, self._options, self._params), self._gathering()
        for item in reading.items():
            if self._share.owns(self._stretch):
                gathered.take(reading.made(item))
                if gathered.is_full:
                    yield gathered.noting(reading)
                    gathered = self._gathering()
            if reading.has_stretched:
                yield from self._closed(gathered.noting(reading))
                gathered = self._gathering()
        yield from self._closed(gathered.noting(reading))

    def _closed(self, gathered: _Gathering) -> Iterator[_Gathering]:
        if self._share.owns(self._stretch):
            yield gathered.closing()
        self._stretch += 1

    def _gathering(self) -> _Gathering:
        return _Gathering(self._stretch, self._params)


def _groups(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    """Tasks that make a stretch together, or a large one alone."""
    group: list[Task] = []
    num_bytes = 0
    for task in tasks:
        if group and (task.is_large or num_bytes >= STRETCH_BYTES or len(group) >= STRETCH_ITEMS):
            yield group
            group, num_bytes = [], 0
        group.append(task)
        num_bytes += task.source.size
        if task.is_large:
            yield group
            group, num_bytes = [], 0
    if group:
        yield group


class _TaskReading:
    """The reading of one task's source, and how far it has come."""

    def __init__(self, task: Task, options: ReadOptions, params: Params) -> None:
        self._task = task
        self._params = params
        self._options = options
        self._reading = Reading(task.source, options)
        self._position = self._num_documents = self._num_bytes = 0
        self._stretch_start = self._stretch_items = 0
        self._ended = False

    def items(self) -> Iterator[Item | Deferred]:
        """What follows the task's position; what is deferred costs next to nothing if it is not made."""
        for item in self._reading.steps():
            self._position += 1
            if self._position > self._task.position:
                self._stretch_items += 1
                yield item
        self._ended = True

    def made(self, item: Item | Deferred) -> Item:
        """The item itself; a document that does not suit the index is rejected."""
        item = made(item, self._options)
        if not isinstance(item, Document):
            return item
        try:
            require_fit(item, self._params)
        except BadDocument as error:
            return Rejection(item.source or item.doc_id, item.locator, str(error.reason))
        self._num_documents += 1
        return item

    @property
    def has_stretched(self) -> bool:
        """Whether a stretch's worth was read since this was last true."""
        position = self._reading.num_bytes
        if position - self._stretch_start < STRETCH_BYTES and self._stretch_items < STRETCH_ITEMS:
            return False
        self._stretch_start, self._stretch_items = position, 0
        return True

    def progress(self) -> SourceProgress:
        """How far the reading has come; documents are counted since the last call."""
        num_documents, self._num_documents = self._num_documents, 0
        return SourceProgress(
            source=self._task.source,
            position=self._position,
            num_documents=num_documents,
            digest=self._reading.digest,
            ended=self._ended,
            opened=self._reading.num_bytes > 0 or self._reading.digest is not None,
        )

    def bytes_since(self) -> int:
        """Bytes of the file read since the last call."""
        before, self._num_bytes = self._num_bytes, self._reading.num_bytes
        return self._num_bytes - before


class _Gathering:
    """A portion while it grows."""

    def __init__(self, stretch: int, params: Params) -> None:
        self._stretch = stretch
        self._closes = False
        self._params = params
        self._documents: list[Document] = []
        self._rejections: list[Rejection] = []
        self._sources: list[SourceProgress] = []
        self._num_bytes = self._num_chars = self._num_skipped = 0

    def take(self, item: Item) -> None:
        """Adds an item."""
        if isinstance(item, Document):
            self._documents.append(item)
            self._num_chars += len(item.text) + sum(map(len, item.features or ()))
        elif isinstance(item, Rejection):
            self._rejections.append(item)
        else:
            self._num_skipped += 1

    def noting(self, reading: _TaskReading) -> _Gathering:
        """Itself, with how far a source has come."""
        self._sources.append(reading.progress())
        self._num_bytes += reading.bytes_since()
        return self

    def closing(self) -> _Gathering:
        """Itself, as the last one of its stretch."""
        self._closes = True
        return self

    @property
    def is_full(self) -> bool:
        """Whether it is as large as a portion may be."""
        return self._num_chars >= PORTION_CHARS

    def begin(self) -> _Begun:
        """Sketches it, but for the packing of its texts."""
        sketching = begin(self._documents, self._params)
        portion = Portion(
            stretch=self._stretch,
            closes=self._closes,
            documents=tuple(map(_bare, self._documents)),
            sketches=sketching.unpacked,
            rejections=tuple(self._rejections),
            sources=tuple(self._sources),
            num_bytes=self._num_bytes,
            num_skipped=self._num_skipped,
        )
        return _Begun(portion, sketching)


@dataclass(frozen=True, slots=True)
class _Begun:
    """A portion whose texts are being packed."""

    unpacked: Portion
    sketching: Sketching

    def portion(self) -> Portion:
        return replace(self.unpacked, sketches=self.sketching.sketches())


def _bare(document: Document) -> Document:
    """The document without its text, which is in the sketches."""
    return Document(
        document.doc_id, "", None, document.source, document.locator, document.num_replaced, document.dated_at
    )
