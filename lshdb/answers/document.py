"""Read one document of the index.

Limitation: a text is stored once for all documents that have the same words. The text of a document may therefore
differ from its file in case, punctuation and white space, and the features of a set are sorted.
"""

from __future__ import annotations

import numpy as np

from lshdb.errors import TextsNotKept
from lshdb.model.params import Params
from lshdb.model.values import Document
from lshdb.sketch.texts import unpack
from lshdb.store.tables import graph, inspection, locators
from lshdb.store.transaction import Transaction

__all__ = ["stored_document"]


def stored_document(snapshot: Transaction, doc_id: str, collection: str, params: Params, url: str) -> Document | None:
    """Return a document, or None if there is none with this id.

    Raises: TextsNotKept: the index at `url` keeps no texts.
    """
    found = locators.doc_keys(snapshot, collection, [doc_id])
    if not found:
        return None
    if not params.keep_text:
        raise TextsNotKept(url=url)
    origin = inspection.origin(snapshot, found[doc_id])
    text = "" if origin.content_key is None else _text(snapshot, origin.content_key)
    features = tuple(text.split("\n") if text else ()) if params.shingle == "set" else None
    return Document(
        doc_id,
        text if features is None else "",
        features,
        source=origin.source,
        locator=origin.locator,
        dated_at=origin.dated_at,
    )


def _text(snapshot: Transaction, content_key: int) -> str:
    return "".join(unpack(frame) for _, frame in graph.texts(snapshot, np.asarray([content_key], dtype=np.int64)))
