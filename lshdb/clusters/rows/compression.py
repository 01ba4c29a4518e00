"""Write compressed files, on all cores where the format allows it.

A gzip file has one member. Like pigz, this compresses its blocks separately, each with the end of the previous block
as its dictionary. Limitation: bzip2 and xz use one core.
"""

from __future__ import annotations

import bz2
import lzma
import struct
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import BinaryIO, Final, TypeAlias, cast

import zstandard

from lshdb.model.calls import num_cores
from lshdb.readers.bytes.compression import Compression

__all__ = ["Write", "compressing", "usual_level"]

Write: TypeAlias = Callable[[bytes | memoryview], object]

# Small enough to keep all cores busy, and large enough that a block compresses as well as the whole file.
BLOCK_BYTES: Final = 1 << 19
WINDOW_BYTES: Final = 1 << 15
LEVELS: Final[dict[Compression, int]] = {"gzip": 6, "zstd": 3, "bzip2": 9, "xz": 6}
HIGHEST_LEVELS: Final[dict[Compression, int]] = {"gzip": 9, "zstd": 22, "bzip2": 9, "xz": 9}
# RFC 1952: the extra flags of a member made with the best or the fastest compression.
EXTRA_FLAGS: Final = {2: 9, 4: 1}
GZIP_HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


def usual_level(compression: Compression | None, head: bytes) -> int:
    """Return the level of a compressed file if its head reveals it, otherwise the default level of the compression."""
    if compression is None:
        return 0
    if compression == "gzip" and len(head) > 8:
        return EXTRA_FLAGS.get(head[8], LEVELS["gzip"])
    return LEVELS[compression]


@contextmanager
def compressing(file: BinaryIO, compression: Compression | None, level: int) -> Iterator[Write]:
    """Yield a function that writes bytes to a file, compressed. The end of the block completes the compressed data.

    Args: level: at least 1; what is above the highest level of the compression stands for that one.
    """
    if compression is None:
        yield file.write
        return
    level = min(level, HIGHEST_LEVELS[compression])
    if compression == "gzip":
        with ThreadPoolExecutor(num_cores()) as pool:
            member = _Member(file, level, pool)
            yield member.write
            member.finish()
    else:
        with _stream(file, compression, level) as stream:
            yield stream.write


def _stream(file: BinaryIO, compression: Compression, level: int) -> BinaryIO:
    if compression == "bzip2":
        return cast(BinaryIO, bz2.BZ2File(file, "wb", compresslevel=level))
    if compression == "xz":
        return cast(BinaryIO, lzma.LZMAFile(file, "wb", preset=level))
    compressor = zstandard.ZstdCompressor(level=level, threads=num_cores(), write_checksum=True)
    return cast(BinaryIO, compressor.stream_writer(file, closefd=False))


class _Member:
    """A gzip member that is being written. Source: RFC 1951, RFC 1952."""

    def __init__(self, file: BinaryIO, level: int, pool: ThreadPoolExecutor) -> None:
        self._file = file
        self._level = level
        self._pool = pool
        self._begun: deque[Future[bytes]] = deque()
        self._held = bytearray()
        self._window = b""
        self._checksum = self._size = 0
        file.write(GZIP_HEADER)

    def write(self, data: bytes | memoryview) -> None:
        """Add bytes."""
        self._held += data
        while len(self._held) >= BLOCK_BYTES:
            self._compress(bytes(self._held[:BLOCK_BYTES]), zlib.Z_SYNC_FLUSH)
            del self._held[:BLOCK_BYTES]

    def finish(self) -> None:
        """Write the remaining bytes and the checksum."""
        self._compress(bytes(self._held), zlib.Z_FINISH)
        while self._begun:
            self._file.write(self._begun.popleft().result())
        self._file.write(struct.pack("<II", self._checksum, self._size & 0xFFFFFFFF))

    def _compress(self, block: bytes, flush: int) -> None:
        self._begun.append(self._pool.submit(_deflated, block, self._window, self._level, flush))
        self._checksum = zlib.crc32(block, self._checksum)
        self._size += len(block)
        self._window = (self._window + block)[-WINDOW_BYTES:]
        if len(self._begun) > num_cores() + 1:
            self._file.write(self._begun.popleft().result())


def _deflated(block: bytes, window: bytes, level: int, flush: int) -> bytes:
    deflating = zlib.compressobj(level, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, window)
    return deflating.compress(block) + deflating.flush(flush)
