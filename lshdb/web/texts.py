"""The texts of documents, as pages show and compare them, and texts that people type."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from lshdb.errors import TextsNotKept, TextTooShort
from lshdb.index import Index
from lshdb.model.values import Document

__all__ = ["beginning_of", "documents_like", "text_of", "typed"]

# Characters of a text that a page shows.
SHOWN_TEXT: Final = 20_000


def text_of(index: Index, doc_id: str, collection: str) -> str | None:
    """Return a text, or the features of a document, one per line; None if the index keeps none."""
    try:
        found = index.get(doc_id, collection)
    except TextsNotKept:
        return None
    if found is None:
        return None
    return found.text if found.features is None else "\n".join(found.features)


def beginning_of(index: Index, doc_id: str, collection: str) -> str | None:
    """Return the beginning of a text; None if the index keeps none."""
    text = text_of(index, doc_id, collection)
    return text if text is None or len(text) <= SHOWN_TEXT else f"{text[:SHOWN_TEXT]} …"


def typed(index: Index, text: str) -> Document:
    """Return what somebody typed as a document that suits the index: a text, or features, one per line."""
    if index.params.shingle != "set":
        return Document("the question", text)
    return Document("the question", features=tuple(filter(None, text.splitlines())))


def documents_like(index: Index, text: str, min_sim: float | None) -> set[tuple[str, str]]:
    """Return the collections and ids of the documents that are like a text, or that contain it.

    Only an index with passages finds the latter, and of a text that is at least as long as a passage.
    """
    asked = typed(index, text)
    found = {(one.collection, one.id) for one in index.query(asked, min_sim)}
    if index.params.passages:
        with suppress(TextTooShort):
            found |= {(one.collection, one.id) for one in index.containing(asked)}
    return found
