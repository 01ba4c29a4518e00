"""The gzip and zstd layers around any textual format, told by the first bytes and not by the name.

Every member (gzip) and frame (zstd) of a file is read. A damaged or truncated file gives all that came before the
damage, then an OSError. Memory is bounded whatever the ratio: a bomb comes out in pieces.
Limitation: a zstd frame may ask for a window of at most 128 MB (``zstd --long=27``), the library's own limit.
"""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterator
from typing import Final, Literal, TypeAlias

import zstandard

from lshdb.readers.streams import BLOCK_BYTES, ByteStream, StreamDamaged

__all__ = ["COMPRESSION_SUFFIXES", "Compression", "compression_of", "decompress"]

Compression: TypeAlias = Literal["gzip", "zstd"]
COMPRESSION_SUFFIXES: Final = (".gz", ".zst")
GZIP_MAGIC: Final = b"\x1f\x8b\x08"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
# A zstd call has no output limit, and 4 bytes of a frame can stand for 128 KB: 1 KB of input is 34 MB at worst.
ZSTD_INPUT_BYTES: Final = 1 << 10


def compression_of(head: bytes) -> Compression | None:
    """The compression that the first four bytes of a file tell; None for none of ours."""
    if head.startswith(GZIP_MAGIC):
        return "gzip"
    return "zstd" if head.startswith(ZSTD_MAGIC) or _is_skippable_frame(head) else None


def decompress(stream: ByteStream, compression: Compression | None) -> ByteStream:
    """The stream under its compression; the stream itself where there is none."""
    if compression == "gzip":
        return ByteStream(_gunzip(stream))
    if compression == "zstd":
        return ByteStream(_unzstd(stream))
    return stream


def _is_skippable_frame(head: bytes) -> bool:
    return head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F


def _gunzip(stream: ByteStream) -> Iterator[bytes]:
    compressed = stream.read(BLOCK_BYTES)
    while compressed:
        compressed = yield from _gunzip_member(stream, compressed)
        # Some writers pad the end with NULs; gzip(1) allows it too.
        while not compressed.lstrip(b"\0") and (block := stream.read(BLOCK_BYTES)):
            compressed = block
        compressed = compressed.lstrip(b"\0")


def _gunzip_member(stream: ByteStream, compressed: bytes) -> Generator[bytes, None, bytes]:
    """Yields the member's bytes; returns what was read beyond it."""
    member = zlib.decompressobj(wbits=31)
    while not member.eof:
        if not (compressed or (compressed := stream.read(BLOCK_BYTES))):
            raise StreamDamaged("gzip stream is truncated")
        try:
            yield member.decompress(compressed, BLOCK_BYTES)
        except zlib.error as error:
            # "Error -3 while decompressing data: invalid code lengths set"
            reason = str(error).rpartition(": ")[2]
            raise StreamDamaged(f"gzip stream is damaged ({reason})") from None
        compressed = member.unconsumed_tail
    return member.unused_data


def _unzstd(stream: ByteStream) -> Iterator[bytes]:
    compressed = stream.read(ZSTD_INPUT_BYTES)
    while compressed:
        compressed = yield from _unzstd_frame(stream, compressed)
        compressed = compressed or stream.read(ZSTD_INPUT_BYTES)


def _unzstd_frame(stream: ByteStream, compressed: bytes) -> Generator[bytes, None, bytes]:
    """Yields the frame's bytes; returns what was read beyond it."""
    frame = zstandard.ZstdDecompressor().decompressobj()
    while True:
        try:
            yield frame.decompress(compressed)
        except zstandard.ZstdError as error:
            raise StreamDamaged(f"zstd stream is damaged ({error})") from None
        if frame.eof:
            return frame.unused_data
        if not (compressed := stream.read(ZSTD_INPUT_BYTES)):
            raise StreamDamaged("zstd stream is truncated")
