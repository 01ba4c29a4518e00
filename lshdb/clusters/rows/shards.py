"""Find the files to filter, and make sure that they have not changed since the ingest.

Reads the index and the file system. Opens a file only if its modification time has changed since the ingest.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct

from lshdb.clusters.rows.options import FilterOptions
from lshdb.errors import NotIngested
from lshdb.model.values import Rejection
from lshdb.readers import STDIN_NAME, SourceFile, change_of, walk
from lshdb.readers.naming import uri_path
from lshdb.store.tables import collections, locators
from lshdb.store.tables.locators import IndexedSource
from lshdb.store.transaction import Transaction

__all__ = ["Shard", "Shards"]

# The number of files that are looked up in the index at a time.
PLANNED_FILES: Final = 1_000


class Shard(Struct, frozen=True):
    """A file to filter.

    Args:
        relative: its path below the folder that the caller passed; its name if the caller passed the file.
        sources: its entry in each collection that has it.
    """

    file: SourceFile
    relative: Path
    sources: tuple[IndexedSource, ...]


class Shards:
    """The files under some paths, with their sources in the index.

    Args: exclude: files to leave out, such as the index itself.
    """

    def __init__(
        self, snapshot: Transaction, paths: Sequence[str | Path], options: FilterOptions, exclude: frozenset[Path]
    ) -> None:
        self._snapshot = snapshot
        self._paths = [path for path in paths if str(path) != STDIN_NAME]
        self._options = options
        self._exclude = exclude
        within = options.clusters.within
        self._collections = collections.names(snapshot) if within is None else [within]
        # The digests of files that were only touched, by URI and modification time.
        self._touched: set[tuple[str, int, bytes | None]] = set()

    def groups(self) -> Iterator[tuple[list[Shard], list[Rejection]]]:
        """Yield the files in groups, each with the files and folders that cannot be walked.

        Raises: PathMissing; NotIngested: a file is new or has changed.
        """
        found = walk(
            self._paths,
            self._exclude,
            include_globs=self._options.include,
            exclude_globs=self._options.exclude_globs,
            follow_links=self._options.follow_links,
        )
        while group := list(islice(found, PLANNED_FILES)):
            files = [one for one in group if isinstance(one, SourceFile)]
            yield self._known(files), [one for one in group if isinstance(one, Rejection)]

    def _known(self, files: Sequence[SourceFile]) -> list[Shard]:
        uris = [file.uri for file in files]
        sources: dict[str, list[IndexedSource]] = {uri: [] for uri in uris}
        for collection in self._collections:
            for source in locators.sources_at(self._snapshot, collection, uris):
                sources[source.uri].append(source)
        for file in files:
            if (reason := self._misfit(file, sources[file.uri])) is not None:
                raise NotIngested(path=file.path, reason=reason)
        return [Shard(file, _relative(file), tuple(sources[file.uri])) for file in files]

    def _misfit(self, file: SourceFile, sources: Sequence[IndexedSource]) -> str | None:
        """Return why the index does not know the current version of a file; None if it does."""
        if not sources:
            return "is not in the index"
        for source in sources:
            if not source.is_complete:
                return "was not ingested to its end"
            if (change := self._change_of(file, source)) is not None:
                return change
        return None

    def _change_of(self, file: SourceFile, source: IndexedSource) -> str | None:
        touched = (file.uri, file.mtime_ns, source.digest)
        if touched in self._touched:
            return None
        change = change_of(file, source.size, source.mtime_ns, source.digest)
        if change is None and file.mtime_ns != source.mtime_ns:
            self._touched.add(touched)
        return change


def _relative(file: SourceFile) -> Path:
    return Path(file.path.name) if file.named else Path(os.path.relpath(file.path, uri_path(file.root)))
