"""Find the records that repeat a document: another record has the same id and the same text.

The index stores only one locator for each document, so it does not know the other records, most often those of
overlapping files. They are read again, but only from files in which the ingest found more documents than the index has
locators.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final

from lshdb.clusters.rows.shards import Shard
from lshdb.clusters.rows.verdicts import DROPPED, KEPT, Verdicts
from lshdb.model.batches import in_batches
from lshdb.model.params import Params
from lshdb.model.values import Document, num_characters
from lshdb.readers import Deferred, Reading, ReadOptions, SourceFile, file_of, made, recorded
from lshdb.sketch.normalization import digests, normalise
from lshdb.sketch.sketch import fits, text_of
from lshdb.store.tables import locators
from lshdb.store.transaction import Transaction

__all__ = ["drop_repetitions"]

# Documents and characters of text that are compared together.
PART_DOCUMENTS: Final = 500
PART_CHARS: Final = 4_000_000


def drop_repetitions(
    snapshot: Transaction, shard: Shard, about: Verdicts, read: ReadOptions, params: Params
) -> Counter[int]:
    """Make DROPPED the verdict about each record that repeats a document.

    Args: read: the read options that the index determines.
    Returns: the number of these records, by the key of the source that has the document.
    """
    numbers = Counter[int]()
    for source in shard.sources:
        num_lacking = source.num_documents - about.count(KEPT) - about.count(DROPPED)
        if num_lacking <= 0:
            continue
        options = recorded(source.options, read)
        lacking = islice(_documents(shard.file, options, about.is_unknown), num_lacking)
        fitting = (document for document in lacking if fits(document, params))
        for some in in_batches(fitting, num_characters, PART_CHARS, PART_DOCUMENTS):
            found = _repeated(snapshot, source.source_key, some, params)
            about.drop([document.locator for document, _ in found])
            numbers.update(source_key for _, source_key in found)
    return numbers


def _documents(file: SourceFile, options: ReadOptions, is_wanted: Callable[[str], bool]) -> Iterator[Document]:
    """Yield the documents of a file whose locators are wanted."""
    for step in Reading(file, options).steps():
        if isinstance(step, (Deferred, Document)) and is_wanted(step.locator):
            item = made(step, options)
            if isinstance(item, Document):
                yield item


def _repeated(
    snapshot: Transaction, source_key: int, documents: Sequence[Document], params: Params
) -> list[tuple[Document, int]]:
    """Return those of the documents of a source that repeat one of the index, each with the source that has it."""
    rows = digests(normalise([text_of(one, params) for one in documents], params.shingling), params.table_version)
    names = [(one.doc_id, f"{one.doc_id}@{file_of(one.source or '')}") for one in documents]
    stored = locators.documents_like(snapshot, source_key, list(dict.fromkeys(name for both in names for name in both)))
    found = list[tuple[Document, int]]()
    for one, both, row in zip(documents, names, rows, strict=True):
        digest = row.tobytes() if row.any() else None
        same = [stored[name].source_key for name in both if name in stored and stored[name].digest == digest]
        found += [(one, key) for key in same[:1]]
    return found
