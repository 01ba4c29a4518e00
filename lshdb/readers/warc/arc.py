"""ARC, the predecessor of WARC: each record is a header line followed by the response of the server.

The header line of version 1 has five fields, ``URL IP DATE TYPE LENGTH``, and that of version 2 ten, with five more
between TYPE and LENGTH. The first record of a file, ``filedesc://...``, describes the file. Records get the fields of a
WARC: a page is a ``response``, and the first record a ``warcinfo``.

Addresses and media types may contain spaces, as they do in practice, because the date shows where the fields are.
The line that names the fields is not read, because files do not always follow it.

Source: Internet Archive, ARC File Format, versions 1 and 2.
Limitation: records have no magic number, so a header line is found only at the beginning of a line. In an
uncompressed file, a record that is cut off in the middle of a line also makes the next one unreadable.
"""

from __future__ import annotations

import re
from typing import Final

from lshdb.readers.base import Unfit
from lshdb.readers.bytes.streams import ByteStream
from lshdb.readers.warc.syntax import MAX_HEADER_BYTES, USUAL_HEADER_BYTES, Fields, Syntax

__all__ = ["ARC", "FILE_SCHEME"]

SCHEME: Final = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*:")
# A line that may be a header. Its middle is checked afterwards, in linear time.
CANDIDATE: Final = re.compile(rb"^[A-Za-z][A-Za-z0-9+.-]{0,30}:[^\r\n]* [0-9]{1,18}[ \t]*\r?$", re.MULTILINE)
DATE: Final = re.compile(rb"[0-9]{14}")
LENGTH: Final = re.compile(rb"[0-9]{1,18}")
FILE_SCHEME: Final = b"filedesc:"
# Positions of the date, counted from the end of a line: in version 1, in version 2, and in version 1 with one or two
# spaces in the media type.
DATE_PLACES: Final = (3, 8, 4, 5)


class _Arc:
    # The length of nearly all header lines.
    magic_bytes = USUAL_HEADER_BYTES
    tail_bytes = USUAL_HEADER_BYTES
    ends = (b"\n", b"\r\n")

    def begins(self, head: bytes) -> bool:
        line, end, _ = head.partition(b"\n")
        return head.startswith(FILE_SCHEME) or (end == b"\n" and _fields(line) is not None)

    def may_begin(self, head: bytes) -> bool:
        return self.begins(head) or (len(head) < self.magic_bytes and b"\n" not in head)

    def find(self, window: bytes) -> int | None:
        for match in CANDIDATE.finditer(window):
            # A line that the window cuts off may end with other digits.
            is_whole = window[match.end() : match.end() + 1] == b"\n" and len(match[0]) < MAX_HEADER_BYTES
            if is_whole and _fields(match[0]) is not None:
                return match.start()
        return None

    def find_inside(self, window: bytes) -> int | None:
        return self.find(window)

    def num_searched(self, window: bytes) -> int:
        last_line = window.rfind(b"\n") + 1
        return last_line if last_line > 0 and len(window) - last_line < MAX_HEADER_BYTES else len(window)

    def read_header(self, stream: ByteStream) -> Fields:
        for limit in (USUAL_HEADER_BYTES, MAX_HEADER_BYTES):
            line, end, _ = stream.peek(limit).partition(b"\n")
            if end:
                break
        else:
            is_cut = stream.skip(MAX_HEADER_BYTES) < MAX_HEADER_BYTES
            raise Unfit("the header is cut off" if is_cut else "the header is longer than 64 KB")
        stream.skip(len(line) + 1)
        if (fields := _fields(line)) is None:
            raise Unfit("the header of the record is not that of an ARC")
        return fields


ARC: Final[Syntax] = _Arc()


def _fields(line: bytes) -> Fields | None:
    """Return the fields of a header line, named as in WARC; None if it is not a header line."""
    # The cheap check comes first: most blocks do not begin with a scheme.
    if SCHEME.match(line) is None:
        return None
    line = line.rstrip(b" \t\r")
    for place in DATE_PLACES:
        parts = line.rsplit(b" ", place + 1)
        if len(parts) == place + 2 and DATE.fullmatch(parts[2]) and LENGTH.fullmatch(parts[-1]):
            break
    else:
        return None
    address, _, date, media_type, *_, length = (part.decode("utf-8", "backslashreplace") for part in parts)
    return {
        "warc-type": "warcinfo" if line.startswith(FILE_SCHEME) else "response",
        "warc-target-uri": address,
        "warc-date": f"{date[:4]}-{date[4:6]}-{date[6:8]}T{date[8:10]}:{date[10:12]}:{date[12:]}Z",
        "content-type": media_type.rstrip(";"),
        "content-length": length,
    }
