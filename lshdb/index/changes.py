"""What an index is told: documents that come and go, pairs computed anew, other bands."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from lshdb.audit.repair import Repairing
from lshdb.audit.verify import Reverification, Scope
from lshdb.errors import DocumentUnknown
from lshdb.index.opened import Opened
from lshdb.ingest.ingestion import Ingestion, IngestOptions
from lshdb.ingest.removal import remove, retire
from lshdb.model.banding import DEFAULT_RECALL
from lshdb.model.reports import IngestReport, Measurement, RebandReport, VerifyReport
from lshdb.model.values import Counts, Document, Sketches
from lshdb.readers import ReadOptions
from lshdb.sketch.sketch import sketch
from lshdb.store import Transaction
from lshdb.store.tables import answers, documents, graph, runs
from lshdb.tuning.promises import rebanded, similarities_of
from lshdb.tuning.reband import Rebanding
from lshdb.tuning.recall import Measuring

__all__ = ["Changes"]

# Documents of `add` and `remove` that go into one transaction.
ADDED_DOCUMENTS: Final = 5_000


class Changes(Opened):
    """The changes an index takes."""

    def ingest(
        self,
        paths: Sequence[str | Path],
        options: IngestOptions | None = None,
        *,
        link: bool = True,
        wait: bool = False,
    ) -> IngestReport:
        """Adds or refreshes documents from files and folders; what did not change is not read.

        Args:
            link: compute the new pairs at the end; else the first question that needs them does.
            wait: for another ingest into the same SQLite file to end.

        Raises: IndexBusy: another ingest runs; PathMissing, NothingToRead, PruneRefused, StoreError: what was
            committed before stays.
        """
        given = options or IngestOptions()
        options = replace(given, read=self._suited(given.read), exclude=given.exclude | self._store.files)
        started = time.monotonic()
        with self._store.sole_ingest(wait), self._run("ingest", options.collection) as run_key:
            ingestion = Ingestion(self._store, run_key, options, self._progress)
            ingestion.ingest(paths)
            num_pairs = self._link(run_key) if link else 0
        return IngestReport(
            run=run_key,
            counts=ingestion.counts,
            num_skipped=ingestion.num_skipped,
            pairs_added=num_pairs,
            seconds=time.monotonic() - started,
            num_displaced=ingestion.num_displaced,
            rejected_by_reason=ingestion.reasons.as_dict(),
        )

    def add(self, added: Iterable[Document], collection: str = "default", *, link: bool = True) -> IngestReport:
        """Adds or refreshes documents that a program has at hand; their `source` is not kept.

        Args: link: compute the new pairs at the end; else the first question that needs them does.
        Raises: BadDocument: a document does not suit the index; those of earlier transactions stay.
        """
        started, counts, iterator = time.monotonic(), Counts(), iter(added)
        with self._run("add", collection) as run_key:
            while batch := list(islice(iterator, ADDED_DOCUMENTS)):
                counts += self._add(batch, documents.Place(run_key, collection, {}))
            num_pairs = self._link(run_key) if link else 0
        return IngestReport(run_key, counts, 0, num_pairs, time.monotonic() - started)

    def remove(self, doc_ids: Iterable[str], collection: str = "default") -> int:
        """Removes documents, and the contents and pairs that only they held. Returns: how many documents.

        Raises: DocumentUnknown: one of them is not there; nothing of its transaction is removed.
        """
        removed, iterator = 0, iter(dict.fromkeys(doc_ids))
        with self._run("remove", collection) as run_key:
            while batch := list(islice(iterator, ADDED_DOCUMENTS)):
                removal = partial(self._remove, doc_ids=batch, collection=collection, run_key=run_key)
                removed += self._store.write(removal, run_key)
        return removed

    def link(self) -> int:
        """Computes the pairs of documents that were ingested without linking. Returns: pairs more than before."""
        return self._link(None)

    def verify(self, scope: Scope | None = None) -> VerifyReport:
        """Recomputes stored pairs exactly, in another pass over the texts, and stores what changed.

        Args: scope: which pairs; all by default.
        """
        self._link(None)
        options = self._suited(ReadOptions())
        return Reverification(self._store, options, self._progress, scope or Scope()).verify()

    def reband(self, min_sim: float, recall: float = DEFAULT_RECALL, *, wait: bool = False) -> RebandReport:
        """Gives the index bands that find a pair at `min_sim` with probability `recall`, from its signatures alone.

        The old bands answer until the new ones take over; then all contents are linked anew. Broken off, the same
        call goes on.

        Raises: PromiseUnreachable: the signatures have too few minima; IndexBusy: an ingest or another reband runs.
        """
        started, before = time.monotonic(), self.params
        with self._store.sole_ingest(wait):
            with self._store.reading() as snapshot:
                similarities = similarities_of(snapshot)
                wanted = rebanded(before, min_sim, recall, similarities)
            with self._run("reband", "default") as run_key:
                Rebanding(self._store, wanted, self._progress).reband()
                self._link(run_key)
        with self._store.reading() as snapshot:
            num_pairs = graph.num_pairs(snapshot)
        return RebandReport(run_key, before, self.params, num_pairs, time.monotonic() - started)

    def measure(self, num_probes: int | None = None, seed: int = 1) -> Measurement:
        """Measures recall and similarities on a sample of the index's own contents, and keeps what was measured.

        Args: num_probes: contents that are compared with all others; by default as many as are worth their time.
        """
        self._link(None)
        with self._run("tune", "default") as run_key:
            return Measuring(self._store, run_key, self._progress).measure(num_probes, seed)

    def repair(self, kinds: Collection[str], *, wait: bool = False) -> None:
        """Mends what can be derived where an audit has found faults of these kinds, and links anew what has to be.

        Args: wait: for an ingest into the same SQLite file to end.
        Raises: IndexBusy: an ingest runs; StoreError: what was committed before stays.
        """
        with self._store.sole_ingest(wait):
            Repairing(self._store, kinds, self._progress).repair()

    def _add(self, batch: Sequence[Document], place: documents.Place) -> Counts:
        sketches = sketch(batch, self.params)
        return self._store.write(lambda transaction: self._put(transaction, batch, sketches, place), place.run_key)

    def _put(
        self, transaction: Transaction, batch: Sequence[Document], sketches: Sketches, place: documents.Place
    ) -> Counts:
        outcome = documents.put(transaction, batch, sketches, place)
        retire(transaction, outcome.released, self.params)
        runs.record(transaction, place.run_key, outcome.counts)
        return outcome.counts

    def _remove(self, transaction: Transaction, doc_ids: Sequence[str], collection: str, run_key: int) -> int:
        keys = []
        for doc_id in doc_ids:
            found = answers.doc_keys(transaction, collection, doc_id)
            if not found:
                raise DocumentUnknown(doc_id=doc_id, collection=collection, url=self.url)
            keys += found
        runs.record(transaction, run_key, remove(transaction, keys, self.params))
        return len(keys)
