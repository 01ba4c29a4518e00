"""Turn new bucket rows into pairs: find candidates by SQL, filter them by estimate, then compute the exact similarity.

A few new contents are joined with the bucket table, so the cost depends on their number. Many new contents are found
by one scan of each band. Threads then compute each candidate once, ahead of the thread that stores. Memory is bounded
for any number of candidates. If linking is interrupted, the next call repeats it from the start: contents stay on
the list of unlinked ones until all their pairs are stored. Pairs that were already stored stay.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from threading import Event, Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.linking.buckets import Piece, expand
from lshdb.linking.candidates import Occurrences, by_family
from lshdb.linking.comparison import compare, contents_of, promising
from lshdb.linking.components import Rows
from lshdb.linking.delta import Delta
from lshdb.model.calls import calls_ahead, num_cores
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.model.values import BandKeys, CandidatePairs, VerifiedPairs
from lshdb.sketch.banding import band_keys
from lshdb.store.dialect import Part
from lshdb.store.merging import hold_filters, unite_filters
from lshdb.store.store import Store
from lshdb.store.tables import bands, generations, graph, late_indexes, oversized, shared_buckets
from lshdb.store.transaction import Transaction

__all__ = ["Linking"]

# The buckets of new contents are looked up if the index has more contents than this many for each of them. That takes
# 15 us for a text that has no near-duplicates, because filters rule out its buckets, and 90 us or more for one that has
# many. Reading all takes 5 us for each content of the index. docs/measurements.md compares both.
SCANNED_CONTENTS: Final = 10

# Contents whose bucket rows are joined at a time.
DELTA_CONTENTS: Final = 100_000
# The buckets of this many contents are looked up in one transaction; those of more band by band, by several threads.
ALONE_CONTENTS: Final = 1_000

# A first link of more contents builds what the rows of `pair` refer to, and its indexes, afterwards. That takes 50 ms.
# And a log that the ingest of more contents has left is not a small one.
MANY_CONTENTS: Final = 10_000

# Threads that read buckets, and then compute pairs. Each holds up to jaccard.GROUP_SHINGLES shingles, about 150 MB.
MAX_THREADS: Final = 4

# Most pairs stored in one transaction: 50 MB. They arrive family by family, but the table is ordered by the left
# content, so every transaction may touch pages of the whole table. With 100,000 pairs in each, every page of 6 million
# pairs was written about forty times.
STORED_PAIRS: Final = 2_000_000
# A transaction stores this share of the pairs before it, but at least FIRST_PAIRS. So a page is written only a few
# times, and a small link, too, stores pairs while its threads compare others.
STORED_SHARE: Final = 1 / 4
FIRST_PAIRS: Final = 100_000
# When the threads compute the last pairs, this part of it is enough: they have nothing to do while the rest is stored.
LAST_PART: Final = 1 / 4
# Upper bound on the computing time that is lost if the process is killed.
STORED_SECONDS: Final = 30.0

# Slices of bands that are read while others are expanded or sorted: up to 0.8 MB each.
SLICES_AHEAD: Final = 64

# Parts that are computed while others are stored: up to 2.5 MB each.
PARTS_AHEAD: Final = 64

# The search for candidates as a share of the displayed progress. The rest is computing them.
SEARCH_SHARE: Final = 0.3


class Linking:
    """Links all unlinked contents of an index.

    Args:
        run_key: the run that the pairs belong to; None outside a run.
    """

    def __init__(self, store: Store, run_key: int | None, progress: Progress) -> None:
        self._store = store
        self._params: Params = store.params
        self._expansion = store.expansion
        self._run_key = run_key
        self._progress = progress
        self._threads = min(num_cores(), MAX_THREADS)
        self._share_given = 0.0
        self._adding = Lock()

    def link(self, *, wait: bool = True) -> int:
        """Compute and store the pairs of the unlinked contents, and return the number of pairs stored.

        Args: wait: wait for another process that is linking, then link the remaining contents.
        Raises: SpillFailed: no disk space for the candidates; IndexBusy: another process is linking and `wait` is
            False; StoreError.
        """
        if not self._store.read(graph.num_unlinked):
            return 0
        with self._store.sole_link(wait):
            return self._link()

    def _link(self) -> int:
        keys, last_key = self._store.read(
            lambda snapshot: (graph.unlinked_keys(snapshot), bands.last_content(snapshot))
        )
        if not len(keys):
            return 0
        self._ensure(late_indexes.FIRST_INGEST + late_indexes.FIRST_LINK)
        if are_many := len(keys) > MANY_CONTENTS:
            late_indexes.put_off(self._store, late_indexes.FIRST_LINK)
        with Occurrences(last_key or 0) as occurrences, self._store.clearing_log() if are_many else nullcontext():
            if are_few := self._store.read(generations.num_contents) > SCANNED_CONTENTS * len(keys):
                self._look_up(keys, occurrences)
                num_pairs = self._compute(occurrences)
            else:
                self._scan(keys, occurrences)
                with self._preparing_questions():
                    num_pairs = self._compute(occurrences)
        if are_many:
            # Before the contents are marked, so that a link that was killed is repeated.
            self._ensure(late_indexes.FIRST_LINK)
        self._store.write(partial(_end, keys=keys, are_few=are_few))
        if are_many:
            self._store.sweep_unlinked()
        if not are_few:
            hold_filters(self._store)
        self._progress.advanced("link", 1.0)
        return num_pairs

    @contextmanager
    def _preparing_questions(self) -> Iterator[None]:
        """Do what questions need during the block, which begins with work for one thread: ordering the candidates."""
        failed = Event()

        def prepare() -> None:
            self._store.write(graph.analyse_contents)
            unite_filters(self._store, lambda: not failed.is_set())

        with ThreadPoolExecutor(1, thread_name_prefix="lshdb-filters") as beside:
            preparing = beside.submit(prepare)
            try:
                yield
            except BaseException:
                failed.set()
                raise
        preparing.result()

    def _ensure(self, parts: tuple[Part, ...]) -> None:
        late_indexes.ensure(self._store, parts, partial(self._progress.advanced, "index"))

    def _look_up(self, keys: NDArray[np.int64], occurrences: Occurrences) -> None:
        """Collect the candidates of a few new contents."""
        for begin in range(0, len(keys), DELTA_CONTENTS):
            some = keys[begin : begin + DELTA_CONTENTS]
            contents = self._store.read(partial(contents_of, keys=some, params=self._params))
            made = band_keys(contents.signatures, self._params.banding)
            parts = made.by_band() if len(some) > ALONE_CONTENTS else [made]
            collected = partial(self._collected, occurrences, contents.keys)
            with closing(calls_ahead(collected, parts, self._threads)) as found:
                for done, hot in enumerate(found):
                    self._progress.advanced("link", SEARCH_SHARE * (begin + len(some) * done / len(parts)) / len(keys))
                    self._record_oversized(hot)

    def _collected(self, occurrences: Occurrences, keys: NDArray[np.int64], some: BandKeys) -> NDArray[np.int64]:
        """Collect the candidates of new contents in some bands, and return the hot buckets, as `Delta.hot`."""

        def collected(snapshot: Transaction) -> NDArray[np.int64]:
            delta = Delta.of(snapshot, keys, some)
            # If it is repeated, some of them are there twice.
            for block in delta.candidates():
                with self._adding:
                    occurrences.add(block)
            return delta.hot

        return self._store.read(collected)

    def _scan(self, keys: NDArray[np.int64], occurrences: Occurrences) -> None:
        """Collect the candidates of many new contents, from one scan of each band."""
        new, numbers = Rows(keys), self._params.banding.numbers
        slices = self._store.read(lambda snapshot: list(shared_buckets.slices(snapshot, numbers)))
        with closing(calls_ahead(self._shared, slices, self._threads, SLICES_AHEAD)) as found:
            for done, (one, rows) in enumerate(zip(slices, found, strict=True)):
                self._progress.advanced("link", SEARCH_SHARE * done / len(slices))
                for block in expand(rows, new.have(rows[:, 1]), self._expansion):
                    occurrences.add(block)
                self._record_oversized(np.insert(Piece(rows).oversized(self._expansion), 0, one.band, axis=1))

    def _shared(self, one: shared_buckets.Slice) -> NDArray[np.int64]:
        # A transaction of its own. A merge of generations meanwhile moves rows, but leaves them in their slice.
        return self._store.read(lambda snapshot: shared_buckets.of_slice(snapshot, one))

    def _compute(self, occurrences: Occurrences) -> int:
        """Store the candidates that reach the floor, and return the increase in the number of pairs."""
        num_pairs = 0
        with (
            closing(by_family(occurrences, self._given)) as candidates,
            closing(calls_ahead(self._verified, candidates, self._threads, PARTS_AHEAD)) as parts,
        ):
            for pairs in _together(parts, lambda: self._share_given == 1.0):
                # `put_pairs` looks the contents up, each only once. Runs are never deleted.
                put = partial(graph.put_pairs, pairs=pairs, run_key=self._run_key)
                num_pairs += self._store.write(put, refers_safely=True)
        return num_pairs

    def _given(self, share: float) -> None:
        self._share_given = share
        self._progress.advanced("link", SEARCH_SHARE + (1 - SEARCH_SHARE) * share)

    def _verified(self, candidates: CandidatePairs) -> VerifiedPairs:
        """Return the candidates that reach the floor."""
        # One transaction per part: a single long one would keep SQLite from checkpointing its log.
        pairs = self._store.read(lambda snapshot: self._compared(snapshot, candidates))
        return pairs.chosen(pairs.similarity >= self._params.floor)

    def _compared(self, snapshot: Transaction, candidates: CandidatePairs) -> VerifiedPairs:
        contents = contents_of(snapshot, candidates.keys, self._params)
        return compare(snapshot, contents, promising(contents, candidates, self._params), self._params)

    def _record_oversized(self, hot: NDArray[np.int64]) -> None:
        """Record how many pairs hot buckets leave out. Args: hot: (band, bucket_hash, num_contents), shape (m, 3)."""
        if len(hot):
            self._store.write(partial(oversized.put, hot=hot))


def _end(transaction: Transaction, keys: NDArray[np.int64], are_few: bool) -> None:
    graph.mark_linked(transaction, keys)
    if not are_few:
        graph.analyse_pairs(transaction)


def _together(parts: Iterator[VerifiedPairs], are_last: Callable[[], bool] = lambda: False) -> Iterator[VerifiedPairs]:
    """Combine the parts into larger and larger ones, up to STORED_PAIRS; fewer pairs if STORED_SECONDS have passed.

    Args: are_last: whether the last parts are being computed.
    """
    held: list[VerifiedPairs] = []
    num_held, num_stored, since = 0, 0, time.monotonic()
    for pairs in parts:
        held.append(pairs)
        num_held += len(pairs)
        enough = min(max(STORED_SHARE * num_stored, FIRST_PAIRS), STORED_PAIRS)
        if are_last():
            enough *= LAST_PART
        if num_held >= enough or time.monotonic() - since > STORED_SECONDS:
            yield VerifiedPairs.joined(held)
            held, num_held, num_stored, since = [], 0, num_stored + num_held, time.monotonic()
    if held:
        yield VerifiedPairs.joined(held)
