"""From the files of a folder to texts, by lshdb's own readers: what the oracle does not check."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lshdb.model.values import Document
from lshdb.readers import ReadOptions, SourceFile, read_source, walk


def folder_texts(folder: Path, base: Path | None = None) -> Iterator[tuple[str, str]]:
    """(doc_id, text) of each document under a folder, as ``lshdb ingest`` takes them.

    Args: base: the folder that doc_ids are relative to; None keeps absolute paths.
    What lshdb rejects or skips is left out here too.
    """
    options = ReadOptions(base=base)
    for source in walk([folder]):
        if isinstance(source, SourceFile):
            documents = (item for item in read_source(source, options) if isinstance(item, Document))
            yield from ((document.doc_id, document.text) for document in documents)
