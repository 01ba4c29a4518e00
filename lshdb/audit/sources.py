"""Read documents again from their sources, and compare them with the index.

A source is examined if it was read to its end and has not changed since, judging as an ingest does. The others are
counted. A sample reads random sources until it has read enough documents or bytes, and the last one of them in part;
sources of which the index has fewer documents than were read come first.

Limitations:
- Documents that a program added have no source.
- If documents were removed by their ids since their source was read, it is not known which ones.
- A document whose id another source has by now may be missing unnoticed.
- A date later than that of the record is no fault, because a revisit may have set it.
- If a reader has changed since, its documents differ, and reading them again is the right repair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.audit.origin import Origin, SourceFault, of_source
from lshdb.model.params import Params
from lshdb.readers import Reading, ReadOptions, SourceFile, change_of, recorded, source_at
from lshdb.store.tables import provenance
from lshdb.store.tables.provenance import AuditedSource
from lshdb.store.transaction import Transaction

__all__ = ["SOURCE_FAULTS", "Sources"]

SOURCE_FAULTS: Final = frozenset(
    {"document-differs", "date-differs", "locator-differs", "document-unknown", "document-missing"}
    | {"document-unseen", "source-count", "source-digest", "source-excess"}
)

# Bytes of files that a sample reads for each document: about the size of a page. It bounds the time for crawls of
# images, and for a single large document.
SAMPLED_BYTES: Final = 100_000


class Sources:
    """The sources of an index while they are read again.

    Args: sample: the number of documents to read; None for all.
    Attributes:
        num_sources, num_documents: the number of sources and documents that were read.
        unexamined: the number of sources that could not be examined, by reason.
        share: the share of the sources that is done.
    """

    def __init__(self, snapshot: Transaction, params: Params, sample: int | None, chance: np.random.Generator) -> None:
        self.num_sources = self.num_documents = 0
        self.unexamined = Counter[str]()
        self.share = 0.0
        self._snapshot = snapshot
        self._params = params
        self._sample = sample
        self._chance = chance
        self._num_bytes = 0

    def faults(self, *, only_short: bool = False) -> Iterator[SourceFault]:
        """Yield the faults. Args: only_short: only in sources of which the index has fewer documents than were read."""
        sizes = np.concatenate([np.empty((0, 3), np.int64), *provenance.sizes(self._snapshot)])
        for key, number, stored in sizes[sizes[:, 2] > sizes[:, 1]].tolist():
            detail = f"{stored:,} documents of it are stored, and {number:,} were read"
            yield of_source("source-excess", key, detail)
        is_short = sizes[:, 2] < sizes[:, 1]
        keys = sizes[is_short, 0] if only_short else self._ordered(sizes[:, 0], is_short)
        if unread := provenance.num_unread(self._snapshot):
            self.unexamined["unfinished"] = unread
        for number, source in enumerate(provenance.sources(self._snapshot, keys), 1):
            if self._is_enough():
                return
            yield from self._examine(source)
            self.share = number / len(keys)

    def _ordered(self, keys: NDArray[np.int64], is_short: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the sources to read, in this order."""
        if self._sample is None:
            return keys
        order = np.argsort(self._chance.random(len(keys)) - is_short)
        return keys[order[: self._sample]]

    def _is_enough(self) -> bool:
        if self._sample is None:
            return False
        return self.num_documents >= self._sample or self._num_bytes >= self._sample * SAMPLED_BYTES

    def _examine(self, source: AuditedSource) -> Iterator[SourceFault]:
        file = source_at(source.uri)
        if file is None:
            self.unexamined["gone"] += 1
        elif change_of(file, source.size, source.mtime_ns, source.digest):
            self.unexamined["changed"] += 1
        else:
            self.num_sources += 1
            yield from self._compared(file, source)

    def _compared(self, file: SourceFile, source: AuditedSource) -> Iterator[SourceFault]:
        origin, is_whole = Origin(self._snapshot, source, self._params), True
        options = ReadOptions().suited(self._params)
        reading = Reading(file, recorded(source.options, options))
        before_documents, before_bytes = self.num_documents, self._num_bytes
        for item in reading:
            if self._is_enough():
                is_whole = False
                break
            yield from origin.add(item)
            self.num_documents = before_documents + origin.num_documents
            self._num_bytes = before_bytes + reading.num_bytes
        yield from origin.compare()
        if not is_whole:
            return
        if reading.digest is None:
            self.unexamined["unreadable"] += 1
        elif source.digest is not None and reading.digest != source.digest:
            detail = "the file has another digest, but the same size and time"
            yield of_source("source-digest", source.source_key, detail)
        else:
            yield from origin.end()
