"""Read containers with one document per line, in bounded memory.

A line ends with LF or CR LF. Blank lines are ignored, and so is a UTF-8 byte order mark at the start. The reader of a
format passes the function that parses a line.

Limitation: files in UTF-16 or UTF-32 are refused by their byte order mark, because their lines end differently.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from typing import BinaryIO, TypeAlias

from lshdb.errors import reason_of
from lshdb.model.values import Document
from lshdb.readers.base import Damaged, Deferred, ReadOptions, Rejection, SourceFile, Unfit, megabytes
from lshdb.readers.bytes.decoding import byte_order_mark
from lshdb.readers.bytes.streams import BLOCK_BYTES

__all__ = ["LineParser", "checked_doc_id", "read_documents", "read_lines"]

# (line, URI of the source, locator) -> its document; raises Unfit.
LineParser: TypeAlias = Callable[[bytes, str, str], Document]


def read_documents(
    source: SourceFile, stream: BinaryIO, options: ReadOptions, parse: LineParser, first: int = 1
) -> Iterator[Deferred | Rejection]:
    """Yield every line as a Deferred, or as a Rejection if it is too long; a failure of the stream is the last item.

    Args: first: the number of the first line, which is not 1 if the stream is a part of a file.
    """
    number = first - 1
    try:
        for number, line in enumerate(read_lines(stream, options.max_line, begins=first == 1), start=first):
            if line is None:
                yield Rejection(source.uri, f"line {number}", f"longer than {megabytes(options.max_line)}")
            elif line and not line.isspace():
                yield Deferred(source.uri, f"line {number}", line, parse)
    except Unfit as error:
        yield Rejection(source.uri, "line 1", str(error))
    except OSError as error:
        yield Damaged(source.uri, f"line {number + 1}", f"{reason_of(error)} after line {number}")


def read_lines(stream: BinaryIO, max_bytes: int, *, begins: bool = True) -> Iterator[bytes | None]:
    """Yield the lines without their LF; None for a line of more than `max_bytes`, which is not kept in memory.

    Args:
        max_bytes: at least `BLOCK_BYTES`, the size of one read.
        begins: whether the stream begins a file, which may have a byte order mark.
    Raises: Unfit: the lines are not in UTF-8; OSError: the stream failed; only the complete lines before the failure
        were yielded.
    """
    held, is_first = _HeldLine(max_bytes, begins=begins), begins
    while block := stream.read(BLOCK_BYTES):
        if is_first:
            _require_utf8(block)
            is_first = False
        first, *others = block.split(b"\n")
        held.add(first)
        if others:
            yield held.take()
            held.add(others.pop())
            yield from others
    if held.num_bytes:
        yield held.take()


def checked_doc_id(doc_id: str) -> str:
    """Return the doc_id. Raises: Unfit: it is empty, or contains a character that databases cannot store."""
    if not doc_id:
        raise Unfit("the id is empty")
    if "\0" in doc_id:
        raise Unfit("the id holds a NUL character")
    return doc_id


def _require_utf8(head: bytes) -> None:
    mark = byte_order_mark(head)
    if mark is not None and mark.charset != "utf-8":
        name = mark.charset[:6].upper()
        raise Unfit(f"in {name}, not in UTF-8: convert it, for example with iconv -f {name} -t UTF-8")


class _HeldLine:
    """The pieces of an incomplete line. If they exceed the limit, their bytes are only counted."""

    def __init__(self, max_bytes: int, *, begins: bool) -> None:
        self.num_bytes = 0
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._first = begins

    def add(self, piece: bytes) -> None:
        """Append a piece to the line."""
        self.num_bytes += len(piece)
        if self.num_bytes <= self._max_bytes:
            self._pieces.append(piece)
        else:
            self._pieces.clear()

    def take(self) -> bytes | None:
        """Return the line, or None if it was too long, and start the next one."""
        line = b"".join(self._pieces) if self.num_bytes <= self._max_bytes else None
        if self._first and line is not None:
            line = line.removeprefix(codecs.BOM_UTF8)
        self._pieces, self.num_bytes, self._first = [], 0, False
        return line
