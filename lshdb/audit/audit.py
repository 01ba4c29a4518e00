"""One pass over everything that an index must be, in one snapshot; faults come as they are found.

Memory is bounded by a batch, whatever the number of contents and faults: contents, bucket rows and pairs stream by.
Costs one pass over every table, and 20 seeks a content for its buckets. Bands that are being written by a reband are
not looked at, nor what is not linked yet. Limitation: on SQLite, the log grows while a long check holds its snapshot.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.audit.contents import examine, extra_rows
from lshdb.audit.faults import Fault
from lshdb.audit.pairs import examine_pairs
from lshdb.audit.rows import database_faults, row_faults, schema_faults
from lshdb.model.progress import Progress
from lshdb.model.values import VerifiedPairs
from lshdb.store.store import Store
from lshdb.store.tables import audit, graph
from lshdb.store.transaction import Transaction

__all__ = ["Auditing", "Thoroughness", "num_in_batch"]

# Minima of the contents that are looked at together: 2 MB of signatures.
BATCH_MINIMA: Final = 500_000
PAGE_PAIRS: Final = 20_000

# Of the progress that is shown: how much is behind the rows, and how much behind the contents.
ROWS_SHARE: Final = 0.1
CONTENTS_SHARE: Final = 0.8


@dataclass(frozen=True, slots=True)
class Thoroughness:
    """How much is recomputed.

    Args:
        sample: texts that are sketched again, and pairs that are computed again, drawn at random; None takes all.
        seed: of what is drawn.
        limit: faults of a kind that are told one by one; None tells all. All are counted.
    """

    sample: int | None = 5_000
    seed: int = 1
    limit: int | None = None


class Auditing:
    """An audit: iterate over it for the faults, then ask it for what it counted.

    Args: store: must stay open; nothing is written to it.
    """

    def __init__(self, store: Store, thoroughness: Thoroughness, progress: Progress) -> None:
        self._store = store
        self._params = store.params
        self._thoroughness = thoroughness
        self._progress = progress
        self.counts: Counter[str] = Counter()
        self.num_contents = self.num_texts = self.num_pairs = 0
        self.seconds = 0.0

    def __iter__(self) -> Iterator[Fault]:
        """The faults, up to the limit of each kind. Raises: StoreError."""
        started, limit = time.monotonic(), self._thoroughness.limit
        self.counts.clear()
        self.num_contents = self.num_texts = self.num_pairs = 0
        with self._store.reading() as snapshot:
            for fault in self.faults(snapshot):
                self.counts[fault.fault] += 1
                if limit is None or self.counts[fault.fault] <= limit:
                    yield fault
        self.seconds = time.monotonic() - started
        self._progress.advanced("check", 1.0)

    def as_json(self) -> dict[str, object]:
        """The object that ``check --json`` prints."""
        return {
            "faults": self.counts.total(),
            "by_kind": dict(self.counts),
            "contents": self.num_contents,
            "texts_sketched": self.num_texts,
            "pairs_recomputed": self.num_pairs,
            "seconds": round(self.seconds, 3),
        }

    def faults(self, snapshot: Transaction) -> Iterator[Fault]:
        """All faults that one state of the index has."""
        missing, is_fatal = schema_faults(snapshot)
        yield from missing
        yield from database_faults(snapshot, full=self._thoroughness.sample is None)
        if is_fatal:
            return
        yield from row_faults(snapshot, self._params)
        self._progress.advanced("check", ROWS_SHARE)
        chance = np.random.default_rng(self._thoroughness.seed)
        yield from self._content_faults(snapshot, chance)
        yield from self._pair_faults(snapshot, chance)

    def _content_faults(self, snapshot: Transaction, chance: np.random.Generator) -> Iterator[Fault]:
        """What is wrong with contents and their bucket rows."""
        total, num_known = graph.num_contents(snapshot), 0
        drawing, missing = _Drawing(total, self._thoroughness.sample, chance), Counter[int]()
        stored = audit.next_contents(snapshot, -1, num_in_batch(self._params.num_perm))
        while len(stored):
            found = examine(snapshot, stored, drawing.draw(len(stored)), self._params)
            yield from found.faults
            missing.update(found.missing[:, 0].tolist())
            num_known += found.num_known
            self.num_contents += len(stored)
            self.num_texts += found.num_read
            self._progress.advanced("check", ROWS_SHARE + (CONTENTS_SHARE - ROWS_SHARE) * self.num_contents / total)
            stored = audit.next_contents(snapshot, int(stored.keys[-1]), len(stored))
        for band in self._params.banding.numbers:
            # Every row that should be there is there but for the missing ones: if there are no more, none is wrong.
            if audit.num_band_rows(snapshot, band) != num_known - missing[band]:
                yield from (fault for fault, _ in extra_rows(snapshot, band, self._params))

    def _pair_faults(self, snapshot: Transaction, chance: np.random.Generator) -> Iterator[Fault]:
        for page, share in self._pages(snapshot, chance):
            found = examine_pairs(snapshot, page, self._params)
            yield from found.faults
            self.num_pairs += len(page)
            self._progress.advanced("check", CONTENTS_SHARE + (1 - CONTENTS_SHARE) * share)

    def _pages(self, snapshot: Transaction, chance: np.random.Generator) -> Iterator[tuple[VerifiedPairs, float]]:
        """The pairs to recompute, and the share of them that each page completes."""
        if (sample := self._thoroughness.sample) is not None:
            drawn = graph.sampled_pairs(snapshot, sample, 0, chance)
            for begin in range(0, len(drawn), PAGE_PAIRS):
                end = begin + PAGE_PAIRS
                yield drawn.chosen(slice(begin, end)), min(1.0, end / len(drawn))
            return
        total = graph.num_pairs(snapshot)
        page = graph.pair_page(snapshot, (-1, -1), PAGE_PAIRS)
        while len(page):
            yield page, min(1.0, (self.num_pairs + len(page)) / total)
            left, right = page.keys[-1].tolist()
            page = graph.pair_page(snapshot, (left, right), PAGE_PAIRS)


def num_in_batch(num_perm: int) -> int:
    """The number of contents that are looked at together."""
    return max(1, BATCH_MINIMA // num_perm)


class _Drawing:
    """Draws `sample` of `total` things at random while they go by; all of them where it is None."""

    def __init__(self, total: int, sample: int | None, chance: np.random.Generator) -> None:
        self._left = total
        self._wanted = total if sample is None else min(sample, total)
        self._chance = chance

    def draw(self, count: int) -> NDArray[np.bool_]:
        """Which of the next `count` are drawn, bool, shape (count,)."""
        here = int(self._chance.hypergeometric(self._wanted, self._left - self._wanted, count)) if self._left else 0
        drawn = np.zeros(count, dtype=np.bool_)
        drawn[self._chance.choice(count, here, replace=False)] = True
        self._left -= count
        self._wanted -= here
        return drawn
