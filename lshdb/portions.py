"""Reads sources and sketches their documents, portion by portion: all of an ingest's work that needs no database.

A portion is small enough to cross to another process and to be held a few times over; a batch, which is
one transaction, is made of several.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from lshdb.errors import BadDocument
from lshdb.model import BandKeys, Document, Rejection, Signatures, Sketches
from lshdb.params import Params
from lshdb.pipeline import require_fit, sketch
from lshdb.readers import Item, Reading, ReadOptions, Skipped, SourceFile

__all__ = ["Portion", "SourceProgress", "Task", "concatenate", "portions"]

# Measured on 550 MB of JSON lines: the rate is flat from 2 MB up, and the memory is not.
PORTION_BYTES: Final = 4_000_000
PORTION_DOCUMENTS: Final = 4_000


@dataclass(frozen=True, slots=True)
class Task:
    """A source to read, from behind its first `position` items on."""

    source: SourceFile
    position: int = 0


@dataclass(frozen=True, slots=True)
class SourceProgress:
    """How far the reading of a source has come with a portion.

    Args:
        source: the file.
        position: items of it read, those of earlier portions and runs included.
        num_documents: documents among those read by this task so far.
        digest: of the whole file; None before it is read to its end, and where it could not be.
        ended: whether there is no more of it to read.
        opened: whether a single byte of it could be read.
    """

    source: SourceFile
    position: int
    num_documents: int
    digest: bytes | None
    ended: bool
    opened: bool


@dataclass(frozen=True, slots=True)
class Portion:
    """Some documents, sketched, and what else was met on the way.

    Args:
        documents: without their texts, which are in `sketches`; aligned with it.
        sources: the progress of every source met, in order; the last one may go on in the next portion.
        num_bytes: bytes of files read.
        num_skipped: files that were not meant for lshdb.
    """

    documents: tuple[Document, ...]
    sketches: Sketches
    rejections: tuple[Rejection, ...]
    sources: tuple[SourceProgress, ...]
    num_bytes: int
    num_skipped: int


def portions(tasks: Iterable[Task], params: Params, options: ReadOptions) -> Iterator[Portion]:
    """The documents of the tasks' sources in their order, sketched."""
    gathered = _Gathering(params)
    for task in tasks:
        for reading in _steps(task, options, params):
            gathered.take(reading)
            if gathered.is_full:
                yield gathered.portion()
    if gathered.holds_any:
        yield gathered.portion()


def concatenate(parts: Iterable[Sketches], params: Params) -> Sketches:
    """Sketches one behind the other."""
    parts = list(parts)
    if not parts:
        return sketch([], params)
    return Sketches(
        digests=np.concatenate([part.digests for part in parts]),
        num_shingles=np.concatenate([part.num_shingles for part in parts]),
        signatures=Signatures(np.concatenate([part.signatures.minima for part in parts]), params.scheme),
        band_keys=BandKeys(np.concatenate([part.band_keys.keys for part in parts])),
        texts=tuple(text for part in parts for text in part.texts or ()) if params.keep_text else None,
    )


@dataclass(slots=True)
class _Step:
    """One item of a source, or None at its end, with the progress behind it."""

    item: Item | None
    progress: SourceProgress
    num_bytes: int


def _steps(task: Task, options: ReadOptions, params: Params) -> Iterator[_Step]:
    reading = Reading(task.source, options)
    position = num_documents = num_bytes = 0
    for item in reading:
        position += 1
        num_documents += isinstance(item, Document)
        if position > task.position:
            fit = _fitting(item, params)
            progress = SourceProgress(task.source, position, num_documents, None, ended=False, opened=True)
            yield _Step(fit, progress, reading.num_bytes - num_bytes)
            num_bytes = reading.num_bytes
    opened = reading.num_bytes > 0 or reading.digest is not None
    last = SourceProgress(task.source, position, num_documents, reading.digest, ended=True, opened=opened)
    yield _Step(None, last, reading.num_bytes - num_bytes)


def _fitting(item: Item, params: Params) -> Item:
    """The item, or its rejection where it is a document that does not suit the index."""
    if not isinstance(item, Document):
        return item
    try:
        require_fit(item, params)
    except BadDocument as error:
        return Rejection(item.source or item.doc_id, item.locator, str(error.reason))
    return item


class _Gathering:
    """A portion while it grows."""

    def __init__(self, params: Params) -> None:
        self._params = params
        self._clear()

    def _clear(self) -> None:
        self._documents: list[Document] = []
        self._rejections: list[Rejection] = []
        self._sources: dict[str, SourceProgress] = {}
        self._num_bytes = self._num_chars = self._num_skipped = 0

    def take(self, step: _Step) -> None:
        """Adds an item."""
        self._sources[step.progress.source.uri] = step.progress
        self._num_bytes += step.num_bytes
        if isinstance(step.item, Document):
            self._documents.append(step.item)
            self._num_chars += len(step.item.text) + sum(map(len, step.item.features or ()))
        elif isinstance(step.item, Rejection):
            self._rejections.append(step.item)
        elif isinstance(step.item, Skipped):
            self._num_skipped += 1

    @property
    def is_full(self) -> bool:
        """Whether it is time to hand it over."""
        items = len(self._documents) + len(self._rejections) + len(self._sources)
        return self._num_chars >= PORTION_BYTES or items >= PORTION_DOCUMENTS

    @property
    def holds_any(self) -> bool:
        """Whether anything was met since the last portion."""
        return bool(self._sources)

    def portion(self) -> Portion:
        """The portion, sketched; the next one begins."""
        sketches = sketch(self._documents, self._params)
        bare = tuple(replace(document, text="", features=None) for document in self._documents)
        made = Portion(
            bare, sketches, tuple(self._rejections), tuple(self._sources.values()), self._num_bytes, self._num_skipped
        )
        self._clear()
        return made
