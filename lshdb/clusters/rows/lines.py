"""Copy the wanted lines of a file, byte for byte.

A line ends with LF, as in `readers.lines`. Blank lines are not records: they are copied when kept lines
are written, and left out when dropped lines are. The work per block is vectorised, so short lines cost no more time
than long ones: 2 GB/s with lines of 500 bytes.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lshdb.clusters.rows.verdicts import NUM_VERDICTS, OTHER, UNKNOWN, Verdicts

__all__ = ["Lines", "judged_lines", "whole_lines"]

LF = ord("\n")


class Lines:
    """Chooses lines by their verdicts.

    Args:
        verdicts: by line number.
        is_wanted: bool, shape (5,); whether lines with a verdict are copied. Blank lines count as OTHER.

    Attributes:
        counts: int64, shape (5,); the number of lines so far by verdict. Blank lines are not counted.
    """

    def __init__(self, verdicts: Verdicts, is_wanted: NDArray[np.bool_]) -> None:
        self.counts = np.zeros(NUM_VERDICTS, dtype=np.int64)
        self._verdicts = verdicts
        self._is_wanted = is_wanted
        self._number = 1
        # Whether a part of the current line was copied or left out already, and its verdict.
        self._is_inside = False
        self._verdict = OTHER

    def chosen(self, blocks: Iterator[bytes]) -> Iterator[memoryview]:
        """Yield the wanted lines of the blocks, in pieces of any size. The first block has at least three bytes."""
        held = b""
        for block in blocks:
            block = held + block if held else block
            block, held = self._without_blank_end(block)
            yield from self._of_block(block)
        if held:
            yield from self._of_block(held)
        if self._is_inside:
            self._count(np.asarray([self._verdict]))

    def _without_blank_end(self, block: bytes) -> tuple[bytes, bytes]:
        """Split off white space after the last line end, because its line may turn out not to be blank."""
        end = block.rfind(b"\n") + 1
        if end == len(block) or (end == 0 and self._is_inside):
            return block, b""
        is_first = end == 0 and self._number == 1
        # Without a copy of a long line that begins with anything else.
        if not (is_first or block[end : end + 1].isspace()) or not _is_blank(block[end:], is_first=is_first):
            return block, b""
        return block[:end], block[end:]

    def _of_block(self, block: bytes) -> Iterator[memoryview]:
        ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == LF) + 1
        starts = np.concatenate([[0], ends])
        found = self._verdicts.of_numbers(self._number, len(starts))
        if self._is_inside:
            found[0] = self._verdict
        for place in np.flatnonzero(found == UNKNOWN).tolist():
            if not (place == 0 and self._is_inside) and self._is_blank(block, starts, place):
                found[place] = OTHER
        self._count(found[:-1])
        self._number += len(ends)
        rest = len(block) - int(starts[-1])
        self._is_inside = rest > 0 or (self._is_inside and not len(ends))
        self._verdict = int(found[-1])
        yield from self._pieces(block, starts if rest else starts[:-1], found if rest else found[:-1])

    def _is_blank(self, block: bytes, starts: NDArray[np.int64], place: int) -> bool:
        end = int(starts[place + 1]) if place + 1 < len(starts) else len(block)
        return _is_blank(block[int(starts[place]) : end], is_first=self._number + place == 1)

    def _pieces(self, block: bytes, starts: NDArray[np.int64], found: NDArray[np.uint8]) -> Iterator[memoryview]:
        """Yield the wanted lines, adjacent ones as one piece."""
        if not len(starts):
            return
        is_wanted = self._is_wanted[found]
        changes = np.flatnonzero(is_wanted[1:] != is_wanted[:-1]) + 1
        bounds = [0, *starts[changes].tolist(), len(block)]
        view = memoryview(block)
        for place in range(not is_wanted[0], len(bounds) - 1, 2):
            yield view[bounds[place] : bounds[place + 1]]

    def _count(self, found: NDArray[np.uint8]) -> None:
        counts = np.bincount(found, minlength=NUM_VERDICTS)
        counts[OTHER] = 0
        self.counts += counts


def _is_blank(line: bytes, *, is_first: bool) -> bool:
    bare = line.removeprefix(codecs.BOM_UTF8) if is_first else line
    return not bare or bare.isspace()


def judged_lines(blocks: Iterator[bytes], verdicts: Verdicts, counts: NDArray[np.int64]) -> Iterator[tuple[bytes, int]]:
    """Yield the lines with their line ends and verdicts. Args: counts: as of `Lines`; they are increased."""
    for number, line in enumerate(whole_lines(blocks), 1):
        verdict = int(verdicts.of_numbers(number, 1)[0])
        if verdict == UNKNOWN and _is_blank(line, is_first=number == 1):
            verdict = OTHER
        counts[verdict] += verdict != OTHER
        yield line, verdict


def whole_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the lines with their line ends."""
    pieces: list[bytes] = []
    for block in blocks:
        *complete, rest = block.split(b"\n")
        for line in complete:
            yield b"".join([*pieces, line, b"\n"])
            pieces.clear()
        pieces.append(rest)
    if last := b"".join(pieces):
        yield last
