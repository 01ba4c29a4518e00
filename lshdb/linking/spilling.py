"""A temporary file without a name, and the error that says why it cannot be used."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from lshdb.errors import SpillFailed, reason_of

__all__ = ["close", "spilling", "temporary_file"]


def temporary_file() -> BinaryIO:
    """Return a new file that disappears when it is closed."""
    return tempfile.TemporaryFile(prefix="lshdb-")


def close(file: BinaryIO) -> None:
    """Close a temporary file that is no longer needed."""
    # Closing flushes the buffer, which fails if the disk is full. Nobody needs those bytes.
    with suppress(OSError):
        file.close()


@contextmanager
def spilling() -> Iterator[None]:
    """Raises: SpillFailed: the block cannot make, write or read a temporary file; most often the disk is full."""
    try:
        yield
    except OSError as error:
        raise SpillFailed(folder=_folder(), reason=reason_of(error)) from None


def _folder() -> str:
    try:
        return tempfile.gettempdir()
    except FileNotFoundError:
        return "any of the usual folders"
