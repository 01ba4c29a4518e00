"""One ingest: plan, make, write.

::

    plan    walk, compare with the index          thread, reads only
      |     tasks
    make    read, sketch                          thread or processes, no database
      |     chunks
    write   one transaction a batch or load       caller's thread, the only writer

You can kill it at any moment. The next run continues after the last commit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

from lshdb.errors import NothingToRead, TooManyRejected
from lshdb.ingest.batches import Batches
from lshdb.ingest.floods import Floods
from lshdb.ingest.make import Chunk, Left, Task, Work, cut, make, make_first, make_whole
from lshdb.ingest.options import IngestOptions
from lshdb.ingest.plan import Plan, plan
from lshdb.ingest.rejected import Earlier, Reasons, RejectedSources, earlier
from lshdb.ingest.removal import expire, prune, prune_records
from lshdb.ingest.workers import WAITING, Ahead, are_started, in_processes
from lshdb.ingest.write import Writer, Written
from lshdb.model.calls import num_cores
from lshdb.model.progress import Progress
from lshdb.model.values import Conflicts, Counts
from lshdb.readers import STDIN_NAME, may_hold_pages, path_uri
from lshdb.sketch.compiled import compile_ahead
from lshdb.store.merging import Merging
from lshdb.store.store import Store
from lshdb.store.tables import bands, late_indexes, locators, sources
from lshdb.store.transaction import Transaction

__all__ = ["Ingestion", "staffed"]

# Without HTML to parse, one worker keeps this many cores busy, because its threads sketch and compress. But two workers
# are faster even on two cores, because the one process that writes waits for no thread of theirs: 640 MB of JSON lines
# took 6.0 seconds instead of 6.9.
PAGELESS_CORES: Final = 2
PAGELESS_WORKERS: Final = 2

# A chunk of short texts takes more memory than one of long texts, up to 0.7 kB for each document, so it takes more of
# the places of chunks that wait: one for this many documents.
PLACE_DOCUMENTS: Final = 2_000


class Ingestion:
    """One run over some paths.

    Its results so far are `counts`, `num_skipped`, `num_unfollowed`, `num_spared`, `conflicts`, `reasons`,
    `rejected_sources` and `given_up`; `rejected_before` is complete at the end. `num_resumed` is the number of
    documents that earlier runs added from the files that this one continues to read.

    Args: run_key: the run, which was already recorded.
    """

    def __init__(self, store: Store, run_key: int, options: IngestOptions, progress: Progress) -> None:
        self._store = store
        self._run_key = run_key
        self._options = options
        self._progress = progress
        self._num_contents_before = 0
        self._roots_with_files: set[str] = set()
        self._num_files = self._bytes_to_read = self._num_read = self._bytes_read = 0
        self.counts = Counts()
        self.num_skipped = self.num_unfollowed = self.num_spared = 0
        self.conflicts = Conflicts()
        self.reasons = Reasons()
        self.rejected_sources = RejectedSources(options)
        self.given_up = Floods(options.budgets, options.max_rejected)
        # The first run that may have rejected something of a file that is not read again.
        self._rejected_since: int | None = None
        self.rejected_before: list[Earlier] = []
        self.num_resumed = 0
        self._left = None if options.limit is None else Left(options.limit)
        self._writer = Writer(store, run_key, options, self._wrote)

    def ingest(self, paths: Sequence[str | Path]) -> None:
        """Read the new and changed files under the paths.

        Raises: PathMissing, before anything is read; NothingToRead; TooManyRejected; PruneRefused; StoreError.
        """
        self._num_contents_before = self._store.read(bands.last_content) or 0
        self._write(partial(self._make, paths), self._load_seconds(paths))
        roots = [path_uri(path) for path in paths]
        empty = [root for root in roots if root not in self._roots_with_files]
        if self._options.prune:
            self._prune(roots, empty)
        if self._options.expire_after is not None:
            self._expire(self._options.expire_after)
        if self._rejected_since is not None:
            self._count_earlier(self._rejected_since, roots)
        if len(empty) == len(roots):
            raise NothingToRead(path=", ".join(map(str, paths)) or "an empty list of paths", reason=self._emptiness())

    def write_made(self, step: Plan, chunks: Iterable[Chunk]) -> None:
        """Write a plan and chunks that were made elsewhere, in their order. Raises: StoreError."""

        def put_all(put: Callable[[Plan | Chunk], None]) -> None:
            put(step)
            for chunk in self.given_up.limited(chunks):
                put(chunk)

        self._write(put_all, self._store.dialect.load_seconds)

    def _emptiness(self) -> str:
        if self.num_unfollowed:
            return f"only symbolic links that lead out of it, {self.num_unfollowed:,}; --follow-links reads them"
        return "no file that could be opened"

    @property
    def is_limited(self) -> bool:
        """Whether the limit of the options left documents unread."""
        return self._left is not None and self._left.is_reached

    def _make(self, paths: Sequence[str | Path], put: Callable[[Plan | Chunk], None]) -> None:
        """Plan and make, in the thread that runs ahead of the writer, and pass every plan and chunk to `put`."""

        def planned() -> Iterator[Task]:
            for step in plan(self._store, paths, self._options):
                put(step)
                yield from step.tasks if self._left is None else _within(self._left, step)
                if self.is_limited:
                    return

        if self._left is not None:
            options = self._options
            first = make_first(planned(), self._left, self._store.params, options.read, options.budgets)
            for chunk in self.given_up.limited(first):
                put(chunk)
            return
        tasks, workers = staffed(planned(), self._options)
        works = cut(tasks, self._options.read, self._options.budgets, self.given_up.has)
        with closing(self._chunks(works, workers)) as chunks:
            for chunk in self.given_up.limited(chunks):
                put(chunk)

    def _chunks(self, works: Iterator[Work], workers: int) -> Generator[Chunk, None, None]:
        params, options, budgets = self._store.params, self._options.read, self._options.budgets
        if workers == 1:
            yield from make(works, params, options, budgets)
            return
        compile_ahead()
        making = partial(make_whole, params=params, options=options, budgets=budgets)
        with closing(in_processes(making, works, workers)) as made:
            yield from chain.from_iterable(made)

    def _write(self, make: Callable[[Callable[[Plan | Chunk], None]], None], load_seconds: float) -> None:
        """Write what `make` makes, in a thread that runs ahead, and build what a first load puts off."""
        growth, budgets = self._store.dialect.growth, self._options.budgets
        # The buckets of a load are written together, however many batches it has. Otherwise the next batch is made
        # while one is written, or the database would wait for it: 500,000 short texts took 48 seconds instead of 45.
        eager = load_seconds > 0
        waiting = WAITING + (0 if eager else int(growth.most * budgets.batch_documents / PLACE_DOCUMENTS))
        with Ahead[Plan | Chunk](make, waiting, _num_places) as ahead:
            self._write_batches(Batches(ahead, self._took, self._num_contents, budgets, growth, eager), load_seconds)
        late_indexes.ensure(self._store, late_indexes.FIRST_INGEST, partial(self._progress.advanced, "index"))

    def _write_batches(self, batches: Batches, load_seconds: float) -> None:
        merging = Merging(self._store)
        is_first, started = True, time.monotonic()
        while (batch := batches.next()) is not None:
            if is_first and batch.chunks:
                late_indexes.put_off(self._store, late_indexes.FIRST_INGEST)
                is_first = False
            if load_seconds > 0:
                self._writer.write_load(batch, batches.next, load_seconds, started)
            else:
                self._writer.write(batch)
            merging.advance()
            started = time.monotonic()
        self._writer.settle()

    def _load_seconds(self, paths: Sequence[str | Path]) -> float:
        """Return how long a transaction of several batches may take; 0 for one transaction per batch."""
        if STDIN_NAME in map(str, paths):
            return 0.0  # because we wait for the program that writes to standard input
        chosen = self._options.budgets.load_seconds
        return self._store.dialect.load_seconds if chosen is None else chosen

    def _num_contents(self) -> int:
        return self._num_contents_before + self.counts.num_added

    def _took(self, value: Plan | Chunk) -> None:
        if isinstance(value, Plan):
            self._roots_with_files |= value.roots
            resumed = [value.known[task.source.uri] for task in value.tasks if task.position]
            for state in resumed:
                self.rejected_sources.resume(state.uri)
            self.num_resumed += sum(state.num_documents for state in resumed)
            # Only files with items that are no documents can have rejections: most runs need not look for them.
            doubtful = [state for state in (*value.unchanged, *resumed) if state.position > state.num_documents]
            since = [self._rejected_since] if self._rejected_since is not None else []
            self._rejected_since = min([*since, *(state.reading_run for state in doubtful)], default=None)
            self._num_files += value.num_files
            self.num_unfollowed += len(value.unfollowed)
            were_few = self._bytes_to_read < self._options.budgets.pool_bytes
            self._bytes_to_read += value.num_bytes
            self._progress.walked(self._num_files, self._bytes_to_read, ended=value.is_last)
            # Worker processes start now, so the writer has time.
            if were_few and self._bytes_to_read >= self._options.budgets.pool_bytes:
                self._writer.prepare()
        else:
            self._num_read += len(value.documents)
            self._bytes_read += value.num_bytes
            self._progress.read(self._num_read, self._bytes_read)

    def _wrote(self, written: Written) -> None:
        self.num_skipped += written.num_skipped
        self.conflicts += written.conflicts
        self.reasons.count(written.rejections)
        self.rejected_sources.count(written.progress, written.rejections, written.unsettled)
        for rejection in written.rejections:
            self._progress.rejected(rejection)
        self._count(written.counts)
        self._require_few_rejected()

    def _require_few_rejected(self) -> None:
        counts, most = self.counts, self._options.max_rejected
        if most is not None and counts.num_rejected > most:
            raise TooManyRejected(
                num_rejected=counts.num_rejected,
                num_documents=counts.num_seen,
                allowed=str(most),
                url=self._store.url,
                run=self._run_key,
            )

    def _count(self, counts: Counts) -> None:
        self.counts += counts
        self._progress.ingested(self.counts)

    def _prune(self, roots: Sequence[str], empty: Sequence[str]) -> None:
        """Remove the documents of deleted records, and of deleted files unless the folder above them is missing too."""
        collection, params = self._options.collection, self._store.params

        def write(transaction: Transaction, root: str) -> Counts:
            return prune(transaction, collection, root, self._run_key, params, is_empty=root in empty)

        for root in roots:
            self._count(self._store.write(partial(write, root=root), self._run_key))
            self._prune_records(root)

    def _prune_records(self, root: str) -> None:
        """Remove the documents that are no longer in their file, even if it was an earlier run that read it."""
        store, budgets = self._store, self._options.budgets
        keys = store.read(partial(sources.seen, collection=self._options.collection, root=root, run_key=self._run_key))
        for begin in range(0, len(keys), budgets.planned_files):
            some = keys[begin : begin + budgets.planned_files]
            self.num_spared += store.read(partial(sources.spared, source_keys=some))
            while store.read(partial(sources.vanished, source_keys=some, count=1)):
                write = partial(
                    prune_records,
                    source_keys=some,
                    count=budgets.batch_documents,
                    run_key=self._run_key,
                    params=store.params,
                )
                self._count(store.write(write, self._run_key))

    def _count_earlier(self, since: int, roots: Sequence[str]) -> None:
        """Count what earlier runs rejected of files that were not read again: their state is still the same."""
        collection, run_key = self._options.collection, self._run_key

        def read(transaction: Transaction) -> list[Earlier]:
            return earlier(locators.rejected_before(transaction, collection, run_key, since))

        self.rejected_before = self._store.read(read)
        self.rejected_sources.count_earlier(self.rejected_before, roots)

    def _expire(self, age: timedelta) -> None:
        """Remove the documents that no run within this age has seen."""
        collection, params, moment = self._options.collection, self._store.params, datetime.now(UTC) - age
        write = partial(expire, collection=collection, moment=moment, run_key=self._run_key, params=params)
        self._count(self._store.write(write, self._run_key))


def _num_places(value: Plan | Chunk) -> int:
    """Return how many of the places of those that wait a plan or chunk takes."""
    return 1 + len(value.documents) // PLACE_DOCUMENTS if isinstance(value, Chunk) else 1


def _within(left: Left, step: Plan) -> Iterator[Task]:
    """Yield the tasks of a plan until no document is left to read. Documents that the index has count, too."""
    for state in step.unchanged:
        left.number -= state.num_documents
    for task in step.tasks:
        if task.position:
            left.number -= step.known[task.source.uri].num_documents
        if not left.take(0):
            return
        yield task


def staffed(tasks: Iterator[Task], options: IngestOptions) -> tuple[Iterator[Task], int]:
    """Return the tasks, and how many workers to start for them.

    By default this is one worker per core if the first tasks include pages, and otherwise one per two cores, but at
    least two. If these tasks show that there is little to read, it is one worker.
    """
    first: list[Task] = []
    num_bytes, workers = 0, num_cores() if options.workers is None else options.workers
    least = options.budgets.chunk_bytes if are_started() else options.budgets.pool_bytes
    while workers > 1 and num_bytes < least and (task := next(tasks, None)) is not None:
        first.append(task)
        num_bytes += task.source.size
    if num_bytes < least:
        workers = 1
    elif options.workers is None and not any(may_hold_pages(task.source, options.read) for task in first):
        workers = min(workers, max(workers // PAGELESS_CORES, PAGELESS_WORKERS))
    return chain(first, tasks), max(workers, 1)
