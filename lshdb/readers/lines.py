"""Containers of one document a line: lines in bounded memory, and what happens to those that are no document.

A line ends with LF or CR LF; blank lines are ignored; a UTF-8 byte order mark at the start is dropped. Knows no format:
what a line means is a function of the reader's.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from typing import BinaryIO, TypeAlias

from lshdb.model.values import Document
from lshdb.readers.base import Deferred, ReadOptions, Rejection, SourceFile, Unfit, megabytes, reason_of
from lshdb.readers.bytes.streams import BLOCK_BYTES

__all__ = ["LineParser", "checked_doc_id", "read_documents", "read_lines"]

# (line, URI of the source, locator) -> its document; raises Unfit.
LineParser: TypeAlias = Callable[[bytes, str, str], Document]


def read_documents(
    source: SourceFile, stream: BinaryIO, options: ReadOptions, parse: LineParser
) -> Iterator[Deferred | Rejection]:
    """The document of every line, and a Rejection for each that has none; a failure of the stream is the last item."""
    number = 0
    try:
        for number, line in enumerate(read_lines(stream, options.max_line), start=1):
            if line is None:
                yield Rejection(source.uri, f"line {number}", f"longer than {megabytes(options.max_line)}")
            elif line and not line.isspace():
                yield Deferred(source.uri, f"line {number}", line, parse)
    except OSError as error:
        yield Rejection(source.uri, f"line {number + 1}", f"{reason_of(error)} after line {number}")


def read_lines(stream: BinaryIO, max_bytes: int) -> Iterator[bytes | None]:
    """The lines without their LF; None for one of more than `max_bytes`, whose bytes are dropped as they come.

    Args: max_bytes: at least `BLOCK_BYTES`, which are read at once.
    Raises: OSError: the stream failed; the complete lines before that were yielded, the incomplete one was not.
    """
    held = _HeldLine(max_bytes)
    while block := stream.read(BLOCK_BYTES):
        first, *others = block.split(b"\n")
        held.add(first)
        if others:
            yield held.take()
            held.add(others.pop())
            yield from others
    if held.num_bytes:
        yield held.take()


def checked_doc_id(doc_id: str) -> str:
    """The doc_id itself. Raises: Unfit: it is empty, or holds what no database keeps."""
    if not doc_id:
        raise Unfit("the id is empty")
    if "\0" in doc_id:
        raise Unfit("the id holds a NUL character")
    return doc_id


class _HeldLine:
    """A line whose end was not read yet, in the pieces it came in; what exceeds the limit is counted, not held."""

    def __init__(self, max_bytes: int) -> None:
        self.num_bytes = 0
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._first = True

    def add(self, piece: bytes) -> None:
        """Lengthens the line."""
        self.num_bytes += len(piece)
        if self.num_bytes <= self._max_bytes:
            self._pieces.append(piece)
        else:
            self._pieces.clear()

    def take(self) -> bytes | None:
        """The line, None where it was too long; the next one starts empty."""
        line = b"".join(self._pieces) if self.num_bytes <= self._max_bytes else None
        if self._first and line is not None:
            line = line.removeprefix(codecs.BOM_UTF8)
        self._pieces, self.num_bytes, self._first = [], 0, False
        return line
