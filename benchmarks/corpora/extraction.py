"""Read the texts of a folder with lshdb's own readers, which the oracle does not check."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lshdb.model.values import Document
from lshdb.readers import Reading, ReadOptions, SourceFile, walk


def folder_texts(folder: Path, base: Path | None = None) -> Iterator[tuple[str, str]]:
    """Yield (doc_id, text) of each document in a folder, without those that ``lshdb ingest`` rejects or skips.

    Args:
        folder: the folder to walk.
        base: ids are relative to this folder; None for absolute paths.
    """
    options = ReadOptions(base=base)
    for source in walk([folder]):
        if isinstance(source, SourceFile):
            documents = (item for item in Reading(source, options) if isinstance(item, Document))
            yield from ((document.doc_id, document.text) for document in documents)
