"""The gzip, zstd, bzip2 and xz layers around any textual format, told by the first bytes and not by the name.

Every member of a file (a gzip member, zstd frame, bzip2 or xz stream) is read. A damaged or truncated file gives all
that came before the damage, then an OSError. Memory is bounded whatever the ratio: a bomb comes out in pieces.
Limitation: a zstd frame may ask for a window of at most 128 MB (``zstd --long=27``), the library's own limit; an xz
stream for a dictionary of less than that (``xz -9`` asks for 64 MB).
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Generator, Iterator
from typing import Final, Literal, Protocol, TypeAlias

import zstandard

from lshdb.readers.bytes.streams import BLOCK_BYTES, ByteStream, StreamDamaged

__all__ = [
    "COMPRESSION_SUFFIXES",
    "Compression",
    "Source",
    "compression_of",
    "decompress",
    "inflate",
    "member",
    "skip_padding",
]

Compression: TypeAlias = Literal["gzip", "zstd", "bzip2", "xz"]
COMPRESSION_SUFFIXES: Final = (".gz", ".zst", ".bz2", ".xz")
GZIP_MAGIC: Final = b"\x1f\x8b\x08"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
XZ_MAGIC: Final = b"\xfd7zXZ\x00"
# A bzip2 stream begins with its level and a block, or with its level and its end: the digits of pi, or of its root.
BZIP2_BLOCKS: Final = (b"1AY&SY", b"\x17rE8P\x90")
# A zstd call has no output limit, and 4 bytes of a frame can stand for 128 KB: 1 KB of input is 34 MB at worst.
ZSTD_INPUT_BYTES: Final = 1 << 10
XZ_MEMORY_BYTES: Final = 128_000_000


class Source(Protocol):
    """Where compressed bytes come from: `read` gives at most that many, and b"" at the end."""

    def read(self, num_bytes: int, /) -> bytes: ...


def compression_of(head: bytes) -> Compression | None:
    """The compression that the first ten bytes of a file tell; None for none of ours."""
    if head.startswith(GZIP_MAGIC):
        return "gzip"
    if head.startswith(ZSTD_MAGIC) or _is_skippable_frame(head):
        return "zstd"
    if head.startswith(b"BZh") and head[3:4] in b"123456789" and head[4:10] in BZIP2_BLOCKS:
        return "bzip2"
    return "xz" if head.startswith(XZ_MAGIC) else None


def decompress(stream: ByteStream, compression: Compression | None) -> ByteStream:
    """The stream under its compression; the stream itself where there is none."""
    return stream if compression is None else ByteStream(_members(stream, compression))


def member(
    source: Source, compression: Compression, dictionary: zstandard.ZstdCompressionDict | None = None
) -> Generator[bytes, None, bytes]:
    """Yields the bytes of the member that begins here; returns what was read beyond it.

    Args: dictionary: what zstd frames were compressed with, if anything.
    Raises: StreamDamaged: it is damaged or truncated; what it gave before that was yielded.
    """
    if compression == "gzip":
        return (yield from inflate(source, 31, "gzip"))
    if compression == "zstd":
        return (yield from _zstd_frame(source, dictionary))
    if compression == "bzip2":
        return (yield from _stream(source, bz2.BZ2Decompressor(), "bzip2"))
    xz = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY_BYTES)
    return (yield from _stream(source, xz, "xz"))


def inflate(source: Source, wbits: int, name: str) -> Generator[bytes, None, bytes]:
    """Yields the bytes of one deflate stream; returns what was read beyond it.

    Args: wbits: as zlib takes it: 31 for gzip, 15 for zlib, -15 for bare deflate.
    Raises: StreamDamaged.
    """
    stream, compressed = zlib.decompressobj(wbits), b""
    while not stream.eof:
        if not (compressed or (compressed := source.read(BLOCK_BYTES))):
            raise StreamDamaged(f"{name} stream is truncated")
        try:
            yield stream.decompress(compressed, BLOCK_BYTES)
        except zlib.error as error:
            # "Error -3 while decompressing data: invalid code lengths set"
            reason = str(error).rpartition(": ")[2]
            raise StreamDamaged(f"{name} stream is damaged ({reason})") from None
        compressed = stream.unconsumed_tail
    return stream.unused_data


def skip_padding(stream: ByteStream) -> None:
    """Passes over NULs, with which some writers fill the end of a file; gzip(1) and xz(1) allow it too."""
    while stream.peek(1) == b"\0":
        padding = stream.peek(BLOCK_BYTES)
        stream.skip(len(padding) - len(padding.lstrip(b"\0")))


def _members(stream: ByteStream, compression: Compression) -> Iterator[bytes]:
    while stream.peek(1):
        stream.put_back((yield from member(stream, compression)))
        skip_padding(stream)
    stream.read(1)  # Raises where the stream did not end but fail.


def _is_skippable_frame(head: bytes) -> bool:
    return head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F


def _zstd_frame(source: Source, dictionary: zstandard.ZstdCompressionDict | None) -> Generator[bytes, None, bytes]:
    frame = zstandard.ZstdDecompressor(dict_data=dictionary).decompressobj()
    while compressed := source.read(ZSTD_INPUT_BYTES):
        try:
            yield frame.decompress(compressed)
        except zstandard.ZstdError as error:
            raise StreamDamaged(f"zstd stream is damaged ({error})") from None
        if frame.eof:
            return frame.unused_data
    raise StreamDamaged("zstd stream is truncated")


def _stream(
    source: Source, stream: bz2.BZ2Decompressor | lzma.LZMADecompressor, name: str
) -> Generator[bytes, None, bytes]:
    while not stream.eof:
        compressed = source.read(BLOCK_BYTES) if stream.needs_input else b""
        if stream.needs_input and not compressed:
            raise StreamDamaged(f"{name} stream is truncated")
        try:
            yield stream.decompress(compressed, BLOCK_BYTES)
        except (OSError, lzma.LZMAError, ValueError) as error:
            reason = str(error).partition(":")[0]
            raise StreamDamaged(f"{name} stream is damaged ({reason[:1].lower()}{reason[1:]})") from None
    return stream.unused_data
