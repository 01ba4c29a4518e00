"""Find the records of a WARC or ARC file: their boundaries, header fields, and blocks, in bounded memory.

Knows nothing of the contents of a block. The end of every record is checked twice: by its length, and by whether
another record or the end follows. A record with a wrong length is reported, and reading continues at the next record.

Limitation: if a length is too long, only the first 64 MB after the first record inside it are held.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from lshdb.errors import reason_of
from lshdb.readers.base import Unfit
from lshdb.readers.bytes.streams import BLOCK_BYTES, ByteStream
from lshdb.readers.warc.segments import Segment, segments
from lshdb.readers.warc.syntax import Fields, Syntax

__all__ = ["Damage", "Framing", "Record", "records"]

MAX_HELD_BYTES: Final = 64_000_000
LINE_ENDS: Final = b"\r\n"
# Line ends that are skipped at a time.
PADDING_BYTES: Final = 64


class Damage(NamedTuple):
    """A place where a record should be, but cannot be read."""

    locator: str
    reason: str


class Record:
    """One record. Read what you need of `block`, then `close` it.

    Attributes:
        locator: ``offset N`` in the file, or ``offset N record K`` for later records that were compressed together.
        fields: the named fields of its header.
        num_bytes: the length of the block according to the header.
        block: its bytes.
        damage: after closing, why the record is damaged; None if it is intact.
        failed: after closing, whether reading the file failed inside it.
    """

    def __init__(self, locator: str, fields: Fields, num_bytes: int, stream: ByteStream, syntax: Syntax) -> None:
        self.locator = locator
        self.fields = fields
        self.num_bytes = num_bytes
        self.block = ByteStream(self._chunks())
        self.damage: str | None = None
        self.failed = False
        self._stream = stream
        self._syntax = syntax
        self._num_read = 0
        # The bytes from the first record on that seems to begin inside this one.
        self._held: list[bytes] = []
        self._num_held = 0
        self._tail = b""

    def close(self) -> str | None:
        """Read the block to its end. Returns: why the record is damaged; None if it is intact."""
        try:
            while self.block.read(BLOCK_BYTES):
                pass
            self.damage = self._misfit()
        except OSError as error:
            self.damage, self.failed = reason_of(error), True
        if self.damage is not None:  # Search for the next record from where it may begin.
            self._stream.put_back(b"".join(self._held) or self._tail)
        self._held.clear()
        return self.damage

    def _misfit(self) -> str | None:
        if self._num_read < self.num_bytes and self._num_held <= MAX_HELD_BYTES:
            return f"truncated: {self._num_read} of {self.num_bytes} bytes"
        behind = self._stream.peek(PADDING_BYTES + self._syntax.magic_bytes)
        # Line ends end a record, even if the next one is damaged, unless a record began inside it.
        is_end = behind.startswith(self._syntax.ends) and not self._held
        rest = behind.lstrip(LINE_ENDS)
        if (is_end or not rest or self._syntax.begins(rest)) and self._num_held <= MAX_HELD_BYTES:
            return None
        return f"its Content-Length is wrong: the record does not end after {self.num_bytes} bytes"

    def _chunks(self) -> Iterator[bytes]:
        while self._num_read < self.num_bytes and self._num_held <= MAX_HELD_BYTES:
            block = self._stream.read(min(self.num_bytes - self._num_read, BLOCK_BYTES))
            if not block:
                return
            self._num_read += len(block)
            self._hold(block)
            yield block

    def _hold(self, block: bytes) -> None:
        if not self._held:
            window = self._tail + block
            self._tail = window[-self._syntax.tail_bytes :]
            inside = self._syntax.find_inside(window)
            block = b"" if inside is None else window[inside:]
        if block:
            self._held.append(block)
            self._num_held += len(block)


def records(stream: ByteStream) -> Iterator[Record | Damage]:
    """Yield the records of a file in order. Close each before you take the next."""
    for segment in segments(stream):
        yield from Framing(segment).records()


class Framing:
    """Finds the records of one segment.

    Attributes: start: the position in the segment's stream where the last record, or damage, begins.
    """

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self._stream = segment.stream
        self._syntax = segment.syntax
        self._number = 0
        self.start = 0

    def records(self) -> Iterator[Record | Damage]:
        """Yield the records and damages; a segment that fails ends with a damage."""
        try:
            while self._begins():
                record = self._record(self._locator())
                if isinstance(record, Damage):
                    self._seek_record()
                    if not self._stream.peek(1):
                        self._stream.read(1)  # If the segment failed, its failure is the damage.
                    yield record
                    continue
                yield record
                if record.failed:
                    return
                if record.damage is not None:
                    self._seek_record()
            self._stream.read(1)  # Raises if the segment failed.
        except OSError as error:
            yield Damage(self._locator(), reason_of(error))

    def _begins(self) -> bool:
        """Return whether there is another record, or damage, and remember where."""
        self._number += 1
        is_there = self._skip_line_ends()
        self.start = self._stream.position
        return is_there

    def _record(self, locator: str) -> Record | Damage:
        try:
            fields = self._syntax.read_header(self._stream)
        except Unfit as error:
            return Damage(locator, str(error))
        length = fields.get("content-length")
        if length is None or not (length.isascii() and length.isdigit() and len(length) < 19):
            shown = "missing" if length is None else f"{length[:40]!r}, not a number"
            return Damage(locator, f"the Content-Length of the record is {shown}")
        return Record(locator, fields, int(length), self._stream, self._syntax)

    def _locator(self) -> str:
        if not self._segment.compressed:
            return f"offset {self._segment.offset + self.start}"
        number = f" record {self._number}" if self._number > 1 else ""
        return f"offset {self._segment.offset}{number}"

    def _skip_line_ends(self) -> bool:
        while head := self._stream.peek(PADDING_BYTES):
            if kept := head.lstrip(LINE_ENDS):
                self._stream.skip(len(head) - len(kept))
                return True
            self._stream.skip(len(head))
        return False

    def _seek_record(self) -> None:
        """Skip to the next record or the end."""
        if not self._skip_line_ends() or self._syntax.begins(self._stream.peek(self._syntax.magic_bytes)):
            return
        while window := self._stream.peek(BLOCK_BYTES):
            if (found := self._syntax.find(window)) is not None:
                self._stream.skip(found)
                return
            self._stream.skip(self._syntax.num_searched(window))
