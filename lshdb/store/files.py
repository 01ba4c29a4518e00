"""Write files completely or not at all: under a temporary name in the same folder, renamed at the end."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TextIO

from lshdb.errors import OutputExists, OutputFailed, reason_of

__all__ = ["BESIDE", "replacing", "require_free", "require_no_database", "writing"]

# The first bytes of every SQLite file, and the ends of the names of the files that SQLite and lshdb keep next to it.
DATABASE: Final = b"SQLite format 3\0"
BESIDE: Final = ("-wal", "-shm", "-journal", "-lock")


def require_free(path: Path, *, force: bool, taken: frozenset[Path] = frozenset(), for_database: bool = False) -> None:
    """Check that a file may be written here.

    Args:
        taken: files that are never overwritten, as absolute paths.
        for_database: the file will be a database, which may replace another one.

    Raises: OutputExists: the file exists and `force` is False; OutputFailed: it can never be written.
    """
    if path.resolve() in taken:
        raise OutputFailed(path=path, reason="it is a file of the index")
    if for_database:
        _require_not_beside(path)
    else:
        require_no_database(path)
    try:
        if path.exists() and not path.is_file():
            raise OutputFailed(path=path, reason="it is not a regular file")
        if path.exists() and not force:
            raise OutputExists(path=path)
        if not path.absolute().parent.is_dir():
            raise OutputFailed(path=path, reason="there is no such folder")
    except OSError as error:
        raise OutputFailed(path=path, reason=reason_of(error)) from None


def require_no_database(path: Path) -> None:
    """Check that a file is neither a SQLite database nor one of the files next to it. Raises: OutputFailed."""
    if _is_database(path):
        raise OutputFailed(path=path, reason="it is a database")
    _require_not_beside(path)


def _require_not_beside(path: Path) -> None:
    place = path.resolve()
    for end in BESIDE:
        # SQLite applies a log that it finds next to a database to it.
        if place.name.endswith(end) and _is_database(place.parent / place.name.removesuffix(end)):
            raise OutputFailed(path=path, reason="it belongs to a database")


def _is_database(path: Path) -> bool:
    try:
        # Not a pipe, which would wait for a writer.
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(DATABASE)) == DATABASE
    except OSError:
        return False


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a new, empty file. At the end it replaces `path`; if the block fails, it is deleted.

    Raises: OutputFailed: it cannot be written, for instance because the disk is full.
    """
    place = path.resolve()
    # In a folder for everybody, nobody can guess the name, and create the file or a link first.
    part = place.with_name(f".{place.name}.{secrets.token_hex(8)}.part")
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666))
        yield part
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.replace(place)
    except BrokenPipeError:
        raise  # This is an error of standard output, not of this file.
    except OSError as error:
        raise OutputFailed(path=path, reason=reason_of(error)) from None
    finally:
        # This may fail, for example on a read-only disk, but the error above matters more.
        with suppress(OSError):
            part.unlink()


@contextmanager
def writing(path: Path) -> Iterator[TextIO]:
    """Like `replacing`, but yield a UTF-8 text file. A lone surrogate becomes ``\\udxxx``, as in JSON."""
    with replacing(path) as part, part.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        yield file
        file.flush()
