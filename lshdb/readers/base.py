"""The types every reader shares: a file that was found, what a reader yields, and the options it reads by.

Owns no reading and opens nothing. A reader is stateless: everything it knows comes in with the call.

Read options as text, as the index keeps them with each source: read otherwise, a file is another source.

Owns which options matter to what a source gives; those of the index (`html`, `kind`) are kept with it once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final, Protocol, TypeAlias

import msgspec

from lshdb.errors import InvalidParams
from lshdb.model.params import HtmlText, ShingleKind
from lshdb.model.values import Document, Rejection

__all__ = [
    "MAX_LINE_BYTES",
    "MAX_PAGE_BYTES",
    "STDIN_NAME",
    "STDIN_URI",
    "Deferred",
    "Item",
    "ReadOptions",
    "Reader",
    "Rejection",
    "Skipped",
    "SourceFile",
    "Unfit",
    "absolute",
    "column_names",
    "file_doc_id",
    "megabytes",
    "reason_of",
    "record",
    "recorded",
    "too_large",
]

# The largest single texts in public crawls are below 2 MB; these stop a file from filling the memory.
DEFAULT_MAX_TEXT: Final = 10_000_000
# What the parser makes of a page in bounded time; see `bombs`.
MAX_PAGE_BYTES: Final = 10_000_000
MAX_LINE_BYTES: Final = 64_000_000
# JSON may write a byte of text as ``\u0000``.
MAX_BYTES_A_BYTE: Final = 6

# The name of standard input among paths, and its URI among sources.
STDIN_NAME: Final = "-"
STDIN_URI: Final = "stdin:"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file as the walk found it.

    Args:
        uri: ``file:///...``, percent-encoded, so that any bytes of a file name survive.
        path: absolute, with no ``..``; symbolic links are kept as named.
        size: bytes.
        mtime_ns: modification time, nanoseconds since 1970.
        root: the URI of the path it was found under; its own `uri` where it was named itself.
    """

    uri: str
    path: Path
    size: int
    mtime_ns: int
    root: str

    @property
    def named(self) -> bool:
        """Whether the caller named this very file, rather than a folder above it."""
        return self.uri == self.root

    @property
    def is_stdin(self) -> bool:
        """Whether it is standard input: read once, and never the same as before."""
        return self.uri == STDIN_URI


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or record not meant for lshdb, such as an image in a crawl; counted, not an error."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class Deferred:
    """An item whose bytes are read and whose document is yet to be made, perhaps by another process.

    Args:
        source, locator: where it is.
        raw: its bytes.
        parse: makes the item of ``(raw, source, locator)``; raises Unfit. Items of one source that share one function
            cross to another process most cheaply; one that cannot be pickled is called in the process that reads.
    """

    source: str
    locator: str
    raw: bytes
    parse: Callable[[bytes, str, str], Item]

    def make(self) -> Item:
        """Return the item; a Rejection if there is none in it."""
        try:
            return self.parse(self.raw, self.source, self.locator)
        except Unfit as error:
            return Rejection(self.source, self.locator, str(error))
        except Exception as error:  # A mistake in one reader costs one item, not the run.
            return Rejection(self.source, self.locator, f"{type(error).__name__}: {error}")


Item: TypeAlias = Document | Rejection | Skipped


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How sources are read.

    Args:
        html: ``main`` content of a page, or ``all`` its text.
        id_field, text_field: the fields of a JSON record, the columns of a table.
        input_format: the name of the reader for every source; None lets suffix and content choose.
        base: the folder that a file's doc_id is relative to; None keeps the absolute path.
        kind: the shingle kind of the index; ``set`` reads feature sets instead of text.
        max_text: bytes of the largest text that a document may have, in UTF-8; a larger one is rejected.
        id_prefix: what the doc_id of every document begins with.

    Raises: InvalidParams: the field names are empty, equal, or no JSON reader can look for them; the prefix holds a
        NUL character.
    """

    html: HtmlText = "main"
    id_field: str = "id"
    text_field: str = "text"
    input_format: str | None = None
    base: Path | None = None
    kind: ShingleKind = "word"
    max_text: int = DEFAULT_MAX_TEXT
    id_prefix: str = ""

    @property
    def max_line(self) -> int:
        """Bytes of the longest line that is held: one of a text within the limit always is."""
        return max(MAX_LINE_BYTES, MAX_BYTES_A_BYTE * self.max_text)

    def __post_init__(self) -> None:
        if "\0" in self.id_prefix:
            raise InvalidParams(name="id_prefix", value=repr(self.id_prefix), reason="it holds a NUL character")
        _check_field("id_field", self.id_field)
        _check_field("text_field", self.text_field)
        if self.id_field == self.text_field:
            raise InvalidParams(name="text_field", value=repr(self.text_field), reason="it is the id_field too")


class Unfit(ValueError):
    """Raised inside a reader for one item that is no document; the message is the reason of its Rejection."""


class Reader(Protocol):
    """Turns one kind of source into documents.

    Attributes:
        name: what ``--input-format`` calls it.
        suffixes: the file name endings it serves, lower-case, with the dot; compression suffixes not included.
        textual: whether the bytes may lie compressed (gzip, zstd ...) and are decompressed before `read` sees them.
    """

    @property
    def name(self) -> str: ...
    @property
    def suffixes(self) -> tuple[str, ...]: ...
    @property
    @property
    def textual(self) -> bool: ...

    def recognises(self, head: bytes) -> bool:
        """Whether a file that begins with `head` (1 KB, decompressed) is plainly of this format.

        Asked only where no name tells; a format that cannot be told by its beginning answers False.
        """
        ...

    def read(self, source: SourceFile, stream: BinaryIO, options: ReadOptions) -> Iterator[Item | Deferred]:
        """The documents of `stream` in their order, and a Rejection or Skipped for every item that is none.

        Leave what takes time, beyond finding where an item ends, to a Deferred.

        ``stream.read(n)`` gives at most n bytes, as soon as it has some, and b"" at the end; it may raise
        OSError. A container's reader yields what it had before that and then one Rejection that says where.
        """
        ...


def absolute(path: str | Path) -> str:
    """The path from the root on, without ``..``; unlike `Path.resolve` it keeps symbolic links as they are named."""
    return os.path.abspath(path)  # noqa: PTH100


def file_doc_id(source: SourceFile, options: ReadOptions) -> str:
    """The doc_id of a file that is one document: its path, relative to ``options.base`` where it lies under it.

    Bytes of the name that are not UTF-8 are shown as ``\\xff``.
    """
    path = source.path
    if options.base is not None:
        base = absolute(options.base)
        path = path.relative_to(base) if path.is_relative_to(base) else path
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def reason_of(error: OSError) -> str:
    """What went wrong, in the system's words and without the path."""
    return error.strerror or str(error) or type(error).__name__


def megabytes(num_bytes: int) -> str:
    """``64 MB`` for 64,000,000; ``500 kB`` for 500,000."""
    return f"{num_bytes / 1e6:g} MB" if num_bytes >= 1e6 else f"{num_bytes / 1e3:g} kB"


def too_large(max_text: int, num_bytes: int | None = None) -> str:
    """The reason to reject a text of `num_bytes`, which exceeds the limit; None where it was not read to its end."""
    size = "" if num_bytes is None else f": {num_bytes:,} bytes"
    return f"text larger than the {megabytes(max_text)} of --max-text{size}"


def column_names(names: Sequence[str]) -> str:
    """The columns of a table, as a reason shows them: the first twenty."""
    shown = ", ".join(name[:40] for name in names[:20])
    return shown + (", ..." if len(names) > 20 else "")


def _check_field(name: str, value: str) -> None:
    if not value or any(char < " " or char in '"\\' or "\ud800" <= char <= "\udfff" for char in value):
        reason = "a field name is not empty and holds no quote, backslash or control character"
        raise InvalidParams(name=name, value=repr(value), reason=reason)


class _Recorded(msgspec.Struct, frozen=True):
    id_field: str = "id"
    text_field: str = "text"
    input_format: str | None = None
    base: str | None = None
    max_text: int = DEFAULT_MAX_TEXT
    id_prefix: str = ""


_DEFAULTS: Final = msgspec.structs.asdict(_Recorded())


def record(options: ReadOptions) -> str:
    """Return the options as a JSON object; options that equal their defaults are left out."""
    base = None if options.base is None else str(options.base)
    written = {name: getattr(options, name) for name in _DEFAULTS} | {"base": base}
    # By value: msgspec's own omit_defaults compares by identity, and a parsed 10000000 is another object.
    return msgspec.json.encode({name: value for name, value in written.items() if value != _DEFAULTS[name]}).decode()


def recorded(text: str, options: ReadOptions) -> ReadOptions:
    """`options` with what `record` wrote in place of its own."""
    kept = msgspec.json.decode(text, type=_Recorded)
    base = None if kept.base is None else Path(kept.base)
    return replace(options, **(msgspec.structs.asdict(kept) | {"base": base}))
