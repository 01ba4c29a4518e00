"""Decides which documents of a batch get the ids that they claim.

If a document from another source has the claimed id and a different text, that is a conflict, which the `OnConflict` of
the ingest resolves. By default the document from the newer file wins, and one from an older file gets a qualified id,
``ID@FILE``, which it keeps until it disappears from its source.

Claims are decided in reading order, so the results do not depend on the batch size. Two dated documents do not
conflict: the newer one wins. But if the ids of captures end with their dates, two captures of the same moment do. A
document that a program added does not conflict: it is replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import bindparam, select
from xxhash import xxh3_128_hexdigest

from lshdb.errors import IdConflict
from lshdb.model.choices import Captures, OnConflict
from lshdb.model.values import MAX_NAME_BYTES, Conflicts, Document
from lshdb.store.given import is_given
from lshdb.store.schema import document
from lshdb.store.tables import sources
from lshdb.store.tables.sources import Origin
from lshdb.store.transaction import Transaction

__all__ = ["Claimed", "Holder", "Place", "claim"]


class Place(Struct, frozen=True):
    """Where a batch comes from, and where it goes.

    Args:
        run_key, collection: the run and the collection.
        source_keys: the keys of its sources by URI. Other sources are not recorded.
        on_conflict: how to resolve conflicts; None replaces a document from an older file, and otherwise
            qualifies the new id.
        qualified: the sources that were read before, and some of whose documents may have qualified ids.
        file_of: returns the name of a source for a qualified id, from its URI.
        captures: whether an id stands for the ``newest`` capture of an address, or ids end with their dates.
    """

    run_key: int
    collection: str
    source_keys: Mapping[str, int]
    on_conflict: OnConflict | None = None
    qualified: frozenset[int] = frozenset()
    file_of: Callable[[str], str] = str
    captures: Captures = "newest"


class Holder(NamedTuple):
    """The document that has an id."""

    content_key: int | None
    dated_at: int | None
    source_key: int | None
    last_seen_run: int


_HOLDERS: Final = select(document.c.doc_id, *(document.c[name] for name in Holder._fields)).where(
    document.c.collection_key == bindparam("collection"), is_given(document.c.doc_id)
)


class Claimed(Struct, frozen=True):
    """The decisions about the documents of a batch.

    Args:
        documents: all documents of the batch, with their final ids.
        last: by id, the index of the document that finally has it. Ids that stay with another document are missing.
        outdated: the documents that are older than the one in the index, one for each id.
        known: by id, the document that the index had before the batch.
        num_updated: how often the text of an id changed.
    """

    documents: Sequence[Document]
    last: Mapping[str, int]
    outdated: Sequence[int]
    known: Mapping[str, Holder]
    num_updated: int
    conflicts: Conflicts


def claim(
    transaction: Transaction,
    documents: Sequence[Document],
    content_keys: Sequence[int | None],
    place: Place,
    collection_key: int,
) -> Claimed:
    """Return which documents get which ids. Raises: IdConflict: `place` treats conflicts as errors."""
    return _Claims(transaction, documents, content_keys, place, collection_key).decided()


class _Claims:
    """The claims of a batch while they are decided."""

    def __init__(
        self,
        transaction: Transaction,
        documents: Sequence[Document],
        content_keys: Sequence[int | None],
        place: Place,
        collection_key: int,
    ) -> None:
        self._transaction = transaction
        self._documents = documents
        self._content_keys = content_keys
        self._place = place
        self._collection_key = collection_key
        self._ids = [one.doc_id for one in documents]
        self._source_keys = [place.source_keys.get(one.source or "") for one in documents]
        self._known: dict[str, Holder] = {}
        # The current holder of each id, which may be a document of this batch.
        self._holders: dict[str, Holder] = {}
        self._last: dict[str, int] = {}
        self._outdated: dict[str, int] = {}
        self._origins: dict[int, Origin] = {}
        self._num_updated = 0
        self._conflicts = {"num_replaced": 0, "num_left_out": 0, "num_qualified": 0, "num_repeated": 0}

    def decided(self) -> Claimed:
        """Decide all claims, and return the result."""
        self._adopt()
        pending: Sequence[int] = range(len(self._documents))
        while pending:
            wanted = {self._ids[index] for index in pending}
            found = self._known_among(wanted)
            if not found and not self._holders and len(wanted) == len(pending):
                # A first ingest: every document is new, so nothing has to be decided.
                self._last = {self._ids[index]: index for index in pending}
                break
            self._known |= found
            self._holders = found | self._holders
            pending = [index for index in pending if not self._decide(index)]
        pairs = zip(self._documents, self._ids, strict=True)
        documents = [one if one.doc_id == doc_id else replace(one, doc_id=doc_id) for one, doc_id in pairs]
        outdated = [index for doc_id, index in self._outdated.items() if doc_id not in self._last]
        return Claimed(documents, self._last, outdated, self._known, self._num_updated, Conflicts(**self._conflicts))

    def _adopt(self) -> None:
        """Give documents from sources that were read before the qualified ids that they already have."""
        if not self._place.qualified:
            return
        ours = [index for index, key in enumerate(self._source_keys) if key in self._place.qualified]
        qualified = {index: self._qualified(index) for index in ours}
        found = self._known_among(set(qualified.values()))
        for index, doc_id in qualified.items():
            if doc_id in found and found[doc_id].source_key == self._source_keys[index]:
                self._ids[index] = doc_id

    def _decide(self, index: int) -> bool:
        """Decide a claim. Returns: False if the document now claims another id, still to be decided."""
        holder = self._holders.get(self._ids[index])
        if holder is None or holder.content_key == self._content_keys[index] or self._dates_decide(index, holder):
            self._take(index, holder)
        elif self._is_same_source(index, holder):
            self._conflicts["num_repeated"] += holder.last_seen_run == self._place.run_key
            self._take(index, holder)
        elif None in (holder.source_key, self._source_keys[index]):
            self._take(index, holder)
        else:
            return self._resolve(index, holder)
        return True

    def _resolve(self, index: int, holder: Holder) -> bool:
        """Resolve a conflict. Returns: as `_decide`."""
        chosen = self._place.on_conflict or ("replace" if self._is_newer(index, holder) else "qualify")
        if chosen == "error":
            raise self._conflict(index, holder)
        if chosen == "qualify":
            self._conflicts["num_qualified"] += 1
            self._ids[index] = self._qualified(index)
            return False
        if chosen == "keep":
            self._conflicts["num_left_out"] += 1
        else:
            self._conflicts["num_replaced"] += 1
            self._take(index, holder)
        return True

    def _take(self, index: int, holder: Holder | None) -> None:
        """Give a document the id that it claims, unless the holder is dated later."""
        doc_id, content_key, dated_at = self._ids[index], self._content_keys[index], self._documents[index].dated_at
        if holder is not None:
            if dated_at is not None and holder.dated_at is not None and dated_at < holder.dated_at:
                self._set_aside(doc_id, index)
                return
            self._num_updated += holder.content_key != content_key
        self._holders[doc_id] = Holder(content_key, dated_at, self._source_keys[index], self._place.run_key)
        self._last[doc_id] = index

    def _set_aside(self, doc_id: str, index: int) -> None:
        """Keep the newest of the documents that are older than the one that has their id."""
        before = self._documents[self._outdated.get(doc_id, index)].dated_at or 0
        if (self._documents[index].dated_at or 0) >= before:
            self._outdated[doc_id] = index

    def _dates_decide(self, index: int, holder: Holder) -> bool:
        """Return whether the newer of both has the id, rather than that they conflict."""
        ours, theirs = self._documents[index].dated_at, holder.dated_at
        return None not in (ours, theirs) and (ours != theirs or self._place.captures == "newest")

    def _is_same_source(self, index: int, holder: Holder) -> bool:
        return holder.source_key is not None and holder.source_key == self._source_keys[index]

    def _is_newer(self, index: int, holder: Holder) -> bool:
        """Return whether the file of a document was changed later than that of the holder."""
        ours, theirs = self._both_origins(index, holder)
        return ours.mtime_ns > theirs.mtime_ns

    def _both_origins(self, index: int, holder: Holder) -> tuple[Origin, Origin]:
        both = self._source_keys[index], holder.source_key
        if not self._origins.keys() >= {*both}:
            keys = {one.source_key for one in self._holders.values()} | set(self._source_keys)
            self._origins |= sources.origins(self._transaction, [key for key in keys if key is not None])
        ours, theirs = (self._origins[key] for key in both if key is not None)
        return ours, theirs

    def _qualified(self, index: int) -> str:
        file = self._place.file_of(self._documents[index].source or "")
        qualified = f"{self._ids[index]}@{file}"
        if len(qualified.encode()) > MAX_NAME_BYTES:
            return f"{self._ids[index]}@{xxh3_128_hexdigest(file.encode())}"
        return qualified

    def _conflict(self, index: int, holder: Holder) -> IdConflict:
        ours, theirs = self._both_origins(index, holder)
        return IdConflict(doc_id=self._ids[index], collection=self._place.collection, one=theirs.uri, other=ours.uri)

    def _known_among(self, doc_ids: set[str]) -> dict[str, Holder]:
        """Return the documents of the index that have one of the ids, by id."""
        # In the order of the index, so that successive lookups go to the same page.
        parts = self._transaction.parts(sorted(doc_ids), collection=self._collection_key)
        rows = (row for part in parts for row in self._transaction.rows(_HOLDERS, part))
        return {doc_id: Holder(*holder) for doc_id, *holder in rows}
