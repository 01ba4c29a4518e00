"""Files that are one document each: list the wanted ones, or delete the dropped ones.

A file is deleted only if it has not changed since it was ingested, nor has the file of the document that is kept in its
place. Limitation: near-duplicates differ, and deleting one loses the difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from lshdb.clusters.rows.judging import Judging, Records
from lshdb.clusters.rows.options import Deletion, DeletionReport
from lshdb.clusters.rows.shards import Shard, Shards
from lshdb.clusters.rows.verdicts import DROPPED, Dropped
from lshdb.errors import UsageError, reason_of
from lshdb.model.values import Rejection
from lshdb.readers import SourceFile, change_of, source_at
from lshdb.store.tables import locators
from lshdb.store.tables.locators import KeptDocument
from lshdb.store.transaction import Transaction

__all__ = ["delete_dropped", "wanted_files"]


def wanted_files(shards: Shards, judging: Judging, is_wanted: Iterable[bool]) -> Iterator[Path]:
    """Yield the files that are wanted as a whole.

    Args: is_wanted: whether files with a verdict are wanted, by verdict.
    Raises: UsageError: a file has many records; SourceUnreadable, NotIngested.
    """
    by_verdict = list(is_wanted)
    for group, _ in shards.groups():
        for shard, judge in judging.judges(group):
            judged = judge()
            if isinstance(judged, Records):
                judged.file.close()
                raise UsageError(reason=f"{shard.file.path} has many records; write those to keep with --out DIR")
            if by_verdict[judged]:
                yield shard.file.path


def delete_dropped(snapshot: Transaction, shards: Shards, dropped: Dropped, *, dry_run: bool) -> DeletionReport:
    """Delete the files whose documents are dropped. Args: dry_run: list them only. Raises: NotIngested."""
    deleting = _Deleting(snapshot, dropped, dry_run=dry_run)
    for group, _ in shards.groups():
        deleting.delete(group)
    return DeletionReport(
        tuple(deleting.deleted), tuple(deleting.spared), deleting.num_bytes, deleting.num_containers, dry_run
    )


class _Deleting:
    def __init__(self, snapshot: Transaction, dropped: Dropped, *, dry_run: bool) -> None:
        self.deleted: list[Deletion] = []
        self.spared: list[Rejection] = []
        self.num_bytes = self.num_containers = 0
        self._snapshot = snapshot
        self._dropped = dropped
        self._dry_run = dry_run

    def delete(self, group: list[Shard]) -> None:
        """Delete the dropped files of a group."""
        doc_keys = self._dropped_files(group)
        kept_keys = self._dropped.kept_for(np.asarray(list(doc_keys.values()), dtype=np.int64))
        kept = locators.kept_documents(self._snapshot, np.unique(kept_keys))
        for (place, _), key in zip(doc_keys.items(), kept_keys.tolist(), strict=True):
            file, instead = group[place].file, kept[key]
            reason = _obstacle(file, instead) or (None if self._dry_run else _unlinked(file))
            if reason is None:
                self.deleted.append(Deletion(file.path, instead.doc_id))
                self.num_bytes += file.size
            else:
                self.spared.append(Rejection(file.uri, "", reason))

    def _dropped_files(self, group: list[Shard]) -> dict[int, int]:
        """Return one document of each dropped file, by the position of the file in the group."""
        keys = [source.source_key for shard in group for source in shard.sources]
        whole = locators.whole_files(self._snapshot, keys)
        found: dict[int, int] = {}
        for place, shard in enumerate(group):
            mine = [whole[source.source_key] for source in shard.sources if source.source_key in whole]
            self.num_containers += not mine and shard.sources[0].num_documents > 1
            if mine and (self._dropped.verdicts(np.asarray(mine, dtype=np.int64)) == DROPPED).all():
                found[place] = mine[0]
        return found


def _obstacle(file: SourceFile, kept: KeptDocument) -> str | None:
    """Return why a file must not be deleted; None if the document that replaces it is safe."""
    if kept.uri is None:
        return f"the document kept for it, {kept.doc_id}, is in no file"
    found = source_at(kept.uri)
    if found is None or not kept.is_there:
        return f"the document kept for it, {kept.doc_id}, no longer exists"
    try:
        if found.path.samefile(file.path):
            return f"it is the same file as the one kept for it, {kept.doc_id}"
    except OSError as error:
        return f"the document kept for it, {kept.doc_id}, cannot be read ({reason_of(error)})"
    change = change_of(found, kept.size, kept.mtime_ns, kept.digest)
    return change and f"the document kept for it, {kept.doc_id}, {change}"


def _unlinked(file: SourceFile) -> str | None:
    """Delete a file. Returns: the reason if it could not be deleted."""
    try:
        now = file.path.stat()
        if (now.st_size, now.st_mtime_ns) != (file.size, file.mtime_ns):
            return "it has just changed"
        file.path.unlink()
    except OSError as error:
        return reason_of(error)
    return None
