"""Create a work folder, or open it to continue."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from lshdb.errors import FolderUnusable, NothingToRead, UsageError
from lshdb.model.params import Params
from lshdb.model.values import Rejection
from lshdb.readers import ReadOptions, Skipped, SourceFile, record, walk
from lshdb.stages.folder import Manifest, WorkFolder
from lshdb.stages.source import Source
from lshdb.tuning.choice import params_of

__all__ = ["params_and_options", "work_folder"]

# hdfs://, s3a:// ... Of several slashes, a Path keeps one.
ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]+:/")


def params_and_options(
    chosen: Mapping[str, Any], options: ReadOptions, against: str | Path | None
) -> tuple[Params, ReadOptions]:
    """Return the parameters of a new folder, and how to read files for it.

    Args:
        chosen: the parameters that were given. Others have their defaults, or the values of `against`.
        options: without what the parameters decide.
    """
    before = {} if against is None else WorkFolder(against).manifest.params
    params = Params(**(before | dict(chosen))) if before else params_of(chosen)
    return params, options.suited(params)


def work_folder(
    place: str | Path,
    paths: Sequence[str | Path],
    params: Params,
    options: ReadOptions,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    against: str | Path | None = None,
) -> WorkFolder:
    """Return the work folder for some paths, which may be there already.

    Args:
        params, options: of the index, and how files are read; those of `against` have to be the same.
        against: a complete work folder whose documents come first, and whose files are not read again.

    Raises: PathMissing, NothingToRead; FolderUnusable: the folder, or `against`, does not fit; UsageError: a path is an
        address of another file system.
    """
    for path in map(str, (place, *paths)):
        if ADDRESS.match(path) and not Path(path).exists():
            raise UsageError(reason=f"{path} is not a path: mount its file system on every machine; see docs/scale.md")
    before = None if against is None else WorkFolder(against)
    found = list(walk(paths, include_globs=include, exclude_globs=exclude))
    files = [one for one in found if isinstance(one, SourceFile) and not one.is_stdin]
    known = () if before is None else _known(before, files, params, options)
    new = [file for file in files if file.uri not in {source.uri for source in known}]
    if not new:
        raise NothingToRead(path=", ".join(map(str, paths)), reason="no new file that could be opened")
    manifest = Manifest(
        params=asdict(params),
        options=record(options),
        sources=(*known, *map(Source.of, new)),
        unwalked=tuple(one for one in found if isinstance(one, Rejection)),
        num_skipped=sum(isinstance(one, Skipped) for one in found),
        against="" if before is None else str(before.path),
        num_old=len(known),
    )
    return WorkFolder.ensure(place, manifest)


def _known(before: WorkFolder, files: Sequence[SourceFile], params: Params, options: ReadOptions) -> tuple[Source, ...]:
    """Return the sources of an earlier folder, if it can be continued. Raises: FolderUnusable."""
    before.require("sketches", "pairs")
    if before.params != params or before.manifest.options != record(options):
        raise FolderUnusable(path=before.path, reason="it has other parameters, or was read with other options")
    there = {source.uri: source for source in before.manifest.sources}
    for file in files:
        old = there.get(file.uri)
        if old is not None and (old.size, old.mtime_ns) != (file.size, file.mtime_ns):
            reason = f"{file.path} has changed since; leave it out, or create a folder without --against"
            raise FolderUnusable(path=before.path, reason=reason)
    return before.manifest.sources
