"""Compare a file with what an ingest recorded of it."""

from __future__ import annotations

from pathlib import Path

from lshdb.errors import reason_of
from lshdb.readers.base import SourceFile
from lshdb.readers.bytes.streams import Fingerprint, open_regular

__all__ = ["change_of", "digest"]


def change_of(file: SourceFile, size: int | None, mtime_ns: int | None, read_digest: bytes | None) -> str | None:
    """Return how a file differs from what an ingest recorded; None if it does not.

    Its bytes are read only if it has another modification time, and the same size.

    Args: size, mtime_ns, read_digest: as recorded when it was read; None if nothing was recorded.
    """
    try:
        is_same = file.size == size and (
            file.mtime_ns == mtime_ns or (read_digest is not None and digest(file.path) == read_digest)
        )
    except OSError as error:
        return f"cannot be read ({reason_of(error)})"
    return None if is_same else "has changed since it was ingested"


def digest(path: Path) -> bytes:
    """Return the digest of a file, 16 bytes. Raises: OSError."""
    fingerprint = Fingerprint()
    with open_regular(path) as file:
        for _ in fingerprint.chunks(file):
            pass
    return fingerprint.digest
