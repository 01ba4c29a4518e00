"""Texts that the index does not keep, read again from where their documents were seen.

A text that is read again counts only if its digest is still its content's: a source that changed since says nothing
of what was there. Limitation: of several documents of one content, the first one with a source is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.errors import BadDocument
from lshdb.model.params import Params
from lshdb.model.values import Document
from lshdb.readers import Reading, ReadOptions, source_at
from lshdb.readers.base import recorded
from lshdb.sketch.normalization import digests, normalise
from lshdb.sketch.sketch import text_of
from lshdb.sketch.texts import encode, pack
from lshdb.store.tables import spool
from lshdb.store.tables.spool import LostSource
from lshdb.store.transaction import Transaction

__all__ = ["spool_lost"]

# Texts read again that are held before they go to the temporary table.
SPOOLED_TEXTS: Final = 500


def spool_lost(
    snapshot: Transaction, params: Params, options: ReadOptions, content_keys: NDArray[np.int64] | None = None
) -> None:
    """Spools those texts that are not kept and still are where they were read from.

    Args:
        options: how sources are read, but for what is recorded with each.
        content_keys: int64, shape (n,), ascending: whose texts; None for all contents that have a pair.
    """
    spool.begin(snapshot)
    for source in spool.lost(snapshot, content_keys):
        texts = _read_again(source, params, options)
        while some := list(islice(texts, SPOOLED_TEXTS)):
            spool.put(snapshot, some)


def _read_again(lost: LostSource, params: Params, options: ReadOptions) -> Iterator[tuple[int, bytes]]:
    """(content_key, zstd frame) of what is still in the source."""
    source = source_at(lost.uri)
    if source is None:
        return
    wanted = {text.locator: text for text in lost.texts}
    for item in Reading(source, recorded(lost.options, options)):
        if isinstance(item, Document) and item.locator in wanted:
            text = _same_text(item, wanted[item.locator].digest, params)
            if text is not None:
                yield wanted[item.locator].content_key, pack(encode(text))


def _same_text(document: Document, digest: bytes, params: Params) -> str | None:
    """The document's text, if it is still what it was."""
    try:
        text = text_of(document, params)
    except BadDocument:
        return None
    found = digests(normalise([text], params.shingling))[0]
    return text if found.tobytes() == digest else None
