"""One ingest: from paths to committed batches.

A batch is one transaction: its documents, contents, buckets, rejections, the progress of its sources and its run's
counts. On SQLite the batches of some ten seconds are one, a load: each writing of buckets touches pages all over their
table, and a million documents took 57 seconds instead of 35. Killed at any moment, the next run goes on behind the last
commit. A file whose size and modification time are known costs one stat; one that was only touched is hashed, not read
again. Limitation: files that did not change and lie between two batches of a load are walked with the write lock held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Final, TypeVar

from lshdb.errors import NothingToRead
from lshdb.ingest.batches import batches, grouped, loads, staffed
from lshdb.ingest.engines import run
from lshdb.ingest.portions import Portion, SourceProgress, Task, concatenate
from lshdb.ingest.reasons import Reasons
from lshdb.ingest.removal import expire, prune, remove, retire
from lshdb.ingest.stretches import portions
from lshdb.ingest.triage import at, is_same, resume_position
from lshdb.model.progress import Progress
from lshdb.model.values import Counts, Document, Rejection
from lshdb.readers import STDIN_NAME, Found, ReadOptions, Skipped, SourceFile, path_uri, record, recorded, walk
from lshdb.store.store import Store
from lshdb.store.tables import bands, bucket_key, documents, runs, sources
from lshdb.store.tables.held_buckets import HeldBuckets
from lshdb.store.tables.sources import SourceState
from lshdb.store.transaction import Transaction

__all__ = ["IngestOptions", "Ingestion"]

_Made = TypeVar("_Made")

# Files compared with what the index knows of them at a time.
TRIAGE_FILES: Final = 2_000


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How an ingest goes about it.

    Args:
        collection: the documents' namespace.
        prune: remove documents whose file, or whose record in its file, is gone.
        read: how sources are read.
        exclude: files to pass over, such as the index itself.
        workers: processes that read and sketch; 1 does it in a thread of this one, None starts as many as pay.
        include, exclude_globs: patterns that files must fit, or that files and folders must not; see `walk`.
        must_exist: whether a path that is not there is an error, and not one more rejection.
        expire_after: remove what no run has seen for so long; None removes nothing.
    """

    collection: str = "default"
    prune: bool = False
    read: ReadOptions = field(default_factory=ReadOptions)
    exclude: frozenset[Path] = frozenset()
    workers: int | None = 1
    include: tuple[str, ...] = ()
    exclude_globs: tuple[str, ...] = ()
    must_exist: bool = True
    expire_after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class _Written:
    """What became of a batch."""

    progress: Mapping[str, SourceProgress]
    rejections: Sequence[Rejection]
    counts: Counts
    num_skipped: int
    num_displaced: int


class Ingestion:
    """One run over some paths; `counts`, `num_skipped` and `reasons` say what it did so far.

    `num_displaced` documents took the place of others with the same id from another source.

    Args: run_key: the run, begun already.
    """

    def __init__(self, store: Store, run_key: int, options: IngestOptions, progress: Progress) -> None:
        self._store = store
        self._run_key = run_key
        self._options = options
        self._progress = progress
        # What the index knows of the files that are being read.
        self._known: dict[str, SourceState] = {}
        self._read_as = record(options.read)
        self._roots_with_files: set[str] = set()
        # What is found out for the next batches belongs to the transaction that takes them.
        self._loading: Transaction | None = None
        self.counts = Counts()
        self.num_skipped = self.num_displaced = 0
        self.reasons = Reasons()

    def ingest(self, paths: Sequence[str | Path]) -> None:
        """Reads what is new or changed under the paths.

        Raises: PathMissing, before anything is read; NothingToRead; PruneRefused; StoreError.
        """
        tasks, workers = staffed(self._tasks(self._walk(paths)), self._options.workers, self._options.read)
        work = partial(portions, params=self._store.params, options=self._options.read)
        num_before = self._store.read(bands.last_content) or 0
        with closing(run(tasks, work, workers)) as made:
            grown = batches(self._watched(made), lambda: num_before + self.counts.num_added)
            for number, load in enumerate(self._loads(grown, waits=STDIN_NAME in map(str, paths))):
                if number == 0:
                    bucket_key.put_off(self._store)
                self._commit(load)
        bucket_key.ensure(self._store, partial(self._progress.advanced, "index"))
        roots = [path_uri(path) for path in paths]
        empty = [root for root in roots if root not in self._roots_with_files]
        if self._options.prune:
            self._prune(roots, empty)
        if self._options.expire_after is not None:
            self._expire(self._options.expire_after)
        if len(empty) == len(roots):
            raise NothingToRead(
                path=", ".join(map(str, paths)) or "an empty list of paths", reason="no file that could be opened"
            )

    def _watched(self, made: Iterable[Portion]) -> Iterator[Portion]:
        num_documents = num_bytes = 0
        for portion in made:
            num_documents += len(portion.documents)
            num_bytes += portion.num_bytes
            self._progress.read(num_documents, num_bytes)
            yield portion

    def _walk(self, paths: Sequence[str | Path]) -> Iterator[Found]:
        options = self._options
        return walk(
            paths,
            options.exclude,
            include_globs=options.include,
            exclude_globs=options.exclude_globs,
            must_exist=options.must_exist,
        )

    def _tasks(self, found: Iterable[Found]) -> Iterator[Task]:
        """The files that have to be read."""
        num_files = num_bytes = 0
        for group in grouped(found, TRIAGE_FILES):
            files = [entry for entry in group if isinstance(entry, SourceFile)]
            self._roots_with_files.update(file.root for file in files)
            self.num_skipped += sum(isinstance(entry, Skipped) for entry in group)
            self._reject_unwalked([entry for entry in group if isinstance(entry, Rejection)])
            tasks = list(self._triaged(files))
            num_files += len(files)
            num_bytes += sum(task.source.size for task in tasks)
            self._progress.walked(num_files, num_bytes, ended=False)
            yield from tasks
        self._progress.walked(num_files, num_bytes, ended=True)

    def _triaged(self, files: Sequence[SourceFile]) -> Iterator[Task]:
        """Those of the files that are new, changed or half read; the others are seen, which prune asks for."""
        known = self._read(
            partial(sources.known, collection=self._options.collection, uris=[file.uri for file in files])
        )
        known = {uri: state for uri, state in known.items() if _is_read_as(self._read_as, state.options)}
        same = [file for file in files if file.uri in known and is_same(file, known[file.uri])]
        self._see([at(known[file.uri], file) for file in same])
        unchanged = {file.uri for file in same}
        for file in files:
            if file.uri not in unchanged:
                if file.uri in known:
                    self._known[file.uri] = known[file.uri]
                yield Task(file, resume_position(file, known.get(file.uri)))

    def _see(self, states: Sequence[SourceState]) -> None:
        if not states:
            return
        batch = Counts(num_unchanged=sum(state.num_documents for state in states))

        def write(transaction: Transaction) -> None:
            sources.see(transaction, self._options.collection, states, self._run_key)
            runs.record(transaction, self._run_key, batch)

        self._write(write)
        self._count(batch)

    def _reject_unwalked(self, rejections: Sequence[Rejection]) -> None:
        """Records what could not be walked; what the index has from under it counts as seen, not as gone."""
        if not rejections:
            return
        batch = Counts(num_rejected=len(rejections))

        def write(transaction: Transaction) -> None:
            for rejection in rejections:
                sources.see_under(transaction, self._options.collection, rejection.source, self._run_key)
            self._record(transaction, rejections, batch)

        self._write(write)
        self._tell(rejections)
        self._count(batch)

    def _loads(self, grown: Iterator[list[Portion]], *, waits: bool) -> Iterator[Iterable[list[Portion]]]:
        """The batches of each transaction. Args: waits: for a program that writes what we read, however long."""
        seconds = self._store.dialect.load_seconds
        if seconds == 0 or waits:
            # Lists, for the transaction may have to be run again.
            return ([batch] for batch in grown)
        return loads(grown, seconds)

    def _commit(self, load: Iterable[list[Portion]]) -> None:
        """Writes batches: one transaction."""

        def write(transaction: Transaction) -> list[_Written]:
            done = list[_Written]()
            held = HeldBuckets() if self._store.dialect.load_seconds > 0 else None
            self._loading = transaction
            for batch in load:
                if done:
                    self._remember(done[-1].progress)
                done.append(self._put(transaction, batch, held))
            if held is not None:
                held.write(transaction)
            return done

        try:
            done = self._store.write(write, self._run_key)
        finally:
            self._loading = None
        self._remember(done[-1].progress)
        for written in done:
            self.num_skipped += written.num_skipped
            self.num_displaced += written.num_displaced
            self._tell(written.rejections)
            self._count(written.counts)

    def _put(self, transaction: Transaction, batch: Sequence[Portion], held: HeldBuckets | None) -> _Written:
        """Writes a batch, but for the buckets that are held."""
        progress = _latest(step for portion in batch for step in portion.sources)
        rejections = [rejection for portion in batch for rejection in portion.rejections]
        source_keys = self._put_sources(transaction, list(progress.values()))
        counts, num_displaced = self._put_documents(transaction, batch, source_keys, held)
        ended = [source_keys[uri] for uri, step in progress.items() if step.ended and uri in source_keys]
        if self._options.prune:
            counts += remove(transaction, sources.vanished(transaction, ended), self._store.params)
        self._record(transaction, rejections, counts)
        num_skipped = sum(portion.num_skipped for portion in batch)
        return _Written(progress, rejections, counts, num_skipped, num_displaced)

    def _read(self, function: Callable[[Transaction], _Made]) -> _Made:
        """`Store.read`, and what the transaction has that is being written."""
        return self._store.read(function) if self._loading is None else function(self._loading)

    def _write(self, function: Callable[[Transaction], None]) -> None:
        """`Store.write`, as a part of the transaction that is being written, if there is one."""
        if self._loading is None:
            self._store.write(function, self._run_key)
        else:
            function(self._loading)

    def _put_sources(self, transaction: Transaction, steps: Sequence[SourceProgress]) -> dict[str, int]:
        """Source keys by URI of the files that could be opened; the others stay to be tried again."""
        closed = [self._known[step.source.uri] for step in steps if not step.opened and step.source.uri in self._known]
        sources.see(transaction, self._options.collection, closed, self._run_key)
        states = [self._state(step) for step in steps if step.opened]
        return sources.put(transaction, self._options.collection, states, self._run_key)

    def _state(self, step: SourceProgress) -> SourceState:
        file, before = step.source, self._known.get(step.source.uri)
        resumed = before if resume_position(file, before) > 0 else None
        return SourceState(
            uri=file.uri,
            size=file.size,
            mtime_ns=file.mtime_ns,
            digest=step.digest,
            state=sources.DONE if step.ended else sources.READING,
            position=step.position,
            num_documents=step.num_documents + (resumed.num_documents if resumed else 0),
            options=self._read_as,
            reading_run=resumed.reading_run if resumed else self._run_key,
        )

    def _remember(self, progress: Mapping[str, SourceProgress]) -> None:
        """Keeps the states of sources that go on in the next batch, forgets those that ended."""
        for uri, step in progress.items():
            state = self._state(step)
            self._known.pop(uri, None)
            if not step.ended:
                self._known[uri] = state

    def _put_documents(
        self, transaction: Transaction, batch: Sequence[Portion], source_keys: dict[str, int], held: HeldBuckets | None
    ) -> tuple[Counts, int]:
        """What was written, and how many documents it displaced."""
        params = self._store.params
        found: list[Document] = list(chain.from_iterable(portion.documents for portion in batch))
        sketches = concatenate([portion.sketches for portion in batch], params)
        place = documents.Place(self._run_key, self._options.collection, source_keys)
        outcome = documents.put(transaction, found, sketches, place, held)
        retire(transaction, outcome.released, params)
        counts = outcome.counts + Counts(
            num_rejected=sum(len(portion.rejections) for portion in batch),
            num_replaced=sum(document.num_replaced > 0 for document in found),
            num_bytes=sum(portion.num_bytes for portion in batch),
        )
        return counts, outcome.num_displaced

    def _record(self, transaction: Transaction, rejections: Sequence[Rejection], counts: Counts) -> None:
        if rejections:
            runs.reject(transaction, self._run_key, rejections)
        runs.record(transaction, self._run_key, counts)

    def _tell(self, rejections: Sequence[Rejection]) -> None:
        self.reasons.count(rejections)
        for rejection in rejections:
            self._progress.rejected(rejection)

    def _prune(self, roots: Sequence[str], empty: Sequence[str]) -> None:
        """Removes the documents of files that are gone, if the folder above them is not."""
        collection, params = self._options.collection, self._store.params

        def write(transaction: Transaction, root: str) -> Counts:
            return prune(transaction, collection, root, self._run_key, params, is_empty=root in empty)

        for root in roots:
            self._count(self._store.write(partial(write, root=root), self._run_key))

    def _expire(self, age: timedelta) -> None:
        """Removes the documents that no run of that age or younger has seen."""
        collection, params, moment = self._options.collection, self._store.params, datetime.now(UTC) - age
        write = partial(expire, collection=collection, moment=moment, run_key=self._run_key, params=params)
        self._count(self._store.write(write, self._run_key))

    def _count(self, counts: Counts) -> None:
        self.counts += counts
        self._progress.ingested(self.counts)


@cache
def _is_read_as(read_as: str, options: str) -> bool:
    """Whether options that an index has recorded mean the same; earlier releases wrote some defaults out."""
    return options == read_as or record(recorded(options, ReadOptions())) == read_as


def _latest(steps: Iterable[SourceProgress]) -> dict[str, SourceProgress]:
    """By URI: how far each source has come, with the documents of all its steps."""
    latest: dict[str, SourceProgress] = {}
    for step in steps:
        before = latest.get(step.source.uri)
        latest[step.source.uri] = (
            step
            if before is None
            else replace(
                step, num_documents=before.num_documents + step.num_documents, opened=before.opened or step.opened
            )
        )
    return latest
