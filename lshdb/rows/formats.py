"""The formats whose records are filtered one by one, and how the wanted records of a file are written in each."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import BinaryIO, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lshdb.errors import SourceUnreadable
from lshdb.readers import ReadOptions, SourceFile, reader_of
from lshdb.readers.base import reason_of
from lshdb.readers.bytes.compression import Compression, compression_of
from lshdb.readers.bytes.sniffing import SNIFF_BYTES
from lshdb.readers.bytes.streams import ByteStream, open_regular
from lshdb.rows.compression import compressing, usual_level
from lshdb.rows.lines import Lines
from lshdb.rows.verdicts import Verdicts

__all__ = ["FORMATS", "Format", "OpenedFile", "Task", "opened"]

# Larger than the blocks of an ingest, whose lines must stay in the cache.
READ_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """An open file.

    Args:
        format: the name of its reader; None if there is none.
        stream: its bytes, decompressed if the reader is textual.
        head: its first bytes, which may be compressed.
        binary: the file itself.
    """

    file: SourceFile
    format: str | None
    stream: ByteStream
    head: bytes
    binary: io.FileIO

    def close(self) -> None:
        """Close the file."""
        self.binary.close()

    @property
    def compression(self) -> Compression | None:
        """How the file is compressed."""
        return compression_of(self.head)

    def blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the stream. Raises: SourceUnreadable."""
        parts: list[bytes] = []
        num_bytes = 0
        try:
            # Decompressed pieces may be small.
            while piece := self.stream.read(READ_BYTES):
                parts.append(piece)
                num_bytes += len(piece)
                if num_bytes >= READ_BYTES:
                    yield b"".join(parts)
                    parts, num_bytes = [], 0
        except OSError as error:
            raise SourceUnreadable(path=self.file.path, reason=reason_of(error)) from None
        yield b"".join(parts)


@dataclass(frozen=True, slots=True)
class Task:
    """What to write of a file.

    Args:
        is_wanted: bool, shape (5,); whether records with a verdict are written.
        options: how the file was read.
        level: of the compression; None for the file's own or the usual one.
    """

    verdicts: Verdicts
    is_wanted: NDArray[np.bool_]
    options: ReadOptions
    level: int | None


# Writes the wanted records to a new file. Returns: the number of records by verdict, int64, shape (5,).
Writer: TypeAlias = Callable[[OpenedFile, Task, BinaryIO], NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Format:
    """How the records of a format are filtered.

    Args: unit: the word before the number in their locators, such as ``line``; None if they have no numbers.
    """

    unit: str | None
    write: Writer


def opened(file: SourceFile, options: ReadOptions) -> OpenedFile:
    """Open a file. Raises: SourceUnreadable."""
    with ExitStack() as undone:
        try:
            binary = undone.enter_context(open_regular(file.path))
            stream = ByteStream(iter(lambda: binary.read(READ_BYTES), b""), binary)
            head = stream.peek(SNIFF_BYTES)
            reader, plain = reader_of(file, stream, options)
        except OSError as error:
            raise SourceUnreadable(path=file.path, reason=reason_of(error)) from None
        undone.pop_all()
    return OpenedFile(file, None if reader is None else reader.name, plain, head, binary)


def _write_lines(file: OpenedFile, task: Task, out: BinaryIO) -> NDArray[np.int64]:
    lines = Lines(task.verdicts.by_number, task.is_wanted)
    level = task.level if task.level is not None else usual_level(file.compression, file.head)
    with compressing(out, file.compression, level) as write:
        for piece in lines.chosen(file.blocks()):
            write(piece)
    return lines.counts


FORMATS: Final[dict[str, Format]] = {
    "jsonl": Format("line", _write_lines),
    "sets": Format("line", _write_lines),
}
