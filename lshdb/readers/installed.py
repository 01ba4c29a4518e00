"""Load readers of other distributions: entry points of the group ``lshdb.readers``.

A distribution names a `Reader` object, or a class that creates one without arguments, in its pyproject.toml::

    [project.entry-points."lshdb.readers"]
    epub = "lshdb_epub:EpubReader"

The reader defines its own name and suffixes. The suffixes of lshdb's own readers take precedence. If two installed
readers have the same suffix, the first by name gets it. Nothing is loaded until a file is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import Final, cast

from lshdb.errors import SourceError
from lshdb.readers.base import Reader

__all__ = ["GROUP", "installed_readers"]

GROUP: Final = "lshdb.readers"
ATTRIBUTES: Final = ("name", "suffixes", "textual", "holds_records", "recognises", "read")


def installed_readers(ours: Iterable[Reader]) -> Iterator[Reader]:
    """Yield the readers of other distributions, sorted by the names of their entry points.

    Raises: SourceError: a reader cannot be loaded, is not a reader, or has the name of another; it names the
        distribution.
    """
    taken = {reader.name for reader in ours}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        reader = _loaded(entry)
        if reader.name in taken:
            raise _failure(entry, f"there is a reader {reader.name!r} already")
        taken.add(reader.name)
        yield reader


def _loaded(entry: EntryPoint) -> Reader:
    try:
        named = entry.load()
        reader = named() if isinstance(named, type) else named
    except Exception as error:
        raise _failure(entry, f"{type(error).__name__}: {error}") from error
    missing = [attribute for attribute in ATTRIBUTES if not hasattr(reader, attribute)]
    if missing:
        raise _failure(entry, f"it has no {', '.join(missing)}")
    return cast(Reader, reader)


def _failure(entry: EntryPoint, reason: str) -> SourceError:
    distribution = "an unknown distribution" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
    return SourceError(
        reason=f"the reader {entry.name!r} ({entry.value}) of {distribution} does not load: {reason}. "
        "Upgrade that distribution or uninstall it."
    )
