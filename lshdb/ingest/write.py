"""Step three of an ingest, the only writer. Also adds documents that do not come from a file.

A batch is written in one transaction: its documents, contents, buckets, rejections, the progress of its sources and the
counts of its run. A batch is a value, so its transaction can be repeated.

On SQLite, the batches of about ten seconds share one transaction, a load, because writing buckets touches pages all
over their generation: a million documents took 57 seconds in batches and 35 in loads. A load drops its batches while it
writes them, so it is never repeated. It waits for the next batch, which another thread makes, but never longer than its
ten seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from lshdb.ingest.batches import Batch
from lshdb.ingest.late import LateRevisit, LateRevisits
from lshdb.ingest.make import Chunk, SourceProgress
from lshdb.ingest.options import IngestOptions
from lshdb.ingest.plan import Plan, resume_position
from lshdb.ingest.rejected import condensed
from lshdb.ingest.removal import retire
from lshdb.ingest.revisits import Resolved, put_revisits
from lshdb.linking.few import link_few
from lshdb.model.params import Params
from lshdb.model.values import BandKeys, Conflicts, Counts, Document, Fingerprints, Rejection, Signatures, Sketches
from lshdb.readers import file_of
from lshdb.sketch.sketch import sketch
from lshdb.store.store import Store
from lshdb.store.tables import documents, runs, sources
from lshdb.store.tables.held_buckets import HeldBuckets
from lshdb.store.tables.sources import SourceState
from lshdb.store.tables.stored_digests import StoredDigests
from lshdb.store.transaction import Transaction

__all__ = ["Writer", "Written", "add_document", "add_documents"]


_Met = TypeVar("_Met")


class Written(Struct, frozen=True):
    """The result of writing a batch.

    Args:
        progress: how far its sources have been read, by URI.
        conflicts: the documents whose id belonged to a different text.
        qualified: by URI, whether a source may have had documents with qualified ids when the run began to read it.
        num_rejected: by URI, how many items of a source the run has rejected so far.
        late: revisits whose page may come later in the run. They are neither counted nor among the rejections.
        unsettled: the URIs of all sources that have such revisits.
    """

    progress: Mapping[str, SourceProgress]
    rejections: Sequence[Rejection]
    counts: Counts
    num_skipped: int
    conflicts: Conflicts
    qualified: Mapping[str, bool]
    num_rejected: Mapping[str, int]
    late: Sequence[LateRevisit] = ()
    unsettled: frozenset[str] = frozenset()


class Writer:
    """Writes the batches of one run. Args: written: is called for each batch once it is committed."""

    def __init__(self, store: Store, run_key: int, options: IngestOptions, written: Callable[[Written], None]) -> None:
        self._store = store
        self._run_key = run_key
        self._options = options
        self._written = written
        self._read_as = options.recorded
        # The recorded states of the files that are being read.
        self._known: dict[str, SourceState] = {}
        # Whether they may have had documents with qualified ids when the run began to read them.
        self._qualified: dict[str, bool] = {}
        # How many of their items this run has rejected.
        self._num_rejected: dict[str, int] = {}
        self._late = LateRevisits(run_key, options.budgets, self._place, store.params)
        # The digests of the index after the last transaction.
        self._stored: StoredDigests | None = None

    def prepare(self) -> None:
        """Read what many documents will need, while the first of them are made."""
        count = self._options.budgets.batch_documents
        self._stored = self._store.read(partial(StoredDigests.of, num_digests=count, known=self._stored))

    def write(self, batch: Batch) -> None:
        """Write one batch in one transaction. Repeat it if the database fails in passing."""
        self._learn(batch)
        written, self._stored = self._store.write(partial(self._put_alone, batch=batch), self._run_key)
        self._remember(written)
        self._written(written)

    def write_load(self, first: Batch, more: Callable[[float], Batch | None], seconds: float, started: float) -> None:
        """Write a batch, and those that `more` returns, in one transaction of about `seconds`.

        Args:
            more: returns the next batch, or None if it is not complete within the given number of seconds.
            started: when the wait for the first batch began, by `time.monotonic`. If that batch took long to make, it
                is written alone, because the write lock must not be held while waiting for another one.
        """

        def write(transaction: Transaction) -> tuple[list[Written], StoredDigests | None]:
            done, held = list[Written](), HeldBuckets(self._stored)
            batch: Batch | None = first
            while batch is not None:
                self._learn(batch)
                done.append(self._put(transaction, batch, held))
                self._remember(done[-1])
                spent = time.monotonic() - started
                # Continue only if one more will fit, judging by the time of the previous ones.
                fits = spent * (len(done) + 1) / len(done) < seconds
                batch = more(seconds - spent) if fits else None
            return done, held.write(transaction)

        all_written, self._stored = self._store.write_once(write)
        for written in all_written:
            self._written(written)

    def settle(self) -> None:
        """Try the revisits again whose page had not come. Call it after the last batch."""
        if len(self._late):
            self._written(self._store.write(self._settle, self._run_key))

    def _settle(self, transaction: Transaction) -> Written:
        settled = self._late.settle(transaction, self._num_rejected)
        counts, num_rejected = settled.counts, settled.num_rejected
        return Written(settled.progress, settled.rejections, counts, 0, settled.conflicts, {}, num_rejected)

    def _learn(self, batch: Batch) -> None:
        for plan in batch.plans:
            self._known.update(plan.known)

    def _remember(self, written: Written) -> None:
        """Keep the states of sources that continue in the next batch, and forget those that ended."""
        self._qualified |= written.qualified
        self._late.hold(written.late, written.progress)
        for uri, step in written.progress.items():
            state = self._state(step)
            self._known.pop(uri, None)
            if step.ended:
                self._qualified.pop(uri, None)
            else:
                self._known[uri] = state
            if step.ended and uri not in self._late.sources:
                self._num_rejected.pop(uri, None)
            else:
                self._num_rejected[uri] = written.num_rejected.get(uri, 0)

    def _put_alone(self, transaction: Transaction, batch: Batch) -> tuple[Written, StoredDigests | None]:
        held = HeldBuckets(self._stored)
        written = self._put(transaction, batch, held)
        return written, held.write(transaction)

    def _put(self, transaction: Transaction, batch: Batch, held: HeldBuckets) -> Written:
        """Write a batch, except for the buckets that are held. Changes only the database and `held`."""
        unwalked = [rejection for plan in batch.plans for rejection in plan.unwalked]
        rejections = unwalked + [rejection for chunk in batch.chunks for rejection in chunk.rejections]
        progress = _latest(step for chunk in batch.chunks for step in chunk.sources)
        counts = self._see(transaction, batch.plans)
        num_skipped = sum(plan.num_skipped for plan in batch.plans) + sum(chunk.num_skipped for chunk in batch.chunks)
        conflicts, qualified, late = Conflicts(), dict[str, bool](), tuple[LateRevisit, ...]()
        if batch.chunks:
            put = self._put_sources(transaction, list(progress.values()))
            qualified = self._find_qualified(transaction, put)
            place = self._place(put.keys, qualified)
            added, conflicts = self._put_documents(transaction, batch.chunks, place, held)
            resolved = self._put_revisits(transaction, batch.chunks, place)
            progress = _grown(progress, resolved.num_documents)
            if resolved.num_documents:
                self._put_sources(transaction, list(progress.values()))
            late, rejected = self._late.put(transaction, resolved.lost, put.keys)
            rejections += rejected
            num_skipped += resolved.num_skipped
            conflicts += resolved.conflicts
            counts += added + resolved.counts
        counts += Counts(num_rejected=len(rejections))
        stored, num_rejected = condensed(rejections, self._num_rejected, self._options.budgets.stored_rejections)
        runs.reject(transaction, self._run_key, stored)
        runs.record(transaction, self._run_key, counts)
        unsettled = self._late.sources.union(one.revisit.source for one in late)
        return Written(progress, rejections, counts, num_skipped, conflicts, qualified, num_rejected, late, unsettled)

    def _see(self, transaction: Transaction, plans: Sequence[Plan]) -> Counts:
        """Mark unchanged files as seen, and also all files under folders and links that were not walked."""
        unchanged = [state for plan in plans for state in plan.unchanged]
        sources.see(transaction, self._options.collection, unchanged, self._run_key)
        for uri in chain.from_iterable(plan.unread for plan in plans):
            sources.see_under(transaction, self._options.collection, uri, self._run_key)
        return Counts(num_unchanged=sum(state.num_documents for state in unchanged))

    def _put_sources(self, transaction: Transaction, steps: Sequence[SourceProgress]) -> sources.Put:
        """Store the progress of the files that could be opened. Returns: their keys.

        The others stay unchanged, and the next run tries them again.
        """
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
            position=step.num_items + (resumed.position if resumed else 0),
            num_documents=step.num_documents + (resumed.num_documents if resumed else 0),
            options=self._read_as,
            reading_run=resumed.reading_run if resumed else self._run_key,
        )

    def _find_qualified(self, transaction: Transaction, put: sources.Put) -> dict[str, bool]:
        """Return by URI whether a source may have had documents with qualified ids when the run began to read it."""
        unknown = [key for uri, key in put.keys.items() if uri not in self._qualified and key not in put.fresh]
        found = sources.may_hold_qualified(transaction, unknown) if unknown else set[int]()
        return {uri: self._qualified.get(uri, key in found) for uri, key in put.keys.items()}

    def _place(self, source_keys: Mapping[str, int], qualified: Mapping[str, bool]) -> documents.Place:
        return documents.Place(
            run_key=self._run_key,
            collection=self._options.collection,
            source_keys=source_keys,
            on_conflict=self._options.on_conflict,
            qualified=frozenset(key for uri, key in source_keys.items() if qualified[uri]),
            file_of=file_of,
            captures=self._options.read.captures,
        )

    def _put_documents(
        self, transaction: Transaction, chunks: Sequence[Chunk], place: documents.Place, held: HeldBuckets
    ) -> tuple[Counts, Conflicts]:
        params = self._store.params
        found = list(chain.from_iterable(chunk.documents for chunk in chunks))
        sketches = _concatenated([chunk.sketches for chunk in chunks], params)
        outcome = documents.put(transaction, found, sketches, place, held)
        retire(transaction, outcome.released, params)
        counts = outcome.counts + Counts(
            num_replaced=sum(document.num_replaced > 0 for document in found),
            num_bytes=sum(chunk.num_bytes for chunk in chunks),
        )
        return counts, outcome.conflicts

    def _put_revisits(self, transaction: Transaction, chunks: Sequence[Chunk], place: documents.Place) -> Resolved:
        revisits = list(chain.from_iterable(chunk.revisits for chunk in chunks))
        return put_revisits(transaction, revisits, place, self._store.params)


def add_documents(
    store: Store, added: Sequence[Document], run_key: int, collection: str, *, link: bool
) -> tuple[Counts, int | None]:
    """Add or refresh documents that do not come from a file.

    Args: link: compute the new pairs as well, if the documents are few.
    Returns: the counts, and the number of new pairs; None if contents were left unlinked.
    Raises: BadDocument: a document does not fit the index, and nothing is stored; StoreError.
    """
    sketches = sketch(added, store.params)

    def write(transaction: Transaction) -> tuple[Counts, int | None]:
        counts = _add(transaction, store.params, added, sketches, run_key, collection)
        return counts, link_few(transaction, store.params, run_key) if link else None

    return store.write(write, run_key)


def add_document(
    store: Store,
    added: Document,
    run_key: int,
    collection: str,
    meet: Callable[[Transaction], Sequence[_Met]],
    *,
    only_new: bool,
) -> tuple[Counts, Sequence[_Met]]:
    """Add or refresh one document, and link it if that is quick.

    Args:
        meet: returns what is like the document before it is added, in the same transaction.
        only_new: add it only if nothing is.

    Returns: the counts, and what `meet` returned.
    Raises: as `add_documents`.
    """
    sketches = sketch([added], store.params)

    def write(transaction: Transaction) -> tuple[Counts, Sequence[_Met]]:
        met = meet(transaction)
        if only_new and met:
            return Counts(), met
        counts = _add(transaction, store.params, [added], sketches, run_key, collection)
        link_few(transaction, store.params, run_key)
        return counts, met

    return store.write(write, run_key)


def _add(
    transaction: Transaction,
    params: Params,
    added: Sequence[Document],
    sketches: Sketches,
    run_key: int,
    collection: str,
) -> Counts:
    outcome = documents.put(transaction, added, sketches, documents.Place(run_key, collection, {}))
    retire(transaction, outcome.released, params)
    runs.record(transaction, run_key, outcome.counts)
    return outcome.counts


def _latest(steps: Iterable[SourceProgress]) -> dict[str, SourceProgress]:
    """Return by URI how far each source has been read, with the items and documents of all its steps."""
    latest: dict[str, SourceProgress] = {}
    for step in steps:
        before = latest.get(step.source.uri)
        if before is not None:
            step = replace(
                step,
                num_items=before.num_items + step.num_items,
                num_documents=before.num_documents + step.num_documents,
                opened=before.opened or step.opened,
            )
        latest[step.source.uri] = step
    return latest


def _grown(progress: Mapping[str, SourceProgress], num_documents: Mapping[str, int]) -> dict[str, SourceProgress]:
    """Return the progress of sources with more documents, whose number is given by URI."""
    return {
        uri: replace(step, num_documents=step.num_documents + num_documents.get(uri, 0))
        for uri, step in progress.items()
    }


def _concatenated(parts: Sequence[Sketches], params: Params) -> Sketches:
    prints = [part.fingerprints for part in parts if part.fingerprints is not None]
    return Sketches(
        digests=np.concatenate([part.digests for part in parts]),
        num_shingles=np.concatenate([part.num_shingles for part in parts]),
        signatures=Signatures(np.concatenate([part.signatures.minima for part in parts]), params.scheme),
        band_keys=BandKeys(np.concatenate([part.band_keys.keys for part in parts]), params.first_band),
        texts=tuple(text for part in parts for text in part.texts or ()) if params.keep_text else None,
        fingerprints=Fingerprints.concatenate(prints) if params.passages else None,
    )
