"""List the captures of an address, how each differs from the one before it, and which are redundant.

A capture is redundant if it has the same text as the last kept capture, or is similar enough to it. Captures are always
compared with a kept one, so a page that changes little by little keeps some captures. Similarities are exact if the
index keeps texts, and otherwise estimates. An empty capture is not similar to any other. A capture that is decided to
be different from the last kept one is not redundant.

Documents without a date are not captures. Limitation: with ``captures="newest"``, an address has only one capture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.errors import CaptureUnknown
from lshdb.linking.comparison import Contents, contents_of, encoded_texts
from lshdb.linking.jaccard import jaccard
from lshdb.model.params import Params
from lshdb.model.values import ShingleSets, Signatures
from lshdb.readers.warc.capture_ids import AFTER_TIMESTAMPS, iso, split
from lshdb.sketch.minhash import estimate
from lshdb.sketch.sketch import shingle_sets_utf8
from lshdb.store.tables import captures as stored
from lshdb.store.tables import decisions
from lshdb.store.tables.captures import Dated, Range
from lshdb.store.transaction import Transaction

__all__ = ["Capture", "captures"]

# The number of captures that are read together, and the approximate number of shingles of their texts.
READ_CAPTURES: Final = 500
READ_SHINGLES: Final = 4_000_000


@dataclass(frozen=True, slots=True)
class Capture:
    """A page at one point in time.

    Args:
        id: of the document.
        date: ISO 8601, UTC.
        similarity: to the capture of this address before it; None for the first one.
        exact: whether the similarity was computed from the texts.
        redundant: whether the capture `kept` makes it redundant.
        kept: the id of the last earlier capture that is not redundant; None for the first one.
        source: the URI of its file; None if a program added it.
        locator: where its record is in the file.
    """

    id: str
    address: str
    date: str
    similarity: float | None
    exact: bool
    redundant: bool
    kept: str | None
    source: str | None
    locator: str


def captures(
    snapshot: Transaction,
    address: str | None,
    collection: str,
    min_sim: float,
    params: Params,
    url: str,
    read_shingles: int = READ_SHINGLES,
) -> Iterator[Capture]:
    """Yield the captures of an address, or of all addresses, by address and date.

    Args:
        min_sim: a capture at least this similar to the last one that is not redundant is redundant.
        read_shingles: how many shingles to hold at a time; the result does not depend on it.

    Raises: CaptureUnknown: there are none in the index at `url`.
    """
    rows = stored.dated(snapshot, collection) if address is None else _of_address(snapshot, address, collection)
    iterator, judge = iter(rows), _Judge(snapshot, params, min_sim, read_shingles)
    if not (batch := list(islice(iterator, READ_CAPTURES))):
        raise CaptureUnknown(of_address="" if address is None else f" of {address}", collection=collection, url=url)
    while batch:
        yield from judge.judged(batch)
        batch = list(islice(iterator, READ_CAPTURES))


def _of_address(snapshot: Transaction, address: str, collection: str) -> Iterable[Dated]:
    """Return the captures of an address; without any, the document that it names."""
    dated = Range(f"{address}@", f"{address}@{AFTER_TIMESTAMPS}")
    found = [row for row in stored.dated(snapshot, collection, dated) if split(row.doc_id)[0] == address]
    # No id contains NUL, so the range has one id.
    return found or stored.dated(snapshot, collection, Range(address, f"{address}\x01"))


class _Judge:
    """Compares captures with earlier ones, which it remembers."""

    def __init__(self, snapshot: Transaction, params: Params, min_sim: float, read_shingles: int) -> None:
        self._snapshot = snapshot
        self._params = params
        self._min_sim = min_sim
        self._read_shingles = read_shingles
        self._different = {frozenset(pair) for pair in decisions.different_contents(snapshot).tolist()}
        self._before: Dated | None = None
        self._kept: Dated | None = None

    def judged(self, rows: Sequence[Dated]) -> Iterator[Capture]:
        """Yield the next captures."""
        contents = contents_of(self._snapshot, self._compared(rows), self._params)
        if len(rows) > 1 and contents.num_shingles.sum() > self._read_shingles:
            middle = len(rows) // 2
            yield from self.judged(rows[:middle])
            yield from self.judged(rows[middle:])
            return
        texts = _Texts(self._snapshot, contents, self._params)
        for row in rows:
            yield self._judged(row, texts)

    def _compared(self, rows: Sequence[Dated]) -> NDArray[np.int64]:
        """Return the contents to compare. Most addresses have one capture, or captures with the same text."""
        before = [self._before] if self._before is not None else []
        keys: set[int | None] = set()
        for one, other in pairwise([*before, *rows]):
            if _address(one) == _address(other) and one.content_key != other.content_key:
                keys |= {one.content_key, other.content_key}
        # The kept capture may be from an earlier call, and no adjacent captures may have its text.
        keys |= {row.content_key for row in (self._before, self._kept) if row is not None}
        return np.asarray(sorted(key for key in keys if key is not None), dtype=np.int64)

    def _judged(self, row: Dated, texts: _Texts) -> Capture:
        address = _address(row)
        if self._before is not None and _address(self._before) != address:
            self._before = self._kept = None
        similarity, exact, redundant = None, True, False
        kept, before = self._kept, self._before
        if before is not None and kept is not None:
            similarity, exact = texts.similarity(before.content_key, row.content_key)
            near, _ = texts.similarity(kept.content_key, row.content_key)
            is_apart = frozenset((kept.content_key, row.content_key)) in self._different
            redundant = row.content_key is not None and near >= self._min_sim and not is_apart
        self._before = row
        if not redundant:
            self._kept = row
        return Capture(
            id=row.doc_id,
            address=address,
            date=iso(row.dated_at),
            similarity=similarity,
            exact=exact,
            redundant=redundant,
            kept=None if kept is None else kept.doc_id,
            source=row.source,
            locator=row.locator,
        )


class _Texts:
    """The shingles of contents, and the signatures of those whose text is not kept."""

    def __init__(self, snapshot: Transaction, contents: Contents, params: Params) -> None:
        keys, encoded = encoded_texts(snapshot, contents.keys)
        self._contents = contents
        self._scheme = params.scheme
        self._place = {key: place for place, key in enumerate(keys.tolist())}
        self._sets: ShingleSets | None = shingle_sets_utf8(encoded, params) if encoded else None

    def similarity(self, one: int | None, other: int | None) -> tuple[float, bool]:
        """Return the similarity of two contents, and whether it is exact. None stands for empty content."""
        if one is None or other is None:
            return 0.0, True
        if one == other:
            return 1.0, True
        if self._sets is not None and one in self._place and other in self._place:
            places = [np.asarray([self._place[key]]) for key in (one, other)]
            return float(jaccard(self._sets, places[0], places[1])[0]), True
        minima = self._contents.signatures.minima
        rows = self._contents.rows(np.asarray([[one], [other]]))
        left, right = (Signatures(minima[row], self._scheme) for row in rows)
        return float(estimate(left, right)[0]), False


def _address(row: Dated) -> str:
    return split(row.doc_id)[0]
