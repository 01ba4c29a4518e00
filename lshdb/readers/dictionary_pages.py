"""The size of a Parquet dictionary, which tells how much memory a few rows may need.

A dictionary holds each value of a column once, and rows refer to it. A text of 10 MB that 5,000 rows refer to takes
half a megabyte of a compressed file, and 50 GB as rows. The statistics of the file do not show that, and may lie. The
header of the dictionary page cannot lie, because the page is decompressed to the size that it says.

Source: https://parquet.apache.org/docs/file-format/data-pages/, and the compact protocol of Thrift.
Limitation: only the first page of a column is looked at, where every writer puts the dictionary.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import islice
from typing import Final

import pyarrow.parquet as pq

__all__ = ["dictionary_bytes"]

HEADER_BYTES: Final = 32
DICTIONARY_PAGE: Final = 2
PAGE_TYPE: Final = 1  # field numbers of the header
UNCOMPRESSED_BYTES: Final = 2
INT32: Final = 5  # a type of Thrift


def dictionary_bytes(file: io.IOBase, column: pq.ColumnChunkMetaData) -> int:
    """Return the bytes of a column's dictionary; 0 if it has none. Raises: OSError, ValueError: it cannot be read."""
    starts = [column.data_page_offset, column.dictionary_page_offset or 0]
    file.seek(min(start for start in starts if start > 0))
    header = _integers(file.read(HEADER_BYTES))
    return header[UNCOMPRESSED_BYTES] if header[PAGE_TYPE] == DICTIONARY_PAGE else 0


def _integers(header: bytes) -> dict[int, int]:
    """Return the first two fields of a page header by number. Raises: ValueError: they are something else."""
    fields, remaining, number = dict[int, int](), iter(header), 0
    for first in islice(remaining, 2):
        number = number + (first >> 4) if first >> 4 else _integer(remaining)
        if first & 15 != INT32:
            break
        fields[number] = _integer(remaining)
    if fields.keys() != {PAGE_TYPE, UNCOMPRESSED_BYTES}:
        raise ValueError("a page of it has no header")
    return fields


def _integer(remaining: Iterator[int]) -> int:
    """Return the next integer: seven bits a byte, the lowest first, then zigzag. Raises: ValueError: there is none."""
    value = 0
    for position, byte in enumerate(remaining):
        value |= (byte & 127) << 7 * position
        if byte < 128:
            return value >> 1 ^ -(value & 1)
    raise ValueError("a page of it has no header")
