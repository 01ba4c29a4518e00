"""Decompress gzip, zstd, bzip2 and xz, which are recognised by the first bytes and not by the name.

All members of a file (gzip members, zstd frames, bzip2 or xz streams) are read. A damaged or truncated file yields
everything before the damage, then raises an OSError. Memory is bounded for any compression ratio, because the output
comes in pieces.

Limitation: a zstd frame may need a window of at most 128 MB (``zstd --long=27``), the limit of the library. An xz
stream may need a dictionary of less than that (``xz -9`` needs 64 MB).
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
    "Compression",
    "Source",
    "compression_of",
    "compression_suffix",
    "decompress",
    "inflate",
    "member",
    "skip_padding",
    "without_compression",
]

Compression: TypeAlias = Literal["gzip", "zstd", "bzip2", "xz"]
SUFFIXES: Final = (".gz", ".zst", ".bz2", ".xz")
GZIP_MAGIC: Final = b"\x1f\x8b\x08"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
XZ_MAGIC: Final = b"\xfd7zXZ\x00"
# A bzip2 stream begins with its level and a block, or with its level and its end. These are the digits of pi and of its
# square root.
BZIP2_BLOCKS: Final = (b"1AY&SY", b"\x17rE8P\x90")
ZSTD_MIN_HEADER: Final = 5
ZSTD_CHECKSUM: Final = 1 << 2  # In the fifth byte of a frame.
ZSTD_RUN: Final = 1  # A block of one repeated byte.
XZ_MEMORY_BYTES: Final = 128_000_000


class Source(Protocol):
    """A source of compressed bytes: `read` returns at most that many, and b"" at the end."""

    def read(self, num_bytes: int, /) -> bytes: ...


def compression_of(head: bytes) -> Compression | None:
    """Return the compression that the first ten bytes of a file indicate; None for none or an unknown one."""
    if head.startswith(GZIP_MAGIC):
        return "gzip"
    if head.startswith(ZSTD_MAGIC) or _is_skippable_frame(head):
        return "zstd"
    if head.startswith(b"BZh") and head[3:4] in b"123456789" and head[4:10] in BZIP2_BLOCKS:
        return "bzip2"
    return "xz" if head.startswith(XZ_MAGIC) else None


def without_compression(name: str) -> str:
    """Return the name of a file without its compression suffixes; a name that is nothing but a suffix stays."""
    while (shorter := name[: name.rfind(".")]) and name.lower().endswith(SUFFIXES):
        name = shorter
    return name


def compression_suffix(name: str) -> str:
    """Return the compression suffix of a file name, or nothing."""
    return next((suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), "")


def decompress(stream: ByteStream, compression: Compression | None) -> ByteStream:
    """Return the decompressed stream, or the stream itself if it is not compressed."""
    return stream if compression is None else ByteStream(_members(stream, compression))


def member(
    source: Source, compression: Compression, dictionary: zstandard.ZstdCompressionDict | None = None
) -> Generator[bytes, None, bytes]:
    """Yield the decompressed bytes of the member that begins here. Returns: the bytes that were read after its end.

    Args: dictionary: of the zstd frames, if any.
    Raises: StreamDamaged: the member is damaged or truncated; the bytes before the damage were yielded.
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
    """Yield the decompressed bytes of one deflate stream. Returns: the bytes that were read after its end.

    Args: wbits: as for zlib: 31 for gzip, 15 for zlib, -15 for raw deflate.
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
    """Skip NULs, which some writers append to a file; gzip(1) and xz(1) accept them too."""
    while stream.peek(1) == b"\0":
        padding = stream.peek(BLOCK_BYTES)
        stream.skip(len(padding) - len(padding.lstrip(b"\0")))


def _members(stream: ByteStream, compression: Compression) -> Iterator[bytes]:
    while stream.peek(1):
        stream.put_back((yield from member(stream, compression)))
        skip_padding(stream)
    stream.read(1)  # Raises if the stream failed.


def _is_skippable_frame(head: bytes) -> bool:
    return head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F


def _zstd_frame(source: Source, dictionary: zstandard.ZstdCompressionDict | None) -> Generator[bytes, None, bytes]:
    frame = zstandard.ZstdDecompressor(dict_data=dictionary).decompressobj()
    for compressed in _zstd_blocks(source):
        try:
            yield frame.decompress(compressed)
        except zstandard.ZstdError as error:
            raise StreamDamaged(f"zstd stream is damaged ({error})") from None
    if not frame.eof:
        raise StreamDamaged("zstd stream is truncated")
    return b""


def _zstd_blocks(source: Source) -> Iterator[bytes]:
    """Yield the bytes of a frame block by block, and nothing after its end. A block expands to at most 128 KB.

    Source: RFC 8878, sections 3.1.1 and 3.1.2. A zstd call has no output limit, so its input must be limited.
    """
    begin = _exactly(source, ZSTD_MIN_HEADER)
    if _is_skippable_frame(begin):
        begin += _exactly(source, 8 - len(begin))
        yield begin
        yield from _pieces(source, int.from_bytes(begin[4:], "little"))
        return
    if len(begin) < ZSTD_MIN_HEADER:
        return
    yield begin + _exactly(source, zstandard.frame_header_size(begin) - len(begin))
    is_last = False
    while not is_last and len(header := _exactly(source, 3)) == 3:
        fields = int.from_bytes(header, "little")
        is_last, kind, size = bool(fields & 1), fields >> 1 & 3, fields >> 3
        # The checksum goes with the last block, so that a damaged frame of one block yields nothing.
        checksum_size = 4 if is_last and begin[4] & ZSTD_CHECKSUM else 0
        yield header + _exactly(source, (1 if kind == ZSTD_RUN else size) + checksum_size)


def _exactly(source: Source, num_bytes: int) -> bytes:
    """Read bytes; fewer only at the end of the source."""
    return b"".join(_pieces(source, num_bytes))


def _pieces(source: Source, num_bytes: int) -> Iterator[bytes]:
    while num_bytes and (piece := source.read(min(num_bytes, BLOCK_BYTES))):
        num_bytes -= len(piece)
        yield piece


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
