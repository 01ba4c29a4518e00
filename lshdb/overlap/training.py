"""Where the searched texts come from: collections of an index, or files.

Texts pass in parts, in order. Of each part, only the texts with an N-gram that is sought are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from typing import Final, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from lshdb.errors import BadDocument
from lshdb.ingest.ingest import staffed
from lshdb.ingest.make import Files, Task, Work, cut
from lshdb.ingest.options import Budgets, IngestOptions
from lshdb.ingest.workers import in_processes
from lshdb.linking.calls import calls_ahead, num_cores
from lshdb.linking.rereading import read_again
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.model.values import Document, Rejection
from lshdb.overlap.probing import Probe
from lshdb.readers import Item, Reading, ReadOptions, SourceFile, made, walk
from lshdb.sketch.compiled import compile_ahead
from lshdb.sketch.sketch import text_of
from lshdb.sketch.texts import encode, pack, unpack_utf8
from lshdb.store.tables import collections, lost, overlaps
from lshdb.store.tables.lost import LostSource
from lshdb.store.transaction import Transaction

__all__ = ["CollectionTraining", "FileTraining", "JoinedTraining", "Part", "Training"]

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")

# Compressed bytes that are probed at a time: about 1 MB of text. The arrays of the kernels are 20 times as large.
PART_BYTES: Final = 400_000
# Sources that are read again by one call to a process.
SOURCES_A_CALL: Final = 64


@dataclass(frozen=True, slots=True)
class Part:
    """Texts that have N-grams that are sought.

    Args:
        keys: a key of each text, int64, shape (n,); no key occurs in two parts.
        weights: how many documents each text is, int64, shape (n,).
        hits: (text, first word, N-gram), int64, shape (m, 3); texts are counted from 0 to n - 1.
        frames: the texts, compressed.
    """

    keys: NDArray[np.int64]
    weights: NDArray[np.int64]
    hits: NDArray[np.int64]
    frames: Sequence[bytes]


class Training(Protocol):
    """Texts to search."""

    @property
    def num_unread(self) -> int:
        """The number of texts of the index that could not be read again, once all parts were read."""
        ...

    def parts(self, probe: Probe) -> Iterator[Part]:
        """Yield the texts with N-grams that are sought."""
        ...

    def names(self, key: int, count: int) -> list[str]:
        """Return the ids of the first `count` documents with this text."""
        ...


class CollectionTraining:
    """The texts of some collections of an index: those that it keeps, and the others from their sources.

    Args: options: how to read sources again.
    """

    def __init__(
        self,
        snapshot: Transaction,
        names: Sequence[str],
        params: Params,
        options: ReadOptions,
        workers: int | None,
        progress: Progress,
    ) -> None:
        self.num_unread = 0
        self._snapshot = snapshot
        self._collections = [key for name in names if (key := collections.key_of(snapshot, name)) is not None]
        self._params = params
        self._options = options
        self._workers = workers or num_cores()
        self._progress = progress

    def parts(self, probe: Probe) -> Iterator[Part]:
        """Yield the texts with N-grams that are sought."""
        num_texts, num_read = overlaps.num_contents(self._snapshot, self._collections), 0
        for probed in chain(self._kept(probe), self._lost(probe)):
            num_read += probed.num_read
            self._progress.advanced("search", num_read / max(num_texts, 1))
            if probed.keys:
                yield self._part(probed)
        self.num_unread = num_texts - num_read

    def names(self, key: int, count: int) -> list[str]:
        """Return the ids of the first `count` documents with this text."""
        return overlaps.first_ids(self._snapshot, self._collections, key, count)

    def _kept(self, probe: Probe) -> Iterator[_Probed]:
        texts = _batches(overlaps.kept_texts(self._snapshot, self._collections), PART_BYTES)
        # Decompression and the kernels release the interpreter lock.
        with closing(calls_ahead(partial(_probed, probe=probe), texts, self._workers)) as probed:
            yield from probed

    def _lost(self, probe: Probe) -> Iterator[_Probed]:
        if self._params.keep_text:
            return
        sources = lost.sources_within(self._snapshot, self._collections)
        groups = iter(lambda: list(islice(sources, SOURCES_A_CALL)), [])
        search = partial(_probed_sources, probe=probe, params=self._params, options=self._options)
        yield from _called(search, groups, self._workers)

    def _part(self, probed: _Probed) -> Part:
        keys = np.asarray(probed.keys, np.int64)
        held = overlaps.holders(self._snapshot, self._collections, keys)
        weights = np.asarray([held[key] for key in probed.keys], np.int64)
        return Part(keys, weights, probed.hits, probed.frames)


class FileTraining:
    """The texts of the documents in files and folders. Items that cannot be read are reported as rejected."""

    num_unread = 0

    def __init__(
        self,
        paths: Sequence[str],
        params: Params,
        options: ReadOptions,
        workers: int | None,
        progress: Progress,
        budgets: Budgets | None = None,
    ) -> None:
        self._paths = paths
        self._params = params
        self._progress = progress
        self._names: dict[int, str] = {}
        self._num_found = 0
        self._reading = IngestOptions(read=options, workers=workers, budgets=budgets or Budgets())

    def parts(self, probe: Probe) -> Iterator[Part]:
        """Yield the texts with N-grams that are sought."""
        tasks, workers = staffed(self._tasks(), self._reading)
        works = cut(tasks, self._reading.read, self._reading.budgets)
        search = partial(_probed_work, probe=probe, params=self._params, options=self._reading.read)
        num_read = 0
        for searched in _called(search, works, workers):
            num_read += searched.probed.num_read
            self._progress.busy(f"search  {num_read:,} training documents read")
            self._reject(searched.rejections)
            if searched.probed.keys:
                yield self._part(searched)

    def names(self, key: int, count: int) -> list[str]:
        """Return the id of this document."""
        return [self._names[key]][:count]

    def _tasks(self) -> Iterator[Task]:
        for found in walk(self._paths):
            if isinstance(found, SourceFile):
                yield Task(found)
            elif isinstance(found, Rejection):
                self._reject([found])

    def _reject(self, rejections: Iterable[Rejection]) -> None:
        for rejection in rejections:
            self._progress.rejected(rejection)

    def _part(self, searched: _Searched) -> Part:
        probed = searched.probed
        keys = np.arange(self._num_found, self._num_found + len(probed.keys))
        self._num_found += len(keys)
        self._names |= dict(zip(keys.tolist(), searched.names, strict=True))
        return Part(keys, np.ones(len(keys), np.int64), probed.hits, probed.frames)


class JoinedTraining:
    """The texts of several places, one after the other."""

    def __init__(self, places: Sequence[Training]) -> None:
        self._places = places

    @property
    def num_unread(self) -> int:
        """The number of texts of the index that could not be read again, once all parts were read."""
        return sum(place.num_unread for place in self._places)

    def parts(self, probe: Probe) -> Iterator[Part]:
        """Yield the texts with N-grams that are sought."""
        for number, place in enumerate(self._places):
            for part in place.parts(probe):
                # Two places may use the same key.
                yield replace(part, keys=part.keys * len(self._places) + number)

    def names(self, key: int, count: int) -> list[str]:
        """Return the ids of the first `count` documents with this text."""
        place_key, number = divmod(key, len(self._places))
        return self._places[number].names(place_key, count)


@dataclass(frozen=True, slots=True)
class _Probed:
    """The texts of a batch that have N-grams that are sought. Args: num_read: the number of texts in the batch."""

    keys: Sequence[int]
    hits: NDArray[np.int64]
    frames: Sequence[bytes]
    num_read: int


@dataclass(frozen=True, slots=True)
class _Searched:
    """A work of files. Args: names: the ids of the documents found."""

    probed: _Probed
    names: Sequence[str]
    rejections: Sequence[Rejection]


def _batches(texts: Iterable[tuple[int, bytes]], most: int) -> Iterator[list[tuple[int, bytes]]]:
    """Yield the texts in batches of about `most` bytes."""
    batch: list[tuple[int, bytes]] = []
    num_bytes = 0
    for key, frame in texts:
        batch.append((key, frame))
        num_bytes += len(frame)
        if num_bytes >= most:
            yield batch
            batch, num_bytes = [], 0
    if batch:
        yield batch


def _probed(texts: Sequence[tuple[int, bytes]], probe: Probe) -> _Probed:
    """Return those of some compressed texts that have N-grams that are sought."""
    found = probe.found_in([unpack_utf8(frame) for _, frame in texts])
    met = [texts[row] for row in found.texts.tolist()]
    return _Probed([key for key, _ in met], found.hits, [frame for _, frame in met], len(texts))


def _probed_sources(sources: Sequence[LostSource], probe: Probe, params: Params, options: ReadOptions) -> _Probed:
    """Return the texts of sources, read again, that have N-grams that are sought. Worker processes call this."""
    texts = (text for source in sources for text in read_again(source, params, options))
    return _joined([_probed(batch, probe) for batch in _batches(texts, PART_BYTES)])


def _joined(parts: Sequence[_Probed]) -> _Probed:
    hits = [np.empty((0, 3), np.int64)]
    before = 0
    for part in parts:
        hits.append(part.hits + np.array([before, 0, 0]))
        before += len(part.keys)
    return _Probed(
        [key for part in parts for key in part.keys],
        np.concatenate(hits),
        [frame for part in parts for frame in part.frames],
        sum(part.num_read for part in parts),
    )


@dataclass(slots=True)
class _Batch:
    """Documents of a work, and what was found in those before."""

    names: list[str] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    num_bytes: int = 0


def _probed_work(work: Work, probe: Probe, params: Params, options: ReadOptions) -> _Searched:
    """Return the documents of a work that have N-grams that are sought. Worker processes call this."""
    rejections: list[Rejection] = []
    names: list[str] = []
    parts: list[_Probed] = []
    for batch in _documents(work, params, options, rejections):
        found = probe.found_in(batch.texts)
        met = found.texts.tolist()
        names += [batch.names[row] for row in met]
        parts.append(_Probed(met, found.hits, [pack(batch.texts[row]) for row in met], len(batch.texts)))
    return _Searched(_joined(parts), names, rejections)


def _documents(work: Work, params: Params, options: ReadOptions, rejections: list[Rejection]) -> Iterator[_Batch]:
    """Yield the documents of a work in batches; add the rejected items to a list."""
    batch = _Batch()
    for item in _items(work, options):
        if isinstance(item, Rejection):
            rejections.append(item)
        if not isinstance(item, Document):
            continue
        try:
            text = encode(text_of(item, params))
        except BadDocument as error:
            rejections.append(Rejection(item.source or item.doc_id, item.locator, error.reason))
            continue
        batch.names.append(item.doc_id)
        batch.texts.append(text)
        batch.num_bytes += len(text)
        if batch.num_bytes >= 2 * PART_BYTES:
            yield batch
            batch = _Batch()
    if batch.texts:
        yield batch


def _items(work: Work, options: ReadOptions) -> Iterator[Item]:
    if isinstance(work, Files):
        return (item for task in work.tasks for item in Reading(task.source, options))
    return (made(step, options) for step in work.steps)


def _called(function: Callable[[_Given], _Made], given: Iterable[_Given], workers: int) -> Generator[_Made, None, None]:
    """Yield ``map(function, given)``, from worker processes if there are several."""
    if workers == 1:
        yield from map(function, given)
        return
    compile_ahead()
    with closing(in_processes(function, given, workers)) as found:
        yield from found
