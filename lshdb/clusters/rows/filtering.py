"""One filter: check all files, then write the wanted records of each.

::

    shards      find the files, and what the index knows about them
    verdicts    which records of a file are kept
    formats     write the wanted ones
    folder      put the file in its place

Reads one snapshot of the index. A file is copied unchanged if none of its records are left out.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_128_hexdigest

from lshdb.clusters.clusters import Deduplication
from lshdb.clusters.rows.boilerplate import FrequentPassages
from lshdb.clusters.rows.folder import OutFolder
from lshdb.clusters.rows.judging import Judged, Judging, Records
from lshdb.clusters.rows.opened import Task
from lshdb.clusters.rows.options import FilterOptions, FilterReport, RecordCounts, Taken
from lshdb.clusters.rows.payloads import NamedRecords, payloads
from lshdb.clusters.rows.repetitions import drop_repetitions
from lshdb.clusters.rows.shards import Shard, Shards
from lshdb.clusters.rows.verdicts import DROPPED, KEPT, REJECTED, UNKNOWN, Dropped, Verdicts, counted, wanted
from lshdb.errors import (
    NothingToRead,
    NotIngested,
    OutputFailed,
    RecordsUnknown,
    SourceUnreadable,
    UsageError,
    reason_of,
)
from lshdb.model.progress import Progress
from lshdb.model.values import Rejection
from lshdb.passages.frequent import frequent_ngrams
from lshdb.readers import ReadOptions, require_existing
from lshdb.readers.bytes.streams import PositionedFile, StreamDamaged, open_regular
from lshdb.store.store import Store
from lshdb.store.tables import clusters
from lshdb.store.transaction import Transaction

__all__ = ["Filtering", "dropped_documents"]

COPIED_BYTES: Final = 1 << 20
# The count that each verdict increases, for a file that is one document or none.
COUNTED: Final = {UNKNOWN: "num_unknown", KEPT: "num_kept", DROPPED: "num_dropped", REJECTED: "num_rejected"}


def dropped_documents(
    snapshot: Transaction, store: Store, min_sim: float, options: FilterOptions, progress: Progress
) -> Dropped:
    """Return the dropped documents. By default, each is similar to the document kept for it, as in an export.

    The record with the page of a kept revisit is not dropped.
    """
    chosen = options.clusters.close_to_kept()
    found = Deduplication(snapshot, store.params, min_sim, chosen, progress).clusters()
    progress.done()
    return Dropped(found, payloads(snapshot, found))


class Filtering:
    """Writes the wanted records of files to a folder.

    Args: read: the read options that the index determines.
    """

    def __init__(
        self, store: Store, min_sim: float, options: FilterOptions, read: ReadOptions, progress: Progress
    ) -> None:
        self._store = store
        self._min_sim = min_sim
        self._options = options
        self._read = read
        self._progress = progress
        self._is_wanted = wanted(options)
        self._counts = RecordCounts()
        self._num_files = self._num_present = self._num_left_out = 0
        self._failed: list[Rejection] = []
        self._passages: FrequentPassages | None = None
        self._taken = Taken()
        self._named = NamedRecords()
        # The keys of the sources that were written, and of those that have the documents that records repeat.
        self._source_keys: set[int] = set()
        self._repeated: Counter[int] = Counter()

    def filter(self, snapshot: Transaction, paths: Sequence[str | Path], out: Path) -> FilterReport:
        """Write the wanted records of all files under the paths.

        Raises: PathMissing, NotIngested, NothingToRead, OutputExists, OutputFailed: before anything is written;
            OutputStopped, RecordsUnknown.
        """
        started = time.monotonic()
        require_existing(paths)
        require_apart(out, paths)
        folder = OutFolder(out, force=self._options.force)
        shards = Shards(snapshot, paths, self._options, self._store.files)
        num_bytes = _check(shards, folder, paths)
        dropped = dropped_documents(snapshot, self._store, self._min_sim, self._options, self._progress)
        self._passages = self._frequent_passages(snapshot, dropped)
        with folder:
            self._write_all(snapshot, shards, folder, dropped, num_bytes)
        self._progress.done()
        return FilterReport(
            counts=self._counts,
            num_elsewhere=dropped.num_elsewhere + self._num_repeated_elsewhere,
            num_files=self._num_files,
            num_present=self._num_present,
            num_left_out=self._num_left_out,
            failed=tuple(self._failed),
            out=out,
            seconds=time.monotonic() - started,
            taken=self._taken if self._passages else None,
            num_dangling=self._named.num_dropped,
        )

    def _frequent_passages(self, snapshot: Transaction, dropped: Dropped) -> FrequentPassages | None:
        """Return what to take out of the records: the passages that many kept documents share."""
        least, params = self._options.without_boilerplate, self._store.params
        if least is None:
            return None
        every = clusters.contents(snapshot, self._options.clusters.within)
        kept = np.setdiff1d(every, dropped.content_keys, assume_unique=True)
        return FrequentPassages(frequent_ngrams(snapshot, params, kept, least, self._progress), params)

    def _write_all(
        self, snapshot: Transaction, shards: Shards, folder: OutFolder, dropped: Dropped, num_bytes: int
    ) -> None:
        judging = Judging(snapshot, dropped, self._read)
        num_done = 0
        for group, unwalked in shards.groups():
            self._failed += unwalked
            for shard, judge in judging.judges(group):
                try:
                    self._write(snapshot, folder, shard, judge())
                except SourceUnreadable as error:
                    self._failed.append(Rejection(shard.file.uri, "", error.reason))
                num_done += shard.file.size
                self._progress.advanced("filter", num_done / max(num_bytes, 1))

    @property
    def _num_repeated_elsewhere(self) -> int:
        return sum(number for key, number in self._repeated.items() if key not in self._source_keys)

    def _write(self, snapshot: Transaction, folder: OutFolder, shard: Shard, judged: Judged) -> None:
        if self._passages is not None:
            _require_rewritable(shard, judged)
        if isinstance(judged, Records):
            with closing(judged.file):
                about, params = judged.verdicts, self._store.params
                self._repeated.update(drop_repetitions(snapshot, shard, about, self._read, params))
                counts = self._write_records(folder, shard, judged)
        else:
            counts = self._write_file(folder, shard, judged)
        self._num_files += 1
        self._source_keys.update(source.source_key for source in shard.sources)
        self._counts += counts

    def _write_records(self, folder: OutFolder, shard: Shard, records: Records) -> RecordCounts:
        made_of = self._made_of(shard, records.verdicts)
        if (before := folder.before(shard, made_of)) is not None:
            self._num_present += 1
            self._taken += before.taken
            return before.counts
        task = Task(
            records.verdicts, self._is_wanted, records.options, self._options.level, self._passages, named=self._named
        )
        with folder.writing(shard) as out:
            found = self._copied(shard, records, out)
            if found is None:
                found = records.format.write(records.file, task, out)
        counts, taken = counted(found), task.tally.taken()
        self._require_fit(shard, records.verdicts, counts)
        folder.complete(shard, made_of, counts, taken)
        self._taken += taken
        return counts

    def _copied(self, shard: Shard, records: Records, out: BinaryIO) -> NDArray[np.int64] | None:
        """Copy a file if all of its records are wanted, and return its counts; otherwise return None.

        The index knows the counts, because the file has not changed since it was ingested.
        """
        if self._passages is not None:
            return None
        if records.format.unit is None or records.verdicts.count(DROPPED) or not self._is_wanted[UNKNOWN]:
            return None
        found = records.verdicts.counts.copy()
        found[UNKNOWN] = max(shard.sources[0].position - int(found.sum()), 0)
        try:
            with open_regular(shard.file.path) as file:
                shutil.copyfileobj(PositionedFile(file), out, COPIED_BYTES)
        except StreamDamaged as error:
            raise SourceUnreadable(path=shard.file.path, reason=reason_of(error)) from None
        return found

    def _write_file(self, folder: OutFolder, shard: Shard, verdict: int) -> RecordCounts:
        """Copy a file that is one document, or none, if it is wanted."""
        counts = RecordCounts(**{COUNTED[verdict]: 1})
        self._require_known(shard, counts)
        if not self._is_wanted[verdict]:
            folder.leave_out(shard)
            self._num_left_out += 1
        elif folder.has_copy(shard):
            self._num_present += 1
        else:
            folder.copy(shard, counts, link=self._options.link)
        return counts

    def _made_of(self, shard: Shard, about: Verdicts) -> str:
        """Return a digest of everything that determines the output for a file."""
        taken_out = b"" if self._passages is None else self._passages.digest()
        parts = [
            about.digest(),
            self._is_wanted.tobytes(),
            taken_out,
            *(source.digest or b"" for source in shard.sources),
        ]
        return xxh3_128_hexdigest(b"\0".join(parts))

    def _require_fit(self, shard: Shard, about: Verdicts, counts: RecordCounts) -> None:
        """Raises: NotIngested: the records are not those that the index knows; RecordsUnknown."""
        status = shard.file.path.stat()
        if (status.st_size, status.st_mtime_ns) != (shard.file.size, shard.file.mtime_ns):
            raise NotIngested(path=shard.file.path, reason="has changed while it was read")
        if (counts.num_kept, counts.num_dropped) != (about.count(KEPT), about.count(DROPPED)):
            raise NotIngested(path=shard.file.path, reason="does not have the records that the index knows from it")
        self._require_known(shard, counts)

    def _require_known(self, shard: Shard, counts: RecordCounts) -> None:
        number = counts.num_unknown + counts.num_rejected
        if number and self._options.unknown == "error":
            raise RecordsUnknown(path=shard.file.path, number=number)


def _require_rewritable(shard: Shard, judged: Judged) -> None:
    """Raises: UsageError: passages cannot be removed from this file."""
    way_out = "leave it out with --exclude"
    if not isinstance(judged, Records):
        if judged in (KEPT, DROPPED):
            raise UsageError(
                reason=f"--without-boilerplate takes files of many records, not {shard.file.path}; {way_out}"
            )
    elif judged.format.unit is None or judged.options.text_format != "text" or judged.options.kind == "set":
        judged.file.close()
        reason = f"--without-boilerplate cannot rewrite the texts of {shard.file.path}, which are not plain text"
        raise UsageError(reason=f"{reason}; {way_out}")


def _check(shards: Shards, folder: OutFolder, paths: Sequence[str | Path]) -> int:
    """Check everything that can be checked before anything is written. Returns: the bytes of all files."""
    num_bytes = num_files = 0
    # Two folders may have files of the same name.
    places: dict[Path, Path] | None = {} if len(paths) > 1 else None
    for group, _ in shards.groups():
        for shard in group:
            folder.require_place(shard)
            if places is not None and (other := places.setdefault(shard.relative, shard.file.path)) != shard.file.path:
                reason = f"{other} and {shard.file.path} would be the same file; filter them to different folders"
                raise UsageError(reason=reason)
            num_bytes += shard.file.size
            num_files += 1
    if not num_files:
        raise NothingToRead(path=", ".join(map(str, paths)), reason="no file that could be opened")
    return num_bytes


def require_apart(out: Path, paths: Sequence[str | Path]) -> None:
    """Raises: OutputFailed: the folder lies inside one that is read."""
    real = Path(os.path.realpath(out))
    for path in map(Path, paths):
        if path.is_dir() and real.is_relative_to(os.path.realpath(path)):
            raise OutputFailed(path=out, reason=f"it is in {path}, which is read")
