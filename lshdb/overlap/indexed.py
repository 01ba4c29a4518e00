"""The texts of an index, searched: those that it keeps, and the others from their sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain, islice
from typing import Final

import numpy as np

from lshdb.linking.rereading import read_again
from lshdb.model.calls import calls_ahead, num_cores
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.overlap.probing import BATCH_BYTES, Probe, Probed, batches, joined
from lshdb.overlap.training import Part, called
from lshdb.readers import ReadOptions
from lshdb.sketch.texts import unpack_utf8
from lshdb.store.tables import collections, lost, overlaps
from lshdb.store.tables.lost import LostSource
from lshdb.store.transaction import Transaction

__all__ = ["CollectionTraining"]

# Compressed texts have less than half of their size.
BATCH_FRAMES: Final = BATCH_BYTES * 2 // 5
# Sources that are read again by one call to a process.
SOURCES_A_CALL: Final = 64


class CollectionTraining:
    """The texts of some collections of an index.

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

    def _kept(self, probe: Probe) -> Iterator[Probed[int]]:
        texts = batches(overlaps.kept_texts(self._snapshot, self._collections), BATCH_FRAMES)
        # Decompression and the kernels release the interpreter lock.
        with closing(calls_ahead(partial(_probed, probe=probe), texts, self._workers)) as probed:
            yield from probed

    def _lost(self, probe: Probe) -> Iterator[Probed[int]]:
        if self._params.keep_text:
            return
        sources = lost.sources_within(self._snapshot, self._collections)
        groups = iter(lambda: list(islice(sources, SOURCES_A_CALL)), [])
        search = partial(_probed_sources, probe=probe, params=self._params, options=self._options)
        yield from called(search, groups, self._workers)

    def _part(self, probed: Probed[int]) -> Part:
        keys = np.asarray(probed.keys, np.int64)
        held = overlaps.holders(self._snapshot, self._collections, keys)
        weights = np.asarray([held[key] for key in probed.keys], np.int64)
        return Part(keys, weights, probed.hits, probed.frames, np.zeros(len(keys), np.bool_))


def _probed(texts: Sequence[tuple[int, bytes]], probe: Probe) -> Probed[int]:
    """Return those of some compressed texts that have N-grams that are sought."""
    found = probe.found_in([unpack_utf8(frame) for _, frame in texts])
    met = [texts[row] for row in found.texts.tolist()]
    return Probed([key for key, _ in met], found.hits, [frame for _, frame in met], len(texts))


def _probed_sources(sources: Sequence[LostSource], probe: Probe, params: Params, options: ReadOptions) -> Probed[int]:
    """Return the texts of sources, read again, that have N-grams that are sought. Worker processes call this."""
    texts = (text for source in sources for text in read_again(source, params, options))
    return joined([_probed(batch, probe) for batch in batches(texts, BATCH_FRAMES)])
