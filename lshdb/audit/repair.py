"""Repair everything in an index that can be derived from texts, signatures or related rows.

A repair writes one batch per transaction, and checks the rows again in that transaction. Only extra bucket rows, which
stay wrong even if others write meanwhile, are found beforehand in a snapshot. If a sample has shown a fault in contents
or pairs, all of them are checked. A value that only a missing text could give stays unchanged. Contents whose bucket or
pair rows were wrong are linked again.

Documents are not repaired here: the next ingest reads their sources again. If a document was lost, its source is the
one of which the index has fewer documents than were read.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from itertools import islice
from typing import Final

import numpy as np

from lshdb.audit.audit import PAGE_PAIRS, num_in_batch
from lshdb.audit.contents import examine, extra_rows, stored_minima
from lshdb.audit.missing import all_contents, missing_pairs
from lshdb.audit.origin import SourceFault
from lshdb.audit.pairs import examine_pairs
from lshdb.audit.passages import correct_fingerprints, passage_faults
from lshdb.audit.rows import miscounted
from lshdb.audit.sources import SOURCE_FAULTS, Sources
from lshdb.ingest.removal import remove, retire
from lshdb.linking.link import Linking
from lshdb.model.arrays import distinct
from lshdb.model.progress import Progress
from lshdb.model.values import Fingerprints, Signatures
from lshdb.sketch.banding import band_keys
from lshdb.store.schema import DIGEST_BAND
from lshdb.store.statements.rules import DELETABLE, OF_NO_DOCUMENT, Rule
from lshdb.store.store import Store
from lshdb.store.tables import audit, documents, filters, fingerprints, generations, graph, repairs, sources
from lshdb.store.transaction import Transaction

__all__ = ["Repairing"]

# Rows that are repaired in one transaction.
BATCH_ROWS: Final = 10_000

_PARTS: Final = {"index-missing", "index-invalid", "key-missing"}
_CONTENTS: Final = {"signature-length", "signature-differs", "digest-differs", "num-shingles-differs", "bucket-missing"}
_BUCKETS: Final = {*_CONTENTS, "bucket-wrong", "bucket-twice", "bucket-of-no-content", OF_NO_DOCUMENT.kind}
_PAIRS: Final = {"similarity-differs", "estimate-differs"}


class Repairing:
    """The repair of faults of the given kinds, which are named as in an audit."""

    def __init__(self, store: Store, kinds: Collection[str], progress: Progress) -> None:
        self._store = store
        self._params = store.params
        self._kinds = frozenset(kinds)
        self._progress = progress

    def repair(self) -> int:
        """Repair everything that can be derived, and link the affected contents again.

        Returns: the number of sources that the next ingest reads again.
        Raises: StoreError.
        """
        if "table-missing" in self._kinds or "column-missing" in self._kinds:
            return 0
        self._store.write(self._repair_whole)
        if self._kinds & _BUCKETS:
            self._repair_buckets()
        for rule in DELETABLE:
            if rule.kind in self._kinds:
                self._delete(rule)
        if "skipped-count" in self._kinds:
            self._store.write(self._count_again)
        after = (-1, -1) if self._kinds & _PAIRS else None
        while after is not None:
            after = self._store.write(partial(self._repair_pairs, after))
        if "fingerprints-differ" in self._kinds:
            self._store.write(self._correct_fingerprints)
        if "pair-missing" in self._kinds:
            self._unlink_missing()
        # Last, because a content with a wrong digest makes its documents look wrong.
        num_sources = self._read_sources_again()
        Linking(self._store, None, self._progress).link()
        return num_sources

    def _read_sources_again(self) -> int:
        """Have the next ingest read sources again whose documents are wrong or missing. Returns: their number."""
        if self._kinds & SOURCE_FAULTS:
            return self._forget_wrong(only_short=False)
        return self._forget_wrong(only_short=True) if OF_NO_DOCUMENT.kind in self._kinds else 0

    def _forget_wrong(self, *, only_short: bool) -> int:
        """Forget that sources were read, and delete the documents that they do not have. Returns: how many sources."""
        keys, is_deleted = set[int](), False
        with self._store.reading() as snapshot:
            found = Sources(snapshot, self._params, None, np.random.default_rng()).faults(only_short=only_short)
            while some := list(islice(found, BATCH_ROWS)):
                self._store.write(partial(self._forget, some))
                keys.update(one.source_key for one in some)
                is_deleted |= any(one.doc_key is not None for one in some)
        # A deleted document may have had the id of one that another source now lacks.
        return len(keys) + (self._forget_wrong(only_short=True) if is_deleted else 0)

    def _forget(self, some: Sequence[SourceFault], transaction: Transaction) -> None:
        remove(transaction, [one.doc_key for one in some if one.doc_key is not None], self._params)
        sources.forget(transaction, sorted({one.source_key for one in some}))

    def _repair_whole(self, transaction: Transaction) -> None:
        """Repair faults that do not belong to single rows."""
        if self._kinds & _PARTS:
            repairs.make_indexes(transaction)
        # A filter may deny a row that another program wrote, too, and rows are deleted where filters allow them.
        if self._kinds & (_BUCKETS | {"filter-wrong"}):
            for number in generations.numbers(transaction):
                filters.drop(transaction, number)
        if "view-missing" in self._kinds:
            repairs.make_views(transaction)
        if "params-recall" in self._kinds:
            repairs.promise_recall(transaction, self._params)
        if "counter-behind" in self._kinds:
            repairs.raise_counters(transaction)

    def _delete(self, rule: Rule) -> None:
        def delete(transaction: Transaction) -> int:
            limits = audit.limits(transaction, self._params, transaction.expansion)
            return repairs.delete_breaches(transaction, rule, limits, BATCH_ROWS)

        while self._store.write(delete) == BATCH_ROWS:
            pass

    def _repair_buckets(self) -> None:
        position: int | None = -1
        while position is not None:
            position = self._store.write(partial(self._repair_contents, position))
        if OF_NO_DOCUMENT.kind in self._kinds:
            while self._store.write(self._retire):
                pass
        for band in (*self._params.banding.numbers, DIGEST_BAND):
            self._delete_extra(band)

    def _repair_contents(self, position: int, transaction: Transaction) -> int | None:
        """Repair the next contents after a key. Returns: the key of the last one; None if there are no more."""
        stored = audit.next_contents(transaction, position, num_in_batch(self._params.num_perm))
        if not len(stored):
            return None
        found = examine(transaction, stored, np.ones(len(stored), dtype=np.bool_), self._params)
        for change in found.changes:
            repairs.change_content(transaction, change.key, change.digest, change.num_shingles, change.signature)
        repairs.add_buckets(transaction, found.missing)
        changed = np.asarray([change.key for change in found.changes], dtype=np.int64)
        repairs.unlink_existing(transaction, np.union1d(changed, found.missing[:, 2]))
        return int(stored.keys[-1])

    def _retire(self, transaction: Transaction) -> int:
        """Delete some of the contents that no document has. Returns: how many."""
        stored = audit.contents(transaction, repairs.released(transaction, BATCH_ROWS))
        minima, known = stored_minima(stored, self._params)
        retire(transaction, stored.keys[known], self._params)
        # The buckets of an unreadable signature are unknown; `extra_rows` finds their rows later, without a content.
        unknown = Signatures(minima[~known], self._params.scheme)
        documents.delete_contents(transaction, stored.keys[~known], band_keys(unknown, self._params.banding))
        return len(stored)

    def _delete_extra(self, band: int) -> None:
        # A row that is wrong in the snapshot stays wrong, because keys are never reused.
        with self._store.reading() as snapshot:
            found = extra_rows(snapshot, band, self._params)
            while some := list(islice(found, BATCH_ROWS)):
                twice = {row for fault, row in some if fault.fault == "bucket-twice"}
                wrong = {row for fault, row in some if fault.fault != "bucket-twice"}
                deleted, kept = (np.asarray(sorted(rows)).reshape(-1, 3) for rows in (twice | wrong, twice - wrong))
                self._store.write(partial(repairs.replace_buckets, deleted, kept))

    def _unlink_missing(self) -> None:
        """Have the next link store the pairs that are missing."""
        with self._store.reading() as snapshot:
            for pairs in missing_pairs(snapshot, all_contents(snapshot), self._params):
                self._store.write(partial(repairs.unlink_existing, content_keys=distinct(pairs.keys[:, 1])))

    def _correct_fingerprints(self, transaction: Transaction) -> None:
        """Rewrite the fingerprints of the contents whose fingerprints are not those of their text."""
        wrong = [int(fault.key) for fault in passage_faults(transaction, all_contents(transaction), self._params)]
        for begin in range(0, len(wrong), BATCH_ROWS):
            keys = np.asarray(wrong[begin : begin + BATCH_ROWS], dtype=np.int64)
            found = list(correct_fingerprints(transaction, keys, self._params))
            prints = Fingerprints.concatenate([prints for _, prints in found])
            fingerprints.replace(transaction, np.concatenate([keys for keys, _ in found]), prints)

    def _count_again(self, transaction: Transaction) -> None:
        """Have the next link recount the hot buckets whose number of skipped pairs is wrong."""
        wrong = [miscounted(rows, transaction.expansion)[:, :2] for rows in audit.oversized_counts(transaction)]
        for rows in wrong:
            repairs.count_again(transaction, rows)

    def _repair_pairs(self, after: tuple[int, int], transaction: Transaction) -> tuple[int, int] | None:
        """Repair the next pairs after a pair. Returns: the last one; None if there are no more."""
        page = graph.pair_page(transaction, after, PAGE_PAIRS)
        if not len(page):
            return None
        found = examine_pairs(transaction, page, self._params)
        graph.change_pairs(transaction, found.changed)
        graph.delete_pairs(transaction, found.dropped)
        left, right = page.keys[-1].tolist()
        return left, right
