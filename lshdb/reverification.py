"""Recomputes stored pairs exactly, in another pass over the texts: the kept ones, else the sources read again.

A text that is read again counts only if its digest is still its content's: a source that changed since says
nothing of what was there. Memory is bounded by a page of pairs; texts read again wait in a temporary table.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.comparison import compare, contents_of
from lshdb.errors import BadDocument
from lshdb.model import Document, VerifiedPairs
from lshdb.normalization import digests, normalise
from lshdb.pipeline import text_of
from lshdb.progress import Progress
from lshdb.readers import Reading, ReadOptions, recorded, source_at
from lshdb.reports import VerifyCounts
from lshdb.store import Store, Transaction, graph, spool
from lshdb.store.spool import LostSource
from lshdb.texts import encode, pack

__all__ = ["Reverification"]

PAGE_PAIRS: Final = 100_000

# Texts read again that are held before they go to the temporary table.
SPOOLED_TEXTS: Final = 500


class Reverification:
    """One pass over all stored pairs of an index.

    Args: options: how sources are read where no text is kept.
    """

    def __init__(self, store: Store, options: ReadOptions, progress: Progress) -> None:
        self._store = store
        self._params = store.params
        self._options = options
        self._progress = progress

    def verify(self) -> VerifyCounts:
        """Recomputes every pair; stores the similarities that changed, drops the pairs below the floor."""
        outcome = VerifyCounts()
        with self._store.reading() as snapshot:
            if not self._params.keep_text:
                self._spool_lost(snapshot)
            total = max(1, graph.num_pairs(snapshot))
            for page in _pages(snapshot):
                outcome += self._verify_page(snapshot, page)
                self._progress.verified(outcome.num_pairs / total)
        return outcome

    def _verify_page(self, snapshot: Transaction, page: VerifiedPairs) -> VerifyCounts:
        contents = contents_of(snapshot, page.keys.ravel(), self._params)
        unsure = VerifiedPairs(page.keys, page.similarity, np.zeros(len(page), dtype=np.bool_))
        fresh = compare(snapshot, contents, unsure, self._params, spooled=not self._params.keep_text)
        changed = fresh.exact & ((fresh.similarity != page.similarity) | ~page.exact)
        dropped = changed & (fresh.similarity < self._params.floor)
        with self._store.writing() as transaction:
            graph.change_pairs(transaction, _chosen(fresh, changed & ~dropped))
            graph.delete_pairs(transaction, _chosen(fresh, dropped))
        different = fresh.exact & (fresh.similarity != page.similarity)
        return VerifyCounts(
            num_pairs=len(page),
            num_confirmed=int((fresh.exact & ~different).sum()),
            num_changed=int(different.sum()),
            num_dropped=int(dropped.sum()),
            num_unknown=int((~fresh.exact).sum()),
        )

    def _spool_lost(self, snapshot: Transaction) -> None:
        """Reads again the sources of those paired contents whose text is not kept."""
        spool.begin(snapshot)
        for source in spool.lost(snapshot):
            texts = self._read_again(source)
            while some := list(islice(texts, SPOOLED_TEXTS)):
                spool.put(snapshot, some)

    def _read_again(self, lost: LostSource) -> Iterator[tuple[int, bytes]]:
        """(content_key, zstd frame) of what is still in the source."""
        source = source_at(lost.uri)
        if source is None:
            return
        wanted = {text.locator: text for text in lost.texts}
        for item in Reading(source, recorded(lost.options, self._options)):
            if isinstance(item, Document) and item.locator in wanted:
                text = self._same_text(item, wanted[item.locator].digest)
                if text is not None:
                    yield wanted[item.locator].content_key, pack(encode(text))

    def _same_text(self, document: Document, digest: bytes) -> str | None:
        """The document's text, if it is still what it was."""
        try:
            text = text_of(document, self._params)
        except BadDocument:
            return None
        found = digests(normalise([text], self._params.shingling))[0]
        return text if found.tobytes() == digest else None


def _pages(snapshot: Transaction) -> Iterator[VerifiedPairs]:
    page = graph.pair_page(snapshot, (-1, -1), PAGE_PAIRS)
    while len(page):
        yield page
        left, right = page.keys[-1].tolist()
        page = graph.pair_page(snapshot, (left, right), PAGE_PAIRS)


def _chosen(pairs: VerifiedPairs, which: NDArray[np.bool_]) -> VerifiedPairs:
    return VerifiedPairs(pairs.keys[which], pairs.similarity[which], pairs.exact[which])
