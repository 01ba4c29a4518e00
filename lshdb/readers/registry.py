"""Choose the reader for each file, and read the file with it.

The suffix of the file name decides, after removing compression suffixes. If it is unknown, the first bytes decide.
Every failure of a source becomes an item of it. The options that apply to all readers, the id prefix and the limit of
texts, are enforced here. To add a reader to lshdb, write its module and add it to `READERS`. To add one from another
distribution, see `installed_readers`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import suppress
from pathlib import PurePath
from typing import BinaryIO, Final

from msgspec.structs import replace

from lshdb.errors import InvalidParams, reason_of
from lshdb.model.values import Document
from lshdb.readers.base import (
    Damaged,
    Deferred,
    Item,
    Reader,
    ReadOptions,
    Rejection,
    Revisit,
    Skipped,
    SourceFile,
    harmless,
    too_large,
)
from lshdb.readers.bytes.compression import compression_of, compression_suffix, decompress, without_compression
from lshdb.readers.bytes.sniffing import SNIFF_BYTES, has_controls, looks_binary
from lshdb.readers.bytes.streams import BLOCK_BYTES, ByteStream, Fingerprint, open_regular, open_stdin
from lshdb.readers.delimited import DelimitedReader
from lshdb.readers.html import HtmlReader
from lshdb.readers.installed import installed_readers
from lshdb.readers.jsonl import JsonLinesReader
from lshdb.readers.naming import prefixed
from lshdb.readers.parquet import ParquetReader
from lshdb.readers.sets import SetsReader
from lshdb.readers.text import TextReader
from lshdb.readers.warc.reader import WarcReader

__all__ = [
    "READERS",
    "Reading",
    "guarded",
    "holds_records",
    "made",
    "may_hold_pages",
    "read_stream",
    "reader_named",
    "reader_of",
    "readers",
]

TEXT: Final[Reader] = TextReader()
HTML: Final[Reader] = HtmlReader()
WARC: Final[Reader] = WarcReader()
SETS: Final[Reader] = SetsReader()
PAGES: Final = (HTML, WARC)
# If only the content can tell, the first reader that recognises it is used, and the text reader comes last.
READERS: Final[tuple[Reader, ...]] = (
    WARC,
    ParquetReader(),
    HTML,
    JsonLinesReader(),
    DelimitedReader("csv", (".csv",), ","),
    DelimitedReader("tsv", (".tsv", ".tab"), "\t"),
    SETS,
    TEXT,
)


@functools.cache
def readers() -> tuple[Reader, ...]:
    """Return all readers: those of lshdb, then those of other distributions.

    Raises: SourceError: an installed reader does not load.
    """
    return (*READERS, *installed_readers(READERS))


class Reading:
    """The items of one source. Iterate once.

    Attributes:
        source: the file.
        digest: xxh3_128 of the file's bytes, 16 bytes; None before the last item, and if reading failed.
    """

    def __init__(self, source: SourceFile, options: ReadOptions) -> None:
        self.source = source
        self.digest: bytes | None = None
        self._options = options
        self._fingerprint = Fingerprint()

    @property
    def num_bytes(self) -> int:
        """The number of bytes read so far."""
        return self._fingerprint.num_bytes

    def __iter__(self) -> Iterator[Item]:
        """Yield the documents in order, and a Rejection or Skipped for every item that is not a document."""
        # A generator, not a map: closing it also closes the file.
        for step in self.steps():
            yield made(step, self._options)

    def steps(self) -> Iterator[Item | Deferred]:
        """Yield the items as the reader does. Pass each to `made` to get what iterating yields."""
        try:
            file = open_stdin() if self.source.is_stdin else open_regular(self.source.path)
        except OSError as error:
            yield Rejection(self.source.uri, "", reason_of(error))
            return
        with file:
            origin = None if self.source.is_stdin else file
            stream = ByteStream(self._fingerprint.chunks(file), origin)
            yield from _steps(self.source, stream, self._options)
            self._finish(stream)

    def _finish(self, stream: ByteStream) -> None:
        # The digest includes what a reader left unread, such as the rest of a damaged file.
        with suppress(OSError):  # A failed read was reported as an item.
            while stream.read(BLOCK_BYTES):
                pass
            self.digest = self._fingerprint.digest


def read_stream(source: SourceFile, stream: BinaryIO | ByteStream, options: ReadOptions) -> Iterator[Item]:
    """Yield the items of an open stream, such as standard input; `source` names it.

    Raises: InvalidParams: an unknown input format; SourceError: an installed reader does not load.
    """
    return (made(step, options) for step in _steps(source, stream, options))


def _steps(source: SourceFile, stream: BinaryIO | ByteStream, options: ReadOptions) -> Iterator[Item | Deferred]:
    reader = _reader_by_name(source.path.name, options)
    if not isinstance(stream, ByteStream):
        stream = ByteStream(iter(functools.partial(stream.read, BLOCK_BYTES), b""))
    yield from guarded(source, _items(source, stream, reader, options))


def guarded(source: SourceFile, items: Iterator[Item | Deferred]) -> Iterator[Item | Deferred]:
    """Yield items of a source, and a Rejection if reading them fails."""
    try:
        yield from items
    except OSError as error:
        yield Damaged(source.uri, "", reason_of(error))
    except Exception as error:  # An error in a reader costs one source, not the run.
        yield Damaged(source.uri, "", f"{type(error).__name__}: {error}")


def reader_named(name: str) -> Reader:
    """Return the reader of an input format. Raises: InvalidParams: it is unknown."""
    for reader in readers():
        if reader.name == name:
            return reader
    names = ", ".join(reader.name for reader in readers())
    raise InvalidParams(name="input_format", value=name, reason=f"it must be one of {names}")


def may_hold_pages(source: SourceFile, options: ReadOptions) -> bool:
    """Return whether a source may contain HTML pages, judging by its name. Parsing them takes most of the time of an
    ingest.

    Raises: InvalidParams: an unknown input format; SourceError: an installed reader does not load.
    """
    reader = _reader_by_name(source.path.name, options)
    return reader is None or reader in PAGES or (options.text_format != "text" and reader is not TEXT)


def holds_records(name: str, options: ReadOptions) -> bool:
    """Return whether a file with this name holds many records rather than one document.

    Raises: as `may_hold_pages`.
    """
    reader = _reader_by_name(name, options)
    return reader is not None and reader.holds_records


def _items(
    source: SourceFile, stream: ByteStream, reader: Reader | None, options: ReadOptions
) -> Iterator[Item | Deferred]:
    if reader is not None and reader.textual and _lost_its_compression(source, stream):
        suffix = compression_suffix(source.path.name)
        yield Damaged(source.uri, "", f"damaged: it is named {suffix}, but is neither compressed nor text")
        return
    reader, stream = _fitted(stream, reader, options)
    if reader is None:
        of_sets = options.kind == "set"
        reason = "not a file of feature sets" if of_sets else "binary, or in an unknown format"
        yield Rejection(source.uri, "", reason) if source.named else Skipped(source.uri, reason)
        return
    yield from reader.read(source, stream.binary, options)


def _lost_its_compression(source: SourceFile, stream: ByteStream) -> bool:
    """Return whether the first bytes of a compressed file are damaged. Its records would be read from noise."""
    head = stream.peek(SNIFF_BYTES)
    return bool(compression_suffix(source.path.name)) and compression_of(head) is None and has_controls(head)


def reader_of(source: SourceFile, stream: ByteStream, options: ReadOptions) -> tuple[Reader | None, ByteStream]:
    """Return the reader of an open source, and the stream to pass to it, decompressed if the reader is textual.

    Raises: InvalidParams: an unknown input format; SourceError: an installed reader does not load; OSError.
    """
    return _fitted(stream, _reader_by_name(source.path.name, options), options)


def _fitted(stream: ByteStream, reader: Reader | None, options: ReadOptions) -> tuple[Reader | None, ByteStream]:
    if reader is None:
        reader, stream = _recognised(stream)
    elif reader.textual:
        stream = decompress(stream, compression_of(stream.peek(SNIFF_BYTES)))
    return _fitting(reader, stream.peek(SNIFF_BYTES), options), stream


def _recognised(stream: ByteStream) -> tuple[Reader | None, ByteStream]:
    """Return the reader that recognises the content, and the stream to pass to it."""
    taken: list[bytes] = []
    is_open = True

    def chunks() -> Iterator[bytes]:
        while block := stream.read(BLOCK_BYTES):
            if is_open:
                taken.append(block)
            yield block

    compression = compression_of(stream.peek(SNIFF_BYTES))
    plain = stream if compression is None else decompress(ByteStream(chunks()), compression)
    reader = _reader_by_content(plain.peek(SNIFF_BYTES))
    is_open = False
    if reader is not None and not reader.textual:
        stream.put_back(b"".join(taken))
        return reader, stream
    taken.clear()
    return reader, plain


def _reader_by_name(name: str, options: ReadOptions) -> Reader | None:
    if options.input_format is not None:
        return reader_named(options.input_format)
    return _readers_by_suffix().get(PurePath(without_compression(name.lower())).suffix)


@functools.cache
def _readers_by_suffix() -> dict[str, Reader]:
    return {suffix: reader for reader in reversed(readers()) for suffix in reader.suffixes}


def _reader_by_content(head: bytes) -> Reader | None:
    fit = (reader for reader in readers() if reader is not TEXT and reader.recognises(head))
    return next(fit, TEXT if TEXT.recognises(head) else None)


def _fitting(reader: Reader | None, head: bytes, options: ReadOptions) -> Reader | None:
    """Return the reader, or its replacement in an index of feature sets; None for a binary file."""
    if options.input_format is not None:
        return reader
    if reader is TEXT and looks_binary(head):
        return None
    if options.kind == "set" and reader is not None and (reader is WARC or not reader.holds_records):
        return SETS if reader is TEXT else None
    return reader


def made(step: Item | Deferred, options: ReadOptions) -> Item:
    """Return the item of a step with its id prefixed, or a Rejection if its text is too large."""
    item = step.make() if isinstance(step, Deferred) else step
    if isinstance(item, Revisit) and options.id_prefix:
        return item.renamed(functools.partial(prefixed, options=options, uri=item.source))
    if not isinstance(item, Document):
        return harmless(item) if isinstance(item, Rejection) else item
    # A character has at most four bytes, so few texts have to be measured.
    if 4 * len(item.text) > options.max_text and (size := _num_bytes(item.text)) > options.max_text:
        return Rejection(item.source or item.doc_id, item.locator, too_large(options.max_text, size))
    if not options.id_prefix:
        return item
    return replace(item, doc_id=prefixed(item.doc_id, options, item.source or ""))


def _num_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
