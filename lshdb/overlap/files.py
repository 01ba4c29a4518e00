"""The documents in files and folders: to search for, or searched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np
from msgspec import Struct

from lshdb.errors import BadDocument
from lshdb.ingest.ingest import staffed
from lshdb.ingest.make import Files, Task, Work, cut
from lshdb.ingest.options import Budgets, IngestOptions
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.model.values import Document, Rejection
from lshdb.overlap.probing import BATCH_BYTES, Probe, Probed, batches, joined
from lshdb.overlap.training import Part, called
from lshdb.readers import Item, ReadOptions, SourceFile, made, walk
from lshdb.sketch.sketch import text_of
from lshdb.sketch.texts import encode, pack

__all__ = ["FileTraining", "documents", "found_files"]


def found_files(paths: Sequence[str], rejected: Callable[[Rejection], None]) -> Iterator[SourceFile]:
    """Yield the files among paths and below them. Args: rejected: called with every path that cannot be read."""
    for found in walk(paths):
        if isinstance(found, SourceFile):
            yield found
        elif isinstance(found, Rejection):
            rejected(found)


def documents(
    items: Iterable[Item], params: Params, rejected: Callable[[Rejection], None]
) -> Iterator[tuple[str, bytes]]:
    """Yield (id, text in UTF-8) of each document. Args: rejected: called with every item that cannot be read."""
    for item in items:
        if isinstance(item, Rejection):
            rejected(item)
        elif isinstance(item, Document):
            try:
                text = encode(text_of(item, params))
            except BadDocument as error:
                rejected(Rejection(item.source or item.doc_id, item.locator, error.reason))
                continue
            yield item.doc_id, text


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
        self._reading = IngestOptions(read=options, workers=workers, budgets=budgets or Budgets())

    def parts(self, probe: Probe) -> Iterator[Part]:
        """Yield the texts with N-grams that are sought."""
        tasks, workers = staffed(map(Task, found_files(self._paths, self._progress.rejected)), self._reading)
        works = cut(tasks, self._reading.read, self._reading.budgets)
        search = partial(_searched, probe=probe, params=self._params, options=self._reading.read)
        num_read, first_key = 0, 0
        for searched in called(search, works, workers):
            probed = searched.probed
            num_read += probed.num_read
            self._progress.busy(f"search  {num_read:,} training documents read")
            for rejection in searched.rejections:
                self._progress.rejected(rejection)
            if probed.keys:
                part = _part(probed, first_key)
                yield part
                first_key += len(part.keys)
                self._names |= {int(part.keys[row]): probed.keys[row] for row in np.flatnonzero(part.accepted).tolist()}

    def names(self, key: int, count: int) -> list[str]:
        """Return the id of this document."""
        return [self._names[key]][:count]


def _part(probed: Probed[str], first_key: int) -> Part:
    count = len(probed.keys)
    keys = np.arange(first_key, first_key + count)
    return Part(keys, np.ones(count, np.int64), probed.hits, probed.frames, np.zeros(count, np.bool_))


class _Searched(Struct, frozen=True):
    """What was found in some files, by document id."""

    probed: Probed[str]
    rejections: Sequence[Rejection]


def _searched(work: Work, probe: Probe, params: Params, options: ReadOptions) -> _Searched:
    """Return the documents of a work that have N-grams that are sought. Worker processes call this."""
    rejections: list[Rejection] = []
    texts = documents(_items(work, options), params, rejections.append)
    return _Searched(joined([_probed(batch, probe) for batch in batches(texts, BATCH_BYTES)]), rejections)


def _probed(texts: Sequence[tuple[str, bytes]], probe: Probe) -> Probed[str]:
    found = probe.found_in([text for _, text in texts])
    met = [texts[row] for row in found.texts.tolist()]
    return Probed([name for name, _ in met], found.hits, [pack(text) for _, text in met], len(texts))


def _items(work: Work, options: ReadOptions) -> Iterator[Item]:
    if isinstance(work, Files):
        return (made(step, options) for task in work.tasks for step in task.reading(options).steps())
    return (made(step, options) for step in work.steps)
