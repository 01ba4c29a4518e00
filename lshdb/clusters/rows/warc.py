"""Copy the wanted records of a WARC file, each in full and with its compression.

A segment is a run of records that were compressed together, usually just one. A segment is copied byte for byte if all
of its records are wanted, and left out if none are. Only a segment with both kinds is compressed again.

Limitations: the request and metadata records of a dropped page are copied. If a file is compressed with a dictionary,
and some but not all records of a segment are dropped, the file is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import BinaryIO, Final

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from lshdb.clusters.rows.compression import compressing
from lshdb.clusters.rows.opened import OpenedFile, Task
from lshdb.clusters.rows.verdicts import NUM_VERDICTS, OTHER, REJECTED, UNKNOWN
from lshdb.errors import SourceUnreadable, reason_of
from lshdb.readers.bytes.streams import ByteStream, PositionedFile, StreamDamaged
from lshdb.readers.warc.records import Damage, Framing, Record
from lshdb.readers.warc.segments import Segment, segments

__all__ = ["write_records"]

COPIED_BYTES: Final = 1 << 20
# Records that crawlers write in addition to pages. The first one describes the file, and is never left out.
FILE_NOTE: Final = "warcinfo"
NOTES: Final = frozenset({FILE_NOTE, "request", "metadata"})


class _Walked(Struct):
    """A segment that was walked.

    Args: spans: (begin, whether it is wanted) of its records, in the segment's own bytes; they end at `end`.
    """

    segment: Segment
    spans: list[tuple[int, bool]] = field(default_factory=list)
    end: int = 0

    @property
    def is_mixed(self) -> bool:
        """Whether some of its records are wanted, and some are not."""
        return len({is_wanted for _, is_wanted in self.spans}) == 2

    @property
    def is_wanted(self) -> bool:
        """Whether its first record is wanted."""
        return not self.spans or self.spans[0][1]

    def ranges(self) -> Iterator[tuple[int, int, bool]]:
        """Yield (begin, end, whether it is wanted) for all its bytes, adjacent records as one range."""
        begins = [0, *(begin for begin, _ in self.spans[1:]), self.end]
        parts = zip(begins, begins[1:], (is_wanted for _, is_wanted in self.spans), strict=False)
        for is_wanted, group in groupby(parts, key=lambda part: part[2]):
            several = list(group)
            yield several[0][0], several[-1][1], is_wanted


def write_records(file: OpenedFile, task: Task, out: BinaryIO) -> NDArray[np.int64]:
    """Write the wanted records of a file. Returns: the number of records by verdict. Raises: SourceUnreadable."""
    copying = _Copying(file, task, out)
    last: _Walked | None = None
    try:
        for segment in segments(file.stream):
            walked = copying.walk(segment)
            copying.write(last, segment.offset)
            last = walked
        copying.write(last, file.file.size)
    except StreamDamaged as error:
        raise SourceUnreadable(path=file.file.path, reason=reason_of(error)) from None
    return copying.counts


class _Copying:
    """Copies the segments of a file, in order.

    Attributes: counts: int64, shape (5,); the number of records so far by verdict.
    """

    def __init__(self, file: OpenedFile, task: Task, out: BinaryIO) -> None:
        self.counts = np.zeros(NUM_VERDICTS, dtype=np.int64)
        self._file = file
        self._task = task
        self._out = out
        self._position = 0

    def walk(self, segment: Segment) -> _Walked:
        """Find and count the records of a segment."""
        walked, framing = _Walked(segment), Framing(segment)
        for record in framing.records():
            kind = record.fields.get("warc-type", "").lower() if isinstance(record, Record) else ""
            verdict = self._verdict(record, kind)
            self.counts[verdict] += 1
            is_wanted = kind == FILE_NOTE or bool(self._task.is_wanted[verdict])
            walked.spans.append((framing.start, is_wanted))
            if isinstance(record, Record):
                self._task.named.note(record.fields, is_written=is_wanted)
                record.close()
        walked.end = segment.stream.position
        return walked

    def write(self, walked: _Walked | None, end: int) -> None:
        """Write the wanted part of a segment that ends at `end`; None stands for the bytes before the first segment."""
        begin, self._position = self._position, end
        if walked is None or not walked.is_mixed:
            # The bytes before the first segment may be a dictionary that all segments need.
            if walked is None or walked.is_wanted:
                self._copy(begin, end)
        elif walked.segment.compressed:
            self._compress(walked)
        else:
            for first, last, is_wanted in walked.ranges():
                if is_wanted:
                    self._copy(first, last)

    def _verdict(self, record: Record | Damage, kind: str) -> int:
        if (known := self._task.verdicts.by_locator.get(record.locator)) is not None:
            return known
        if isinstance(record, Damage):
            return REJECTED
        return OTHER if kind in NOTES else UNKNOWN

    def _copy(self, begin: int, end: int) -> None:
        """Copy bytes of the file unchanged."""
        source = PositionedFile(self._file.binary)
        source.seek(begin)
        while block := source.read(min(COPIED_BYTES, end - source.tell())):
            self._out.write(block)

    def _compress(self, walked: _Walked) -> None:
        """Compress the wanted records of a segment as a new member."""
        plain = self._again(walked.segment)
        with compressing(self._out, self._file.compression, self._task.level_of(self._file)) as write:
            for first, last, is_wanted in walked.ranges():
                while (left := last - plain.position) > 0:
                    block = plain.read(min(left, COPIED_BYTES))
                    if not block:
                        raise StreamDamaged(f"cannot be read again from byte {first}")
                    if is_wanted:
                        write(block)

    def _again(self, segment: Segment) -> ByteStream:
        """Read the bytes of a segment again."""
        file = PositionedFile(self._file.binary)
        file.seek(segment.offset)
        return next(segments(ByteStream(iter(lambda: file.read(COPIED_BYTES), b"")))).stream
