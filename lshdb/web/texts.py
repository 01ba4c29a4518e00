"""The texts of documents, as pages show and compare them."""

from __future__ import annotations

from lshdb.errors import TextsNotKept
from lshdb.index import Index

__all__ = ["text_of"]


def text_of(index: Index, doc_id: str, collection: str) -> str | None:
    """Return a text, or the features of a document, one to a line; None if the index keeps none."""
    try:
        found = index.get(doc_id, collection)
    except TextsNotKept:
        return None
    if found is None:
        return None
    return found.text if found.features is None else "\n".join(found.features)
