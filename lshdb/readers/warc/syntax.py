"""How the records of a file begin, which is where WARC and ARC differ. Also reads headers with named fields.

Source: ISO 28500:2017, WARC 1.1; as lenient as warcio (LF for CR LF, any version, missing blank lines).
"""

from __future__ import annotations

import re
from typing import Final, Protocol, TypeAlias

from lshdb.readers.base import Unfit
from lshdb.readers.bytes.streams import ByteStream

__all__ = ["MAX_HEADER_BYTES", "RECORD_MAGIC", "USUAL_HEADER_BYTES", "WARC", "Fields", "Syntax", "parse_fields",
           "read_header"]  # fmt: skip

# By lower-case name. If a field occurs twice, the first one counts.
Fields: TypeAlias = dict[str, str]

RECORD_MAGIC: Final = b"WARC/"
MAX_HEADER_BYTES: Final = 1 << 16
USUAL_HEADER_BYTES: Final = 1 << 12
HEADER_END: Final = re.compile(rb"\r?\n\r?\n")
RECORD_START: Final = re.compile(rb"WARC/[0-9.]{1,8}[ \t]*\r?\n[A-Za-z-]+[ \t]*:")
# The longest beginning of a record that may be split between two searches.
START_BYTES: Final = 64


class Syntax(Protocol):
    """How a record begins.

    Attributes:
        magic_bytes: the number of bytes that show whether a record begins.
        tail_bytes: the number of bytes at the end of a record that may belong to the next one, if its length is wrong.
        ends: the bytes that may follow a record.
    """

    @property
    def magic_bytes(self) -> int: ...
    @property
    def tail_bytes(self) -> int: ...
    @property
    def ends(self) -> tuple[bytes, ...]: ...

    def begins(self, head: bytes) -> bool:
        """Return whether these bytes begin with a record."""
        ...

    def may_begin(self, head: bytes) -> bool:
        """Return whether a stream that begins with `head` begins with a record, or ends before that is certain."""
        ...

    def find(self, window: bytes) -> int | None:
        """Return where the first record in these bytes begins; None if there is none."""
        ...

    def find_inside(self, window: bytes) -> int | None:
        """Return where a record begins in the block of another, which then has a wrong length."""
        ...

    def num_searched(self, window: bytes) -> int:
        """Return how many of the bytes in which `find` found nothing need not be searched again; at least one."""
        ...

    def read_header(self, stream: ByteStream) -> Fields:
        """Read the header of a record. Returns: its fields, named as in WARC. Raises: Unfit: it is damaged."""
        ...


class _Warc:
    magic_bytes = len(RECORD_MAGIC)
    tail_bytes = START_BYTES
    ends = (b"\r\n\r\n", b"\n\n")

    def begins(self, head: bytes) -> bool:
        return head.startswith(RECORD_MAGIC)

    def may_begin(self, head: bytes) -> bool:
        return self.begins(head) or len(head) < len(RECORD_MAGIC)

    def find(self, window: bytes) -> int | None:
        found = RECORD_START.search(window)
        return None if found is None else found.start()

    def find_inside(self, window: bytes) -> int | None:
        # The plain search comes first: the pattern alone would take as long as all other reading.
        return self.find(window) if RECORD_MAGIC in window else None

    def num_searched(self, window: bytes) -> int:
        return max(len(window) - START_BYTES, 1)

    def read_header(self, stream: ByteStream) -> Fields:
        if not self.begins(stream.peek(self.magic_bytes)):
            raise Unfit("not a WARC record")
        return parse_fields(read_header(stream)[1:])


WARC: Final[Syntax] = _Warc()


def read_header(stream: ByteStream) -> list[str]:
    r"""Return the lines up to the first blank one, with continuations joined; all lines if the stream ends before one.

    Bytes that are not UTF-8 become ``\xff``.
    Raises: Unfit: the header is longer than 64 KB, or another record begins inside it, which is then read next.
    """
    for limit in (USUAL_HEADER_BYTES, MAX_HEADER_BYTES):
        head = stream.peek(limit)
        end = HEADER_END.search(head)
        if end is not None or len(head) < limit:
            break
    else:
        stream.skip(len(RECORD_MAGIC))
        raise Unfit("the header is longer than 64 KB")
    lines = head if end is None else head[: end.start()]
    if (inside := RECORD_START.search(lines, len(RECORD_MAGIC))) is not None:
        stream.skip(inside.start())
        raise Unfit("the header is cut off by another record")
    stream.skip(len(head) if end is None else end.end())
    return _lines(lines)


def parse_fields(lines: list[str]) -> Fields:
    """Return the named fields. Lines without a colon are ignored."""
    fields: Fields = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            fields.setdefault(name.strip().lower(), value.strip())
    return fields


def _lines(head: bytes) -> list[str]:
    text = head.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
    return re.sub(r"\n[ \t]+", " ", text).split("\n")
