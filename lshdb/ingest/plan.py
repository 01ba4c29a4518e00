"""Step one of an ingest: walk the paths, and compare each file with its record in the index.

Only reads, in short transactions. A file with the recorded size and modification time costs one stat. If only its time
changed, it is hashed; if the digest is the same, it is not read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from lshdb.ingest.make import Task
from lshdb.ingest.options import IngestOptions
from lshdb.model.values import Rejection
from lshdb.readers import Found, OutwardLink, ReadOptions, Skipped, SourceFile, change_of, record, recorded, walk
from lshdb.store.store import Store
from lshdb.store.tables import sources
from lshdb.store.tables.sources import SourceState

__all__ = ["Plan", "plan", "resume_position"]

_Entry = TypeVar("_Entry")


class Plan(Struct, frozen=True):
    """The plan for some of the files of a walk.

    Args:
        tasks: the files to read.
        known: the recorded states of these files, by URI.
        unchanged: the states of the files that need not be read, with their current size and time.
        unwalked: the files and folders that could not be walked.
        num_skipped: the number of files that are not meant for lshdb.
        roots: the URIs of the paths under which these files were found.
        num_files, num_bytes: the number of files found, and the bytes of those to read.
        is_last: whether the walk has ended.
        unfollowed: the URIs of symbolic links that lead out of the paths and were not followed.
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
    unfollowed: tuple[str, ...] = ()

    @property
    def unread(self) -> tuple[str, ...]:
        """The URIs under which there may be files that were not found."""
        return (*(rejection.source for rejection in self.unwalked), *self.unfollowed)


def plan(store: Store, paths: Sequence[str | Path], options: IngestOptions) -> Iterator[Plan]:
    """Yield the plan for everything under the paths, a few thousand files at a time.

    Raises: PathMissing: before the first plan; StoreError.
    """
    found = walk(
        paths,
        options.exclude,
        include_globs=options.include,
        exclude_globs=options.exclude_globs,
        must_exist=options.must_exist,
        follow_links=options.follow_links,
    )
    size = options.budgets.planned_files
    is_last = False
    while not is_last:
        group = list(islice(found, size))
        is_last = len(group) < size
        yield _planned(store, group, options, is_last=is_last)


def resume_position(file: SourceFile, state: SourceState | None) -> int:
    """Return how many items of the file are already committed: 0 if the file has changed since."""
    if state is None or state.state == sources.DONE:
        return 0
    return state.position if (file.size, file.mtime_ns) == (state.size, state.mtime_ns) else 0


def _planned(store: Store, group: Sequence[Found], options: IngestOptions, *, is_last: bool) -> Plan:
    files, links = _only(group, SourceFile), _only(group, OutwardLink)
    known = _known(store, files, options)
    same = {file.uri for file in files if file.uri in known and _is_same(file, known[file.uri])}
    changed = [file for file in files if file.uri not in same]
    return Plan(
        tasks=tuple(Task(file, resume_position(file, known.get(file.uri))) for file in changed),
        known={file.uri: known[file.uri] for file in changed if file.uri in known},
        unchanged=tuple(_at(known[file.uri], file) for file in files if file.uri in same),
        unwalked=tuple(_only(group, Rejection)),
        num_skipped=len(_only(group, Skipped)) - len(links),
        unfollowed=tuple(link.source for link in links),
        roots=frozenset(file.root for file in files),
        num_files=len(files),
        num_bytes=sum(file.size for file in changed),
        is_last=is_last,
    )


def _only(found: Iterable[object], kind: type[_Entry]) -> list[_Entry]:
    return [entry for entry in found if isinstance(entry, kind)]


def _known(store: Store, files: Sequence[SourceFile], options: IngestOptions) -> Mapping[str, SourceState]:
    """Return by URI the recorded states of the files that were read with the current options."""
    if not files:
        return {}
    known = store.read(partial(sources.known, collection=options.collection, uris=[file.uri for file in files]))
    read_as = options.recorded
    return {uri: state for uri, state in known.items() if _is_read_as(read_as, state.options)}


@cache
def _is_read_as(read_as: str, options: str) -> bool:
    """Return whether recorded options mean the same; earlier releases also recorded some defaults."""
    return options == read_as or record(recorded(options, ReadOptions())) == read_as


def _is_same(file: SourceFile, state: SourceState) -> bool:
    """Return whether the file was read to its end and has not changed since."""
    is_read = not file.is_stdin and state.state == sources.DONE
    return is_read and change_of(file, state.size, state.mtime_ns, state.digest) is None


def _at(state: SourceState, file: SourceFile) -> SourceState:
    """Return the state with the current size and time of the file."""
    if (state.size, state.mtime_ns) == (file.size, file.mtime_ns):
        return state
    return replace(state, size=file.size, mtime_ns=file.mtime_ns)
