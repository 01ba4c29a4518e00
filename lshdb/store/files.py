"""Files that are written whole or not at all: under another name beside their place, and renamed at the end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from lshdb.errors import OutputExists, OutputFailed

__all__ = ["replacing", "require_free", "writing"]


def require_free(path: Path, *, force: bool, taken: frozenset[Path] = frozenset()) -> None:
    """Raises: OutputExists: a file is there, and `force` is not given; OutputFailed: it may not be written at all.

    Args: taken: files that are never written over, as absolute paths.
    """
    if path.resolve() in taken:
        raise OutputFailed(path=path, reason="it is a file of the index")
    if path.exists() and not path.is_file():
        raise OutputFailed(path=path, reason="it is no regular file")
    if path.exists() and not force:
        raise OutputExists(path=path)
    if not path.absolute().parent.is_dir():
        raise OutputFailed(path=path, reason="there is no such folder")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name to write to; what is written takes the place of `path` at the end, and goes where the block fails.

    Raises: OutputFailed: it cannot be written, for instance on a full disk.
    """
    place = path.resolve()
    part = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        yield part
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.replace(place)
    except BrokenPipeError:
        raise  # Of standard output: not of this file.
    except OSError as error:
        raise OutputFailed(path=path, reason=error.strerror or str(error)) from None
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[TextIO]:
    """A text file in UTF-8, as `replacing`; a lone surrogate becomes ``\\udxxx``, which is how JSON writes it."""
    with replacing(path) as part, part.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        yield file
        file.flush()
