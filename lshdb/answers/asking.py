"""Read documents to look up from files, each with its line.

Lines are those of the decompressed file, byte for byte, including line ends and the byte order mark of the first line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from lshdb.answers.many import Question
from lshdb.answers.query import standard_input
from lshdb.errors import BadDocument, SourceUnreadable, UsageError, reason_of
from lshdb.model.params import Params
from lshdb.model.values import Document, Rejection
from lshdb.readers import Item, Reading, ReadOptions, SourceFile, read_stream, reader_of, require_existing, walk
from lshdb.readers.bytes.streams import BLOCK_BYTES, ByteStream, open_regular
from lshdb.sketch.sketch import require_fit

__all__ = ["Questions"]

# The formats with one document per line, at "line N".
LINE_FORMATS: Final = ("jsonl", "sets")


class Questions:
    """The documents in files and folders; ``-`` is standard input. Iterate once.

    Args:
        rejected: called with every item that does not fit this index.
        with_lines: yield each document with its line.
    """

    def __init__(
        self,
        paths: Sequence[str | Path],
        options: ReadOptions,
        params: Params,
        rejected: Callable[[Rejection], None],
        *,
        with_lines: bool,
    ) -> None:
        require_existing(paths)
        self.num_questions = self.num_rejected = 0
        self._last_reason = ""
        self._paths = paths
        self._options = options
        self._params = params
        self._rejected = rejected
        self._with_lines = with_lines

    def __iter__(self) -> Iterator[Question]:
        """Yield the documents.

        Raises: SourceUnreadable: most items do not fit this index, or there are no items; UsageError: lines are
            wanted, but a file does not hold one document per line.
        """
        for found in walk(self._paths):
            if isinstance(found, SourceFile):
                yield from self._lines_of(found) if self._with_lines else self._documents_of(found)
            elif isinstance(found, Rejection):
                self._reject(found)
        if self.num_rejected > self.num_questions or not (self.num_questions or self.num_rejected):
            raise SourceUnreadable(path=", ".join(map(str, self._paths)), reason=self._why_unreadable())

    def _why_unreadable(self) -> str:
        if not self.num_rejected:
            return "it contains no document"
        if self.num_rejected == 1 and not self.num_questions:
            return self._last_reason
        return f"{self.num_rejected:,} of {self.num_questions + self.num_rejected:,} records could not be read"

    def _documents_of(self, source: SourceFile) -> Iterator[Question]:
        options = self._options
        for item in read_stream(source, standard_input(), options) if source.is_stdin else Reading(source, options):
            if (document := self._fitting(item)) is not None:
                yield Question(document)

    def _lines_of(self, source: SourceFile) -> Iterator[Question]:
        if source.is_stdin:
            yield from self._lines_in(source, standard_input())
            return
        try:
            file = open_regular(source.path)
        except OSError as error:
            self._reject(Rejection(source.uri, "", reason_of(error)))
            return
        with file:
            yield from self._lines_in(source, ByteStream(iter(lambda: file.read(BLOCK_BYTES), b"")))

    def _lines_in(self, source: SourceFile, stream: ByteStream) -> Iterator[Question]:
        reader, plain = reader_of(source, stream, self._options)
        if reader is None or reader.name not in LINE_FORMATS:
            raise _no_lines(source)
        lines, options = _Lines(plain), replace(self._options, input_format=reader.name)
        for item in read_stream(source, ByteStream(lines.blocks()), options):
            if (document := self._fitting(item)) is not None:
                yield Question(document, lines.take(int(document.locator.removeprefix("line "))))

    def _fitting(self, item: Item) -> Document | None:
        """Return the item if it fits this index, and count it."""
        if isinstance(item, Document):
            try:
                require_fit(item, self._params)
            except BadDocument as error:
                item = Rejection(error.source, item.locator, error.reason)
        if isinstance(item, Rejection):
            self._reject(item)
        if not isinstance(item, Document):
            return None
        self.num_questions += 1
        return item

    def _reject(self, item: Rejection) -> None:
        self.num_rejected += 1
        self._last_reason = item.reason
        self._rejected(item)


class _Lines:
    """Passes the bytes of a stream to a reader and remembers its lines."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._held: deque[bytes] = deque()
        self._number = 0

    def blocks(self) -> Iterator[bytes]:
        """Yield the bytes, and remember them as lines."""
        rest = b""
        while block := self._stream.read(BLOCK_BYTES):
            *whole, rest = (rest + block).split(b"\n")
            self._held.extend(line + b"\n" for line in whole)
            yield block
        if rest:
            self._held.append(rest)

    def take(self, number: int) -> bytes:
        """Return a line by its number, from 1, and forget those before it."""
        while self._number < number - 1:
            self._held.popleft()
            self._number += 1
        self._number += 1
        return self._held.popleft()


def _no_lines(source: SourceFile) -> UsageError:
    return UsageError(
        reason=f"--only-new passes through lines of JSON lines or feature sets, and {source.path} holds none; for "
        "other files list the matches with --format jsonl"
    )
