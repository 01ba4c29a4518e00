"""Compare the documents of one source with what the source holds.

The ids, places, dates and texts of the documents must be those of its items. A difference is no fault if a sound index
can have it: another source has the id, a later item of the same source has it, or a revisit has made the document
newer. `sources` chooses the sources and reads them.

Memory grows with the keys of the source's documents, 8 bytes each, and with the ids that the index lacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.audit.faults import Fault
from lshdb.model.choices import FaultKind
from lshdb.model.params import Params
from lshdb.model.values import Document
from lshdb.readers import Item, Revisit, file_of
from lshdb.sketch.normalization import digests, normalise
from lshdb.sketch.sketch import fits, text_of
from lshdb.store.tables import clusters, provenance, removals
from lshdb.store.tables.provenance import AuditedSource, SourcedDocument
from lshdb.store.transaction import Transaction

__all__ = ["READ_AGAIN", "Origin", "SourceFault", "of_source"]

READ_AGAIN: Final = "the next ingest reads its source again"

# Documents and characters of text that are compared together.
PART_DOCUMENTS: Final = 2_000
PART_CHARS: Final = 4_000_000

# Characters of an id that a fault shows.
SHOWN_CHARS: Final = 100


class SourceFault(Struct, frozen=True):
    """A fault, the source to read again, and the document to delete, if there is one."""

    fault: Fault
    source_key: int
    doc_key: int | None = None


def of_source(kind: FaultKind, key: int, detail: str) -> SourceFault:
    """Return a fault of a source as a whole."""
    return SourceFault(Fault(kind, "source", str(key), detail, "the next ingest reads it again"), key)


class _Read(Struct, frozen=True):
    """A document as its source has it. The digest of an empty text is None; a revisit has no text of its own."""

    doc_id: str
    locator: str
    dated_at: int | None
    digest: bytes | None = None
    is_revisit: bool = False


class Origin:
    """One source while its items are read in order.

    Attributes: num_documents, num_items: the number of documents and of items that were read.
    """

    def __init__(self, snapshot: Transaction, source: AuditedSource, params: Params) -> None:
        self.num_documents = self.num_items = 0
        self._snapshot = snapshot
        self._source = source
        self._params = params
        self._held: list[Document] = []
        self._revisits: list[_Read] = []
        self._num_chars = self._num_revisits = 0
        # Keys of stored documents: those whose id was read, those whose place was, and those read at another place.
        self._met, self._placed, self._elsewhere = _Keys(), _Keys(), _Keys()
        # Hashes of the ids that the index lacks, and one of these ids.
        self._absent: set[int] = set()
        self._example = ""

    def add(self, item: Item) -> Iterator[SourceFault]:
        """Take the next item. Yields: the faults found so far."""
        self.num_items += 1
        if isinstance(item, Revisit):
            self._num_revisits += 1
            capture = item.capture
            self._revisits.append(_Read(capture.doc_id, capture.locator, capture.dated_at, is_revisit=True))
        elif isinstance(item, Document) and fits(item, self._params):
            self.num_documents += 1
            self._num_chars += len(item.text)
            self._held.append(item)
        if len(self._held) + len(self._revisits) >= PART_DOCUMENTS or self._num_chars >= PART_CHARS:
            yield from self.compare()

    def compare(self) -> Iterator[SourceFault]:
        """Compare the documents that are held, and yield the faults."""
        found = [*self._digested(), *self._revisits]
        self._held, self._revisits, self._num_chars = [], [], 0
        ours = [(one, stored) for one, stored in zip(found, self._stored(found), strict=True) if stored is not None]
        self._met.add(stored.doc_key for _, stored in ours)
        self._placed.add(stored.doc_key for one, stored in ours if _is_placed(one, stored))
        self._elsewhere.add(stored.doc_key for one, stored in ours if not _is_placed(one, stored))
        for one, stored in ours:
            if stored.last_seen_run < self._source.reading_run:
                detail = f"the run that read its source did not see {_shown(stored.doc_id)}"
                yield self._of_document("document-unseen", stored.doc_key, detail)
            if one.locator == stored.locator and not one.is_revisit:
                yield from self._differences(one, stored)

    def end(self) -> Iterator[SourceFault]:
        """Yield the faults that only the whole source can show, once everything is compared."""
        moved = np.setdiff1d(self._elsewhere.all(), self._placed.all())
        unknown = np.setdiff1d(provenance.documents_of(self._snapshot, self._source), self._met.all())
        names = clusters.names(self._snapshot, np.union1d(moved, unknown))
        for key in moved.tolist():
            yield self._of_document("locator-differs", key, f"its source has {_shown(names[key][1])} at another place")
        for key in unknown.tolist():
            detail = f"its source has no {_shown(names[key][1])}"
            fault = Fault("document-unknown", "document", str(key), detail, f"deleted; {READ_AGAIN}")
            yield SourceFault(fault, self._source.source_key, key)
        num_absent = len(self._absent)
        if num_absent > removals.num_since(self._snapshot, self._source.source_key, self._source.reading_run):
            detail = f"the index lacks {num_absent:,} of its documents, such as {_shown(self._example)}"
            yield self._of_source("document-missing", detail)
        yield from self._miscount()

    def _miscount(self) -> Iterator[SourceFault]:
        documents, items = self._source.num_documents, self._source.position
        if not self.num_documents <= documents <= self.num_documents + self._num_revisits:
            yield self._of_source("source-count", f"it has {self.num_documents:,} documents, not {documents:,}")
        elif items != self.num_items:
            yield self._of_source("source-count", f"it has {self.num_items:,} items, not {items:,}")

    def _digested(self) -> Iterator[_Read]:
        texts = [text_of(one, self._params) for one in self._held]
        rows = digests(normalise(texts, self._params.shingling), self._params.table_version)
        for one, row in zip(self._held, rows, strict=True):
            yield _Read(one.doc_id, one.locator, one.dated_at, row.tobytes() if row.any() else None)

    def _stored(self, found: Sequence[_Read]) -> list[SourcedDocument | None]:
        """Return the stored document of each one, if this source has it. Notes the ids that the index lacks."""
        named = self._named(one.doc_id for one in found)
        qualified = {one.doc_id: f"{one.doc_id}@{file_of(self._source.uri)}" for one in found}
        named |= self._named(qualified[one.doc_id] for one in found if self._distance(one, named.get(one.doc_id)))
        stored: list[SourcedDocument | None] = []
        for one in found:
            # Both may be of this source: of two records, one may have the text of another source's document.
            both = named.get(one.doc_id), named.get(qualified[one.doc_id])
            nearest = min(both, key=partial(self._distance, one))
            stored.append(nearest if self._is_ours(nearest) else None)
            if both == (None, None) and not one.is_revisit:
                self._absent.add(hash(one.doc_id))
                self._example = self._example or one.doc_id
        return stored

    def _named(self, doc_ids: Iterable[str]) -> dict[str, SourcedDocument]:
        return provenance.documents(self._snapshot, self._source.collection_key, list(dict.fromkeys(doc_ids)))

    def _is_ours(self, stored: SourcedDocument | None) -> bool:
        return stored is not None and stored.source_key == self._source.source_key

    def _distance(self, found: _Read, stored: SourcedDocument | None) -> int:
        """Return 0 if a document is of this item, and more the less likely it is."""
        if stored is None or not self._is_ours(stored):
            return 3
        return 2 * (stored.last_seen_run < self._source.reading_run) + (stored.locator != found.locator)

    def _differences(self, found: _Read, stored: SourcedDocument) -> Iterator[SourceFault]:
        if found.digest != stored.digest:
            has = "a text" if stored.digest is None else "another text" if found.digest else "no text"
            yield self._of_document(
                "document-differs", stored.doc_key, f"its source has {has} for {_shown(stored.doc_id)}"
            )
        if found.dated_at != stored.dated_at and not _is_newer(found, stored):
            detail = f"its source has another date for {_shown(stored.doc_id)}"
            yield self._of_document("date-differs", stored.doc_key, detail)

    def _of_document(self, kind: FaultKind, key: int, detail: str) -> SourceFault:
        return SourceFault(Fault(kind, "document", str(key), detail, READ_AGAIN), self._source.source_key)

    def _of_source(self, kind: FaultKind, detail: str) -> SourceFault:
        return of_source(kind, self._source.source_key, detail)


class _Keys:
    """Collects keys in parts."""

    def __init__(self) -> None:
        self._parts = [np.empty(0, dtype=np.int64)]

    def add(self, keys: Iterable[int]) -> None:
        self._parts.append(np.fromiter(keys, np.int64))

    def all(self) -> NDArray[np.int64]:
        return np.concatenate(self._parts)


def _is_placed(found: _Read, stored: SourcedDocument) -> bool:
    """Return whether the place of the stored document is right, as far as this item can tell."""
    return found.locator == stored.locator or _is_newer(found, stored)


def _is_newer(found: _Read, stored: SourcedDocument) -> bool:
    """Return whether a newer record or a revisit may have changed the stored document."""
    return found.dated_at is not None and stored.dated_at is not None and stored.dated_at > found.dated_at


def _shown(doc_id: str) -> str:
    return repr(doc_id if len(doc_id) <= SHOWN_CHARS else f"{doc_id[:SHOWN_CHARS]}...")
