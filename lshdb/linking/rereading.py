"""Read texts that the index does not keep again from their sources.

A text is used only if its digest still matches, because the source may have changed since the ingest.
Limitation: if several documents share a content, only the first one that has a source is read.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lshdb.errors import BadDocument
from lshdb.linking.spool import Spool
from lshdb.model.params import Params
from lshdb.model.values import Document
from lshdb.readers import Reading, ReadOptions, source_at
from lshdb.readers.base import recorded
from lshdb.sketch.normalization import digests, normalise
from lshdb.sketch.sketch import text_of
from lshdb.sketch.texts import encode, pack
from lshdb.store.tables import lost
from lshdb.store.tables.lost import LostSource
from lshdb.store.transaction import Transaction

__all__ = ["read_again", "spool_lost"]


def spool_lost(
    snapshot: Transaction, params: Params, options: ReadOptions, content_keys: NDArray[np.int64] | None = None
) -> Spool:
    """Return the texts that the index does not keep and that are still in their sources.

    Args:
        options: how to read sources; options that are recorded with a source take precedence.
        content_keys: int64, shape (n,), ascending: the contents to read; None for all contents that have a pair.
    """
    sources = lost.sources(snapshot, content_keys)
    return Spool(text for source in sources for text in read_again(source, params, options))


def read_again(lost_source: LostSource, params: Params, options: ReadOptions) -> Iterator[tuple[int, bytes]]:
    """Yield (content_key, zstd frame) for every text that is still in its source."""
    source = source_at(lost_source.uri)
    if source is None:
        return
    wanted = {text.locator: text for text in lost_source.texts}
    for item in Reading(source, recorded(lost_source.options, options)):
        if isinstance(item, Document) and item.locator in wanted:
            text = _same_text(item, wanted[item.locator].digest, params)
            if text is not None:
                yield wanted[item.locator].content_key, pack(encode(text))


def _same_text(document: Document, digest: bytes, params: Params) -> str | None:
    """Return the document's text if its digest is unchanged."""
    try:
        text = text_of(document, params)
    except BadDocument:
        return None
    found = digests(normalise([text], params.shingling), params.table_version)[0]
    return text if found.tobytes() == digest else None
