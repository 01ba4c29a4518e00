"""Judge the files to filter: which are single documents, and which records of the others are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct

from lshdb.clusters.rows import verdicts
from lshdb.clusters.rows.formats import FORMATS, Format
from lshdb.clusters.rows.opened import OpenedFile, opened
from lshdb.clusters.rows.shards import Shard
from lshdb.clusters.rows.verdicts import DROPPED, KEPT, REJECTED, UNKNOWN, Dropped, Verdicts
from lshdb.errors import UsageError
from lshdb.readers import ReadOptions, recorded
from lshdb.store.tables import locators
from lshdb.store.transaction import Transaction

__all__ = ["Judged", "Judging", "Records"]


class Records(Struct, frozen=True):
    """An open file of records, and the verdicts about them."""

    file: OpenedFile
    format: Format
    options: ReadOptions
    verdicts: Verdicts


# The locator of a rejection of a file as a whole.
WHOLE_FILE: Final = ""

# The records of a file, or the verdict about a file that is one document or none.
Judged: TypeAlias = Records | int


class Judging:
    """Judges files. Args: read: the read options that the index determines."""

    def __init__(self, snapshot: Transaction, dropped: Dropped, read: ReadOptions) -> None:
        self._snapshot = snapshot
        self._dropped = dropped
        self._read = read

    def judges(self, group: Sequence[Shard]) -> Iterator[tuple[Shard, Callable[[], Judged]]]:
        """Yield each file with a function that judges it, which may raise SourceUnreadable and UsageError."""
        sources = [source for shard in group for source in shard.sources]
        whole = locators.whole_files(self._snapshot, [source.source_key for source in sources])
        lacking = [source for source in sources if source.source_key not in whole]
        rejected: dict[str, list[str]] = {}
        for uri, locator in locators.rejected_records(self._snapshot, lacking):
            rejected.setdefault(uri, []).append(locator)
        for shard in group:
            doc_keys = [whole[source.source_key] for source in shard.sources if source.source_key in whole]
            if doc_keys:
                yield shard, partial(self._whole, doc_keys)
            else:
                yield shard, partial(self._judged, shard, rejected.get(shard.file.uri, []))

    def _whole(self, doc_keys: Sequence[int]) -> int:
        found = self._dropped.verdicts(np.asarray(doc_keys, dtype=np.int64))
        return KEPT if KEPT in found else DROPPED

    def _judged(self, shard: Shard, rejected: Sequence[str]) -> Judged:
        source = shard.sources[0]
        options = recorded(source.options, self._read)
        file = opened(shard.file, options)
        form = FORMATS.get(file.format or "")
        if form is None:
            file.close()
            if source.position > 1 and source.num_documents:
                reason = f"the records of {file.format} files cannot be filtered, such as {shard.file.path}"
                raise UsageError(reason=f"{reason}; leave them out with --exclude")
            return REJECTED if rejected else UNKNOWN
        if form.unit is None:
            about = verdicts.named(self._snapshot, shard.sources, self._dropped, rejected)
        else:
            about = verdicts.numbered(self._snapshot, shard.sources, form.unit, self._dropped, rejected)
            if WHOLE_FILE in rejected and not about.counts.any() and form.num_records is not None:
                about = verdicts.all_rejected(form.num_records(file), form.unit)
        return Records(file, form, options, about)
