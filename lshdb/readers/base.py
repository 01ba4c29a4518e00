"""The types that all readers share: files, the items that readers yield, and read options.

Opens nothing and reads nothing. Readers have no state: each call is passed everything it needs. The index stores the
read options of each source as JSON. A file that is read with other options counts as changed. The options `html` and
`kind` belong to the index and are stored there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import BinaryIO, Final, Protocol, TypeAlias

import msgspec
from msgspec import Struct

from lshdb.errors import InvalidParams
from lshdb.model import arguments
from lshdb.model.choices import Captures, TextFormat
from lshdb.model.params import HtmlText, Params, ShingleKind, check_choice
from lshdb.model.values import Document, Rejection

__all__ = [
    "MAX_LINE_BYTES",
    "MAX_PAGE_BYTES",
    "NO_READER",
    "PLACEHOLDER",
    "STDIN_NAME",
    "STDIN_URI",
    "Damaged",
    "Deferred",
    "Item",
    "OutwardLink",
    "ReadOptions",
    "Reader",
    "Rejection",
    "Revisit",
    "Skipped",
    "SourceFile",
    "Unfit",
    "absolute",
    "column_names",
    "harmless",
    "megabytes",
    "record",
    "recorded",
    "too_large",
]

# The largest texts in public crawls are below 2 MB. These limits keep a file from filling the memory.
DEFAULT_MAX_TEXT: Final = 10_000_000
# The largest page that is parsed in bounded time; see `extraction`.
MAX_PAGE_BYTES: Final = 10_000_000
MAX_LINE_BYTES: Final = 64_000_000
# JSON may encode one byte of text as ``\u0000``.
MAX_BYTES_A_BYTE: Final = 6

# Characters of a reason. Ours take up to 1,000, if they list twenty columns.
MAX_REASON: Final = 1_200

# What an id prefix may take from the name of a file.
PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
PLACEHOLDERS: Final = ("path", "name", "stem")

# The kind of rejection of a source that needs a package which is not installed. The next run tries it again.
NO_READER: Final = "no reader"

# The name of standard input among paths, and its URI among sources.
STDIN_NAME: Final = "-"
STDIN_URI: Final = "stdin:"


class SourceFile(Struct, frozen=True):
    """A file that the walk found.

    Args:
        uri: ``file:///...``, percent-encoded, so that a file name may contain any bytes.
        path: absolute, without ``..``; symbolic links are not resolved.
        size: bytes.
        mtime_ns: modification time, nanoseconds since 1970.
        root: the URI of the path it was found under; its own `uri` if the caller named the file.
    """

    uri: str
    path: Path
    size: int
    mtime_ns: int
    root: str

    @property
    def named(self) -> bool:
        """Whether the caller named this file, rather than a folder that contains it."""
        return self.uri == self.root

    @property
    def is_stdin(self) -> bool:
        """Whether it is standard input, which is read once and always counts as changed."""
        return self.uri == STDIN_URI


@dataclass(frozen=True, slots=True)
class Damaged(Rejection):
    """Damage in a file, which may have cost documents. The file does not tell that they are gone."""


class Skipped(Struct, frozen=True):
    """A file or record that is not meant for lshdb, such as an image in a crawl. It is counted, but is not an error."""

    source: str
    reason: str


class OutwardLink(Skipped, frozen=True):
    """A symbolic link that leads out of the folders that are walked, and is not followed."""


class Revisit(Skipped, frozen=True):
    """A record of a crawl that holds no page, but names the capture whose page it found again.

    Only the index can tell which page that is. Elsewhere, the record is one that is skipped.

    Args:
        capture: the document that it would be, without its text.
        first_id, end_id: the ids from the first one to before the other are those that the named capture may have.
            The last one that exists counts.
        named: the address of the named capture.
        named_at: its date, in microseconds since 1970 UTC; None if the record does not tell.
        is_page: whether the record says that it is a page. Otherwise it may be an image.
    """

    capture: Document
    first_id: str
    end_id: str
    named: str
    named_at: int | None
    is_page: bool

    def renamed(self, rename: Callable[[str], str]) -> Revisit:
        """Return the same with all ids renamed by a function that prepends a prefix."""
        capture = msgspec.structs.replace(self.capture, doc_id=rename(self.capture.doc_id))
        return msgspec.structs.replace(
            self, capture=capture, first_id=rename(self.first_id), end_id=rename(self.end_id)
        )


class Deferred(Struct, frozen=True):
    """An item whose bytes are read and whose document is not made yet. Another process may make it.

    Args:
        source, locator: where it is.
        raw: its bytes.
        parse: makes the item from ``(raw, source, locator)``; raises Unfit. Pickling is cheapest if all items of a
            source share one function. A function that cannot be pickled is called in the process that reads.
    """

    source: str
    locator: str
    raw: bytes
    parse: Callable[[bytes, str, str], Item]

    def make(self) -> Item:
        """Return the item, or a Rejection if it has none."""
        try:
            return self.parse(self.raw, self.source, self.locator)
        except Unfit as error:
            return Rejection(self.source, self.locator, str(error))
        except Exception as error:  # An error in a reader costs one item, not the run.
            return Rejection(self.source, self.locator, f"{type(error).__name__}: {error}")


Item: TypeAlias = Document | Rejection | Skipped


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read sources.

    Args:
        html: ``main`` content of a page, or ``all`` its text.
        id_field: the field of a JSON record or the column of a table that holds the id. A record without one is
            rejected. With None it is ``id``, and a record without one is named by its file and place: ``FILE#17``.
        text_field: the field or column of the text; several are joined by line ends. ``a.b`` also names the field ``b``
            of an object in the field ``a``.
        text_format: what these fields hold; see `TextFormat`.
        input_format: the name of the reader for every source; None chooses by suffix and content.
        base: the folder that doc_ids of files are relative to; None for absolute paths.
        kind: the shingle kind of the index; ``set`` reads feature sets instead of text.
        max_text: the largest text of a document in bytes of UTF-8; larger ones are rejected.
        id_prefix: prepended to the doc_id of every document. ``{path}``, ``{name}`` and ``{stem}`` stand for the doc_id
            of its file, the name of the file, and that name without its suffixes.
        captures: of an address in WARC files, the ``newest`` capture, or ``all``, whose ids end with their date.

    Raises: InvalidParams: the field names are empty, equal, or impossible in JSON; the prefix contains a NUL character
        or an unknown placeholder; there is no such choice.
    """

    html: HtmlText = "main"
    id_field: str | None = None
    text_field: str | tuple[str, ...] = "text"
    input_format: str | None = None
    base: Path | None = None
    kind: ShingleKind = "word"
    max_text: int = DEFAULT_MAX_TEXT
    id_prefix: str = ""
    captures: Captures = "newest"
    text_format: TextFormat = "text"

    def suited(self, params: Params) -> ReadOptions:
        """Return the options with the values that an index decides: the text of a page, and texts or sets."""
        return replace(self, html=params.html, kind=params.shingling.kind)

    @property
    def text_names(self) -> tuple[str, ...]:
        """The fields of the text."""
        return (self.text_field,) if isinstance(self.text_field, str) else self.text_field

    @property
    def id_name(self) -> str:
        """The field of the id, whether or not records must have it."""
        return self.id_field or "id"

    @property
    def max_line(self) -> int:
        """The longest line that is read, in bytes; long enough for any text within the limit."""
        return max(MAX_LINE_BYTES, MAX_BYTES_A_BYTE * self.max_text)

    def __post_init__(self) -> None:
        check_choice("captures", self.captures, Captures)
        check_choice("text_format", self.text_format, TextFormat)
        _check_prefix(self.id_prefix)
        if self.id_field is not None:
            _check_field("id_field", self.id_field)
        if not isinstance(self.text_field, str):
            # One field is the same whether or not it is given as a sequence.
            names = arguments.several("text_field", self.text_field)
            object.__setattr__(self, "text_field", names[0] if len(names) == 1 else names)
        self._check_text_field()

    def _check_text_field(self) -> None:
        if not self.text_names:
            raise InvalidParams(name="text_field", value=(), reason="it names no field")
        for name in self.text_names:
            _check_field("text_field", name)
            if name == self.id_name:
                raise InvalidParams(name="text_field", value=name, reason="it is also the id_field")
        if self.text_format != "text" and self.kind == "set":
            reason = "an index of feature sets has no texts"
            raise InvalidParams(name="text_format", value=self.text_format, reason=reason)


class Unfit(ValueError):
    """Raised in a reader if an item is not a document. The message becomes the reason of its Rejection."""


class Reader(Protocol):
    """Turns one kind of source into documents.

    Attributes:
        name: its name for ``--input-format``.
        suffixes: the endings of its files, lower-case, with the dot, without compression suffixes.
        textual: whether its files may be compressed (gzip, zstd ...) and are decompressed before `read`.
        holds_records: whether a file holds many records rather than one document.
    """

    @property
    def name(self) -> str: ...
    @property
    def suffixes(self) -> tuple[str, ...]: ...
    @property
    def textual(self) -> bool: ...
    @property
    def holds_records(self) -> bool: ...

    def recognises(self, head: bytes) -> bool:
        """Return whether a file that begins with `head` (1 KB, decompressed) clearly has this format.

        This is called only if the file name does not tell. Return False if the beginning of the format is not
        distinctive.
        """
        ...

    def read(self, source: SourceFile, stream: BinaryIO, options: ReadOptions) -> Iterator[Item | Deferred]:
        """Yield the documents of `stream` in order, and a Rejection or Skipped for every item that is not a document.

        Put slow work, except finding the end of an item, into a Deferred.

        ``stream.read(n)`` returns at most n bytes as soon as some are available, and b"" at the end. It may raise
        OSError. The reader of a container then yields the items before the failure, and one Rejection that says where
        it happened.
        """
        ...


def absolute(path: str | Path) -> str:
    """Return the absolute path without ``..``. Unlike `Path.resolve`, it keeps symbolic links."""
    return os.path.abspath(path)  # noqa: PTH100


def megabytes(num_bytes: int) -> str:
    """Return ``64 MB`` for 64,000,000 and ``500 kB`` for 500,000."""
    return f"{num_bytes / 1e6:g} MB" if num_bytes >= 1e6 else f"{num_bytes / 1e3:g} kB"


def too_large(max_text: int, num_bytes: int | None = None) -> str:
    """Return the reason to reject a text over the limit. Args: num_bytes: None if it was not read to its end."""
    size = "" if num_bytes is None else f": {num_bytes:,} bytes"
    return f"text larger than the {megabytes(max_text)} of --max-text{size}"


def column_names(names: Sequence[str]) -> str:
    """Return the first twenty fields of a record or columns of a table, for a message."""
    shown = ", ".join(_printable(name[:40]) for name in names[:20])
    return shown + (", ..." if len(names) > 20 else "")


def harmless(rejection: Rejection) -> Rejection:
    """Return a rejection that every database stores and every terminal shows.

    A reason may quote a file. Control characters are spelled out, and what is too long ends with an ellipsis.
    """
    reason = rejection.reason
    if len(reason) <= MAX_REASON and reason.isprintable():
        return rejection
    shown = _printable(reason[:MAX_REASON])
    return replace(rejection, reason=shown + ("…" if len(reason) > MAX_REASON else ""))


def _printable(name: str) -> str:
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in name)


def _check_field(name: str, value: str) -> None:
    if not value or any(char < " " or char in '"\\' or "\ud800" <= char <= "\udfff" for char in value):
        reason = "a field name must not be empty or contain a quote, backslash or control character"
        raise InvalidParams(name=name, value=value, reason=reason)


def _check_prefix(prefix: str) -> None:
    if "\0" in prefix:
        raise InvalidParams(name="id_prefix", value=prefix, reason="it holds a NUL character")
    for name in PLACEHOLDER.findall(prefix):
        if name not in PLACEHOLDERS:
            reason = f"{{{name}}} is unknown; a prefix may contain {{path}}, {{name}} and {{stem}}"
            raise InvalidParams(name="id_prefix", value=prefix, reason=reason)


# The index stores these once, with its parameters.
_OF_THE_INDEX: Final = ("html", "kind")
_DEFAULTS: Final = {field.name: field.default for field in fields(ReadOptions) if field.name not in _OF_THE_INDEX}


def record(options: ReadOptions) -> str:
    """Return the options as a JSON object, without those that equal their defaults."""
    values = {name: getattr(options, name) for name in _DEFAULTS}
    kept = {name: value for name, value in values.items() if value != _DEFAULTS[name]}
    # In the order of their names, as the store returns JSON.
    return msgspec.json.encode(kept, enc_hook=str, order="sorted").decode()


def recorded(text: str, options: ReadOptions) -> ReadOptions:
    """Return `options` with the values that `record` stored."""
    kept = msgspec.json.decode(text, type=ReadOptions, dec_hook=lambda _, path: Path(path))
    return replace(kept, **{name: getattr(options, name) for name in _OF_THE_INDEX})
