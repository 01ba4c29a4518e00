"""Step one of an ingest: walk the paths and compare each file with what the index knows of it.

Only reads, in short transactions. A file whose size and modification time are known costs one stat; a file that was
only touched is hashed, not read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

from lshdb.ingest.make import Task
from lshdb.ingest.options import IngestOptions
from lshdb.model.values import Rejection
from lshdb.readers import Found, ReadOptions, Skipped, SourceFile, digest, record, recorded, walk
from lshdb.store.store import Store
from lshdb.store.tables import sources
from lshdb.store.tables.sources import SourceState

__all__ = ["Plan", "plan", "resume_position"]

_Entry = TypeVar("_Entry")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done with some of the files of a walk.

    Args:
        tasks: what has to be read.
        known: by URI, what the index knows of the files to read.
        unchanged: the states of the files that need not be read, with their present size and time.
        unwalked: what could not be walked.
        num_skipped: files that were not meant for lshdb.
        roots: URIs of the paths that these files were found under.
        num_files, num_bytes: files met, and bytes of files to read.
        is_last: whether the walk has ended.
    """

    tasks: tuple[Task, ...]
    known: Mapping[str, SourceState]
    unchanged: tuple[SourceState, ...]
    unwalked: tuple[Rejection, ...]
    num_skipped: int
    roots: frozenset[str]
    num_files: int
    num_bytes: int
    is_last: bool


def plan(store: Store, paths: Sequence[str | Path], options: IngestOptions) -> Iterator[Plan]:
    """Yield the plan of everything under the paths, some thousand files at a time.

    Raises: PathMissing: before the first plan; StoreError.
    """
    found = walk(
        paths,
        options.exclude,
        include_globs=options.include,
        exclude_globs=options.exclude_globs,
        must_exist=options.must_exist,
    )
    size = options.budgets.planned_files
    is_last = False
    while not is_last:
        group = list(islice(found, size))
        is_last = len(group) < size
        yield _planned(store, group, options, is_last=is_last)


def resume_position(file: SourceFile, state: SourceState | None) -> int:
    """Return how many items of the file are committed already: none if it changed since."""
    if state is None or state.state == sources.DONE:
        return 0
    return state.position if (file.size, file.mtime_ns) == (state.size, state.mtime_ns) else 0


def _planned(store: Store, group: Sequence[Found], options: IngestOptions, *, is_last: bool) -> Plan:
    files = _only(group, SourceFile)
    known = _known(store, files, options)
    same = {file.uri for file in files if file.uri in known and _is_same(file, known[file.uri])}
    changed = [file for file in files if file.uri not in same]
    return Plan(
        tasks=tuple(Task(file, resume_position(file, known.get(file.uri))) for file in changed),
        known={file.uri: known[file.uri] for file in changed if file.uri in known},
        unchanged=tuple(_at(known[file.uri], file) for file in files if file.uri in same),
        unwalked=tuple(_only(group, Rejection)),
        num_skipped=len(_only(group, Skipped)),
        roots=frozenset(file.root for file in files),
        num_files=len(files),
        num_bytes=sum(file.size for file in changed),
        is_last=is_last,
    )


def _only(found: Iterable[object], kind: type[_Entry]) -> list[_Entry]:
    return [entry for entry in found if isinstance(entry, kind)]


def _known(store: Store, files: Sequence[SourceFile], options: IngestOptions) -> Mapping[str, SourceState]:
    """Return by URI what the index knows of the files that it read as they would be read now."""
    if not files:
        return {}
    known = store.read(partial(sources.known, collection=options.collection, uris=[file.uri for file in files]))
    read_as = record(options.read)
    return {uri: state for uri, state in known.items() if _is_read_as(read_as, state.options)}


@cache
def _is_read_as(read_as: str, options: str) -> bool:
    """Whether options that an index has recorded mean the same; earlier releases wrote some defaults out."""
    return options == read_as or record(recorded(options, ReadOptions())) == read_as


def _is_same(file: SourceFile, state: SourceState) -> bool:
    """Whether the file is as it was when it was read to its end."""
    if file.is_stdin or state.state != sources.DONE or file.size != state.size:
        return False
    if file.mtime_ns == state.mtime_ns:
        return True
    try:
        return state.digest is not None and digest(file.path) == state.digest
    except OSError:
        return False  # reading it will say what is wrong


def _at(state: SourceState, file: SourceFile) -> SourceState:
    """Return the state with the size and time that the file has now."""
    if (state.size, state.mtime_ns) == (file.size, file.mtime_ns):
        return state
    return replace(state, size=file.size, mtime_ns=file.mtime_ns)
