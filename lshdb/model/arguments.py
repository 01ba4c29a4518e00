"""Check the arguments that a program passes to an index, before any work begins.

Wherever several strings, paths or documents are accepted, so is a single one. Without these checks, Python would
iterate over the characters of a string.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from lshdb.errors import InvalidParams, UsageError
from lshdb.model.values import Document

__all__ = [
    "Documents",
    "Names",
    "Paths",
    "Place",
    "Sides",
    "count",
    "document",
    "documents",
    "name",
    "names",
    "params",
    "paths",
    "place",
    "sides",
    "similarity",
]

Documents: TypeAlias = Document | Iterable[Document]
# Names a document: its id, the document object, or the path of a file that is one document.
Names: TypeAlias = str | Path | Document | Iterable[str | Path | Document]
Paths: TypeAlias = str | Path | Iterable[str | Path]
# Where documents are: a collection of the index by its name, or a file or folder by its Path.
Sides: TypeAlias = str | Path | Iterable[str | Path]
# A database URL, or the path of a SQLite file.
Place: TypeAlias = str | Path


def documents(given: Documents) -> Iterator[Document]:
    """Yield the documents. Raises: UsageError: an element is not a document."""
    for one in [given] if isinstance(given, Document) else _several(given, "takes Documents"):
        yield document(one)


def document(given: object) -> Document:
    """Return the document. Raises: UsageError: it is something else."""
    if not isinstance(given, Document):
        raise UsageError(reason=f"the index takes Documents, not {_shown(given)}; write Document(id, text)")
    return given


def names(given: Names) -> Iterator[str]:
    """Yield the ids of documents. A path stands for the id that `ingest` gives its file: the absolute path.

    Raises: UsageError: an element is neither an id, a path nor a document.
    """
    is_one = isinstance(given, (str, PathLike, Document))
    for one in [given] if is_one else _several(given, "an id is a string"):
        if isinstance(one, Document):
            yield name("an id", one.doc_id)
        elif isinstance(one, PathLike):
            yield os.fsencode(os.path.abspath(one)).decode("utf-8", "backslashreplace")  # noqa: PTH100
        else:
            yield name("an id", one)


def name(what: str, given: object) -> str:
    """Return the name of a document or collection. Args: what: such as "an id". Raises: UsageError."""
    if not isinstance(given, str) or not given:
        raise UsageError(reason=f"{what} is a string that is not empty, not {_shown(given)}")
    return given


def paths(given: Paths) -> list[str | Path]:
    """Return the paths of files and folders. Raises: UsageError: an element is not a path."""
    is_one = isinstance(given, (str, PathLike))
    found: list[Any] = [given] if is_one else list(_several(given, "a path is a string or a Path"))
    for one in found:
        if not isinstance(one, (str, Path)):
            raise UsageError(reason=f"a path is a string or a Path, not {_shown(one)}")
    return found


def sides(given: Sides) -> list[str | Path]:
    """Return the collections and paths of one side. Raises: UsageError: an element is neither, or there is none."""
    found = paths(given)
    if not found:
        raise UsageError(reason="a side names at least one collection or path")
    return [one if isinstance(one, Path) else name("a collection", one) for one in found]


def place(given: object) -> str:
    """Return where an index is. Raises: UsageError: it is neither a string nor a path."""
    if not isinstance(given, (str, Path)):
        raise UsageError(reason=f"a place is a database URL or a path, not {_shown(given)}")
    return str(given)


def params(given: object) -> Mapping[str, Any]:
    """Return the chosen parameters by name; none for None. Raises: UsageError: they are not a mapping."""
    if given is not None and not isinstance(given, Mapping):
        raise UsageError(reason=f'parameters are a mapping such as {{"min_sim": 0.8}}, not {_shown(given)}')
    return given or {}


def count(called: str, given: int | None) -> int | None:
    """Return the largest number of something. Raises: InvalidParams: it is not a whole number from 1."""
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
        raise InvalidParams(name=called, value=repr(given), reason="it must be a whole number from 1")
    return given


def similarity(given: float, called: str = "min_sim") -> float:
    """Return a similarity. Raises: InvalidParams: it is not a number from 0 to 1."""
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0.0 <= given <= 1.0:
        raise InvalidParams(name=called, value=repr(given), reason="it must be a number from 0 to 1")
    return given


def _several(given: Any, expected: str) -> Iterable[Any]:
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise UsageError(reason=f"{expected}, and so is each of several; this is {_shown(given)}")
    return given


def _shown(given: object) -> str:
    """Return a value with its type, short enough for a message."""
    text = repr(given)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(given).__name__})"
