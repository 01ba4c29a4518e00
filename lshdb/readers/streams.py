"""Bytes on their way from a file to a reader: opening, streams of chunks, reading the whole of one.

All that fails here is an OSError whose ``strerror`` is the reason; what came before a failure is always delivered
first. Knows no compression and no format.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, cast

__all__ = ["BLOCK_BYTES", "ByteStream", "StreamDamaged", "open_regular", "read_whole"]

# A block, its lines and their texts stay in a core's cache: 2 GB/s of lines, a tenth more than with 1 MB.
BLOCK_BYTES: Final = 1 << 17


class StreamDamaged(OSError):
    """A stream that cannot be read on; ``strerror`` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(errno.EIO, reason)


class ByteStream(io.RawIOBase):
    """Chunks as a stream: `read` gives what there is, `peek` looks ahead; a failure comes after what preceded it."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._ahead = b""
        self._failure: OSError | None = None

    @property
    def binary(self) -> BinaryIO:
        """This stream, typed as what a reader takes."""
        return cast(BinaryIO, self)

    def readable(self) -> bool:
        """True."""
        return True

    def peek(self, num_bytes: int) -> bytes:
        """The next bytes, at most `num_bytes` and fewer only before the end or a failure; they stay unread."""
        while len(self._ahead) < num_bytes and (chunk := self._next_chunk()):
            self._ahead += chunk
        return self._ahead[:num_bytes]

    def read(self, num_bytes: int = -1, /) -> bytes:
        """At most `num_bytes` bytes, at least one before the end; all of them where it is negative."""
        if num_bytes < 0:
            return b"".join(iter(lambda: self.read(BLOCK_BYTES), b""))
        block = self._ahead or self._next_chunk()
        if not block and self._failure is not None:
            raise self._failure
        self._ahead = block[num_bytes:]
        return block[:num_bytes] if self._ahead else block

    def readinto(self, buffer: object, /) -> int:
        """The number of bytes put into `buffer`."""
        view = memoryview(cast(bytearray, buffer)).cast("B")
        block = self.read(len(view))
        view[: len(block)] = block
        return len(block)

    def _next_chunk(self) -> bytes:
        if self._failure is not None:
            return b""
        try:
            return next((chunk for chunk in self._chunks if chunk), b"")
        except OSError as error:
            self._failure = error
            return b""


def open_regular(path: Path) -> io.FileIO:
    """The file, unbuffered. Raises: OSError: it is not there, not readable, or not a regular file."""
    # O_NONBLOCK: a FIFO that took the place of the file since the walk would block the open for ever.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise StreamDamaged("is a folder" if stat.S_ISDIR(mode) else "not a regular file")
    return io.FileIO(descriptor)


def read_whole(stream: BinaryIO, max_bytes: int) -> bytes | None:
    """All bytes of the stream; None where there are more than `max_bytes`."""
    blocks, num_bytes = [], 0
    while block := stream.read(BLOCK_BYTES):
        blocks.append(block)
        num_bytes += len(block)
        if num_bytes > max_bytes:
            return None
    return b"".join(blocks)
