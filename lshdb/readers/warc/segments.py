"""Split a WARC or ARC file into decompressed segments, each of which begins with a record.

These files are compressed record by record, so that reading can start at any record. Each member (gzip) or frame (zstd)
that begins with a record begins a segment. This makes damaged files readable: a damaged member ends its segment with an
OSError, and the next member that begins with a record is searched for in the compressed bytes. fastwarc 2.0 stops
there: of 400 files with one damaged member in ten, it lost all records after it every time. A member that does not
begin with a record continues the previous one, as in a WARC that was compressed in blocks.

Limitations: a WARC that is compressed as one member, or by bzip2 or xz, ends at the first damage. If a damaged member
is larger than 4 MB, only its last 4 MB are searched for the next one. After 100 damaged members in a row, the search
starts where each damage was detected.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Generator, Iterator
from typing import Final

import zstandard
from msgspec import Struct

from lshdb.readers.bytes.compression import Compression, compression_of, decompress, member, skip_padding
from lshdb.readers.bytes.streams import BLOCK_BYTES, ByteStream, StreamDamaged, read_whole
from lshdb.readers.warc.arc import ARC
from lshdb.readers.warc.syntax import WARC, Syntax

__all__ = ["Segment", "segments"]

SYNTAXES: Final = (WARC, ARC)
MEMBER_MAGICS: Final[dict[Compression, re.Pattern[bytes]]] = {
    "gzip": re.compile(rb"\x1f\x8b\x08[\x00-\x1f]"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
}
MAGIC_BYTES: Final = 4
# Bytes read after the end of a member are copied several times. Most members are smaller than this.
RAW_BYTES: Final = 1 << 14
HELD_BYTES: Final = 4_000_000
DICTIONARY_MAGIC: Final = b"\x5d\x2a\x4d\x18"
MAX_DICTIONARY_BYTES: Final = 16_000_000
MAX_DAMAGED_IN_A_ROW: Final = 100
MAX_TRIALS: Final = 1000


class Segment(Struct, frozen=True):
    """A sequence of records.

    Args:
        offset: its first byte in the file; in the compressed file if `compressed`.
        stream: its bytes; fails where the file is damaged.
        compressed: whether only its beginning has an offset in the file.
        syntax: how its records begin.
    """

    offset: int
    stream: ByteStream
    compressed: bool
    syntax: Syntax


def segments(stream: ByteStream) -> Iterator[Segment]:
    """Yield the segments of a file in order. Read each to its end, or failure, before you take the next."""
    compression = compression_of(stream.peek(10))
    if compression in MEMBER_MAGICS:
        return _Members(stream, compression).segments()
    plain = decompress(stream, compression)
    return iter([Segment(0, plain, compressed=compression is not None, syntax=_syntax(plain) or WARC)])


def _syntax(stream: ByteStream) -> Syntax | None:
    """Return the syntax of a stream; None if it does not begin with a record."""
    return next((syntax for syntax in SYNTAXES if syntax.begins(stream.peek(syntax.magic_bytes))), None)


def _dictionary(stream: ByteStream) -> zstandard.ZstdCompressionDict | None:
    """Read the zstd dictionary at the beginning of a file; None if there is none.

    Source: IIPC, Zstandard compression for WARC files 1.0: a skippable frame whose content may itself be compressed.
    """
    head = stream.peek(8)
    length = int.from_bytes(head[4:], "little")
    if not head.startswith(DICTIONARY_MAGIC) or length > MAX_DICTIONARY_BYTES:
        return None
    stream.skip(len(head))
    frame = b"".join(iter(lambda: stream.read(length + 8 - stream.position), b""))
    compression = compression_of(frame)
    plain = decompress(ByteStream(iter([frame])), compression)
    content = read_whole(plain.binary, MAX_DICTIONARY_BYTES)
    return zstandard.ZstdCompressionDict(content) if content else None


class _Member(Struct, frozen=True):
    offset: int
    stream: ByteStream


class _Members:
    """A compressed file, member by member. The compressed bytes of the current member can be searched again."""

    def __init__(self, stream: ByteStream, compression: Compression) -> None:
        self._stream = stream
        self._compression = compression
        self._magic = MEMBER_MAGICS[compression]
        # That of the first record. Until there is one, any record begins a segment.
        self._syntax: Syntax | None = None
        self._dictionary = _dictionary(stream)
        self._held: deque[bytes] = deque()
        self._num_held = 0
        self._next: _Member | None = None
        self._is_damaged = False
        self._num_in_a_row = 0

    def segments(self) -> Iterator[Segment]:
        """Yield the first segment, then every segment that begins with a record."""
        current = self._open()
        while current is not None:
            self._next, self._is_damaged = None, False
            syntax = self._syntax_of(current) or self._syntax or WARC
            yield Segment(current.offset, ByteStream(self._joined(current)), compressed=True, syntax=syntax)
            current = self._found_again() if self._is_damaged else self._next

    def read(self, num_bytes: int, /) -> bytes:
        """Return at most `num_bytes` compressed bytes, and hold them in case their member is damaged."""
        block = self._stream.read(min(num_bytes, RAW_BYTES))
        self._held.append(block)
        self._num_held += len(block)
        while self._num_held - len(self._held[0]) > HELD_BYTES:
            self._num_held -= len(self._held.popleft())
        return block

    def _open(self) -> _Member | None:
        skip_padding(self._stream)
        if not self._stream.peek(1):
            return None
        self._held.clear()
        self._num_held = 0
        return _Member(self._stream.position, ByteStream(self._decompressed()))

    def _decompressed(self) -> Generator[bytes, None, None]:
        beyond = yield from member(self, self._compression, self._dictionary)
        self._stream.put_back(beyond)
        self._held.append(self._held.pop().removesuffix(beyond))
        self._num_in_a_row = 0

    def _joined(self, current: _Member | None) -> Iterator[bytes]:
        """Yield the bytes of a member and of those that continue it; the member after them becomes the next one."""
        try:
            while current is not None:
                while block := current.stream.read(BLOCK_BYTES):
                    yield block
                current = self._open()
                if current is not None and self._begins_segment(current):
                    self._next = current
                    return
            self._stream.read(1)  # Raises if reading the file failed.
        except StreamDamaged:
            self._is_damaged = True
            raise

    def _syntax_of(self, member: _Member) -> Syntax | None:
        """Return the syntax of the file if the member begins with a record."""
        found = _syntax(member.stream)
        self._syntax = self._syntax or found
        return found if found is self._syntax else None

    def _begins_segment(self, member: _Member) -> bool:
        """Return whether a member begins with a record, or ends or fails before that is certain."""
        syntax = self._syntax or WARC
        return syntax.may_begin(member.stream.peek(syntax.magic_bytes))

    def _found_again(self) -> _Member | None:
        """Return the next member that begins with a record, searching from the start of the damaged one."""
        self._num_in_a_row += 1
        if self._num_in_a_row <= MAX_DAMAGED_IN_A_ROW:
            self._rewind()
        for _ in range(MAX_TRIALS):
            if not self._seek_magic():
                return None
            found = self._open()
            if found is not None and self._syntax_of(found) is not None:
                return found
            self._rewind()
        return None

    def _rewind(self) -> None:
        held = b"".join(self._held)
        self._stream.put_back(held[1:])
        self._held.clear()
        self._num_held = 0

    def _seek_magic(self) -> bool:
        while window := self._stream.peek(BLOCK_BYTES):
            if (found := self._magic.search(window)) is not None:
                self._stream.skip(found.start())
                return True
            self._stream.skip(max(len(window) - MAGIC_BYTES + 1, 1))
        return False
