"""Parts of a large file that can be read independently: row groups of Parquet, or lines of uncompressed JSON lines.

The items of all parts together are the items of the file, in order and with the same locators. Other formats cannot be
split without reading them: records of CSV may contain line ends, and compressed bytes depend on those before them.

Limitation: to find the lines and the digest, the whole file is read once more, at the speed of the disk.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import Final, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from lshdb.errors import reason_of
from lshdb.readers.base import Deferred, Item, ReadOptions, Rejection, SourceFile
from lshdb.readers.bytes.compression import compression_suffix
from lshdb.readers.bytes.decoding import byte_order_mark
from lshdb.readers.bytes.sniffing import SNIFF_BYTES
from lshdb.readers.bytes.streams import BLOCK_BYTES, ByteStream, Fingerprint, PositionedFile, open_regular
from lshdb.readers.jsonl import JsonLinesReader
from lshdb.readers.parquet import ParquetReader
from lshdb.readers.registry import guarded, reader_of

__all__ = ["Part", "PartReading", "line_parts", "parts"]

LINES: Final = JsonLinesReader()
REPLACED: Final = "replaced by another file while it was read; the next run reads that one"


class Part(Struct, frozen=True):
    """A part of a source.

    Args:
        unit: what `begin` and `end` count: bytes that hold whole lines, or row groups.
        begin, end: from the first one to before the other.
        first: the number of its first line or row in the file.
        num_bytes: how many bytes of the file it stands for.
        digest: of the whole file, for its last part only.
        inode: of the file; None if it is read on another machine.
    """

    unit: Literal["byte", "row group"]
    begin: int
    end: int
    first: int
    num_bytes: int
    digest: bytes | None = None
    inode: int | None = None

    @property
    def is_last(self) -> bool:
        """Whether the file ends with it."""
        return self.digest is not None


def line_parts(source: SourceFile, options: ReadOptions, most: int) -> Iterator[Part]:
    """Yield the parts of a file of uncompressed JSON lines while it is read, and nothing for another file.

    If it cannot be read to its end, the last part has no digest and extends to its end, so reading that part reports
    why. If not even a first part can be read, there is none.

    Args: most: bytes of a part; it may have a line more.
    """
    held: Part | None = None
    try:
        with open_regular(source.path) as file:
            fingerprint = Fingerprint()
            stream = ByteStream(fingerprint.chunks(file), file)
            if _has_plain_lines(source, stream, options):
                inode = os.fstat(file.fileno()).st_ino
                for part in _line_parts(stream, most):
                    if held is not None:
                        yield held
                    held = replace(part, inode=inode)
        digest = fingerprint.digest
    except OSError:
        digest = None
    if held is not None:
        yield replace(held, digest=digest) if digest is not None else replace(held, end=max(held.end, source.size))


def parts(source: SourceFile, options: ReadOptions, most: int) -> list[Part]:
    """Return the parts of a file in order, for other machines, too; none if it cannot be split, or cannot be read.

    Args: most: bytes of a part; it may have a line or a row group more.
    """
    lines = [replace(part, inode=None) for part in line_parts(source, options, most)]
    found = lines or _row_parts(source, options, most)
    return found if len(found) > 1 and found[-1].is_last else []


def _has_plain_lines(source: SourceFile, stream: ByteStream, options: ReadOptions) -> bool:
    reader, plain = reader_of(source, stream, options)
    mark = byte_order_mark(stream.peek(SNIFF_BYTES))
    is_plain = plain is stream and not compression_suffix(source.path.name)
    return is_plain and isinstance(reader, JsonLinesReader) and (mark is None or mark.charset == "utf-8")


def _line_parts(stream: ByteStream, most: int) -> Iterator[Part]:
    begin = offset = 0
    first = line = 1
    while block := stream.read(BLOCK_BYTES):
        at = 0
        while (found := block.find(b"\n", max(begin + most - offset - 1, at))) >= 0:
            line += _num_lines(block[at : found + 1])
            at = found + 1
            yield Part("byte", begin, offset + at, first, offset + at - begin)
            begin, first = offset + at, line
        line += _num_lines(block[at:])
        offset += len(block)
    if begin < offset:
        yield Part("byte", begin, offset, first, offset - begin)


def _num_lines(block: bytes) -> int:
    """Return the number of line ends. NumPy counts them in a third of the time of `bytes.count`."""
    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))


def _row_parts(source: SourceFile, options: ReadOptions, most: int) -> list[Part]:
    try:
        with open_regular(source.path) as file:
            fingerprint = Fingerprint()
            stream = ByteStream(fingerprint.chunks(file), file)
            if not isinstance(reader_of(source, stream, options)[0], ParquetReader):
                return []
            found = list(_groups(source, file, options, most))
            while stream.read(BLOCK_BYTES):  # The digest is of all bytes.
                pass
    except OSError:
        return []  # Reading the file reports it.
    return [*found[:-1], *(replace(part, digest=fingerprint.digest) for part in found[-1:])]


def _groups(source: SourceFile, file: io.FileIO, options: ReadOptions, most: int) -> Iterator[Part]:
    from lshdb.readers.rows import group_sizes

    begin = num_rows = num_bytes = 0
    first = 1
    sizes = group_sizes(source, PositionedFile(file), options)
    for group, (rows, size) in enumerate(sizes, 1):
        num_rows += rows
        num_bytes += size
        if num_bytes >= most or group == len(sizes):
            yield Part("row group", begin, group, first, num_bytes)
            begin, first, num_rows, num_bytes = group, first + num_rows, 0, 0


class PartReading:
    """The items of a part, as `Reading` has those of a file. Iterate once.

    Attributes: digest: of the file, once its last part was read to its end; num_bytes: what the part stands for.
    """

    def __init__(self, source: SourceFile, part: Part, options: ReadOptions) -> None:
        self.digest: bytes | None = None
        self.num_bytes = part.num_bytes
        self._source = source
        self._part = part
        self._options = options

    def steps(self) -> Iterator[Item | Deferred]:
        """Yield the items as the reader does."""
        try:
            file = open_regular(self._source.path)
        except OSError as error:
            yield Rejection(self._source.uri, "", reason_of(error))
            return
        with file:
            if self._part.inode not in (None, os.fstat(file.fileno()).st_ino):
                yield Rejection(self._source.uri, "", REPLACED)
                return
            yield from guarded(self._source, self._items(file))
        self.digest = self._part.digest

    def _items(self, file: io.FileIO) -> Iterator[Item | Deferred]:
        part = self._part
        if part.unit == "byte":
            stream = ByteStream(_blocks(file, part.begin, part.end))
            return LINES.read(self._source, stream.binary, self._options, part.first)
        from lshdb.readers.rows import read_rows

        groups = range(part.begin, part.end)
        return read_rows(self._source, PositionedFile(file), self._options, groups, part.first)


def _blocks(file: io.FileIO, begin: int, end: int) -> Iterator[bytes]:
    file.seek(begin)
    while begin < end and (block := file.read(min(BLOCK_BYTES, end - begin))):
        begin += len(block)
        yield block
