"""The documents that are searched for: of collections of an index, or in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from lshdb.errors import SourceUnreadable
from lshdb.linking.rereading import spool_lost
from lshdb.model.arrays import distinct
from lshdb.model.params import Params
from lshdb.model.values import Rejection
from lshdb.overlap.files import documents, found_files
from lshdb.readers import Reading, ReadOptions
from lshdb.sketch.texts import unpack_utf8
from lshdb.store.tables import collections, graph
from lshdb.store.transaction import Transaction

__all__ = ["Tested", "of_collection", "of_files"]

PAGE_DOCUMENTS: Final = 10_000


class Tested(Struct, frozen=True):
    """Documents to search for.

    Args:
        name: the collection or path.
        doc_ids: their ids.
        rows: the text of each document.
        texts: the distinct texts in UTF-8.
        num_unread: how many documents of the index could not be read again.
    """

    name: str
    doc_ids: Sequence[str]
    rows: Sequence[int]
    texts: Sequence[bytes]
    num_unread: int = 0


def of_collection(snapshot: Transaction, name: str, params: Params, options: ReadOptions) -> Tested:
    """Return the documents of a collection, by id. Texts that are not kept are read again from their sources."""
    listed = [one for page in collections.document_pages(snapshot, name, PAGE_DOCUMENTS) for one in page]
    keys = distinct(np.asarray([key for _, key in listed if key is not None], np.int64))
    frames = dict(graph.texts(snapshot, keys))
    missing = np.asarray([key for key in keys.tolist() if key not in frames], np.int64)
    if len(missing):
        frames |= dict(spool_lost(snapshot, params, options, missing).texts(missing))
    # The first text is that of empty documents.
    rows: dict[int | None, int] = {None: 0} | {key: row for row, key in enumerate(frames, 1)}
    known = [(doc_id, rows[key]) for doc_id, key in listed if key in rows]
    texts = [b"", *map(unpack_utf8, frames.values())]
    return Tested(name, [doc_id for doc_id, _ in known], [row for _, row in known], texts, len(listed) - len(known))


def of_files(path: str, params: Params, options: ReadOptions, rejected: Callable[[Rejection], None]) -> Tested:
    """Return the documents in a file or folder, in their order.

    Args: rejected: called with every item that could not be read.
    Raises: SourceUnreadable: there is no document.
    """
    items = (item for source in found_files([path], rejected) for item in Reading(source, options))
    read = list(documents(items, params, rejected))
    if not read:
        raise SourceUnreadable(path=path, reason="it contains no document that could be read")
    return Tested(path, [doc_id for doc_id, _ in read], range(len(read)), [text for _, text in read])
