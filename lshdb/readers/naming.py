"""The ids of documents: for files, for records without an id, and the prefix of all ids.

An id depends only on the name of its file and the read options, so that reading a file again yields the same ids.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from pathlib import Path, PurePath
from urllib.parse import unquote_to_bytes

from lshdb.readers.base import PLACEHOLDER, STDIN_NAME, STDIN_URI, ReadOptions, SourceFile, absolute
from lshdb.readers.bytes.compression import without_compression

__all__ = ["file_doc_id", "file_of", "meant_ids", "prefixed", "record_doc_id", "uri_path"]


def file_doc_id(source: SourceFile, options: ReadOptions) -> str:
    r"""Return the doc_id of a file that is one document: its path, relative to ``options.base`` if it is in that
    folder.

    Bytes of the name that are not UTF-8 become ``\xff``.
    """
    return _named(source.path, options.base)


def record_doc_id(file: str, locator: str) -> str:
    """Return the doc_id for a record without one: ``FILE#17``.

    Args:
        file: the doc_id of its file.
        locator: ``line 17`` or ``row 17``.
    """
    return f"{file}#{locator.rpartition(' ')[2]}"


def meant_ids(name: str) -> Iterator[str]:
    """Yield the ids that a person may mean by a name, the likeliest first: the name itself, the absolute path that it
    is relative to, and the qualified id of a record in such a file.
    """
    name = _text(name)
    yield name
    yield _text(absolute(name))
    record, at, file = name.rpartition("@")
    if at:
        yield f"{record}@{_text(absolute(file))}"


def prefixed(doc_id: str, options: ReadOptions, uri: str) -> str:
    """Return the doc_id with the prefix of the options. Args: uri: the source of the document."""
    return _prefix(options.id_prefix, options.base, uri) + doc_id


@functools.lru_cache(maxsize=64)
def file_of(uri: str) -> str:
    """Return the absolute path of a source, as text; ``-`` for standard input."""
    return _text(uri_path(uri))


def uri_path(uri: str) -> Path:
    """Return the path of a URI that the walk wrote; ``-`` for standard input."""
    return Path(STDIN_NAME if uri == STDIN_URI else os.fsdecode(unquote_to_bytes(uri.removeprefix("file://"))))


# The documents of a source follow each other, so a few entries suffice.
@functools.lru_cache(maxsize=64)
def _prefix(prefix: str, base: Path | None, uri: str) -> str:
    path = uri_path(uri)
    values = {"path": _named(path, base), "name": _text(path.name), "stem": _text(_stem(path.name))}
    # In one pass, so that a file whose name contains a placeholder cannot add another one.
    return PLACEHOLDER.sub(lambda match: values[match[1]], prefix)


def _named(path: Path, base: Path | None) -> str:
    if base is not None and path.is_relative_to(folder := absolute(base)):
        path = path.relative_to(folder)
    return _text(path)


def _text(path: str | Path) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _stem(name: str) -> str:
    """Return ``news`` for ``news.jsonl.gz``."""
    return PurePath(without_compression(name)).stem
