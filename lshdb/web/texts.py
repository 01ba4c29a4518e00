"""The texts of documents, as pages show and compare them."""

from __future__ import annotations

from typing import Final

from lshdb.errors import TextsNotKept
from lshdb.index import Index

__all__ = ["beginning_of", "text_of"]

# Characters of a text that a page shows.
SHOWN_TEXT: Final = 20_000


def text_of(index: Index, doc_id: str, collection: str) -> str | None:
    """Return a text, or the features of a document, one to a line; None if the index keeps none."""
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
