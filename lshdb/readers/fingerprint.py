"""The digest of a source: xxh3_128 over the bytes of its file as they lie on the disk, compressed or not.

A changed digest means a changed source. Not a defence against someone who makes collisions on purpose.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import xxhash

from lshdb.readers.streams import BLOCK_BYTES, open_regular

__all__ = ["Fingerprint", "digest"]


class Fingerprint:
    """Hashes a file's bytes while they are read.

    Attributes: num_bytes: read so far.
    """

    def __init__(self) -> None:
        self.num_bytes = 0
        self._hash = xxhash.xxh3_128()

    def chunks(self, file: io.FileIO) -> Iterator[bytes]:
        """The file's bytes, block by block, each one hashed as it goes by."""
        while block := file.read(BLOCK_BYTES):
            self._hash.update(block)
            self.num_bytes += len(block)
            yield block

    @property
    def digest(self) -> bytes:
        """The digest of the bytes read so far, 16 bytes."""
        return self._hash.digest()


def digest(path: Path) -> bytes:
    """The digest of a file, 16 bytes. Raises: OSError."""
    fingerprint = Fingerprint()
    with open_regular(path) as file:
        for _ in fingerprint.chunks(file):
            pass
    return fingerprint.digest
