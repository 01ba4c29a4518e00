"""Read Parquet: one document per row, of which two columns are used. Needs the extra ``parquet`` (pyarrow).

Row groups are read in order, in batches of about 4 MB of text. Memory grows with the largest page of a row group, not
with the file. If a row group is damaged, only its rows are lost. Checksums of pages are verified if the file has them.
The metadata is at the end of a Parquet file, so standard input is copied to a temporary file first.

Limitations: columns inside lists are not read. Only pyarrow itself limits the memory that a damaged page takes.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Iterator
from typing import BinaryIO, Final, cast

from lshdb.readers.base import NO_READER, Deferred, Item, ReadOptions, Rejection, SourceFile
from lshdb.readers.bytes.streams import ByteStream, PositionedFile

__all__ = ["ParquetReader"]

PARQUET_MAGIC: Final = b"PAR1"
NO_PYARROW: Final = f"{NO_READER}: reading Parquet needs pyarrow: pip install pyarrow"


class ParquetReader:
    """Reads rows with ``id`` and ``text``, or the columns that the options name."""

    name = "parquet"
    suffixes = (".parquet", ".pq")
    textual = False
    holds_records = True

    def recognises(self, head: bytes) -> bool:
        """Return whether the head is that of a Parquet file."""
        return head.startswith(PARQUET_MAGIC)

    def read(self, source: SourceFile, stream: BinaryIO, options: ReadOptions) -> Iterator[Item | Deferred]:
        """Yield a Document or a Rejection for every row; one Rejection if a column is missing."""
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
