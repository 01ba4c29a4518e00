"""Feature sets: one document a line, ``ID feature feature ...``, separated by white space.

A feature that occurs twice stays twice: whether that counts is the index's choice (multiset), not the reader's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from lshdb.model.values import Document
from lshdb.readers.base import Deferred, ReadOptions, Rejection, SourceFile, Unfit
from lshdb.readers.bytes.decoding import decode
from lshdb.readers.lines import checked_doc_id, read_documents

__all__ = ["SetsReader"]


class SetsReader:
    """One feature set a line, its id first."""

    name = "sets"
    suffixes = (".sets",)
    textual = True

    def recognises(self, head: bytes) -> bool:
        """False: a feature set looks like any text."""
        return False

    def read(self, source: SourceFile, stream: BinaryIO, options: ReadOptions) -> Iterator[Deferred | Rejection]:
        """A Document or a Rejection for every line that is not blank."""
        return read_documents(source, stream, options, _parse)


def _parse(line: bytes, uri: str, locator: str) -> Document:
    text, num_replaced = decode(line)
    doc_id, *features = text.split() or [""]
    if not features:
        raise Unfit("an id without features")
    return Document(checked_doc_id(doc_id), "", tuple(features), uri, locator, num_replaced)
