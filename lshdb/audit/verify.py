"""Recompute stored pairs exactly from the kept texts, or else from the sources.

Memory is bounded by a page of pairs. Texts that are read again wait in a temporary file. A sample is one page.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.linking.comparison import compare, contents_of
from lshdb.linking.rereading import spool_lost
from lshdb.linking.spool import Spool
from lshdb.model import arguments
from lshdb.model.arrays import distinct
from lshdb.model.progress import Progress
from lshdb.model.upkeep import VerifyCounts, VerifyReport
from lshdb.model.values import VerifiedPairs
from lshdb.readers import ReadOptions
from lshdb.store.store import Store
from lshdb.store.tables import answers, graph
from lshdb.store.transaction import Transaction

__all__ = ["Reverification", "Scope"]

PAGE_PAIRS: Final = 100_000

# Pairs without a text that are listed.
NAMED_PAIRS: Final = 5


@dataclass(frozen=True, slots=True)
class Scope:
    """Which stored pairs to verify.

    Args:
        sample: the number of random pairs; None for all.
        since: only pairs written by this run or a later one, or outside any run.
        seed: of the random sample.
    """

    sample: int | None = None
    since: int = 0
    seed: int = 1

    def __post_init__(self) -> None:
        arguments.limit("sample", self.sample)
        arguments.count("since", self.since, least=0)
        arguments.count("seed", self.seed, least=0)


class Reverification:
    """One verification of stored pairs.

    Args: options: how to read sources if no text is kept.
    """

    def __init__(self, store: Store, options: ReadOptions, progress: Progress, scope: Scope) -> None:
        self._store = store
        self._params = store.params
        self._options = options
        self._progress = progress
        self._scope = scope
        # Where the index keeps no texts: those that were read again.
        self._spool: Spool | None = None
        self._gone: list[tuple[int, int]] = []
        self._counts = VerifyCounts()
        self._largest = 0.0

    def verify(self) -> VerifyReport:
        """Recompute the pairs, store changed similarities, and delete pairs below the floor."""
        started, chance = time.monotonic(), np.random.default_rng(self._scope.seed)
        with self._store.reading() as snapshot:
            for page, share in self._pages(snapshot, chance):
                self._verify_page(snapshot, page)
                self._progress.advanced("verify", share)
            gone = self._named(snapshot)
        return VerifyReport(self._counts, self._largest, gone, time.monotonic() - started)

    def _pages(self, snapshot: Transaction, chance: np.random.Generator) -> Iterator[tuple[VerifiedPairs, float]]:
        """Yield pages of pairs, each with the share of all pairs that is complete after it."""
        scope, lost = self._scope, not self._params.keep_text
        if scope.sample is not None:
            page = graph.sampled_pairs(snapshot, scope.sample, scope.since, chance)
            if lost:
                self._spool = spool_lost(snapshot, self._params, self._options, distinct(page.keys))
            yield page, 1.0
            return
        if lost:
            self._spool = spool_lost(snapshot, self._params, self._options)
        total, done = graph.num_pairs(snapshot, scope.since), 0
        for page in graph.pair_pages(snapshot, PAGE_PAIRS, scope.since):
            done += len(page)
            yield page, done / total

    def _verify_page(self, snapshot: Transaction, page: VerifiedPairs) -> None:
        contents = contents_of(snapshot, page.keys.ravel(), self._params)
        unsure = VerifiedPairs.estimated(page.keys, page.similarity)
        fresh = compare(snapshot, contents, unsure, self._params, self._spool)
        dropped = fresh.exact & (fresh.similarity < self._params.floor)
        changed = fresh.exact & ((fresh.similarity != page.similarity) | ~page.exact)

        def write(transaction: Transaction) -> None:
            graph.change_pairs(transaction, fresh.chosen(changed & ~dropped))
            graph.delete_pairs(transaction, fresh.chosen(changed & dropped))

        self._store.write(write)
        self._account(page, fresh, changed & dropped)

    def _account(self, page: VerifiedPairs, fresh: VerifiedPairs, dropped: NDArray[np.bool_]) -> None:
        difference = np.where(fresh.exact, np.abs(fresh.similarity - page.similarity), 0.0)
        self._largest = max(self._largest, float(difference.max(initial=0.0)))
        unnamed = NAMED_PAIRS - len(self._gone)
        self._gone += [(left, right) for left, right in page.keys[~fresh.exact][:unnamed].tolist()]
        self._counts += VerifyCounts(
            num_pairs=len(page),
            num_confirmed=int((fresh.exact & (difference == 0.0)).sum()),
            num_changed=int((difference > 0.0).sum()),
            num_dropped=int(dropped.sum()),
            num_unknown=int((~fresh.exact).sum()),
        )

    def _named(self, snapshot: Transaction) -> tuple[tuple[str, str], ...]:
        """Return the names of the first pairs without a text; a content has the name of its first document."""
        keys = np.unique(np.asarray(self._gone, dtype=np.int64))
        names: dict[int, str] = {}
        for key, doc_id, _ in answers.documents_of(snapshot, keys):
            names.setdefault(key, doc_id)
        return tuple((names[left], names[right]) for left, right in self._gone)
