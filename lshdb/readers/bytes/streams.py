"""Open files and read them as streams, hashing the bytes on the way.

All failures are OSErrors whose ``strerror`` is the reason. The bytes before a failure are always delivered first. Knows
no compression and no format.

The digest of a source is xxh3_128 over the bytes of its file on the disk, compressed or not. It detects changes, but
does not protect against deliberate collisions.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, cast

import xxhash

from lshdb.errors import reason_of

__all__ = [
    "BLOCK_BYTES",
    "ByteStream",
    "Fingerprint",
    "PositionedFile",
    "StreamDamaged",
    "open_regular",
    "open_stdin",
    "read_whole",
]

# A block, its lines and their texts stay in a core's cache: 2 GB/s of lines, a tenth more than with 1 MB.
BLOCK_BYTES: Final = 1 << 17


class StreamDamaged(OSError):
    """A stream that cannot be read further; ``strerror`` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(errno.EIO, reason)


class ByteStream(io.RawIOBase):
    """Makes a stream of chunks. `peek` looks ahead. A failure is raised after the bytes before it were read.

    Attributes:
        position: the number of bytes that were read and not put back.
        origin: the open file with exactly these bytes, for readers that need to seek; None if there is none.
    """

    def __init__(self, chunks: Iterator[bytes], origin: io.FileIO | None = None) -> None:
        self.position = 0
        self.origin = origin
        self._chunks = chunks
        self._chunk, self._start = b"", 0  # The bytes of the chunk before the start were read.
        self._failure: OSError | None = None

    @property
    def binary(self) -> BinaryIO:
        """This stream, typed as readers expect it."""
        return cast(BinaryIO, self)

    def readable(self) -> bool:
        """Return True."""
        return True

    def peek(self, num_bytes: int) -> bytes:
        """Return the next bytes without reading them; fewer than `num_bytes` only before the end or a failure."""
        while len(self._chunk) - self._start < num_bytes and (chunk := self._next_chunk()):
            self._chunk, self._start = self._chunk[self._start :] + chunk, 0
        return self._chunk[self._start : self._start + num_bytes]

    def read(self, num_bytes: int = -1, /) -> bytes:
        """Return at most `num_bytes` bytes, at least one before the end; all bytes if it is negative."""
        if num_bytes < 0:
            return b"".join(iter(lambda: self.read(BLOCK_BYTES), b""))
        if self._start == len(self._chunk):
            self._chunk, self._start = self._next_chunk(), 0
            if not self._chunk and self._failure is not None:
                raise self._failure
        # By position: cutting every read off a chunk of 100 MB would copy it a thousand times.
        block = self._chunk[self._start : self._start + num_bytes]
        self._start += len(block)
        self.position += len(block)
        return block

    def skip(self, num_bytes: int) -> int:
        """Read and drop the next `num_bytes` bytes. Returns: how many there were."""
        left = num_bytes
        while left and (block := self.read(min(left, BLOCK_BYTES))):
            left -= len(block)
        return num_bytes - left

    def put_back(self, block: bytes) -> None:
        """Make the last bytes that were read the next ones again."""
        if block:
            # The bytes of the last read are still held, unless a peek replaced them.
            held = self._chunk.endswith(block, 0, self._start)
            self._chunk = self._chunk if held else block + self._chunk[self._start :]
            self._start = self._start - len(block) if held else 0
            self.position -= len(block)

    def readinto(self, buffer: object, /) -> int:
        """Read into `buffer`. Returns: the number of bytes."""
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


class PositionedFile(io.RawIOBase):
    """An open file that is read at its own position, while another reader reads it from start to end."""

    def __init__(self, file: io.FileIO) -> None:
        self._descriptor = file.fileno()
        self._size = os.fstat(self._descriptor).st_size
        self._position = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Set the position. Returns: the new position."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = max(base + offset, 0)
        return self._position

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def read(self, num_bytes: int = -1, /) -> bytes:
        """Return at most `num_bytes` bytes from the position; all bytes if it is negative. Raises: StreamDamaged."""
        left = max(self._size - self._position, 0)
        try:
            block = os.pread(self._descriptor, left if num_bytes < 0 else min(num_bytes, left), self._position)
        except OSError as error:
            raise StreamDamaged(reason_of(error)) from None
        self._position += len(block)
        return block


def open_regular(path: Path) -> io.FileIO:
    """Open a file, unbuffered. Raises: OSError: it does not exist, is not readable, or is not a regular file."""
    # O_NONBLOCK: if a FIFO replaced the file since the walk, opening it would block forever.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise StreamDamaged("is a folder" if stat.S_ISDIR(mode) else "not a regular file")
    return io.FileIO(descriptor)


def open_stdin() -> io.FileIO:
    """Open standard input, unbuffered. Closing the result leaves it open. Raises: OSError: it is closed."""
    return io.FileIO(0, closefd=False)


def read_whole(stream: BinaryIO, max_bytes: int) -> bytes | None:
    """Return all bytes of the stream; None if there are more than `max_bytes`."""
    blocks, num_bytes = [], 0
    while block := stream.read(BLOCK_BYTES):
        blocks.append(block)
        num_bytes += len(block)
        if num_bytes > max_bytes:
            return None
    return b"".join(blocks)


class Fingerprint:
    """Hashes the bytes of a file while they are read.

    Attributes: num_bytes: the number read so far.
    """

    def __init__(self) -> None:
        self.num_bytes = 0
        self._hash = xxhash.xxh3_128()

    def chunks(self, file: io.FileIO) -> Iterator[bytes]:
        """Yield the bytes of the file block by block, and hash them."""
        while block := file.read(BLOCK_BYTES):
            self._hash.update(block)
            self.num_bytes += len(block)
            yield block

    @property
    def digest(self) -> bytes:
        """The digest of the bytes read so far, 16 bytes."""
        return self._hash.digest()
