"""Read documents from files, one source at a time.

    walk(paths) -> SourceFile;  Reading(source, options) -> Document | Rejection | Skipped

Knows no SQL and no sketching. A bad document is an item (`Rejection`), never an exception.
"""

from __future__ import annotations

from lshdb.readers.base import (
    NO_READER,
    STDIN_NAME,
    Damaged,
    Deferred,
    Item,
    OutwardLink,
    Reader,
    ReadOptions,
    Rejection,
    Revisit,
    Skipped,
    SourceFile,
    record,
    recorded,
)
from lshdb.readers.changes import change_of, digest
from lshdb.readers.naming import file_of, meant_ids
from lshdb.readers.parts import Part, PartReading, line_parts, parts
from lshdb.readers.registry import (
    READERS,
    Reading,
    holds_records,
    made,
    may_hold_pages,
    read_stream,
    reader_named,
    reader_of,
    readers,
)
from lshdb.readers.walk import (
    Found,
    listed,
    path_uri,
    require_existing,
    source_at,
    source_file,
    stdin_source,
    walk,
)

__all__ = [
    "NO_READER",
    "READERS",
    "STDIN_NAME",
    "Damaged",
    "Deferred",
    "Found",
    "Item",
    "OutwardLink",
    "Part",
    "PartReading",
    "ReadOptions",
    "Reader",
    "Reading",
    "Rejection",
    "Revisit",
    "Skipped",
    "SourceFile",
    "change_of",
    "digest",
    "file_of",
    "holds_records",
    "line_parts",
    "listed",
    "made",
    "may_hold_pages",
    "meant_ids",
    "parts",
    "path_uri",
    "read_stream",
    "reader_named",
    "reader_of",
    "readers",
    "record",
    "recorded",
    "require_existing",
    "source_at",
    "source_file",
    "stdin_source",
    "walk",
]
