"""Parquet: one document a row, of which two columns are read. Needs the extra ``lshdb[parquet]`` (pyarrow).

Row groups come one after the other, in batches of about 4 MB of text: memory grows with the largest page of a row
group, not with the file. A row group that cannot be read costs its own rows and no others.
Parquet cannot be read front to back, since what describes it lies at its end: a file is read where it lies, and
standard input is copied to a temporary file first.
Limitations: only columns at the top level; what pyarrow holds of one damaged page is bounded by pyarrow alone.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Iterator
from typing import BinaryIO, Final, cast

from lshdb.readers.base import Item, ReadOptions, Rejection, SourceFile
from lshdb.readers.bytes.streams import ByteStream, PositionedFile

__all__ = ["ParquetReader"]

PARQUET_MAGIC: Final = b"PAR1"
NO_PYARROW: Final = 'reading Parquet needs pyarrow: pip install "lshdb[parquet]"'


class ParquetReader:
    """Rows with ``id`` and ``text`` or the columns that the options name."""

    name = "parquet"
    suffixes = (".parquet", ".pq")
    textual = False

    def recognises(self, head: bytes) -> bool:
        """Whether the head is a Parquet file's."""
        return head.startswith(PARQUET_MAGIC)

    def read(self, source: SourceFile, stream: BinaryIO, options: ReadOptions) -> Iterator[Item]:
        """A Document or a Rejection for every row; one Rejection where a column is missing."""
        try:
            from lshdb.readers.rows import read_rows
        except ImportError:
            yield Rejection(source.uri, "", NO_PYARROW)
            return
        with _seekable(cast(ByteStream, stream)) as file:
            yield from read_rows(source, file, options)


def _seekable(stream: ByteStream) -> io.IOBase:
    if stream.origin is not None:
        return PositionedFile(stream.origin)
    copy = cast(io.IOBase, tempfile.TemporaryFile())  # noqa: SIM115  (the caller closes it)
    shutil.copyfileobj(stream.binary, cast(BinaryIO, copy))
    return copy
