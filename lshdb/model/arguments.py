"""Check the arguments that a program passes to an index, before any work begins.

Wherever several ids, paths or documents are accepted, so is a single one. Where only several strings are accepted, a
single one is refused. Without these checks, Python would iterate over the characters of a string.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from lshdb.errors import InvalidParams, UsageError
from lshdb.model.decisions import Decision
from lshdb.model.values import MAX_NAME_BYTES, Document, unstorable

__all__ = [
    "Documents",
    "Names",
    "Paths",
    "Place",
    "Sides",
    "collection_name",
    "count",
    "decision",
    "decisions",
    "document",
    "document_name",
    "documents",
    "html",
    "limit",
    "name",
    "names",
    "numbers",
    "options",
    "pair",
    "params",
    "path",
    "paths",
    "place",
    "places",
    "seconds",
    "several",
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

_Options = TypeVar("_Options")

# The largest integer of both databases.
LARGEST: Final = 2**63 - 1


def documents(given: Documents) -> Iterator[Document]:
    """Yield the documents. Raises: UsageError: an element is not a document."""
    yield from map(document, _each(given))


def document(given: object) -> Document:
    """Return the document. Raises: UsageError: it is something else."""
    if not isinstance(given, Document):
        raise UsageError(reason=f"the index takes Documents, not {_shown(given)}; write Document(id, text)")
    return given


def names(given: Names) -> Iterator[str]:
    """Yield the ids of documents. A path stands for the id that `ingest` gives its file: the absolute path.

    Raises: UsageError: an element is neither an id, a path nor a document.
    """
    for one in _each(given):
        if isinstance(one, Document):
            yield name("an id", one.doc_id)
        elif isinstance(one, PathLike):
            yield os.fsencode(os.path.abspath(one)).decode("utf-8", "backslashreplace")  # noqa: PTH100
        else:
            yield name("an id", one)


def name(what: str, given: object) -> str:
    """Return the name of a document or something else. Args: what: such as "an id". Raises: UsageError."""
    if not isinstance(given, str) or not given:
        raise UsageError(reason=f"{what} must be a non-empty string, not {_shown(given)}")
    if (character := unstorable(given)) is not None:
        raise UsageError(reason=f"{what} must not contain {character}, as {_shown(given)} does")
    return given


def collection_name(given: object) -> str:
    """Return the name of a collection. Raises: UsageError: it is no name, or longer than a database can look up."""
    found = name("a collection", given)
    if (num_bytes := len(found.encode())) > MAX_NAME_BYTES:
        raise UsageError(reason=f"a collection has at most {MAX_NAME_BYTES:,} bytes of UTF-8, not {num_bytes:,}")
    return found


def document_name(doc_id: object, collection: object) -> None:
    """Check the id of a document and the name of its collection. Raises: UsageError."""
    name("an id", doc_id)
    collection_name(collection)


def paths(given: Paths) -> list[str | Path]:
    """Return the paths of files and folders. Raises: UsageError: an element is not a path."""
    found = list(_each(given))
    for one in found:
        path(one)
    return found


def path(given: object) -> Path:
    """Return the path of a file or folder. Raises: UsageError: it is something else."""
    if not isinstance(given, (str, Path)):
        raise UsageError(reason=f"a path is a string or a Path, not {_shown(given)}")
    if "\0" in str(given):
        raise UsageError(reason=f"a path does not hold a NUL character, as {_shown(given)} does")
    return Path(given)


def sides(given: Sides) -> list[str | Path]:
    """Return the collections and paths of one side. Raises: UsageError: an element is neither, or there is none."""
    found = paths(given)
    if not found:
        raise UsageError(reason="a side names at least one collection or path")
    return [one if isinstance(one, Path) else collection_name(one) for one in found]


def several(called: str, given: Iterable[str]) -> tuple[str, ...]:
    """Return several strings. Raises: UsageError: it is a single one, or an element is not a string."""
    if isinstance(given, str):
        raise UsageError(reason=f"{called} takes several strings, such as [{given!r}], not a single one")
    found = tuple(_each(given))
    for one in found:
        if not isinstance(one, str):
            raise UsageError(reason=f"{called} takes strings, not {_shown(one)}")
    return found


def pair(called: str, given: tuple[str, str]) -> tuple[str, str]:
    """Return two strings. Raises: UsageError: they are not two."""
    found = several(called, given)
    if len(found) != 2:
        raise UsageError(reason=f"{called} takes two strings, not {len(found)}")
    return found


def places(called: str, given: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the collections and ids of documents. Raises: UsageError: an element is not a pair of names."""
    found = [pair(called, one) for one in _each(given)]
    for collection, doc_id in found:
        document_name(doc_id, collection)
    return found


def numbers(given: int | Iterable[int]) -> set[int]:
    """Return the numbers of decisions. Raises: UsageError: an element is not a whole number."""
    found = list(_each(given))
    for one in found:
        if isinstance(one, bool) or not isinstance(one, int) or abs(one) > LARGEST:
            raise UsageError(reason=f"the number of a decision is a whole number of 64 bits, not {_shown(one)}")
    return set(found)


def place(given: object) -> str:
    """Return where an index is. Raises: UsageError: it is neither a string nor a path."""
    if not isinstance(given, (str, Path)):
        raise UsageError(reason=f"an index is named by a database URL or a path, not {_shown(given)}")
    path(given)
    return str(given)


def decision(given: object) -> Decision:
    """Return the decision. Raises: UsageError: it is something else."""
    if not isinstance(given, Decision):
        raise UsageError(reason=f"the index takes Decisions, not {_shown(given)}")
    return given


def decisions(given: Decision | Iterable[Decision]) -> Iterator[Decision]:
    """Yield the decisions. Raises: UsageError: an element is not a decision."""
    yield from map(decision, _each(given))


def options(given: _Options | None, kind: type[_Options]) -> _Options:
    """Return the options; the defaults for None. Raises: UsageError: they are of another class."""
    if given is None:
        return kind()
    if not isinstance(given, kind):
        raise UsageError(reason=f"options are {kind.__name__}, not {_shown(given)}")
    return given


def html(given: object) -> str:
    """Return the HTML of a page. Raises: UsageError: it is not a string."""
    if not isinstance(given, str):
        raise UsageError(reason=f"a page is a string of HTML, not {_shown(given)}")
    return given


def params(given: object) -> Mapping[str, Any]:
    """Return the chosen parameters by name; none for None. Raises: UsageError: they are not a mapping."""
    if given is not None and not isinstance(given, Mapping):
        raise UsageError(reason=f'parameters are a mapping such as {{"min_sim": 0.8}}, not {_shown(given)}')
    return given or {}


def count(called: str, given: int, least: int = 1) -> int:
    """Return a number of something. Raises: InvalidParams: it is not a whole number from `least` to `LARGEST`."""
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= LARGEST:
        most = f" to {LARGEST}" if isinstance(given, int) and given > LARGEST else ""
        raise InvalidParams(name=called, value=given, reason=f"it must be a whole number from {least}{most}")
    return given


def limit(called: str, given: int | None) -> int | None:
    """Return the largest number of something; None for all. Raises: InvalidParams: it is not a whole number from 1."""
    return None if given is None else count(called, given)


def similarity(given: float, called: str = "min_sim") -> float:
    """Return a similarity. Raises: InvalidParams: it is not a number from 0 to 1."""
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0.0 <= given <= 1.0:
        raise InvalidParams(name=called, value=given, reason="it must be a number from 0 to 1")
    return given


def seconds(given: float, most: float) -> float:
    """Return a time in seconds. Raises: InvalidParams: it is not a number from 0 to `most`."""
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0.0 <= given <= most:
        raise InvalidParams(name="seconds", value=given, reason=f"it must be a number from 0 to {most:g}")
    return given


def _each(given: Any) -> Iterable[Any]:
    """Return several values; a single one becomes a list of one."""
    return [given] if isinstance(given, (str, bytes)) or not isinstance(given, Iterable) else given


def _shown(given: object) -> str:
    """Return a value with its type, short enough for a message."""
    text = repr(given)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(given).__name__})"
