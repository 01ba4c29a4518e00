"""Check everything about an index in one snapshot, and yield the faults one at a time.

Memory is bounded by a batch for any number of contents and faults, because contents, bucket rows and pairs are
streamed. An audit costs two passes over the buckets, one over every other table, and 20 seeks for the buckets of each
content. Bands that an unfinished reband is writing and pairs that are not linked yet are not checked. Limitation: on
SQLite, the log grows while a long check holds its snapshot.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.audit.contents import examine, extra_rows
from lshdb.audit.faults import LOST, Fault
from lshdb.audit.missing import all_contents, missing_faults, missing_pairs
from lshdb.audit.pairs import examine_pairs
from lshdb.audit.passages import passage_faults
from lshdb.audit.rows import database_faults, row_faults, schema_faults
from lshdb.audit.sources import Sources
from lshdb.model import arguments
from lshdb.model.progress import Progress
from lshdb.model.values import VerifiedPairs
from lshdb.store.schema import DIGEST_BAND
from lshdb.store.store import Store
from lshdb.store.tables import audit, graph, identities
from lshdb.store.transaction import Transaction

__all__ = ["Auditing", "Thoroughness", "num_in_batch"]

# Minima of the contents that are checked together: 2 MB of signatures.
BATCH_MINIMA: Final = 500_000
PAGE_PAIRS: Final = 20_000

# Shares of the displayed progress: when the rows are done, the contents, and the pairs.
ROWS_SHARE: Final = 0.1
CONTENTS_SHARE: Final = 0.6
PAIRS_SHARE: Final = 0.7


@dataclass(frozen=True, slots=True)
class Thoroughness:
    """How much to recompute.

    Args:
        sample: the number of random texts to sketch again, of random contents whose pairs to search for, of random
            pairs to recompute, and of documents to read again from their sources; None for all.
        seed: of the random sample.
        limit: how many faults of each kind to yield; None for all. All are counted.
    """

    sample: int | None = 5_000
    seed: int = 1
    limit: int | None = None

    def __post_init__(self) -> None:
        if self.sample is not None:
            arguments.count("sample", self.sample, least=0)
        arguments.count("seed", self.seed, least=0)
        arguments.limit("limit", self.limit)


class Auditing:
    """An audit. Iterate over it for the faults, then read its counts.

    Args: store: must stay open; nothing is written to it.
    """

    def __init__(self, store: Store, thoroughness: Thoroughness, progress: Progress) -> None:
        self._store = store
        self._params = store.params
        self._thoroughness = thoroughness
        self._progress = progress
        self.counts: Counter[str] = Counter()
        self.num_contents = self.num_texts = self.num_pairs = 0
        self.num_sources = self.num_documents = 0
        # Sources that could not be read again, by reason.
        self.unexamined = Counter[str]()
        self.seconds = 0.0

    def __iter__(self) -> Iterator[Fault]:
        """Return the faults, up to the limit for each kind. Raises: StoreError; UsageError: the index was closed."""
        return self._store.stream(self._listed())

    def _listed(self) -> Generator[Fault, None, None]:
        started, limit = time.monotonic(), self._thoroughness.limit
        self.counts.clear()
        self.num_contents = self.num_texts = self.num_pairs = self.num_sources = self.num_documents = 0
        self.unexamined.clear()
        with self._store.reading() as snapshot:
            for fault in self.faults(snapshot):
                self.counts[fault.fault] += 1
                if limit is None or self.counts[fault.fault] <= limit:
                    yield fault
        self.seconds = time.monotonic() - started
        self._progress.advanced("check", 1.0)

    def as_json(self) -> dict[str, object]:
        """Return the object that ``check --json`` prints."""
        return {
            "faults": self.counts.total(),
            "by_kind": dict(self.counts),
            "contents": self.num_contents,
            "texts_sketched": self.num_texts,
            "pairs_recomputed": self.num_pairs,
            "documents_read": self.num_documents,
            "sources_read": self.num_sources,
            "sources_not_read": dict(self.unexamined),
            "seconds": round(self.seconds, 3),
        }

    def faults(self, snapshot: Transaction) -> Iterator[Fault]:
        """Yield all faults of one state of the index."""
        missing, is_fatal = schema_faults(snapshot)
        yield from missing
        yield from database_faults(snapshot, full=self._thoroughness.sample is None)
        if is_fatal:
            return
        yield from row_faults(snapshot, self._params)
        self._progress.advanced("check", ROWS_SHARE)
        chance = np.random.default_rng(self._thoroughness.seed)
        yield from self._content_faults(snapshot, chance)
        if self._params.passages:
            yield from passage_faults(snapshot, self._some_contents(snapshot, chance), self._params)
        yield from self._missing_faults(snapshot, chance)
        yield from self._pair_faults(snapshot, chance)
        yield from self._source_faults(snapshot, chance)

    def _content_faults(self, snapshot: Transaction, chance: np.random.Generator) -> Iterator[Fault]:
        """Yield the faults of contents and their bucket rows."""
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
        expected = dict.fromkeys(self._params.banding.numbers, num_known) | {DIGEST_BAND: self.num_contents}
        for band, number in expected.items():
            # The table has the expected rows minus the missing ones. If it has no others, all rows are right.
            if audit.num_band_rows(snapshot, band) != number - missing[band]:
                yield from (fault for fault, _ in extra_rows(snapshot, band, self._params))

        for key, first in identities.twins(snapshot):
            yield Fault("digest-twice", "content", str(key), f"content {first} has the same digest", LOST)

    def _missing_faults(self, snapshot: Transaction, chance: np.random.Generator) -> Iterator[Fault]:
        for pairs in missing_pairs(snapshot, self._some_contents(snapshot, chance), self._params):
            yield from missing_faults(pairs)

    def _some_contents(self, snapshot: Transaction, chance: np.random.Generator) -> NDArray[np.int64]:
        """Return random contents, or all of them: int64, ascending."""
        keys, sample = all_contents(snapshot), self._thoroughness.sample
        if sample is not None and sample < len(keys):
            return np.sort(chance.choice(keys, sample, replace=False))
        return keys

    def _pair_faults(self, snapshot: Transaction, chance: np.random.Generator) -> Iterator[Fault]:
        for page, share in self._pages(snapshot, chance):
            found = examine_pairs(snapshot, page, self._params)
            yield from found.faults
            self.num_pairs += len(page)
            self._progress.advanced("check", CONTENTS_SHARE + (PAIRS_SHARE - CONTENTS_SHARE) * share)

    def _source_faults(self, snapshot: Transaction, chance: np.random.Generator) -> Iterator[Fault]:
        sources = Sources(snapshot, self._params, self._thoroughness.sample, chance)
        for found in sources.faults():
            yield found.fault
            self._progress.advanced("check", PAIRS_SHARE + (1 - PAIRS_SHARE) * sources.share)
        self.num_sources, self.num_documents = sources.num_sources, sources.num_documents
        self.unexamined = sources.unexamined

    def _pages(self, snapshot: Transaction, chance: np.random.Generator) -> Iterator[tuple[VerifiedPairs, float]]:
        """Yield pages of pairs to recompute, each with the share of them that is complete after it."""
        if (sample := self._thoroughness.sample) is not None:
            drawn = graph.sampled_pairs(snapshot, sample, 0, chance)
            for begin in range(0, len(drawn), PAGE_PAIRS):
                end = begin + PAGE_PAIRS
                yield drawn.chosen(slice(begin, end)), min(1.0, end / len(drawn))
            return
        total = graph.num_pairs(snapshot)
        for page in graph.pair_pages(snapshot, PAGE_PAIRS):
            yield page, min(1.0, (self.num_pairs + len(page)) / total)


def num_in_batch(num_perm: int) -> int:
    """Return the number of contents that are checked together."""
    return max(1, BATCH_MINIMA // num_perm)


class _Drawing:
    """Draws `sample` of `total` items at random while they pass; all of them if `sample` is None."""

    def __init__(self, total: int, sample: int | None, chance: np.random.Generator) -> None:
        self._left = total
        self._wanted = total if sample is None else min(sample, total)
        self._chance = chance

    def draw(self, count: int) -> NDArray[np.bool_]:
        """Return which of the next `count` items are drawn, bool, shape (count,)."""
        here = int(self._chance.hypergeometric(self._wanted, self._left - self._wanted, count)) if self._left else 0
        drawn = np.zeros(count, dtype=np.bool_)
        drawn[self._chance.choice(count, here, replace=False)] = True
        self._left -= count
        self._wanted -= here
        return drawn
