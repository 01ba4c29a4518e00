"""Sort any number of pairs in little memory: in runs, which are written to a temporary file and merged."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from heapq import merge, nsmallest
from itertools import islice
from typing import Any, BinaryIO, Final

import msgspec

from lshdb.linking.spilling import close, spilling, temporary_file
from lshdb.store.tables.answers import PairRow

__all__ = ["in_order"]

# Rows of a run: 150 MB with ids of 40 characters.
RUN_ROWS: Final = 500_000
# Rows of a block, which is read at once: a merge of 1,000 runs holds 300 MB.
BLOCK_ROWS: Final = 1_000


def in_order(
    rows: Iterator[PairRow], key: Callable[[PairRow], Any], limit: int | None, run_rows: int = RUN_ROWS
) -> Iterator[PairRow]:
    """Yield the rows sorted by the key. Args: limit: only the first of them; None for all.

    Raises: SpillFailed: the temporary file cannot be written or read; most often the disk is full.
    """
    if limit is not None and limit <= run_rows:
        yield from nsmallest(limit, rows, key=key)
        return
    run = sorted(islice(rows, run_rows), key=key)
    if len(run) < run_rows:
        yield from run
        return
    with spilling():
        file = temporary_file()
    try:
        runs = []
        while run:
            runs.append(_written(file, run))
            run = sorted(islice(rows, run_rows), key=key)
        yield from islice(merge(*(_read(file, blocks) for blocks in runs), key=key), limit)
    finally:
        close(file)


def _written(file: BinaryIO, rows: Sequence[PairRow]) -> list[tuple[int, int]]:
    """Write rows to the file. Returns: where each block is, and its length."""
    blocks = []
    with spilling():
        for begin in range(0, len(rows), BLOCK_ROWS):
            block = msgspec.msgpack.encode(rows[begin : begin + BLOCK_ROWS])
            blocks.append((file.tell(), len(block)))
            file.write(block)
        file.flush()
    return blocks


def _read(file: BinaryIO, blocks: Sequence[tuple[int, int]]) -> Iterator[PairRow]:
    for place, length in blocks:
        with spilling():
            block = os.pread(file.fileno(), length, place)
        yield from msgspec.msgpack.decode(block, type=list[PairRow])
