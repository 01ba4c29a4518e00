"""Files that list paths, one a line, as ``find`` and ``git ls-files`` print them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from lshdb.errors import PathMissing, SourceUnreadable
from lshdb.readers.base import STDIN_NAME, reason_of
from lshdb.readers.streams import open_regular, open_stdin, read_whole

__all__ = ["listed_paths"]

# Two million paths of 128 characters.
MAX_LIST_BYTES: Final = 256_000_000


def listed_paths(path: str | Path) -> list[str]:
    """The paths that a file lists, in its order, blank lines left out; any bytes of a name survive.

    Args: path: the list; ``-`` is standard input. Where it holds a NUL, NULs end its paths (``find -print0``).
    Raises: PathMissing; SourceUnreadable: it cannot be read, or is larger than 256 MB.
    """
    try:
        with open_stdin() if str(path) == STDIN_NAME else open_regular(Path(path)) as file:
            raw = read_whole(file, MAX_LIST_BYTES)
    except FileNotFoundError:
        raise PathMissing(path=path) from None
    except OSError as error:
        raise SourceUnreadable(path=path, reason=reason_of(error)) from None
    if raw is None:
        raise SourceUnreadable(path=path, reason="a list of paths is not larger than 256 MB")
    listed = raw.split(b"\0") if b"\0" in raw else [line.removesuffix(b"\r") for line in raw.split(b"\n")]
    return [os.fsdecode(path) for path in listed if path.strip()]
