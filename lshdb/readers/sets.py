"""Read feature sets: one document per line, ``ID feature feature ...``, separated by white space.

A feature that occurs twice is returned twice. The index decides whether that counts (multiset).
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
    """Reads one feature set per line, which begins with its id."""

    name = "sets"
    suffixes = (".sets",)
    textual = True
    holds_records = True

    def recognises(self, head: bytes) -> bool:
        """Return False, because a feature set looks like any other text."""
        return False

    def read(self, source: SourceFile, stream: BinaryIO, options: ReadOptions) -> Iterator[Deferred | Rejection]:
        """Yield a Document or a Rejection for every line that is not blank."""
        return read_documents(source, stream, options, _parse)


def _parse(line: bytes, uri: str, locator: str) -> Document:
    text, num_replaced = decode(line)
    doc_id, *features = text.split() or [""]
    if not features:
        raise Unfit("an id without features")
    return Document(checked_doc_id(doc_id), "", tuple(features), uri, locator, num_replaced)
