"""REST: near-duplicates of documents, documents themselves, and changes to them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from fastapi.responses import Response
from msgspec.structs import replace

from lshdb.answers.query import Match
from lshdb.errors import BadDocument, DocumentUnknown
from lshdb.index import Index
from lshdb.model.choices import MIN_CONTAINMENT
from lshdb.model.passages import Containing
from lshdb.model.values import Document
from lshdb.web.desk import Desk
from lshdb.web.served import without_surrogates
from lshdb.web.values import (
    Added,
    Asked,
    AskedMany,
    Changed,
    Collection,
    Content,
    Dated,
    DocId,
    DocIdInPath,
    Many,
    MinSim,
    Put,
    Removal,
    Stored,
    json,
    without_seed,
)

__all__ = ["Questions", "document_of", "stored_document"]

# The id of a document that a client asks about, in errors.
QUESTION: Final = "the question"


class Questions:
    """Endpoints about documents."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def query(self, asked: Asked) -> Response:
        """Return the near-duplicates of a document, in the index or not, the most similar first."""
        return json({"matches": await self._desk.ask(lambda index: _matches(index, asked))})

    async def query_batch(self, asked: AskedMany) -> Response:
        """Return the near-duplicates of each of many documents. They are not compared with each other."""

        def answers(index: Index) -> list[dict[str, object]]:
            documents = [document_of(index, one, one.id or str(number)) for number, one in enumerate(asked.documents)]
            found = index.query_many(documents, asked.min_sim, asked.k)
            return [{"id": one.question, "matches": one.matches} for one in found]

        return json({"answers": await self._desk.list(answers)})

    async def document(self, doc_id: DocIdInPath, collection: Collection = "default") -> Response:
        """Return a document with its text."""
        found = await self._desk.ask(lambda index: stored_document(index, doc_id, collection))
        stored = Stored(
            id=found.doc_id,
            collection=collection,
            text=without_surrogates(found.text) if found.features is None else None,
            features=None if found.features is None else list(map(without_surrogates, found.features)),
            source=found.source,
            locator=found.locator,
            dated_at=found.dated_at,
        )
        return json(stored)

    async def put(
        self,
        doc_id: DocIdInPath,
        content: Dated,
        collection: Collection = "default",
        min_sim: MinSim = None,
        only_new: bool = False,
    ) -> Response:
        """Add or refresh a document, and return the near-duplicates that it met.

        With `only_new`, a document that has a near-duplicate is not added. Both are one transaction.
        """
        done = await self._desk.change(
            lambda index: index.put(_dated(index, content, doc_id), min_sim, collection, only_new=only_new)
        )
        status = HTTPStatus.CREATED if done.outcome == "added" else HTTPStatus.OK
        return json(Put(doc_id, done.outcome, list(done.matches)), status)

    async def delete(self, doc_id: DocIdInPath, collection: Collection = "default") -> Response:
        """Remove a document."""
        return json(Changed(await self._desk.change(lambda index: index.remove(doc_id, collection))))

    async def add(self, many: Many, collection: Collection = "default") -> Response:
        """Add or refresh several documents in one transaction."""

        def add(index: Index) -> Added:
            done = index.add([_dated(index, one, one.id) for one in many.documents], collection)
            counts = done.counts
            return Added(counts.num_added, counts.num_updated, counts.num_unchanged, done.pairs_added)

        return json(await self._desk.change(add))

    async def remove(self, removal: Removal, collection: Collection = "default") -> Response:
        """Remove several documents in one transaction. If one of them does not exist, nothing is removed."""
        return json(Changed(await self._desk.change(lambda index: index.remove(removal.ids, collection))))

    async def explain(
        self,
        a: DocId,
        b: DocId,
        collection_a: Collection = "default",
        collection_b: Collection = "default",
        diff: bool = True,
    ) -> Response:
        """Return why two documents are a pair, or why not, and which words differ."""
        found = await self._desk.list(
            lambda index: index.explain(a, b, (collection_a, collection_b), ids=True, with_diff=diff)
        )
        return json(found.as_json() | {"params": without_seed(found.params)})


def document_of(index: Index, content: Content, doc_id: str) -> Document:
    """Return the document that a request holds. Raises: BadDocument: its page cannot be parsed."""
    if content.html is not None:
        if index.params.shingle == "set":
            raise BadDocument(source=f"document {doc_id!r:.100}", locator="", reason="this index holds sets, not pages")
        return index.page(doc_id, content.html)
    return Document(doc_id, content.text or "", content.features)


def _dated(index: Index, content: Dated, doc_id: str) -> Document:
    return replace(document_of(index, content, doc_id), dated_at=content.dated_at)


def stored_document(index: Index, doc_id: str, collection: str) -> Document:
    """Return a document of an index. Raises: DocumentUnknown; TextsNotKept."""
    found = index.get(doc_id, collection)
    if found is None:
        raise DocumentUnknown(doc_id=doc_id, collection=collection, url=index.url)
    return found


def _matches(index: Index, asked: Asked) -> list[Match] | list[Containing]:
    if asked.measure == "containment":
        least = MIN_CONTAINMENT if asked.min_sim is None else asked.min_sim
        if asked.id is not None:
            return index.containing_id(asked.id, least, asked.collection)[: asked.k]
        return index.containing(document_of(index, asked, QUESTION), least)[: asked.k]
    if asked.id is not None:
        return index.query_id(asked.id, asked.min_sim, asked.collection)[: asked.k]
    return index.query(document_of(index, asked, QUESTION), asked.min_sim)[: asked.k]
